// Lanes are problems: where the numbers of a sweep lie. Every entry is kLanes numbers; nothing is padded, and of
// symmetric matrices and triangles the upper part counts. Variables of a node: [a | v | q], with jerk [a | v | q | a before].

struct ProblemsRoom {
  int n, states, width;  // in entries
  double dt;
  // Of the node at work
  double* scaled;        // (n, 3 n): the torques' rows by their weights
  double* scaled_tasks;  // (rows, n or 2 n): over [v | q] or q
  double* start;         // (n, width): rows of a before torques come in, with jerk
  double* upper;         // (n, width): the triangle
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
  double* factors;   // (horizon, n, width): the triangle by its pivots, negative
  double* inverses;  // (horizon, n): of pivots, negative
  double* offsets;   // (horizon, n)
};

// Returns how many numbers there are. Without memory it only counts.
static std::size_t problems_room(const Shape& shape, double* memory, ProblemsRoom* r) {
  const int n = r->n = shape.nv;
  r->states = (shape.jerk ? 3 : 2) * n;
  r->width = n + r->states;
  r->dt = shape.dt;
  std::size_t used = 0;
  const auto take = [&used, memory](long entries) {
    const std::size_t at = used;
    used += static_cast<std::size_t>(entries) * kLanes;
    return memory ? memory + at : nullptr;
  };
  r->scaled = take(n * 3 * n);
  r->scaled_tasks = take(static_cast<long>(shape.rows) * 2 * n);
  r->start = take(shape.jerk ? n * r->width : 0);
  r->upper = take(n * r->width);
  r->value_v = take(n * 2 * n);
  r->value_q = take(n * n);
  r->value_before = take(shape.jerk ? n * 3 * n : 0);
  r->pull = take(4 * n);
  r->value = take(r->states);
  r->slope = take(n);
  r->state = take(r->states);
  r->first_v = take(n * 2 * n);
  r->first_q = take(n * n);
  r->constant = take(1);
  r->sound = take(1);
  r->factors = take(static_cast<long>(shape.horizon) * n * r->width);
  r->inverses = take(static_cast<long>(shape.horizon) * n);
  r->offsets = take(static_cast<long>(shape.horizon) * n);
  return used;
}

static std::size_t problems_numbers(const Shape& shape) {
  ProblemsRoom r;
  return problems_room(shape, nullptr, &r);
}

static void problems_prepare(const Shape&, double*) {}

// One entry, or the part of it that is one vector.
INLINED const Vec& entry(const double* p, int i) { return vec(p + i * kLanes); }
INLINED Vec& entry(double* p, int i) { return vec(p + i * kLanes); }
