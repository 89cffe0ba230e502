// Lanes are problems: the matrices of one node. All pointers are at the part of the lanes that is one vector.

// A product left' right: entries of left (depth, ...) and right (depth, ...); strides in entries.
struct LaneProduct {
  const double *left, *right;
  int left_stride, right_stride, depth;
};

// Of a tile on the diagonal the upper part alone.
template <int rows, int columns, bool diagonal>
INLINED void add_lanes(Vec (&sum)[rows][columns], const LaneProduct& p) {
  const double *left = p.left, *right = p.right;
  for (int k = 0; k < p.depth; ++k, left += p.left_stride * kLanes, right += p.right_stride * kLanes) {
    Vec x[columns];
    UNROLLED for (int c = 0; c < columns; ++c) x[c] = entry(right, c);
    UNROLLED for (int i = 0; i < rows; ++i) {
      const Vec y = entry(left, i);
      UNROLLED for (int c = 0; c < columns; ++c) {
        if (!diagonal || c >= i) sum[i][c] += x[c] * y;
      }
    }
  }
}

// Where a tile begins (times a factor; null for zero) and ends; strides in entries.
struct LaneTile {
  const double* from;
  int from_stride;
  double by;
  double* to;
  int to_stride;
};

template <int rows, int columns>
INLINED void begin_lanes(Vec (&t)[rows][columns], const LaneTile& tile) {
  UNROLLED for (int i = 0; i < rows; ++i) {
    UNROLLED for (int c = 0; c < columns; ++c) {
      t[i][c] = tile.from ? entry(tile.from, i * tile.from_stride + c) * tile.by : Vec{};
    }
  }
}

// Part of the value's rows. `weights`: of the diagonal, for tiles on it.
struct LaneValueTile {
  const LaneTile& tile;
  const double* weights;
  const LaneProduct* products;
  int count;

  template <int rows, int columns, bool diagonal>
  void run() const {
    Vec t[rows][columns];
    begin_lanes<rows, columns>(t, tile);
    if (diagonal && weights) {
      UNROLLED for (int i = 0; i < rows && i < columns; ++i) t[i][i] += entry(weights, i);
    }
    for (int p = 0; p < count; ++p) add_lanes<rows, columns, diagonal>(t, products[p]);
    UNROLLED for (int i = 0; i < rows; ++i) {
      UNROLLED for (int c = 0; c < columns; ++c) {
        if (!diagonal || c >= i) entry(tile.to, i * tile.to_stride + c) = t[i][c];
      }
    }
  }
};

// Part of the rows of a, from `row` on, whose first column is `column` of [a | v | q | a before].
template <typename Room>
struct LanePanelTile {
  const Room& r;
  const LaneTile& tile;
  const LaneProduct& torques;
  const double* diagonal_weights;  // of a, with all that is added to them
  double *factor, *inverse;
  int row, column;

  template <int rows, int columns, bool diagonal>
  void run() const {
    Vec t[rows][columns];
    begin_lanes<rows, columns>(t, tile);
    if (diagonal) {
      UNROLLED for (int i = 0; i < rows && i < columns; ++i) t[i][i] += entry(diagonal_weights, i);
    }
    add_lanes<rows, columns, diagonal>(t, torques);
    const int at = row * kLanes, to = column * kLanes;
    add_lanes<rows, columns, diagonal>(t, {factor + at, r.upper + to, r.width(), r.width(), row});
    UNROLLED for (int i = 0; i < rows; ++i) {
      double* const f = factor + (row + i) * r.width() * kLanes;
      if (diagonal && i < columns) entry(inverse, row + i) = -1.0 / t[i][i];
      const Vec by = entry(inverse, row + i);
      UNROLLED for (int c = 0; c < columns; ++c) {
        if (diagonal && c < i) continue;
        entry(r.upper, (row + i) * r.width() + column + c) = t[i][c];
        if (!diagonal || c > i) entry(f, column + c) = t[i][c] * by;
      }
      UNROLLED for (int below = i + 1; below < rows; ++below) {
        const Vec m = entry(f, row + below);
        UNROLLED for (int c = 0; c < columns; ++c) {
          if (!diagonal || c >= below) t[below][c] += t[i][c] * m;
        }
      }
    }
  }
};

// Calls f.run<rows, columns, diagonal> for sizes that are known at run time only.
template <int rows, int columns, bool diagonal, typename Function>
INLINED void lane_sized(int actual_rows, int actual_columns, const Function& f) {
  if constexpr (rows == 0 || columns == 0) {
    (void)actual_rows, (void)actual_columns, (void)f;
  } else if (actual_rows < rows) {
    lane_sized<rows - 1, diagonal ? rows - 1 : columns, diagonal>(actual_rows, actual_columns, f);
  } else if (!diagonal && actual_columns < columns) {
    lane_sized<rows, diagonal ? columns : columns - 1, diagonal>(actual_rows, actual_columns, f);
  } else {
    f.template run<rows, columns, diagonal>();
  }
}

INLINED int lane_rows(int left) { return left < kTileRows ? left : kTileRows; }
INLINED int lane_columns(int left) { return left < kTileColumns ? left : kTileColumns; }

// The value over the next node's (v, q) becomes one over this node's v with its acceleration, and q.
template <typename Room>
INLINED void fold_lanes(const Room& r) {
  const int n = r.n;
  const double dt = r.dt;
  for (int i = 0; i < n; ++i) {
    for (int j = i; j < n; ++j) {
      const Vec q = entry(r.value_q, i * n + j);
      const Vec cross = entry(r.value_v, i * 2 * n + n + j) + entry(r.value_v, j * 2 * n + n + i);
      const Vec v = entry(r.value_v, i * 2 * n + j) + dt * (cross + dt * q);
      entry(r.value_q, j * n + i) = q;
      entry(r.value_v, i * 2 * n + j) = v;
      entry(r.value_v, j * 2 * n + i) = v;
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) entry(r.value_v, i * 2 * n + n + j) += dt * entry(r.value_q, i * n + j);
  }
}

// Rows of a before torques come in, with jerk: the acceleration before the next node is this node's.
template <typename Room>
INLINED void start_lanes(const Room& r, const double* jerk_weight) {
  const int n = r.n, wide = 3 * n;
  const double dt = r.dt;
  for (int i = 0; i < n; ++i) {
    double *before = r.value_before + i * wide * kLanes, *to = r.start + i * r.width() * kLanes;
    for (int j = 0; j < n; ++j) {
      const Vec q = entry(before, n + j), v = entry(before, j) + dt * q;
      entry(before, j) = v;
      entry(to, n + j) = dt * entry(r.value_v, i * 2 * n + j) + v;
      entry(to, 2 * n + j) = dt * entry(r.value_v, i * 2 * n + n + j) + q;
    }
    entry(to, 3 * n + i) = -entry(jerk_weight, i);
  }
  for (int i = 0; i < n; ++i) {
    for (int j = i; j < n; ++j) {
      const Vec cross = entry(r.value_before, i * wide + j) + entry(r.value_before, j * wide + i);
      entry(r.start, i * r.width() + j) = dt * (dt * entry(r.value_v, i * 2 * n + j) + cross) +
                                        entry(r.value_before, i * wide + 2 * n + j);
    }
  }
}
