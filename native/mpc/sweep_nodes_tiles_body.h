// Lanes are nodes: tiles of matrices that stay in registers. A tile has `rows` rows of `some` vectors.

// A product left' right, rows of both one below another: left (depth, ...), right (depth, ...).
struct Product {
  const double *left, *right;
  int left_stride, right_stride, depth;
};

template <int rows, int some>
INLINED void add_product(Vec (&sum)[rows][some], const Product& p) {
  const double *left = p.left, *right = p.right;
  for (int k = 0; k < p.depth; ++k, left += p.left_stride, right += p.right_stride) {
    Vec x[some];
    UNROLLED for (int c = 0; c < some; ++c) x[c] = vec(right + c * kWidth);
    UNROLLED for (int i = 0; i < rows; ++i) {
      UNROLLED for (int c = 0; c < some; ++c) sum[i][c] += x[c] * left[i];
    }
  }
}

// Where a tile begins and ends.
struct Tile {
  const double* from;  // null for zero
  int from_stride;
  const double* diagonal;  // of the first vector of the tile, null for none
  double* to;
  int to_stride;
};

template <int rows, int some>
static void fill_tile(const Tile& t, const double* unit, const Product* products, int count) {
  Vec sum[rows][some];
  UNROLLED for (int i = 0; i < rows; ++i) {
    UNROLLED for (int c = 0; c < some; ++c) sum[i][c] = t.from ? vec(t.from + i * t.from_stride + c * kWidth) : Vec{};
  }
  if (t.diagonal) {
    UNROLLED for (int i = 0; i < rows; ++i) sum[i][0] += vec(unit + i * kWidth) * vec(t.diagonal);
  }
  for (int p = 0; p < count; ++p) add_product<rows, some>(sum, products[p]);
  UNROLLED for (int i = 0; i < rows; ++i) {
    UNROLLED for (int c = 0; c < some; ++c) vec(t.to + i * t.to_stride + c * kWidth) = sum[i][c];
  }
}

// Calls f<rows, some> for numbers of rows and vectors that are known at run time only.
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
INLINED int next_vectors(int left) { return left == kTileVectors + 1 ? (left + 1) / 2 : left < kTileVectors ? left : kTileVectors; }

struct FillTile {
  const Tile& tile;
  const double* unit;
  const Product* products;
  int count;
  template <int rows, int some>
  void run() const {
    fill_tile<rows, some>(tile, unit, products, count);
  }
};

// `rows` (at most kWidth) rows of `vectors` vectors, tile by tile; the products' right sides begin where the tile does.
static void fill_rows(Tile tile, const double* unit, Product* products, int count, int rows, int vectors) {
  while (vectors > 0) {
    const int some = next_vectors(vectors);
    sized<kWidth, kTileVectors>(rows, some, FillTile{tile, unit, products, count});
    if (tile.from) tile.from += some * kWidth;
    tile.diagonal = nullptr;
    tile.to += some * kWidth;
    for (int p = 0; p < count; ++p) products[p].right += some * kWidth;
    vectors -= some;
  }
}

// Eliminates row after row of a tile whose first vector holds the diagonal: t becomes upper, and `m` has its rows by
// their pivots, negative.
template <int pivot, int row, int rows, int some>
INLINED void eliminate_row(Vec (&t)[rows][some], const Vec& m) {
  if constexpr (row < rows) {
    const Vec f = lane<row>(m);
    UNROLLED for (int c = 0; c < some; ++c) t[row][c] += f * t[pivot][c];
    eliminate_row<pivot, row + 1>(t, m);
  }
}

template <int pivot, int rows, int some>
INLINED void eliminate(Vec (&t)[rows][some], Vec (&m)[rows], Vec (&inverse)[rows]) {
  if constexpr (pivot < rows) {
    inverse[pivot] = -1.0 / lane<pivot>(t[pivot][0]);
    m[pivot] = t[pivot][0] * inverse[pivot];
    eliminate_row<pivot, pivot + 1>(t, m[pivot]);
    eliminate<pivot + 1>(t, m, inverse);
  }
}

// The same with multipliers that are known, (rows, ...) at `m`.
template <int rows, int some>
INLINED void eliminate_known(Vec (&t)[rows][some], const double* m, int stride) {
  UNROLLED for (int i = 0; i < rows; ++i) {
    UNROLLED for (int r = i + 1; r < rows; ++r) {
      UNROLLED for (int c = 0; c < some; ++c) t[r][c] += t[i][c] * m[i * stride + r];
    }
  }
}
