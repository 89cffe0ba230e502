// Lanes are nodes: the matrices of one node, from the value of the next one to its own.

// Rows of accelerations are eliminated kWidth at a time. This is one tile of them, `column` vectors from the left.
struct PanelTile {
  const NodesRoom& r;
  const double* jacobian;
  double *factor, *inverse;
  int row, column;
  bool torques;

  template <int rows, int some>
  void run() const {
    const int width = r.width, at = column * kWidth;
    Vec t[rows][some], m[rows], by[rows];
    UNROLLED for (int i = 0; i < rows; ++i) {
      UNROLLED for (int c = 0; c < some; ++c) t[i][c] = vec(r.start + (row + i) * width + at + c * kWidth);
    }
    if (torques) add_product<rows, some>(t, {jacobian + row, r.scaled + at, 3 * r.block, 3 * r.block, r.n});
    add_product<rows, some>(t, {r.multipliers + row, r.upper + at, r.block, width, row});
    double* const known = r.multipliers + row * r.block + row;
    if (at == row) {
      eliminate<0>(t, m, by);
      UNROLLED for (int i = 0; i < rows; ++i) {
        vec(known + i * r.block) = m[i];
        inverse[row + i] = by[i][0];
      }
    } else {
      eliminate_known<rows, some>(t, known, r.block);
      UNROLLED for (int i = 0; i < rows; ++i) by[i] = spread(inverse[row + i]);
    }
    UNROLLED for (int c = 0; c < some; ++c) {
      const bool state = at + c * kWidth >= r.block;
      UNROLLED for (int i = 0; i < rows; ++i) {
        const int place = (row + i) * width + at + c * kWidth;
        vec(r.upper + place) = t[i][c];
        if (state) vec(factor + place) = t[i][c] * by[i];
        else if (c > 0 || at != row) vec(r.multipliers + (row + i) * r.block + at + c * kWidth) = t[i][c] * by[i];
      }
    }
  }
};

// The inverse of the unit triangle: what elimination makes of the unit matrix, up to the columns of `row`.
struct InverseTile {
  const NodesRoom& r;
  double* factor;
  int row, column;

  template <int rows, int some>
  void run() const {
    const int at = column * kWidth;
    Vec t[rows][some];
    UNROLLED for (int i = 0; i < rows; ++i) {
      UNROLLED for (int c = 0; c < some; ++c) t[i][c] = at + c * kWidth == row ? vec(r.unit + i * kWidth) : Vec{};
    }
    add_product<rows, some>(
        t, {r.multipliers + at * r.block + row, factor + at * r.width + at, r.block, r.width, row - at});
    eliminate_known<rows, some>(t, r.multipliers + row * r.block + row, r.block);
    UNROLLED for (int i = 0; i < rows; ++i) {
      UNROLLED for (int c = 0; c < some; ++c) vec(factor + (row + i) * r.width + at + c * kWidth) = t[i][c];
    }
  }
};

static void eliminate_accelerations(const NodesRoom& r, const double* jacobian, double* factor, double* inverse) {
  const int vectors = r.block / kWidth, all = r.width / kWidth;
  for (int row = 0; row < r.n; row += kWidth) {
    const int rows = r.n - row < kWidth ? r.n - row : kWidth;
    for (int c = row / kWidth, some; c < all; c += some) {
      const bool torques = c < 3 * vectors;  // they know nothing of accelerations before
      some = next_vectors((torques ? 3 * vectors : all) - c);
      sized<kWidth, kTileVectors>(rows, some, PanelTile{r, jacobian, factor, inverse, row, c, torques});
    }
    for (int c = 0, some; c * kWidth <= row; c += some) {
      some = next_vectors(row / kWidth + 1 - c);
      sized<kWidth, kTileVectors>(rows, some, InverseTile{r, factor, row, c});
    }
  }
}

// The lower tiles of a symmetric matrix from the upper.
static void mirror(double* matrix, int stride, int size) {
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
static void fold_states(const NodesRoom& r) {
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
static void start_accelerations(const NodesRoom& r, const double* diagonals, double regularisation) {
  const int block = r.block, stride = 2 * block;
  for (int i = 0; i < r.n; ++i) {
    const double* v = r.value_v + i * stride;
    double* to = r.start + i * r.width;
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
static void start_jerk(const NodesRoom& r, const double* diagonals) {
  const int block = r.block, stride = 3 * block;
  for (int i = 0; i < r.n; ++i) {
    const double* from = r.value_before + i * stride;
    double* to = r.start + i * r.width;
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
      UNROLLED for (int k = 0; k < kWidth; ++k) vec(r.start + (i + k) * r.width + j) += r.dt * other[k];
    }
  }
}

// The value of a node: rows of v over [v | q], of q over q, of the acceleration before over all three.
static void update_value(const Shape& shape, const NodesRoom& r, const double* jacobian, const double* tasks,
                         const double* diagonals, const double* factor, bool last) {
  const int block = r.block, vectors = block / kWidth, width = r.width, wide = r.task_width;
  const int q_tasks = wide - block;  // where q stands in a task's row
  for (int row = 0; row < r.n; row += kWidth) {
    const int rows = r.n - row < kWidth ? r.n - row : kWidth, done = row / kWidth;
    for (int b = 1; b <= 2; ++b) {
      Product products[3];
      int count = 0;
      if (!last) {
        const int at = b * block + row;
        products[count++] = {jacobian + at, r.scaled + at, 3 * block, 3 * block, r.n};
        products[count++] = {factor + at, r.upper + at, width, width, r.n};
      }
      if (shape.rows > 0 && (b == 2 || shape.row_velocity)) {
        const int at = (b == 2 ? q_tasks : 0) + row;
        products[count++] = {tasks + at, r.scaled_tasks + at, wide, wide, shape.rows};
      }
      const int stride = (3 - b) * block;
      double* const to = (b == 1 ? r.value_v : r.value_q) + row * stride + row;
      const Tile tile = {last ? nullptr : to, stride, diagonals + b * block + row, to, stride};
      fill_rows(tile, r.unit, products, count, rows, (3 - b) * vectors - done);
    }
    if (!shape.jerk) continue;
    double* const to = r.value_before + row * 3 * block;
    Product p = {factor + 3 * block + row, r.upper + block, width, width, last ? 0 : r.n};
    fill_rows({nullptr, 0, nullptr, to, 3 * block}, r.unit, &p, 1, rows, 2 * vectors);
    p.right = r.upper + 3 * block + row;
    fill_rows({nullptr, 0, last ? nullptr : diagonals + 3 * block + row, to + 2 * block + row, 3 * block}, r.unit, &p, 1,
              rows, vectors - done);
  }
}
