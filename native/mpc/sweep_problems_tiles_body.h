// Lanes are problems: tiles of one node's matrices. All pointers are at the part of the lanes that is one vector.

// The model's arrays at a node, and where its factors go.
struct LaneNode {
  const double* jacobian[3];  // mass, dv, dq: (n, n)
  const double *torque_weight, *row_dv, *row_dq, *row_weight, *a_weight, *v_weight, *q_weight, *jerk_weight;
  double *factor, *inverse, *offset;
  bool last;
};

// sum += left' right: entries of left (depth, rows) and right (depth, columns); strides in entries. Of a tile on the
// diagonal the upper part alone.
template <bool diagonal, int rows, int columns>
INLINED void add_lanes(Vec (&sum)[rows][columns], const double* left, int left_stride, const double* right,
                       int right_stride, int depth) {
  for (int k = 0; k < depth; ++k, left += left_stride * kLanes, right += right_stride * kLanes) {
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
    const int n = r.n, stride = (3 - which) * n, width = r.width(), wide = r.task_width, at = row * kLanes;
    double* const to = (which == 1 ? r.value_v : r.value_q) + (row * stride + column) * kLanes;
    const int own = (which * n + column) * kLanes;
    Vec t[rows][columns];
    begin_lanes<diagonal>(t, node.last ? nullptr : to, stride, 1.0);
    if (diagonal) add_diagonal(t, (which == 1 ? node.v_weight : node.q_weight) + at);
    if (!node.last) {
      add_lanes<diagonal>(t, node.jacobian[which] + at, n, r.scaled + own, 3 * n, n);
      add_lanes<diagonal>(t, node.factor + which * n * kLanes + at, width, r.upper + own, width, n);
    }
    if (tasks > 0) {
      const double* right = r.scaled_tasks + ((which == 2 ? wide - n : 0) + column) * kLanes;
      add_lanes<diagonal>(t, (which == 1 ? node.row_dv : node.row_dq) + at, n, right, wide, tasks);
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
    const int n = r.n, width = r.width();
    Vec t[rows][columns];
    begin_lanes<diagonal>(t, nullptr, 0, 1.0);
    if (diagonal) add_diagonal(t, node.jerk_weight + row * kLanes);
    add_lanes<diagonal>(t, node.factor + (3 * n + row) * kLanes, width, r.upper + (n + column) * kLanes, width, n);
    store_lanes<diagonal>(t, r.value_before + (row * 3 * n + column) * kLanes, 3 * n);
  }
};

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
    double* const upper = r.upper + (row * width + column) * kLanes;
    double *const factor = node.factor + row * width * kLanes, *const inverse = node.inverse + row * kLanes;
    Vec t[rows][columns];
    if (Room::jerk) {
      begin_lanes<diagonal>(t, r.start + (row * width + column) * kLanes, width, 1.0);
    } else {  // the value itself, which is quicker than a copy of it
      const int from = row * 2 * n + column - (block == 0 ? 0 : n);
      begin_lanes<diagonal>(t, r.value_v + from * kLanes, 2 * n, block == 0 ? r.dt * r.dt : r.dt);
    }
    if (diagonal) add_diagonal(t, weights);
    if (block < 3) {  // no torque knows accelerations before
      add_lanes<diagonal>(t, node.jacobian[0] + row * kLanes, n, r.scaled + column * kLanes, 3 * n, n);
    }
    add_lanes<diagonal>(t, node.factor + row * kLanes, width, r.upper + column * kLanes, width, row);
    UNROLLED for (int i = 0; i < rows; ++i) {
      if (diagonal && i < columns) entry(inverse, i) = -1.0 / t[i][i];
      const Vec by = entry(inverse, i);
      UNROLLED for (int c = 0; c < columns; ++c) {
        if (diagonal && c < i) continue;
        entry(upper, i * width + c) = t[i][c];
        if (!diagonal || c > i) entry(factor, i * width + column + c) = t[i][c] * by;
      }
      UNROLLED for (int below = i + 1; below < rows; ++below) {
        const Vec m = entry(factor, i * width + row + below);
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
