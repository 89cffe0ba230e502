// Lanes are problems: one node, eliminated and added up. All pointers are at the part of the lanes that is one vector.

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
  at.roots = r.roots + kept;
  at.offset = r.offsets + kept;
  at.last = last;
  return at;
}

// to[i, j] = from[i, j] times the root of weights[i], for `count` entries of each row.
INLINED void scale_lanes(const double* from, const double* weights, int rows, int count, double* to, int stride) {
  for (int i = 0; i < rows; ++i) {
    const Vec w = root(entry(weights, i));
    for (int j = 0; j < count; ++j) entry(to, i * stride + j) = entry(from, i * count + j) * w;
  }
}

// The value over the next node's (v, q) becomes one over this node's v with its acceleration, and q. Of the rows of v all is
// there afterwards.
template <typename Room>
INLINED void fold_lanes(const Room& r) {
  const int n = r.n;
  const double dt = r.dt;
  for (int i = 0; i < n; ++i) {
    double* const row = r.value_v + i * 2 * n * kLanes;
    for (int j = i; j < n; ++j) {
      double* const other = r.value_v + j * 2 * n * kLanes;
      const Vec q = dt * entry(r.value_q, i * n + j), low = entry(other, n + i), high = entry(row, n + j) + q;
      const Vec v = entry(row, j) + dt * (low + high);
      entry(row, j) = v;
      entry(other, i) = v;
      entry(row, n + j) = high;
      if (j > i) entry(other, n + i) = low + q;
    }
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
    lane_sized<kTileRows, kTileRows, true>(rows, rows, LanePanelTile<Room>{r, node, weights, row, row});
    for (int block = 0; block < Room::blocks; ++block) {
      for (int c = block == 0 ? row + rows : 0, columns; c < n; c += columns) {
        columns = lane_columns(n - c);
        const LanePanelTile<Room> tile = {r, node, weights, row, block * n + c};
        lane_sized<kTileRows, kTileColumns, false>(rows, columns, tile);
      }
    }
  }
}

template <typename Room>
INLINED void update_lanes(const Shape& shape, const Room& r, const LaneNode& node) {
  const int n = r.n;
  for (int row = 0, rows; row < n; row += rows) {
    rows = lane_rows(n - row);
    for (int which = 1; which <= 2; ++which) {
      const int tasks = which == 2 || shape.row_velocity ? shape.rows : 0;
      lane_sized<kTileRows, kTileRows, true>(rows, rows, LaneValueTile<Room>{r, node, which, row, row, tasks});
      for (int c = row + rows, columns; c < (3 - which) * n; c += columns) {
        columns = lane_columns((3 - which) * n - c);
        const LaneValueTile<Room> tile = {r, node, which, row, c, tasks};
        lane_sized<kTileRows, kTileColumns, false>(rows, columns, tile);
      }
    }
    if (!Room::jerk || node.last) continue;
    lane_sized<kTileRows, kTileRows, true>(rows, rows, LaneBeforeTile<Room>{r, node, row, 2 * n + row});
    for (int c = 0, columns; c < 3 * n; c += columns) {
      if (c == 2 * n) c += row + rows;  // of itself the upper part
      if (c >= 3 * n) break;
      columns = lane_columns((c < 2 * n ? 2 : 3) * n - c);
      lane_sized<kTileRows, kTileColumns, false>(rows, columns, LaneBeforeTile<Room>{r, node, row, c});
    }
  }
  if (!Room::jerk || !node.last) return;
  for (int j = 0; j < n * 3 * n; ++j) entry(r.value_before, j) = Vec{};
}

template <typename Room>
INLINED void lane_matrices(const Shape& shape, const Room& r, const LaneNode& node, const Vec& regularisation) {
  const int n = r.n, wide = r.task_width;
  if (shape.row_velocity) scale_lanes(node.row_dv, node.row_weight, shape.rows, n, r.tasks, wide);
  scale_lanes(node.row_dq, node.row_weight, shape.rows, n, r.tasks + (wide - n) * kLanes, wide);
  if (!node.last) {
    for (int b = 0; b < 3; ++b) {
      scale_lanes(node.jacobian[b], node.torque_weight, n, n, r.jacobian + b * n * kLanes, 3 * n);
    }
    fold_lanes(r);
    if (Room::jerk) start_lanes(r, node.jerk_weight);
    eliminate_lanes(r, node, regularisation);
    Vec sound = entry(r.sound, 0);
    const Vec zero = {};
    for (int i = 0; i < n; ++i) {
      const Vec x = entry(node.roots, i);
      sound += (x > 0.0) & (x <= kHuge) ? zero : zero / zero;
    }
    entry(r.sound, 0) = sound;
  }
  update_lanes(shape, r, node);
}
