// Lanes are nodes: the matrices of one node, from the value of the next one to its own.

// Rows of accelerations are eliminated kWidth at a time. This is one tile of them, from `column` on.
template <typename Room>
struct PanelTile {
  const Room& r;
  const double* jacobian;
  double* factor;
  int row, column;
  bool torques;

  template <int rows, int some>
  void run() const {
    const int width = r.width();
    double *const to = factor + row * width, *const roots = r.roots + row;
    Vec t[rows][some];
    clear_tile(t);
    if (torques) add_product(t, jacobian + row, jacobian + column, 3 * r.block, r.n);
    add_product<true>(t, factor + row, factor + column, width, row);
    add_tile(t, r.start + row * width + column, width);
    if (column == row) {
      eliminate<0>(t, lane<0>(t[0][0]), roots);
    } else {
      eliminate_known(t, to + row, width, roots);
    }
    store_tile(t, to + column, width);
  }
};

// The inverse of the triangle: what elimination makes of the unit matrix, in vector `column` left of or on the diagonal.
template <typename Room>
struct InverseTile {
  const Room& r;
  double* factor;
  int row, column;

  template <int rows, int some>
  void run() const {
    const int width = r.width();
    double* const to = factor + row * width;
    Vec t[rows][1];
    clear_tile(t);
    if (column == row) {
      UNROLLED for (int i = 0; i < rows; ++i) t[i][0] = vec(r.unit + i * kWidth);
    }
    const double* from = factor + column * width;
    add_product<true>(t, from + row, from + column, width, row - column);
    eliminate_known(t, to + row, width, r.roots + row);
    store_tile(t, to + column, width);
  }
};

template <typename Room>
INLINED void eliminate_accelerations(const Room& r, const double* jacobian, double* factor) {
  for (int row = 0; row < r.n; row += kWidth) {
    const int rows = next_rows(r.n - row);
    for (int column = row, some; column < r.width(); column += some * kWidth) {
      const bool torques = column < 3 * r.block;  // they know nothing of accelerations before
      some = next_vectors(((torques ? 3 * r.block : r.width()) - column) / kWidth);
      sized<kWidth, kTileVectors>(rows, some, PanelTile<Room>{r, jacobian, factor, row, column, torques});
    }
    for (int column = 0; column <= row; column += kWidth) {  // the diagonal last, as it takes the triangle's place
      sized<kWidth, 1>(rows, 1, InverseTile<Room>{r, factor, row, column});
    }
  }
}

// The lower tiles of a symmetric matrix from the upper.
INLINED void mirror(double* matrix, int stride, int size) {
  for (int i = 0; i < size; i += kWidth) {
    for (int j = i + kWidth; j < size; j += kWidth) {
      Vec rows[kWidth];
      UNROLLED for (int k = 0; k < kWidth; ++k) rows[k] = vec(matrix + (i + k) * stride + j);
      transpose(rows);
      UNROLLED for (int k = 0; k < kWidth; ++k) vec(matrix + (j + k) * stride + i) = rows[k];
    }
  }
}

// The value over the next node's (v, q) becomes one over this node's v with its acceleration, and q: v' = v + dt a,
// q' = q + dt v'. Of the symmetric parts, all is there afterwards.
template <typename Room>
INLINED void fold_states(const Room& r) {
  const int block = r.block, stride = 2 * block;
  const double dt = r.dt;
  mirror(r.value_q, block, block);
  for (int i = 0; i < block; i += kWidth) {
    for (int j = i; j < block; j += kWidth) {
      Vec other[kWidth];
      UNROLLED for (int k = 0; k < kWidth; ++k) other[k] = vec(r.value_v + (j + k) * stride + block + i);
      transpose(other);
      UNROLLED for (int k = 0; k < kWidth; ++k) {
        double* const at = r.value_v + (i + k) * stride + j;
        vec(at) += dt * (vec(at + block) + other[k] + dt * vec(r.value_q + (i + k) * block + j));
      }
    }
  }
  mirror(r.value_v, stride, block);
  for (int i = 0; i < r.n; ++i) {
    for (int j = 0; j < block; j += kWidth) vec(r.value_v + i * stride + block + j) += dt * vec(r.value_q + i * block + j);
  }
}

// Rows of accelerations, before torques: what the next node's value says of them, and their own weights.
template <typename Room>
INLINED void start_accelerations(const Room& r, const double* diagonals, double regularisation) {
  const int block = r.block, stride = 2 * block;
  for (int i = 0; i < r.n; ++i) {
    const double* v = r.value_v + i * stride;
    double* to = r.start + i * r.width();
    for (int j = 0; j < block; j += kWidth) {
      const Vec av = r.dt * vec(v + j);
      vec(to + j) = r.dt * av;
      vec(to + block + j) = av;
      vec(to + 2 * block + j) = r.dt * vec(v + block + j);
    }
    const int own = i / kWidth * kWidth;
    vec(to + own) += vec(r.unit + (i - own) * kWidth) * (vec(diagonals + own) + regularisation);
  }
}

// The same of the acceleration before the next node, which is this node's.
template <typename Room>
static void start_jerk(const Room& r, const double* diagonals) {
  const int block = r.block, stride = 3 * block;
  for (int i = 0; i < r.n; ++i) {
    const double* from = r.value_before + i * stride;
    double* to = r.start + i * r.width();
    for (int j = 0; j < block; j += kWidth) {
      const Vec q = vec(from + block + j), v = vec(from + j) + r.dt * q;
      vec(r.before_v + i * block + j) = v;
      vec(to + j) += vec(from + 2 * block + j) + r.dt * v;
      vec(to + block + j) += v;
      vec(to + 2 * block + j) += q;
    }
    const int own = i / kWidth * kWidth;
    vec(to + 3 * block + own) = -vec(r.unit + (i - own) * kWidth) * vec(diagonals + 3 * block + own);
  }
  for (int i = 0; i < block; i += kWidth) {
    for (int j = 0; j < block; j += kWidth) {
      Vec other[kWidth];
      UNROLLED for (int k = 0; k < kWidth; ++k) other[k] = vec(r.before_v + (j + k) * block + i);
      transpose(other);
      UNROLLED for (int k = 0; k < kWidth; ++k) vec(r.start + (i + k) * r.width() + j) += r.dt * other[k];
    }
  }
}

// Rows of the value over v (which == 1) or q (2), from `column` of their own row on.
template <typename Room>
struct ValueTile {
  const Room& r;
  const double *jacobian, *tasks, *diagonals, *factor;
  int which, row, column, task_count;
  bool last;

  template <int rows, int some>
  void run() const {
    const int from = which * r.block, stride = (3 - which) * r.block, width = r.width();
    Vec t[rows][some];
    clear_tile(t);
    if (!last) {
      add_product(t, jacobian + from + row, jacobian + from + column, 3 * r.block, r.n);
    }
    if (task_count > 0) {
      const int at = which == 2 ? r.task_width - r.block : 0;
      add_product(t, tasks + at + row, tasks + at + column, r.task_width, task_count);
    }
    if (column == row) {
      UNROLLED for (int i = 0; i < rows; ++i) t[i][0] += vec(r.unit + i * kWidth) * vec(diagonals + from + row);
    }
    double* const to = (which == 1 ? r.value_v : r.value_q) + row * stride + column;
    if (!last) {
      add_tile(t, to, stride);
      add_product<true>(t, factor + from + row, factor + from + column, width, r.n);
    }
    store_tile(t, to, stride);
  }
};

// Rows of the value over the acceleration before, which stands behind v and q here.
template <typename Room>
struct BeforeTile {
  const Room& r;
  const double *diagonals, *factor;
  int row, column;

  template <int rows, int some>
  void run() const {
    const int width = r.width(), own = 2 * r.block + row;
    Vec t[rows][some];
    clear_tile(t);
    if (column == own) {
      UNROLLED for (int i = 0; i < rows; ++i) t[i][0] = vec(r.unit + i * kWidth) * vec(diagonals + 3 * r.block + row);
    }
    add_product<true>(t, factor + 3 * r.block + row, factor + r.block + column, width, r.n);
    store_tile(t, r.value_before + row * 3 * r.block + column, 3 * r.block);
  }
};

// The value of a node: rows of v over [v | q], of q over q, of the acceleration before over all three.
template <typename Room>
INLINED void update_value(const Shape& shape, const Room& r, const double* jacobian, const double* tasks,
                          const double* diagonals, const double* factor, bool last) {
  for (int row = 0; row < r.n; row += kWidth) {
    const int rows = next_rows(r.n - row);
    UNROLLED for (int which = 1; which <= 2; ++which) {
      const int count = which == 2 || shape.row_velocity ? shape.rows : 0;
      for (int column = row, some; column < (3 - which) * r.block; column += some * kWidth) {
        some = next_vectors(((3 - which) * r.block - column) / kWidth);
        sized<kWidth, kTileVectors>(
            rows, some, ValueTile<Room>{r, jacobian, tasks, diagonals, factor, which, row, column, count, last});
      }
    }
    if (!Room::jerk || last) continue;
    const int own = 2 * r.block + row;
    for (int column = 0, some; column < 3 * r.block; column += some * kWidth) {
      if (column == 2 * r.block) column = own;  // of itself the upper part
      some = next_vectors(((column < 2 * r.block ? 2 : 3) * r.block - column) / kWidth);
      sized<kWidth, kTileVectors>(rows, some, BeforeTile<Room>{r, diagonals, factor, row, column});
    }
  }
  if (!Room::jerk || !last) return;
  for (int j = 0; j < r.n * 3 * r.block; j += kWidth) vec(r.value_before + j) = Vec{};
}
