// Lanes are problems: the sweep back, node by node, and forth.

template <typename Room>
INLINED void lane_vectors(const Room& r, const LaneNode& node) {
  const int n = r.n;
  if (node.last) {
    for (int j = 0; j < r.states(); ++j) entry(r.value, j) = j < 2 * n ? entry(r.pull, n + j) : Vec{};
    entry(r.constant, 0) = Vec{};
    return;
  }
  for (int j = 0; j < n; ++j) {
    const Vec q = entry(r.value, n + j), v = entry(r.value, j) + r.dt * q;
    Vec a = entry(r.pull, j) + r.dt * v;
    if (Room::jerk) {
      a += entry(r.value, 2 * n + j);
      entry(r.value, 2 * n + j) = entry(r.pull, 3 * n + j);
    }
    entry(r.slope, j) = a;
    entry(r.value, j) = entry(r.pull, n + j) + v;
    entry(r.value, n + j) = entry(r.pull, 2 * n + j) + q;
  }
  Vec constant = entry(r.constant, 0), y = {};
  for (int i = 0; i < n; ++i) {
    Vec sum = -entry(r.slope, i);
    for (int k = 0; k + 1 < i; ++k) sum -= entry(node.factor, k * r.width() + i) * entry(node.offset, k);
    if (i > 0) sum -= entry(node.factor, (i - 1) * r.width() + i) * y;
    y = sum * entry(node.roots, i);
    entry(node.offset, i) = y;
    constant -= y * y;
  }
  entry(r.constant, 0) = constant;
  add_matrix(node.factor + n * kLanes, node.offset, n, r.states(), r.width(), r.value);
}

template <typename Room>
static void problems_back(const Shape& shape, const Quadratic& model, const double* regularisation, bool matrices,
                          double* memory, bool* ok) {
  (void)ok;  // told by problems_forth
  const Room whole(shape, memory, nullptr);
  for (int first = 0; first < kLanes && matrices; first += kWidth) vec(whole.sound + first) = Vec{};
  for (int node = shape.horizon; node >= 0; --node) {
    pull_back(shape, model, node, node == shape.horizon, whole.pull);
    for (int first = 0; first < kLanes; first += kWidth) {
      const Room r(shape, memory + first, nullptr);
      const LaneNode at = lane_node(shape, r, model, node, first);
      Vec added;
      for (int l = 0; l < kWidth; ++l) added[l] = regularisation[first + l];
      if (matrices) lane_matrices(shape, r, at, added);
      lane_vectors(r, at);
    }
  }
  if (!matrices) return;
  const int size = shape.nv * shape.nv * kLanes;
  for (int i = 0; i < 2 * size; i += kWidth) vec(whole.first_v + i) = vec(whole.value_v + i);
  for (int i = 0; i < size; i += kWidth) vec(whole.first_q + i) = vec(whole.value_q + i);
}

// Gains of node 0 over [v | q], which take the place of the torques, and out of lanes over (q, v).
template <typename Room>
INLINED void lane_gains(const Room& r, int first, double* gains) {
  const int n = r.n;
  for (int i = n - 1; i >= 0; --i) {
    const double* f = r.factors + i * r.width() * kLanes;
    for (int j = 0; j < 2 * n; ++j) {
      Vec sum = -entry(f, n + j);
      for (int k = i + 1; k < n; ++k) sum -= entry(f, k) * entry(r.jacobian, k * 2 * n + j);
      sum *= entry(r.roots, i);
      entry(r.jacobian, i * 2 * n + j) = sum;
      for (int l = 0; l < kWidth; ++l) {
        gains[(static_cast<long>(first + l) * n + i) * 2 * n + (j + n) % (2 * n)] = sum[l];
      }
    }
  }
}

// x' P x of node 0.
template <typename Room>
INLINED Vec first_lanes(const Room& r) {
  const int n = r.n;
  const double *v = r.state, *q = r.state + n * kLanes;
  Vec sum = {};
  for (int i = 0; i < n; ++i) {
    const double *vrow = r.first_v + i * 2 * n * kLanes, *qrow = r.first_q + i * n * kLanes;
    Vec vv = 0.5 * entry(vrow, i) * entry(v, i), qq = 0.5 * entry(qrow, i) * entry(q, i), vq = {};
    for (int j = i + 1; j < n; ++j) {
      vv += entry(vrow, j) * entry(v, j);
      qq += entry(qrow, j) * entry(q, j);
    }
    for (int j = 0; j < n; ++j) vq += entry(vrow, n + j) * entry(q, j);
    sum += 2.0 * (entry(v, i) * (vv + vq) + entry(q, i) * qq);
  }
  return sum;
}

// Accelerations of a node, and the next state. Adds the squares of the former.
template <typename Room>
INLINED void lane_forth(const Room& r, int node, double* a, Vec* squares) {
  const int n = r.n;
  const long kept = static_cast<long>(node) * n * kLanes;
  const double *factor = r.factors + kept * r.width(), *offset = r.offsets + kept, *roots = r.roots + kept;
  Vec before = {};
  for (int i = n - 1; i >= 0; --i) {
    const double* f = factor + i * r.width() * kLanes;
    Vec sum = entry(offset, i), more = {};
    int j = 0;
    for (; j + 1 < r.states(); j += 2) {
      sum -= entry(f, n + j) * entry(r.state, j);
      more -= entry(f, n + j + 1) * entry(r.state, j + 1);
    }
    if (j < r.states()) sum -= entry(f, n + j) * entry(r.state, j);
    for (int k = n - 1; k > i + 1; --k) more -= entry(f, k) * entry(a, k);
    sum += more;
    if (i + 1 < n) sum -= entry(f, i + 1) * before;
    before = sum * entry(roots, i);
    entry(a, i) = before;
    *squares += before * before;
  }
  for (int j = 0; j < n; ++j) {
    entry(r.state, j) += r.dt * entry(a, j);
    entry(r.state, n + j) += r.dt * entry(r.state, j);
    if (Room::jerk) entry(r.state, 2 * n + j) = entry(a, j);
  }
}

template <typename Room>
static void problems_forth(const Shape& shape, const double* dq0, const double* dv0, const double* regularisation,
                           bool matrices, const Direction& direction, double* memory, bool* ok) {
  const int n = shape.nv;
  for (int first = 0; first < kLanes; first += kWidth) {
    const Room r(shape, memory + first, nullptr);
    Vec along = entry(r.constant, 0), squares = {};
    for (int j = 0; j < r.states(); ++j) {
      for (int l = 0; l < kWidth; ++l) {
        const int from = (first + l) * n;
        entry(r.state, j)[l] = j < n ? dv0[from + j] : j < 2 * n ? dq0[from + j - n] : 0.0;
      }
      if (j < 2 * n) along += entry(r.value, j) * entry(r.state, j);
    }
    Vec curve = first_lanes(r) - entry(r.constant, 0);
    if (matrices) lane_gains(r, first, direction.gains);
    for (int node = 0; node <= shape.horizon; ++node) {
      const long at = static_cast<long>(node) * n * kLanes + first;
      for (int j = 0; j < n; ++j) {
        entry(direction.dv + at, j) = entry(r.state, j);
        entry(direction.dq + at, j) = entry(r.state, n + j);
        entry(direction.da + at, j) = Vec{};
      }
      if (node < shape.horizon) lane_forth(r, node, direction.da + at, &squares);
    }
    for (int l = 0; l < kWidth; ++l) {
      const int p = first + l;
      direction.slope[p] = along[l];
      direction.curve[p] = curve[l] - regularisation[p] * squares[l];
      const double all = entry(r.sound, 0)[l] + direction.slope[p] + direction.curve[p] + squares[l];
      ok[p] = ok[p] && finite(all);
    }
  }
}

template <typename Room>
static std::size_t problems_numbers(const Shape& shape) {
  std::size_t used;
  const Room r(shape, nullptr, &used);
  return used;
}

static void problems_prepare(const Shape&, double*) {}

template <typename Room>
static const SweepVersion* problems_version() {
  static const SweepVersion version = {problems_numbers<Room>, problems_prepare, problems_back<Room>,
                                       problems_forth<Room>};
  return &version;
}

// Sizes that are known to the compiler are quicker: those of most arms.
static const SweepVersion* sweep_of_problems(const Shape& shape) {
  if (shape.jerk) return problems_version<ProblemsRoom<0, true>>();
  if (shape.nv == 6) return problems_version<ProblemsRoom<6, false>>();
  if (shape.nv == 7) return problems_version<ProblemsRoom<7, false>>();
  return problems_version<ProblemsRoom<0, false>>();
}
