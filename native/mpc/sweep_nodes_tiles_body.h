// Lanes are nodes: tiles of matrices that stay in registers. A tile has `rows` rows of `some` vectors.

// sum += left' right (or -=), rows of both one below another: left (depth, rows), right (depth, some vectors).
template <bool minus = false, int rows, int some>
INLINED void add_product(Vec (&sum)[rows][some], const double* left, const double* right, int stride, int depth) {
  for (int k = 0; k < depth; ++k, left += stride, right += stride) {
    Vec x[some];
    UNROLLED for (int c = 0; c < some; ++c) x[c] = vec(right + c * kWidth);
    UNROLLED for (int i = 0; i < rows; ++i) {
      UNROLLED for (int c = 0; c < some; ++c) sum[i][c] += x[c] * (minus ? -left[i] : left[i]);
    }
  }
}

template <int rows, int some>
INLINED void clear_tile(Vec (&t)[rows][some]) {
  UNROLLED for (int i = 0; i < rows; ++i) {
    UNROLLED for (int c = 0; c < some; ++c) t[i][c] = Vec{};
  }
}

template <int rows, int some>
INLINED void add_tile(Vec (&t)[rows][some], const double* from, int stride) {
  UNROLLED for (int i = 0; i < rows; ++i) {
    UNROLLED for (int c = 0; c < some; ++c) t[i][c] += vec(from + i * stride + c * kWidth);
  }
}

template <int rows, int some>
INLINED void store_tile(const Vec (&t)[rows][some], double* to, int stride) {
  UNROLLED for (int i = 0; i < rows; ++i) {
    UNROLLED for (int c = 0; c < some; ++c) vec(to + i * stride + c * kWidth) = t[i][c];
  }
}

// Calls f.run<rows, some> for numbers of rows and vectors that are known at run time only.
template <int rows, int some, typename Function>
INLINED void sized(int actual_rows, int actual_some, const Function& f) {
  if constexpr (rows == 0 || some == 0) {
    (void)actual_rows, (void)actual_some, (void)f;
  } else if (actual_some < some) {
    sized<rows, some - 1>(actual_rows, actual_some, f);
  } else if (actual_rows < rows) {
    sized<rows - 1, some>(actual_rows, actual_some, f);
  } else {
    f.template run<rows, some>();
  }
}

// How many vectors to take next of those left: none is left alone.
INLINED int next_vectors(int left) {
  return left == kTileVectors + 1 ? (left + 1) / 2 : left < kTileVectors ? left : kTileVectors;
}

INLINED int next_rows(int left) { return left < kWidth ? left : kWidth; }

// Eliminates row after row of a tile whose first vector holds the diagonal, from `pivot` on: it becomes Cholesky's triangle,
// with the inverses of its diagonal at `roots`. The next pivot is computed apart, as all waits for it: `diagonal` is this
// one, in all lanes.
template <int pivot, int row, int rows, int some>
INLINED void eliminate_row(Vec (&t)[rows][some], const Vec& by) {
  if constexpr (row < rows) {
    const Vec f = lane<row>(t[pivot][0]) * by;
    UNROLLED for (int c = 0; c < some; ++c) t[row][c] += f * t[pivot][c];
    eliminate_row<pivot, row + 1>(t, by);
  }
}

template <int pivot, int rows, int some>
INLINED void eliminate(Vec (&t)[rows][some], const Vec& diagonal, double* roots) {
  const Vec by = -1.0 / diagonal, scale = root(-by);
  roots[pivot] = scale[0];
  if constexpr (pivot + 1 < rows) {
    const Vec beside = lane<pivot + 1>(t[pivot][0]);
    const Vec next = lane<pivot + 1>(t[pivot + 1][0]) + beside * beside * by;
    eliminate_row<pivot, pivot + 1>(t, by);
    UNROLLED for (int c = 0; c < some; ++c) t[pivot][c] *= scale;
    eliminate<pivot + 1>(t, next, roots);
  } else {
    UNROLLED for (int c = 0; c < some; ++c) t[pivot][c] *= scale;
  }
}

// The same where the triangle is known: its rows at `known`, and the inverses of its diagonal at `roots`.
template <int rows, int some>
INLINED void eliminate_known(Vec (&t)[rows][some], const double* known, int stride, const double* roots) {
  UNROLLED for (int i = 0; i < rows; ++i) {
    UNROLLED for (int c = 0; c < some; ++c) t[i][c] *= roots[i];
    UNROLLED for (int r = i + 1; r < rows; ++r) {
      UNROLLED for (int c = 0; c < some; ++c) t[r][c] -= t[i][c] * known[i * stride + r];
    }
  }
}
