// Lanes are nodes: the sweep back, node by node, and forth.

// Rows (count, nv) of a group of nodes out of lane order, times the roots of their weights.
template <typename Room>
INLINED void take_rows(const Room& r, const double* from, const double* weights, int count, int width, double* to) {
  for (int i = 0; i < count; ++i) {
    double by[kLanes] __attribute__((aligned(64)));
    for (int l = 0; l < kLanes; l += kWidth) vec(by + l) = root(vec(weights + i * kLanes + l));
    to_rows(from + i * r.n * kLanes, r.n, by, to + i * width, count * width);
  }
}

template <typename Room>
static void take_group(const Shape& shape, const Room& r, const Quadratic& m, int group) {
  const int n = r.n, block = r.block, wide = r.task_width;
  const long at = static_cast<long>(group) * n * kLanes, task = static_cast<long>(group) * shape.rows * kLanes;
  take_rows(r, m.torque_mass + at * n, m.torque_weight + at, n, 3 * block, r.jacobian);
  take_rows(r, m.torque_dv + at * n, m.torque_weight + at, n, 3 * block, r.jacobian + block);
  take_rows(r, m.torque_dq + at * n, m.torque_weight + at, n, 3 * block, r.jacobian + 2 * block);
  if (shape.row_velocity) take_rows(r, m.row_dv + task * n, m.row_weight + task, shape.rows, wide, r.tasks);
  if (shape.rows > 0) take_rows(r, m.row_dq + task * n, m.row_weight + task, shape.rows, wide, r.tasks + wide - block);
  to_rows(m.a_weight + at, n, nullptr, r.diagonals, r.width());
  to_rows(m.v_weight + at, n, nullptr, r.diagonals + block, r.width());
  to_rows(m.q_weight + at, n, nullptr, r.diagonals + 2 * block, r.width());
  if (!Room::jerk) return;
  to_rows(m.jerk_weight + at, n, nullptr, r.diagonals + 3 * block, r.width());
  for (int l = 0; l < kLanes; ++l) {
    double* const row = r.diagonals + l * r.width();
    for (int j = 0; j < block; j += kWidth) vec(row + j) += vec(row + 3 * block + j);
  }
}

template <typename Room>
static void take_pulls(const Shape& shape, const Room& r, const Quadratic& m, int group, bool last) {
  const int line = r.n * kLanes;
  pull_back(shape, m, group, last, r.lanes);
  for (int b = last ? 1 : 0; b < (last || !Room::jerk ? 3 : 4); ++b) {
    to_rows(r.lanes + b * line, r.n, nullptr, r.pulls + b * r.block, r.width());
  }
}

// Rows below the last of the value: NaN of a problem before, if any.
template <typename Room>
static void clear_padding(const Room& r) {
  for (int j = 2 * r.n * r.block; j < 2 * r.block * r.block; j += kWidth) vec(r.value_v + j) = Vec{};
  for (int j = r.n * r.block; j < r.block * r.block; j += kWidth) vec(r.value_q + j) = Vec{};
}

// Returns false where a pivot was not positive.
template <typename Room>
static bool node_matrices(const Shape& shape, const Room& r, int node, double regularisation) {
  const int n = r.n, lane = node % kLanes;
  const bool last = node == shape.horizon;
  const double* jacobian = r.jacobian + lane * n * 3 * r.block;
  const double* tasks = r.tasks + lane * shape.rows * r.task_width;
  const double* diagonals = r.diagonals + lane * r.width();
  double* factor = r.factors + (last ? 0 : static_cast<long>(node) * n * r.width());
  bool fine = true;
  if (!last) {
    fold_states(r);
    start_accelerations(r, diagonals, regularisation);
    if (Room::jerk) start_jerk(r, diagonals);
    eliminate_accelerations(r, jacobian, factor);
    for (int i = 0; i < n; ++i) fine = fine & (r.roots[i] > 0.0) & (r.roots[i] <= kHuge);
  } else {
    clear_padding(r);
  }
  update_value(shape, r, jacobian, tasks, diagonals, factor, last);
  return fine;
}

// out = -matrix * x, rows of `columns` numbers, or those up to the diagonal's vector for a lower triangle; out in whole vectors.
template <bool triangle>
INLINED void multiply_rows(const double* matrix, int width, int n, int columns, const double* x, double* out) {
  for (int i = 0; i < n; i += kWidth) {
    Vec rows[kWidth];
    UNROLLED for (int k = 0; k < kWidth; ++k) {
      rows[k] = Vec{};
      if (i + k >= n) continue;
      const double* row = matrix + (i + k) * width;
      for (int j = 0; j < (triangle ? i + kWidth : columns); j += kWidth) rows[k] -= vec(row + j) * vec(x + j);
    }
    vec(out + i) = sums(rows);
  }
}

// to[j] += sum_i matrix[i][j] * x[i], over `columns` numbers; of a lower triangle from the diagonal's vector on.
template <bool triangle>
INLINED void add_rows(const double* matrix, int width, int n, int columns, const double* x, double* to) {
  for (int j = 0; j < columns; j += kWidth) {
    Vec even = vec(to + j), odd = {};
    int i = triangle ? j : 0;
    for (; i + 1 < n; i += 2) {
      even += vec(matrix + i * width + j) * x[i];
      odd += vec(matrix + (i + 1) * width + j) * x[i + 1];
    }
    if (i < n) even += vec(matrix + i * width + j) * x[i];
    vec(to + j) = even + odd;
  }
}

template <typename Room>
static void node_vectors(const Shape& shape, const Room& r, int node) {
  const int block = r.block;
  const double* pull = r.pulls + node % kLanes * r.width();
  if (node == shape.horizon) {
    for (int j = 0; j < r.states(); j += kWidth) vec(r.value + j) = j < 2 * block ? vec(pull + block + j) : Vec{};
    *r.constant = 0.0;
    return;
  }
  const double* factor = r.factors + static_cast<long>(node) * r.n * r.width();
  double* offset = r.offsets + static_cast<long>(node) * block;
  for (int j = 0; j < block; j += kWidth) {
    const Vec q = vec(r.value + block + j), v = vec(r.value + j) + r.dt * q;
    Vec a = vec(pull + j) + r.dt * v;
    if (Room::jerk) {
      a += vec(r.value + 2 * block + j);
      vec(r.value + 2 * block + j) = vec(pull + 3 * block + j);
    }
    vec(r.slope + j) = a;
    vec(r.value + j) = vec(pull + block + j) + v;
    vec(r.value + block + j) = vec(pull + 2 * block + j) + q;
  }
  multiply_rows<true>(factor, r.width(), r.n, block, r.slope, offset);
  add_rows<false>(factor + block, r.width(), r.n, r.states(), offset, r.value);
  Vec sum = {};
  for (int j = 0; j < block; j += kWidth) sum += vec(offset + j) * vec(offset + j);
  *r.constant -= total(sum);
}

template <typename Room>
static void nodes_back(const Shape& shape, const Quadratic& model, const double* regularisation, bool matrices,
                       double* memory, bool* ok) {
  const Room r(shape, memory, nullptr);
  bool fine = true;
  for (int node = shape.horizon; node >= 0 && fine; --node) {
    const bool last = node == shape.horizon;
    const int group = node / kLanes;
    if (last || node % kLanes == kLanes - 1) {
      if (matrices) take_group(shape, r, model, group);
    }
    if (last || node == shape.horizon - 1 || node % kLanes == kLanes - 1) take_pulls(shape, r, model, group, last);
    if (matrices) fine = node_matrices(shape, r, node, *regularisation);
    if (fine) node_vectors(shape, r, node);
  }
  if (matrices) {
    const int size = r.block * r.block;
    for (int i = 0; i < 2 * size; i += kWidth) vec(r.first_v + i) = vec(r.value_v + i);
    for (int i = 0; i < size; i += kWidth) vec(r.first_q + i) = vec(r.value_q + i);
  }
  *ok = *ok && fine;
}

// Gains of node 0: rows of accelerations over (q, v).
template <typename Room>
static void nodes_gains(const Room& r, double* gains) {
  const int n = r.n, block = r.block, width = r.width();
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < 2 * block; j += kWidth) {
      Vec sum = {};
      for (int k = i; k < n; ++k) sum -= vec(r.factors + k * width + block + j) * r.factors[k * width + i];
      vec(r.start + j) = sum;  // the first row of it, which begins anew with every node
    }
    for (int j = 0; j < n; ++j) {
      gains[i * 2 * n + j] = r.start[block + j];
      gains[i * 2 * n + n + j] = r.start[j];
    }
  }
}

// x' P x of node 0, and its gradient times x: over the upper tiles, as they are full on the diagonal only.
template <typename Room>
static double first_quadratic(const Room& r, const double* v, const double* q) {
  const int block = r.block;
  double sum = 0.0;
  for (int i = 0; i < r.n; ++i) {
    const double *vrow = r.first_v + i * 2 * block, *qrow = r.first_q + i * block;
    double vv = 0.5 * vrow[i] * v[i], vq = 0.0, qq = 0.5 * qrow[i] * q[i];
    for (int j = i + 1; j < r.n; ++j) vv += vrow[j] * v[j], qq += qrow[j] * q[j];
    for (int j = 0; j < r.n; ++j) vq += vrow[block + j] * q[j];
    sum += 2.0 * (v[i] * (vv + vq) + q[i] * qq);
  }
  return sum;
}

// Accelerations of a node from its state [v | q | a before] and then the next state.
template <typename Room>
static void node_forth(const Room& r, int node, double* state, double* a) {
  const int block = r.block;
  const double* factor = r.factors + static_cast<long>(node) * r.n * r.width();
  const double* offset = r.offsets + static_cast<long>(node) * block;
  multiply_rows<false>(factor + block, r.width(), r.n, r.states(), state, r.solved);
  for (int j = 0; j < block; j += kWidth) {
    vec(r.solved + j) += vec(offset + j);
    vec(a + j) = Vec{};
  }
  add_rows<true>(factor, r.width(), r.n, block, r.solved, a);
  for (int j = 0; j < block; j += kWidth) {
    vec(state + j) += r.dt * vec(a + j);
    vec(state + block + j) += r.dt * vec(state + j);
    if (Room::jerk) vec(state + 2 * block + j) = vec(a + j);
  }
}

template <typename Room>
static void nodes_forth(const Shape& shape, const double* dq0, const double* dv0, const double* regularisation,
                        bool matrices, const Direction& direction, double* memory, bool* ok) {
  const Room r(shape, memory, nullptr);
  const int n = r.n, block = r.block;
  double *state = r.state, along = 0.0;
  for (int j = 0; j < r.states(); j += kWidth) vec(state + j) = Vec{};
  for (int i = 0; i < n; ++i) {
    state[i] = dv0[i];
    state[block + i] = dq0[i];
    along += r.value[i] * dv0[i] + r.value[block + i] * dq0[i];
  }
  direction.slope[0] = along + *r.constant;
  direction.curve[0] = first_quadratic(r, dv0, dq0) - *r.constant;
  if (matrices) nodes_gains(r, direction.gains);
  Vec square = {};
  const int slots = (shape.horizon / kLanes + 1) * kLanes;
  for (int slot = 0; slot < slots; ++slot) {
    double *step = r.steps + slot % kLanes * 3 * block, *a = step + 2 * block;
    for (int j = 0; j < block; j += kWidth) {
      vec(step + j) = vec(state + j);
      vec(step + block + j) = vec(state + block + j);
      vec(a + j) = Vec{};
    }
    if (slot < shape.horizon) node_forth(r, slot, state, a);
    for (int j = 0; j < block; j += kWidth) square += vec(a + j) * vec(a + j);
    if (slot % kLanes < kLanes - 1) continue;
    const long at = static_cast<long>(slot / kLanes) * n * kLanes;
    to_lanes(r.steps, 3 * block, n, direction.dv + at);
    to_lanes(r.steps + block, 3 * block, n, direction.dq + at);
    to_lanes(r.steps + 2 * block, 3 * block, n, direction.da + at);
  }
  direction.curve[0] -= *regularisation * total(square);
  *ok = *ok && finite(direction.slope[0]) && finite(direction.curve[0]) && finite(total(square));
}

template <typename Room>
static std::size_t nodes_numbers(const Shape& shape) {
  std::size_t used;
  const Room r(shape, nullptr, &used);
  return used;
}

template <typename Room>
static void nodes_prepare(const Shape& shape, double* memory) {
  const Room r(shape, memory, nullptr);
  for (int i = 0; i < kWidth; ++i) r.unit[i * kWidth + i] = 1.0;
}

template <typename Room>
static const SweepVersion* nodes_version() {
  static const SweepVersion version = {nodes_numbers<Room>, nodes_prepare<Room>, nodes_back<Room>, nodes_forth<Room>};
  return &version;
}

// Sizes that are known to the compiler are quicker: those of most arms.
static const SweepVersion* sweep_of_nodes(const Shape& shape) {
  if (shape.jerk) return nodes_version<NodesRoom<0, true>>();
  if (shape.nv == 6) return nodes_version<NodesRoom<6, false>>();
  if (shape.nv == 7) return nodes_version<NodesRoom<7, false>>();
  return nodes_version<NodesRoom<0, false>>();
}
