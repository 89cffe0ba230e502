// Lanes are problems: where the numbers of a sweep lie. Every entry is kLanes numbers; nothing is padded, and of
// symmetric matrices and triangles the upper part counts. Variables of a node: [a | v | q], with jerk [a | v | q | a before].


// Sizes known to the compiler, for robots of many arms, or not (known == 0).
template <int known>
struct ProblemsExtent {
  static constexpr int n = known;
  explicit ProblemsExtent(int) {}
};

template <>
struct ProblemsExtent<0> {
  int n;
  explicit ProblemsExtent(int nv) : n(nv) {}
};

template <int known, bool with_jerk>
struct ProblemsRoom : ProblemsExtent<known> {
  static constexpr bool jerk = with_jerk;
  static constexpr int blocks = jerk ? 4 : 3;  // of variables
  int task_width;  // entries of a task's row: over q or [v | q]
  double dt;
  // Of the node at work
  double* jacobian;      // (n, 3 n): torques by a, v, q, times the roots of their weights
  double* tasks;         // (rows, task_width): the same
  double* start;         // (n, width): rows of a before torques come in, with jerk
  double* value_v;       // (n, 2 n): the value's matrix, rows of v over [v | q]
  double* value_q;       // (n, n): rows of q
  double* value_before;  // (n, 3 n): rows of a before, over [v | q | a before]
  double* pull;          // (4, n): gradients
  double* value;         // (states,): the value's gradient over [v | q | a before]
  double* slope;         // (n,)
  double* state;         // (states,)
  double* first_v;       // as value_v and value_q, of node 0
  double* first_q;
  double* constant;      // (1,): twice the value's constant
  double* sound;         // (1,): zero, or NaN where a pivot was not positive
  // Of all nodes with an acceleration
  double* factors;  // (horizon, n, width): Cholesky's triangle above its diagonal, and what it makes of other columns
  double* roots;    // (horizon, n): inverses of its diagonal
  double* offsets;  // (horizon, n)

  int states() const { return (blocks - 1) * this->n; }
  int width() const { return blocks * this->n; }

  // Sets `used` to how many numbers there are. Without memory it only counts.
  ProblemsRoom(const Shape& shape, double* memory, std::size_t* used);
};

template <int known, bool with_jerk>
ProblemsRoom<known, with_jerk>::ProblemsRoom(const Shape& shape, double* memory, std::size_t* used)
    : ProblemsExtent<known>(shape.nv), task_width((shape.row_velocity ? 2 : 1) * this->n), dt(shape.dt) {
  const int n = this->n;
  std::size_t count = 0;
  const auto take = [&count, memory](long entries) {
    const std::size_t at = count;
    count += static_cast<std::size_t>(entries) * kLanes;
    return memory ? memory + at : nullptr;
  };
  jacobian = take(n * 3 * n);
  tasks = take(static_cast<long>(shape.rows) * task_width);
  start = take(jerk ? n * width() : 0);
  value_v = take(n * 2 * n);
  value_q = take(n * n);
  value_before = take(jerk ? n * 3 * n : 0);
  pull = take(4 * n);
  value = take(states());
  slope = take(n);
  state = take(states());
  first_v = take(n * 2 * n);
  first_q = take(n * n);
  constant = take(1);
  sound = take(1);
  factors = take(static_cast<long>(shape.horizon) * n * width());
  roots = take(static_cast<long>(shape.horizon) * n);
  offsets = take(static_cast<long>(shape.horizon) * n);
  if (used) *used = count;
}

// One entry, or the part of it that is one vector.
INLINED const Vec& entry(const double* p, int i) { return vec(p + i * kLanes); }
INLINED Vec& entry(double* p, int i) { return vec(p + i * kLanes); }
