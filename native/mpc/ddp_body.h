// The sweep of the forward-dynamics form; each ddp_*.cpp includes this after ddp_gram.h in a namespace of its own.
//
// Matrices have columns (dtau, dq, dv, 1): the constant takes a spare lane, and gradients come with every product.
// Of symmetric ones the upper half is kept, but for the cost to go.

static inline int group_of(int node) { return node / kLanes; }

// Entry e of a node in groups of lanes of `entries`.
static inline double at(const double* grouped, int entries, int node, int e) {
  return grouped[(static_cast<long>(group_of(node)) * entries + e) * kLanes + node % kLanes];
}

// --- derivatives of a step -------------------------------------------------------------------------------------------

// A tile of out += scale * (a b + c d), lane by lane; a, c: (nv, nv), b, d: (nv, width).
template <int rows, int columns>
static inline void lane_tile(const double* const* factors, int nv, int width, double scale, double* out) {
  for (int lane = 0; lane < kLanes; lane += kWide) {
    const Vec zero = {};
    Vec total[rows][columns];
    UNROLLED for (int r = 0; r < rows; ++r) UNROLLED for (int c = 0; c < columns; ++c) total[r][c] = zero;
    for (int pair = 0; pair < 4; pair += 2) {
      const double *a = factors[pair] + lane, *b = factors[pair + 1] + lane;
      for (int j = 0; j < nv; ++j) {
        Vec right[columns];
        UNROLLED for (int c = 0; c < columns; ++c) right[c] = vec(b + (j * width + c) * kLanes);
        UNROLLED for (int r = 0; r < rows; ++r) {
          const Vec left = vec(a + (r * nv + j) * kLanes);
          UNROLLED for (int c = 0; c < columns; ++c) total[r][c] += left * right[c];
        }
      }
    }
    UNROLLED for (int r = 0; r < rows; ++r) {
      UNROLLED for (int c = 0; c < columns; ++c) vec(out + (r * width + c) * kLanes + lane) += total[r][c] * scale;
    }
  }
}

static inline void lane_product(const double* a, const double* b, const double* c, const double* d, int nv, int width,
                                double scale, double* out) {
  int r = 0;
  for (; r + kLaneTile <= nv; r += kLaneTile) {
    int column = 0;
    for (; column + kLaneTile <= width; column += kLaneTile) {
      const double* factors[] = {a + r * nv * kLanes, b + column * kLanes, c + r * nv * kLanes, d + column * kLanes};
      lane_tile<kLaneTile, kLaneTile>(factors, nv, width, scale, out + (r * width + column) * kLanes);
    }
    for (; column < width; ++column) {
      const double* factors[] = {a + r * nv * kLanes, b + column * kLanes, c + r * nv * kLanes, d + column * kLanes};
      lane_tile<kLaneTile, 1>(factors, nv, width, scale, out + (r * width + column) * kLanes);
    }
  }
  for (; r < nv; ++r) {
    for (int column = 0; column < width; ++column) {
      const double* factors[] = {a + r * nv * kLanes, b + column * kLanes, c + r * nv * kLanes, d + column * kLanes};
      lane_tile<1, 1>(factors, nv, width, scale, out + (r * width + column) * kLanes);
    }
  }
}

// [dtau | dq | dv] of one stage's accelerations at a group, rows of 3 nv entries.
static inline void join(const Accelerations& from, int nv, long group, double* out) {
  const long start = group * nv * nv * kLanes;
  const double* parts[] = {from.dtau + start, from.dq + start, from.dv + start};
  for (int i = 0; i < nv; ++i) {
    for (int p = 0; p < 3; ++p) {
      for (int j = 0; j < nv * kLanes; ++j) out[(i * 3 + p) * nv * kLanes + j] = parts[p][i * nv * kLanes + j];
    }
  }
}

static inline void add_unit(int nv, int first, double* matrix) {
  for (int i = 0; i < nv; ++i) {
    for (int l = 0; l < kLanes; ++l) matrix[(i * 3 * nv + first + i) * kLanes + l] += 1.0;
  }
}

static inline void scaled(const double* from, double scale, int size, double* out) {
  for (int i = 0; i < size; ++i) out[i] = scale * from[i];
}

static inline void add_scaled(const double* from, double scale, int size, double* out) {
  for (int i = 0; i < size; ++i) out[i] += scale * from[i];
}

// The state after a step of several stages by (dtau, dq, dv), in lane order; out: rows of q, then of v.
static void transition(const DdpSizes& sizes, const Accelerations* stages, long group, double* memory, double* out) {
  const Tableau& table = sizes.table;
  const int nv = sizes.nv, width = 3 * nv, size = nv * width * kLanes;
  double *a = memory, *v = memory + size, *next = memory + 2 * size, *sum_q = out, *sum_v = out + size;
  join(stages[0], nv, group, a);
  clear(v, size);
  add_unit(nv, 2 * nv, v);
  scaled(v, table.weight[0], size, sum_q);
  scaled(a, table.weight[0], size, sum_v);
  for (int i = 1; i < table.stages; ++i) {
    const double reach = table.reach[i] * sizes.dt;
    const long start = group * nv * nv * kLanes;
    join(stages[i], nv, group, next);
    lane_product(stages[i].dq + start, v, stages[i].dv + start, a, nv, width, reach, next);
    scaled(a, reach, size, v);
    add_unit(nv, 2 * nv, v);
    double* old = a;
    a = next;
    next = old;
    add_scaled(v, table.weight[i], size, sum_q);
    add_scaled(a, table.weight[i], size, sum_v);
  }
  scaled(out, sizes.dt, 2 * size, out);
  add_unit(nv, nv, sum_q);
  add_unit(nv, 2 * nv, sum_v);
}

// What a group's nodes keep: rows of dt times accelerations, and of the state after the step.
static inline void keep_group(const DdpSizes& sizes, const DdpModel& model, int group, const DdpScratch& scratch,
                              double* kept) {
  const int nv = sizes.nv, stride = sizes.stride, apart = sizes.kept * stride;
  const int first = group * kLanes, count = sizes.horizon - first < kLanes ? sizes.horizon - first : kLanes;
  double* out = kept + static_cast<long>(first) * apart;
  const long start = static_cast<long>(group) * nv * nv * kLanes;
  const double* parts[] = {model.stages[0].dtau + start, model.stages[0].dq + start, model.stages[0].dv + start};
  for (int i = 0; i < nv; ++i) {
    for (int p = 0; p < 3; ++p) unlane(parts[p] + i * nv * kLanes, nv, apart, count, sizes.dt, out + i * stride + p * nv);
  }
  if (sizes.euler) return;
  double* step = scratch.lanes + 3 * nv * 3 * nv * kLanes;
  transition(sizes, model.stages, group, scratch.lanes, step);
  for (int i = 0; i < 2 * nv; ++i) {
    unlane(step + i * 3 * nv * kLanes, 3 * nv, apart, count, 1.0, out + (nv + i) * stride);
  }
}

// --- a stage's matrix ------------------------------------------------------------------------------------------------

// The cost to go as a function of q and of v + dt a, before Euler's step takes them to q+ and v+: with rows over
// (0, dq, dv, 1).
static inline void turn(const DdpSizes& sizes, const DdpScratch& s) {
  const int nv = sizes.nv, half = sizes.half, stride = sizes.stride;
  const double h = sizes.dt;
  for (int i = 0; i < nv; ++i) {
    const double *pq = s.value + i * half, *pv = s.value + (nv + i) * half;
    double *tq = s.turned + i * stride + nv, *tv = s.turned + (nv + i) * stride + nv;
    for (int j = 0; j < nv; ++j) {
      const double mixed = h * pq[j] + pq[nv + j];
      tq[j] = pq[j];
      tq[nv + j] = mixed;
      tv[j] = h * pq[j] + pv[j];
      tv[nv + j] = h * mixed + h * pv[j] + pv[nv + j];
    }
    tq[2 * nv] = s.value_p[i];
    tv[2 * nv] = h * s.value_p[i] + s.value_p[nv + i];
  }
}

static inline void copy(const double* from, int count, double* to) {
  for (int i = 0; i < count; i += kWide) vec(to + i) = vec(from + i);
}

// With G what v gains in a step (dt times accelerations) and T the cost to go above, over q and v + G:
//   Z = T_v + T_vv G,   S = G' Z + (0, T_q + T_qv G, Z).
static inline void euler_stage(const DdpSizes& sizes, const double* kept, const DdpScratch& s) {
  const int nv = sizes.nv, stride = sizes.stride, block = nv * stride;
  turn(sizes, s);
  const double* turned_v = s.turned + block;
  clear(s.hessian, block);
  copy(s.turned, block, s.hessian + block);
  copy(turned_v, block, s.product);
  gram(turned_v + 2 * nv, stride, kept, stride, nv, nv, 0, false, s.product);
  gram(turned_v + nv, stride, kept, stride, nv, nv, nv, true, s.hessian + block);
  copy(s.product, block, s.hessian + 2 * block);  // over the rows that the product wrote too many
  gram(kept, stride, s.product, stride, nv, 3 * nv, 0, true, s.hessian);
}

static inline void general_stage(const DdpSizes& sizes, const double* kept, const DdpScratch& s) {
  const int nv = sizes.nv, stride = sizes.stride;
  const double* step = kept + nv * stride;
  clear(s.hessian, 3 * nv * stride);
  clear(s.product, 2 * nv * stride);
  for (int i = 0; i < 2 * nv; ++i) s.product[i * stride + 3 * nv] = s.value_p[i];
  gram(s.value, sizes.half, step, stride, 2 * nv, 2 * nv, 0, false, s.product);
  gram(step, stride, s.product, stride, 2 * nv, 3 * nv, 0, true, s.hessian);
}

// Rows r, scale times those of a matrix (count, stride), each with 1/2 (w + extra) r^2 + g r.
struct Rows {
  const double* matrix;
  int count;
  const double* weight;
  const double* gradient;
  double scale, extra;
};

// Added to the stage; columns before `first` are zero.
static inline void add_rows(const DdpSizes& sizes, const Rows& rows, int node, int first, const DdpScratch& s) {
  const int stride = sizes.stride, constant = 3 * sizes.nv, count = rows.count;
  for (int i = 0; i < count; ++i) {
    const double w = rows.scale * rows.scale * (at(rows.weight, count, node, i) + rows.extra);
    double* row = s.product + i * stride;
    for (int c = 0; c < stride; c += kWide) vec(row + c) = vec(rows.matrix + i * stride + c) * w;
    row[constant] = rows.scale * at(rows.gradient, count, node, i);
  }
  gram(rows.matrix + first, stride, s.product, stride, count, constant - first, first, true, s.hessian + first * stride);
}

static inline bool any(const double* grouped, int entries, int node) {
  for (int i = 0; i < entries; ++i) {
    if (at(grouped, entries, node, i) != 0.0) return true;
  }
  return false;
}

static inline void add_units(const DdpSizes& sizes, const double* weight, const double* gradient, int node, int first,
                             const DdpScratch& s) {
  const int nv = sizes.nv, stride = sizes.stride;
  for (int i = 0; i < nv; ++i) {
    double* row = s.hessian + (first + i) * stride;
    row[first + i] += at(weight, nv, node, i);
    row[3 * nv] += at(gradient, nv, node, i);
  }
}

static inline void add_state_costs(const DdpSizes& sizes, const Quadratic& cost, int node, const DdpScratch& s) {
  const int nv = sizes.nv, stride = sizes.stride;
  add_units(sizes, cost.q_weight, cost.q_gradient, node, nv, s);
  add_units(sizes, cost.v_weight, cost.v_gradient, node, 2 * nv, s);
  if (sizes.rows == 0) return;
  for (int i = 0; i < sizes.rows; ++i) {
    double* row = s.tasks + i * stride;
    for (int j = 0; j < nv; ++j) row[nv + j] = at(cost.row_dq, sizes.rows * nv, node, i * nv + j);
    if (!sizes.row_velocity) continue;
    for (int j = 0; j < nv; ++j) row[2 * nv + j] = at(cost.row_dv, sizes.rows * nv, node, i * nv + j);
  }
  add_rows(sizes, {s.tasks, sizes.rows, cost.row_weight, cost.row_gradient, 1.0, 0.0}, node, nv, s);
}

// --- elimination of the torques --------------------------------------------------------------------------------------

// The rows of the torques become D U (unit upper U), those of the state lose what the torques take away; product: rows
// of -D^-1 times that. False where a pivot is not positive.
static inline bool eliminate(const DdpSizes& sizes, const DdpScratch& s, double* gain) {
  const int nv = sizes.nv, stride = sizes.stride;
  for (int i = 0; i < nv; ++i) {
    const double* pivot = s.hessian + i * stride;
    if (!(pivot[i] > 0.0 && pivot[i] < 1e300)) return false;  // nor a NaN
    const double minus_inverse = -1.0 / pivot[i];
    double* row = s.product + i * stride;
    for (int c = down(i); c < stride; c += kWide) vec(row + c) = vec(pivot + c) * minus_inverse;
    for (int j = i + 1; j < nv; ++j) {
      double* lower = s.hessian + j * stride;
      const double factor = row[j];
      for (int c = down(j); c < stride; c += kWide) vec(lower + c) += vec(pivot + c) * factor;
    }
    *gain -= pivot[3 * nv] * row[3 * nv];
  }
  gram(s.hessian + nv, stride, s.product, stride, nv, 2 * nv, nv, true, s.hessian + nv * stride);
  return true;
}

// dtau = alpha k + K dx from the rows of -D^-1 U, last torque first; the policy has them by columns.
static inline void feedback_of(const DdpSizes& sizes, const DdpScratch& s, double* policy) {
  const int nv = sizes.nv, stride = sizes.stride, width = sizes.width, first = down(nv);
  for (int i = nv - 1; i >= 0; --i) {
    double* row = s.product + i * stride;
    double* kept = s.spare;  // entries of the row that its own update may write over
    for (int j = i + 1; j < nv; ++j) kept[j] = row[j];
    for (int c = first; c < stride; c += kWide) {
      Vec total = vec(row + c);
      for (int j = i + 1; j < nv; ++j) total += vec(s.product + j * stride + c) * kept[j];
      vec(row + c) = total;
    }
  }
  for (int j = 0; j <= 2 * nv; ++j) {
    for (int i = 0; i < nv; ++i) policy[j * width + i] = s.product[i * stride + nv + j];
  }
}

static inline void cost_to_go(const DdpSizes& sizes, const DdpScratch& s) {
  const int nv = sizes.nv, stride = sizes.stride, half = sizes.half;
  for (int i = 0; i < 2 * nv; ++i) {
    const double* row = s.hessian + (nv + i) * stride + nv;
    for (int j = i; j < 2 * nv; ++j) s.value[i * half + j] = s.value[j * half + i] = row[j];
    s.value_p[i] = row[2 * nv];
  }
}

static inline double sweep_back(const DdpSizes& sizes, const DdpModel& model, double regularisation, const DdpScratch& s,
                       double* kept, double* policy) {
  const int nv = sizes.nv;
  const Quadratic& cost = model.cost;
  clear(s.hessian, 3 * nv * sizes.stride);
  add_state_costs(sizes, cost, sizes.horizon, s);
  cost_to_go(sizes, s);
  double gain = 0.0;
  for (int node = sizes.horizon - 1; node >= 0; --node) {
    if (node % kLanes == kLanes - 1 || node == sizes.horizon - 1) keep_group(sizes, model, group_of(node), s, kept);
    const double* own = kept + static_cast<long>(node) * sizes.kept * sizes.stride;
    if (sizes.euler) euler_stage(sizes, own, s);
    else general_stage(sizes, own, s);
    if (regularisation > 0.0 || any(cost.a_weight, nv, node) || any(cost.a_gradient, nv, node)) {
      add_rows(sizes, {own, nv, cost.a_weight, cost.a_gradient, 1.0 / sizes.dt, regularisation}, node, 0, s);
    }
    add_state_costs(sizes, cost, node, s);
    add_units(sizes, cost.torque_weight, cost.torque_gradient, node, 0, s);
    if (!eliminate(sizes, s, &gain)) return -1.0;
    cost_to_go(sizes, s);
    feedback_of(sizes, s, policy + static_cast<long>(node) * sizes.policy);
  }
  return gain;
}

// With sizes that the compiler knows, products are unrolled (measured: a fifth less with wide vectors, more without).
template <int nv>
__attribute__((flatten)) static double backward_of(const DdpSizes& given, const DdpModel& model, double regularisation,
                                                   const DdpScratch& s, double* kept, double* policy) {
  DdpSizes sizes = given;
  sizes.nv = nv;
  sizes.stride = (3 * nv + kLanes) / kLanes * kLanes;
  sizes.half = (2 * nv + kLanes - 1) / kLanes * kLanes;
  sizes.width = (nv + kLanes - 1) / kLanes * kLanes;
  sizes.policy = (2 * nv + 1) * sizes.width;
  sizes.euler = true;
  sizes.kept = nv;
  return sweep_back(sizes, model, regularisation, s, kept, policy);
}

static double backward(const DdpSizes& sizes, const DdpModel& model, double regularisation, const DdpScratch& s,
                       double* kept, double* policy) {
  const bool known = sizes.euler && kWide > 2;
  if (known && sizes.nv == 6) return backward_of<6>(sizes, model, regularisation, s, kept, policy);
  if (known && sizes.nv == 7) return backward_of<7>(sizes, model, regularisation, s, kept, policy);
  return sweep_back(sizes, model, regularisation, s, kept, policy);
}

static void multiply(const double* matrix, int rows, int stride, const double* z, double* out) {
  for (int r = 0; r < rows; ++r) {
    Vec total = vec(matrix + r * stride) * vec(z);
    for (int c = kWide; c < stride; c += kWide) total += vec(matrix + r * stride + c) * vec(z + c);
    double sum = 0.0;
    UNROLLED for (int l = 0; l < kWide; ++l) sum += total[l];
    out[r] = sum;
  }
}

static void feedback(const double* policy, int count, int width, const double* dx, double* out) {
  for (int c = 0; c < width; c += kWide) {
    Vec even = vec(out + c), odd = {};
    int j = 0;
    for (; j + 1 < count; j += 2) {
      even += vec(policy + j * width + c) * dx[j];
      odd += vec(policy + (j + 1) * width + c) * dx[j + 1];
    }
    if (j < count) even += vec(policy + j * width + c) * dx[j];
    vec(out + c) = even + odd;
  }
}

static const DdpLoops kLoops = {backward, multiply, feedback};

#undef UNROLLED
