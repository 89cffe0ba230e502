// Lanes are problems: one node, eliminated and added up. All pointers are at the part of the lanes that is one vector.

// The model's arrays at a node, and where its factors go.
struct LaneNode {
  const double* jacobian[3];  // mass, dv, dq: (n, n)
  const double *torque_weight, *row_dv, *row_dq, *row_weight, *a_weight, *v_weight, *q_weight, *jerk_weight;
  double *factor, *inverse, *offset;
  bool last;
};

template <typename Room>
INLINED LaneNode lane_node(const Shape& shape, const Room& r, const Quadratic& m, int node, int first) {
  const long line = static_cast<long>(node) * shape.nv * kLanes + first, square = line + (line - first) * (shape.nv - 1);
  const long task = static_cast<long>(node) * shape.rows * kLanes + first;
  const long tasks = (task - first) * shape.nv + first;
  const bool last = node == shape.horizon;
  const long kept = last ? 0 : line - first;
  LaneNode at;
  at.jacobian[0] = m.torque_mass + square;
  at.jacobian[1] = m.torque_dv + square;
  at.jacobian[2] = m.torque_dq + square;
  at.torque_weight = m.torque_weight + line;
  at.row_dv = shape.row_velocity ? m.row_dv + tasks : nullptr;
  at.row_dq = shape.rows > 0 ? m.row_dq + tasks : nullptr;
  at.row_weight = shape.rows > 0 ? m.row_weight + task : nullptr;
  at.a_weight = m.a_weight + line;
  at.v_weight = m.v_weight + line;
  at.q_weight = m.q_weight + line;
  at.jerk_weight = Room::jerk ? m.jerk_weight + line : nullptr;
  at.factor = r.factors + kept * r.width();
  at.inverse = r.inverses + kept;
  at.offset = r.offsets + kept;
  at.last = last;
  return at;
}

// to[i, j] = weights[i] * from[i, j] for `count` entries of each row.
INLINED void scale_lanes(const double* from, const double* weights, int rows, int count, double* to, int stride) {
  for (int i = 0; i < rows; ++i) {
    const Vec w = entry(weights, i);
    for (int j = 0; j < count; ++j) entry(to, i * stride + j) = entry(from, i * count + j) * w;
  }
}

template <typename Room>
INLINED void eliminate_lanes(const Room& r, const LaneNode& node, const Vec& regularisation) {
  const int n = r.n;
  double weights[kTileRows * kLanes] __attribute__((aligned(64)));
  for (int row = 0, rows; row < n; row += rows) {
    rows = lane_rows(n - row);
    for (int i = 0; i < rows; ++i) {
      entry(weights, i) = entry(node.a_weight, row + i) + regularisation;
      if (Room::jerk) entry(weights, i) += entry(node.jerk_weight, row + i);
    }
    for (int b = 0; b * n < r.width(); ++b) {
      for (int c = b == 0 ? row : 0, columns; c < n; c += columns) {
        const bool on = b == 0 && c == row;
        columns = on ? rows : lane_columns(n - c);
        LaneTile tile = {r.start + (row * r.width() + b * n + c) * kLanes, r.width(), 1.0, nullptr, 0};
        if (!Room::jerk) {  // a tile of the value, which is quicker than a copy of it
          tile.from = r.value_v + (row * 2 * n + (b == 2 ? n : 0) + c) * kLanes;
          tile.from_stride = 2 * n;
          tile.by = b == 0 ? r.dt * r.dt : r.dt;
        }
        const int depth = b < 3 ? n : 0;  // no torque knows accelerations before
        const LaneProduct torques = {node.jacobian[0] + row * kLanes, r.scaled + (b * n + c) * kLanes, n, 3 * n, depth};
        const LanePanelTile<Room> panel = {r, tile, torques, weights, node.factor, node.inverse, row, b * n + c};
        if (on) lane_sized<kTileRows, kTileRows, true>(rows, columns, panel);
        else lane_sized<kTileRows, kTileColumns, false>(rows, columns, panel);
      }
    }
  }
}

// One row block of the value: columns from `from` to `end` entries right of `to`, the first tile on the diagonal or not.
INLINED void value_lanes(LaneTile tile, LaneProduct* products, int count, int rows, int columns, const double* weights,
                        bool on) {
  for (int c = 0, some; c < columns; c += some, on = false) {
    some = on ? rows : lane_columns(columns - c);
    const LaneValueTile f = {tile, weights, products, count};
    if (on) lane_sized<kTileRows, kTileRows, true>(rows, some, f);
    else lane_sized<kTileRows, kTileColumns, false>(rows, some, f);
    if (tile.from) tile.from += some * kLanes;
    tile.to += some * kLanes;
    for (int p = 0; p < count; ++p) products[p].right += some * kLanes;
  }
}

// Rows of v over [v | q] (which == 1) or of q over q (2).
template <typename Room>
INLINED void value_of_states(const Shape& shape, const Room& r, const LaneNode& node, int which, int row,
                            int rows) {
  const int n = r.n, stride = (3 - which) * n, wide = shape.row_velocity ? 2 * n : n, at = which * n + row;
  LaneProduct products[3];
  int count = 0;
  if (!node.last) {
    products[count++] = {node.jacobian[which] + row * kLanes, r.scaled + at * kLanes, n, 3 * n, n};
    products[count++] = {node.factor + at * kLanes, r.upper + at * kLanes, r.width(), r.width(), n};
  }
  if (shape.rows > 0 && (which == 2 || shape.row_velocity)) {
    const double* left = (which == 1 ? node.row_dv : node.row_dq) + row * kLanes;
    const double* right = r.scaled_tasks + ((which == 2 ? wide - n : 0) + row) * kLanes;
    products[count++] = {left, right, n, wide, shape.rows};
  }
  double* const to = (which == 1 ? r.value_v : r.value_q) + (row * stride + row) * kLanes;
  const double* weights = (which == 1 ? node.v_weight : node.q_weight) + row * kLanes;
  value_lanes({node.last ? nullptr : to, stride, 1.0, to, stride}, products, count, rows, stride - row, weights, true);
}

// Rows of the acceleration before: over [v | q], and over itself.
template <typename Room>
INLINED void value_of_before(const Room& r, const LaneNode& node, int row, int rows) {
  const int n = r.n, stride = 3 * n;
  double* const to = r.value_before + row * stride * kLanes;
  LaneProduct p = {node.factor + (3 * n + row) * kLanes, r.upper + n * kLanes, r.width(), r.width(), node.last ? 0 : n};
  value_lanes({nullptr, 0, 1.0, to, stride}, &p, 1, rows, 2 * n, nullptr, false);
  p.right = r.upper + (3 * n + row) * kLanes;
  const double* weights = node.last ? nullptr : node.jerk_weight + row * kLanes;
  value_lanes({nullptr, 0, 1.0, to + (2 * n + row) * kLanes, stride}, &p, 1, rows, n - row, weights, true);
}

template <typename Room>
INLINED void lane_matrices(const Shape& shape, const Room& r, const LaneNode& node, const Vec& regularisation) {
  const int n = r.n, wide = shape.row_velocity ? 2 * n : n;
  if (shape.row_velocity) scale_lanes(node.row_dv, node.row_weight, shape.rows, n, r.scaled_tasks, wide);
  scale_lanes(node.row_dq, node.row_weight, shape.rows, n, r.scaled_tasks + (wide - n) * kLanes, wide);
  if (!node.last) {
    for (int b = 0; b < 3; ++b) {
      scale_lanes(node.jacobian[b], node.torque_weight, n, n, r.scaled + b * n * kLanes, 3 * n);
    }
    fold_lanes(r);
    if (Room::jerk) start_lanes(r, node.jerk_weight);
    eliminate_lanes(r, node, regularisation);
    for (int i = 0; i < n; ++i) {
      const Vec x = entry(node.inverse, i), zero = {};
      const auto sound = (x < 0.0) & (x > -kHuge);
      entry(r.sound, 0) += sound ? zero : zero / zero;
    }
  }
  for (int row = 0, rows; row < n; row += rows) {
    rows = lane_rows(n - row);
    value_of_states(shape, r, node, 1, row, rows);
    value_of_states(shape, r, node, 2, row, rows);
    if (Room::jerk) value_of_before(r, node, row, rows);
  }
}
