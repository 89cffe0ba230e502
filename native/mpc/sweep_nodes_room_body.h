// Lanes are nodes: where the numbers of a sweep lie. Rows of matrices are whole vectors; the variables of a node stand
// in blocks, each padded with zeros to whole vectors: [a | v | q], with jerk [a | v | q | a before].


// Sizes known to the compiler, for robots of many arms, or not (known == 0). block: nv in whole vectors.
template <int known>
struct NodesExtent {
  static constexpr int n = known, block = whole(known);
  explicit NodesExtent(int) {}
};

template <>
struct NodesExtent<0> {
  int n, block;
  explicit NodesExtent(int nv) : n(nv), block(whole(nv)) {}
};

template <int known, bool with_jerk>
struct NodesRoom : NodesExtent<known> {
  static constexpr bool jerk = with_jerk;
  static constexpr int blocks = jerk ? 4 : 3;  // of variables
  int task_width;
  double dt;
  // Of a group of nodes, a row for each
  double* jacobian;   // (kLanes, n, 3 block): torques by a, v, q, times the roots of their weights
  double* tasks;      // (kLanes, rows, task_width): the same
  double* diagonals;  // (kLanes, width): weights of a, v, q, a before; a with jerk
  double* pulls;      // (kLanes, width): gradients
  double* lanes;      // (width, kLanes): before they are rows
  // Of the node at work
  double* unit;          // (kWidth, kWidth)
  double* start;         // (block, width): rows of a before the torques come in
  double* value_v;       // (block, 2 block): the value's matrix, rows of v over [v | q]
  double* value_q;       // (block, block): rows of q
  double* value_before;  // (block, 3 block): rows of a before, over [v | q | a before]
  double* before_v;      // (block, block): rows of a before over v, a step back
  double* value;         // (states,): the value's gradient over [v | q | a before]
  double* slope;         // (block,): the gradient of a before it is eliminated
  double* solved;        // (block,)
  double* roots;         // (block,): of the pivots' inverses
  double* state;         // (states,)
  double* first_v;       // as value_v and value_q at node 0
  double* first_q;
  double* constant;      // (1,): twice the value's constant
  double* steps;         // (kLanes, 3 block): dv, dq, da of a group
  // Of all nodes with an acceleration: the triangle U' of Cholesky's U' U and what it makes of the other columns. A row is
  // [inverse of U' up to the vector of the diagonal, then U | other columns], of the node at work U on the diagonal until
  // it is inverted.
  double* factors;  // (horizon, n, width)
  double* offsets;  // (horizon, block)

  int states() const { return (blocks - 1) * this->block; }
  int width() const { return blocks * this->block; }

  // Sets `used` to how many numbers there are. Without memory it only counts.
  NodesRoom(const Shape& shape, double* memory, std::size_t* used);
};

template <int known, bool with_jerk>
NodesRoom<known, with_jerk>::NodesRoom(const Shape& shape, double* memory, std::size_t* used)
    : NodesExtent<known>(shape.nv), task_width((shape.row_velocity ? 2 : 1) * this->block), dt(shape.dt) {
  const int n = this->n, block = this->block;
  std::size_t count = 0;
  const auto take = [&count, memory](long wanted) {
    const std::size_t at = count;
    count += static_cast<std::size_t>((wanted + kLanes - 1) / kLanes * kLanes);
    return memory ? memory + at : nullptr;
  };
  jacobian = take(static_cast<long>(kLanes) * n * 3 * block);
  tasks = take(static_cast<long>(kLanes) * shape.rows * task_width);
  diagonals = take(kLanes * width());
  pulls = take(kLanes * width());
  lanes = take(kLanes * 4 * n);
  unit = take(kWidth * kWidth);
  start = take(block * width());
  value_v = take(block * 2 * block);
  value_q = take(block * block);
  value_before = take(block * 3 * block);
  before_v = take(block * block);
  value = take(states());
  slope = take(block);
  solved = take(block);
  roots = take(block);
  state = take(states());
  first_v = take(block * 2 * block);
  first_q = take(block * block);
  constant = take(1);
  steps = take(kLanes * 3 * block);
  factors = take(static_cast<long>(shape.horizon) * n * width());
  offsets = take(static_cast<long>(shape.horizon) * block);
  if (used) *used = count;
}
