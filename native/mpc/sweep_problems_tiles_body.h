// Lanes are problems: tiles of one node's matrices. All pointers are at the part of the lanes that is one vector.

// The model's arrays at a node, and where its factors go.
struct LaneNode {
  const double* jacobian[3];  // mass, dv, dq: (n, n)
  const double *torque_weight, *row_dv, *row_dq, *row_weight, *a_weight, *v_weight, *q_weight, *jerk_weight;
  double *factor, *roots, *offset;
  bool last;
};

// sum += left' right (or -=): entries of left (depth, rows) and right (depth, columns); the stride in entries. On the diagonal
// left and right are the same, and the upper part alone is wanted.
template <bool diagonal, bool minus = false, int rows, int columns>
INLINED void add_lanes(Vec (&sum)[rows][columns], const double* left, const double* right, int stride, int depth) {
  for (int k = 0; k < depth; ++k, left += stride * kLanes, right += stride * kLanes) {
    Vec x[columns];
    UNROLLED for (int c = 0; c < columns; ++c) x[c] = entry(right, c);
    UNROLLED for (int i = 0; i < rows; ++i) {
      const Vec y = diagonal && i < columns ? x[i] : entry(left, i);
      UNROLLED for (int c = 0; c < columns; ++c) {
        if (!diagonal || c >= i) sum[i][c] += minus ? -x[c] * y : x[c] * y;
      }
    }
  }
}

template <bool diagonal, int rows, int columns>
INLINED void begin_lanes(Vec (&t)[rows][columns], const double* from, int stride, double by) {
  UNROLLED for (int i = 0; i < rows; ++i) {
    UNROLLED for (int c = 0; c < columns; ++c) {
      if (!diagonal || c >= i) t[i][c] = from ? entry(from, i * stride + c) * by : Vec{};
    }
  }
}

template <bool diagonal, int rows, int columns>
INLINED void store_lanes(const Vec (&t)[rows][columns], double* to, int stride) {
  UNROLLED for (int i = 0; i < rows; ++i) {
    UNROLLED for (int c = 0; c < columns; ++c) {
      if (!diagonal || c >= i) entry(to, i * stride + c) = t[i][c];
    }
  }
}

template <int rows, int columns>
INLINED void add_diagonal(Vec (&t)[rows][columns], const double* weights) {
  UNROLLED for (int i = 0; i < rows && i < columns; ++i) t[i][i] += entry(weights, i);
}

// Rows of the value over v (which == 1) or q (2), from `column` of their own row on.
template <typename Room>
struct LaneValueTile {
  const Room& r;
  const LaneNode& node;
  int which, row, column, tasks;

  template <int rows, int columns, bool diagonal>
  void run() const {
    const int n = r.n, stride = (3 - which) * n, left = (which * n + row) * kLanes, right = (which * n + column) * kLanes;
    double* const to = (which == 1 ? r.value_v : r.value_q) + (row * stride + column) * kLanes;
    Vec t[rows][columns];
    begin_lanes<diagonal>(t, node.last ? nullptr : to, stride, 1.0);
    if (diagonal) add_diagonal(t, (which == 1 ? node.v_weight : node.q_weight) + row * kLanes);
    if (!node.last) {
      add_lanes<diagonal>(t, r.jacobian + left, r.jacobian + right, 3 * n, n);
      add_lanes<diagonal, true>(t, node.factor + left, node.factor + right, r.width(), n);
    }
    if (tasks > 0) {
      const double* from = r.tasks + (which == 2 ? r.task_width - n : 0) * kLanes;
      add_lanes<diagonal>(t, from + row * kLanes, from + column * kLanes, r.task_width, tasks);
    }
    store_lanes<diagonal>(t, to, stride);
  }
};

// Rows of the value over the acceleration before, which stands behind v and q here.
template <typename Room>
struct LaneBeforeTile {
  const Room& r;
  const LaneNode& node;
  int row, column;

  template <int rows, int columns, bool diagonal>
  void run() const {
    const int n = r.n;
    const double *left = node.factor + (3 * n + row) * kLanes, *right = node.factor + (n + column) * kLanes;
    Vec t[rows][columns];
    begin_lanes<diagonal>(t, nullptr, 0, 1.0);
    if (diagonal) add_diagonal(t, node.jerk_weight + row * kLanes);
    add_lanes<diagonal, true>(t, left, right, r.width(), n);
    store_lanes<diagonal>(t, r.value_before + (row * 3 * n + column) * kLanes, 3 * n);
  }
};

// A tile on the diagonal becomes Cholesky's triangle, with the inverses of its diagonal at `roots`.
template <int rows>
INLINED void eliminate_diagonal(Vec (&t)[rows][rows], double* roots) {
  UNROLLED for (int i = 0; i < rows; ++i) {
    const Vec by = -1.0 / t[i][i], scale = root(-by);
    entry(roots, i) = scale;
    UNROLLED for (int r = i + 1; r < rows; ++r) {
      const Vec f = t[i][r] * by;
      UNROLLED for (int c = r; c < rows; ++c) t[r][c] += f * t[i][c];
    }
    UNROLLED for (int c = i + 1; c < rows; ++c) t[i][c] *= scale;
  }
}

// Columns right of it.
template <int rows, int columns>
INLINED void eliminate_beside(Vec (&t)[rows][columns], const double* known, int stride, const double* roots) {
  UNROLLED for (int i = 0; i < rows; ++i) {
    const Vec scale = entry(roots, i);
    UNROLLED for (int c = 0; c < columns; ++c) t[i][c] *= scale;
    UNROLLED for (int r = i + 1; r < rows; ++r) {
      const Vec f = entry(known, i * stride + r);
      UNROLLED for (int c = 0; c < columns; ++c) t[r][c] -= f * t[i][c];
    }
  }
}

// Part of the rows of a, from `row` on, whose first column is `column` of [a | v | q | a before].
template <typename Room>
struct LanePanelTile {
  const Room& r;
  const LaneNode& node;
  const double* weights;  // of a, with all that is added to them
  int row, column;

  template <int rows, int columns, bool diagonal>
  void run() const {
    const int n = r.n, width = r.width(), block = column / n;
    double *const to = node.factor + row * width * kLanes, *const roots = node.roots + row * kLanes;
    Vec t[rows][columns];
    if (Room::jerk) {
      begin_lanes<diagonal>(t, r.start + (row * width + column) * kLanes, width, 1.0);
    } else {  // the value itself, which is quicker than a copy of it
      const int from = row * 2 * n + column - (block == 0 ? 0 : n);
      begin_lanes<diagonal>(t, r.value_v + from * kLanes, 2 * n, block == 0 ? r.dt * r.dt : r.dt);
    }
    if (diagonal) add_diagonal(t, weights);
    if (block < 3) {  // no torque knows accelerations before
      add_lanes<diagonal>(t, r.jacobian + row * kLanes, r.jacobian + column * kLanes, 3 * n, n);
    }
    add_lanes<diagonal, true>(t, node.factor + row * kLanes, node.factor + column * kLanes, width, row);
    if constexpr (diagonal) eliminate_diagonal(t, roots);
    else eliminate_beside(t, to + row * kLanes, width, roots);
    store_lanes<diagonal>(t, to + column * kLanes, width);
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
