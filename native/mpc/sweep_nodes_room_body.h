// Lanes are nodes: where the numbers of a sweep lie. Rows of matrices are whole vectors; the variables of a node stand
// in blocks, each padded with zeros to whole vectors: [a | v | q], with jerk [a | v | q | a before].

struct NodesRoom {
  int n, block, states, width, task_width;  // block: nv in whole vectors; states: blocks of the state x block
  double dt;
  // Of a group of nodes, a row for each
  double* jacobian;   // (kLanes, n, 3 block): torques by a, v, q
  double* tasks;      // (kLanes, rows, task_width)
  double* diagonals;  // (kLanes, width): weights of a, v, q, a before; a with jerk
  double* pulls;      // (kLanes, width): gradients
  double* lanes;      // (width, kLanes): before they are rows
  // Of the node at work
  double* unit;          // (kWidth, kWidth)
  double* scaled;        // (n, 3 block): jacobian by weights
  double* scaled_tasks;  // (rows, task_width)
  double* start;         // (block, width): rows of a before the torques come in
  double* upper;         // (n, width): the triangle
  double* multipliers;   // (n, block): the triangle by its pivots, negative
  double* value_v;       // (block, 2 block): the value's matrix, rows of v over [v | q]
  double* value_q;       // (block, block): rows of q
  double* value_before;  // (block, 3 block): rows of a before, over [v | q | a before]
  double* before_v;      // (block, block): rows of a before over v, a step back
  double* value;         // (states,): the value's gradient over [v | q | a before]
  double* slope;         // (width,): the gradient before a is eliminated
  double* solved;        // (block,)
  double* state;         // (states,)
  double* first_v;       // as value_v and value_q at node 0
  double* first_q;
  double* constant;      // (1,): twice the value's constant
  double* steps;         // (kLanes, 3 block): dv, dq, da of a group
  // Of all nodes with an acceleration
  double* factors;   // (horizon, n, width): [inverse of the unit triangle | upper by its pivots, negative]
  double* inverses;  // (horizon, block): of pivots, negative
  double* offsets;   // (horizon, block)
};

// Returns how many numbers there are. Without memory it only counts.
static std::size_t nodes_room(const Shape& shape, double* memory, NodesRoom* r) {
  const int n = r->n = shape.nv, block = r->block = whole(n);
  r->states = (shape.jerk ? 3 : 2) * block;
  const int width = r->width = block + r->states;
  r->task_width = (shape.row_velocity ? 2 : 1) * block;
  r->dt = shape.dt;
  std::size_t used = 0;
  const auto take = [&used, memory](long count) {
    const std::size_t at = used;
    used += static_cast<std::size_t>((count + kLanes - 1) / kLanes * kLanes);
    return memory ? memory + at : nullptr;
  };
  r->jacobian = take(static_cast<long>(kLanes) * n * 3 * block);
  r->tasks = take(static_cast<long>(kLanes) * shape.rows * r->task_width);
  r->diagonals = take(kLanes * width);
  r->pulls = take(kLanes * width);
  r->lanes = take(kLanes * 4 * n);
  r->unit = take(kWidth * kWidth);
  r->scaled = take(n * 3 * block);
  r->scaled_tasks = take(static_cast<long>(shape.rows) * r->task_width);
  r->start = take(block * width);
  r->upper = take(n * width);
  r->multipliers = take(n * block);
  r->value_v = take(block * 2 * block);
  r->value_q = take(block * block);
  r->value_before = take(block * 3 * block);
  r->before_v = take(block * block);
  r->value = take(r->states);
  r->slope = take(width);
  r->solved = take(block);
  r->state = take(r->states);
  r->first_v = take(block * 2 * block);
  r->first_q = take(block * block);
  r->constant = take(1);
  r->steps = take(kLanes * 3 * block);
  r->factors = take(static_cast<long>(shape.horizon) * n * width);
  r->inverses = take(static_cast<long>(shape.horizon) * block);
  r->offsets = take(static_cast<long>(shape.horizon) * block);
  return used;
}

static std::size_t nodes_numbers(const Shape& shape) {
  NodesRoom r;
  return nodes_room(shape, nullptr, &r);
}

static void nodes_prepare(const Shape& shape, double* memory) {
  NodesRoom r;
  nodes_room(shape, memory, &r);
  for (int i = 0; i < kWidth; ++i) r.unit[i * kWidth + i] = 1.0;
}
