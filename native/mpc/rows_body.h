// The loops of rows.h; each rows_*.cpp includes this in a namespace of its own, with its own instructions and kWidth, the
// doubles of a register. Nothing here may be shared between them: all is static, and no header with inline functions
// comes in.

typedef double Vec __attribute__((vector_size(8 * kWidth), may_alias));
typedef unsigned long long Bits __attribute__((vector_size(8 * kWidth), may_alias));

static inline Vec load(const double* p) { return *reinterpret_cast<const Vec*>(p); }
static inline void store(double* p, Vec v) { *reinterpret_cast<Vec*>(p) = v; }
static inline Vec larger(Vec a, Vec b) { return a > b ? a : b; }  // b where a is NaN
static inline Vec absolute(Vec a) { return a > -a ? a : -a; }

// A row as Newton's step sees it.
struct RowStep {
  Vec sigma, t, g;
};

static inline RowStep row_step(Vec slack, Vec multiplier, Vec g, Vec inverse_soft, Vec mu) {
  const Vec d = 1.0 / (slack + multiplier * inverse_soft);
  return {multiplier * d, d * (multiplier * (slack + g) + mu), g};
}

// kLanes lanes are done kWidth at a time, all groups of the one before the next, so that sums stay in registers.
template <typename Do>
static inline void each(const Terms& t, int groups, int lane, Do&& work) {
  for (int g = 0; g < groups; ++g) {
    for (int e = 0; e < t.entries; ++e) work((g * t.entries + e) * kLanes + lane, e, e * kLanes + lane);
  }
}

static void assemble(const Terms& t, int groups, const double* mu) {
  for (int lane = 0; lane < kLanes; lane += kWidth) {
    const Vec m = load(mu + lane), none = {};
    each(t, groups, lane, [&](int at, int e, int all) {
      const Vec x = load(t.value + at);
      Vec weight = load(t.cost + at), gradient = weight * (x - load(t.reference + at));
      if (t.bounded && t.limited[e]) {
        const Vec soft = load(t.inverse_soft + all), lower = load(t.lower + at), upper = load(t.upper + at);
        const RowStep a = row_step(load(t.above.slack + at), load(t.above.multiplier + at), x - upper, soft,
                                   upper < kHasBound ? m : none);
        const RowStep b = row_step(load(t.below.slack + at), load(t.below.multiplier + at), lower - x, soft,
                                   lower > -kHasBound ? m : none);
        weight += a.sigma + b.sigma;
        gradient += a.t - b.t;
      }
      store(t.weight + at, weight);
      store(t.gradient + at, gradient);
    });
  }
}

struct Reached {
  Vec primal, dual, slope, logs, soft, price;
};

static inline void direct_side(const Side& side, int at, Vec g, Vec change, Vec soft, Vec scale, Vec mu,
                               Reached& r) {
  const Vec slack = load(side.slack + at), multiplier = load(side.multiplier + at);
  const RowStep row = row_step(slack, multiplier, g, soft, mu);
  const Vec dl = row.sigma * change + row.t - multiplier;
  const Vec ds = (multiplier + dl) * soft - (slack + g) - change;
  const Vec none = {};
  const Vec moved = mu > 0.0 ? ds : none;  // without a bound the slack stays
  store(side.slack_change + at, moved);
  store(side.multiplier_change + at, dl);
  const Vec share = moved / slack;
  r.primal = larger(-share, r.primal);
  r.dual = larger(-dl / larger(multiplier, none + 1e-300), r.dual);
  r.slope += row.t * change;
  r.logs += share;
  r.soft += multiplier * soft * dl;
  r.price = larger((multiplier + dl) * scale, r.price);
}

static void direct(const Terms& t, int groups, const double* mu, Reach& reach) {
  for (int lane = 0; lane < kLanes; lane += kWidth) {
    Reached r = {load(reach.primal + lane), load(reach.dual + lane), load(reach.slope + lane),
                 load(reach.logs + lane), load(reach.soft + lane), load(reach.price + lane)};
    const Vec m = load(mu + lane), none = {};
    each(t, groups, lane, [&](int at, int e, int all) {
      if (!t.limited[e]) return;
      const Vec x = load(t.value + at), c = load(t.change + at), soft = load(t.inverse_soft + all);
      const Vec lower = load(t.lower + at), upper = load(t.upper + at), scale = load(t.scale + all);
      direct_side(t.above, at, x - upper, c, soft, scale, upper < kHasBound ? m : none, r);
      direct_side(t.below, at, lower - x, -c, soft, scale, lower > -kHasBound ? m : none, r);
    });
    store(reach.primal + lane, r.primal);
    store(reach.dual + lane, r.dual);
    store(reach.slope + lane, r.slope);
    store(reach.logs + lane, r.logs);
    store(reach.soft + lane, r.soft);
    store(reach.price + lane, r.price);
  }
}

struct Measured {
  Vec soft, residual, worst, violation, product, mantissa, exponent;
};

// Moves the exponent out of the mantissa, which would else run out of range.
static inline void normalise(Measured& m) {
  const Bits bits = reinterpret_cast<const Bits&>(m.mantissa);
  const Bits shifted = (bits >> 52) | 0x4330000000000000ULL;  // as a number: 2^52 and the exponent
  m.exponent += reinterpret_cast<const Vec&>(shifted) - (0x1p52 + 1023.0);
  const Bits kept = (bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL;
  m.mantissa = reinterpret_cast<const Vec&>(kept);
}

static inline void measure_side(const Side& side, int at, Vec g, Vec has, Vec soft, Vec scale, Vec hard, Vec primal,
                                Vec dual, Measured& m) {
  const Vec none = {};
  const Vec slack = load(side.slack + at) + (primal != 0.0 ? primal * load(side.slack_change + at) : none);
  const Vec multiplier = load(side.multiplier + at) + (dual != 0.0 ? dual * load(side.multiplier_change + at) : none);
  const Vec allowed = multiplier * soft;
  const Vec residual = has * absolute(slack + g - allowed) * scale;
  m.soft += 0.5 * multiplier * allowed;
  m.residual += residual;
  m.worst = larger(residual, m.worst);
  m.violation = larger(g * hard, m.violation);
  m.product += slack * multiplier;
  m.mantissa *= slack;
}

static Vec measure_cost(const Terms& t, int groups, int lane, Vec cost) {
  Vec sum = {};
  each(t, groups, lane, [&](int at, int, int) {
    const Vec off = load(t.trial + at) - load(t.reference + at);
    sum += load(t.cost + at) * off * off;
  });
  return cost + 0.5 * sum;
}

static void measure_bounds(const Terms& t, int groups, int lane, Vec primal, Vec dual, Measured& m) {
  const Vec none = {};
  each(t, groups, lane, [&](int at, int e, int all) {
    if (!t.limited[e]) return;
    const Vec x = load(t.trial + at), soft = load(t.inverse_soft + all), scale = load(t.inverse_scale + all);
    const Vec hard = load(t.hard_scale + all), lower = load(t.lower + at), upper = load(t.upper + at);
    measure_side(t.above, at, x - upper, upper < kHasBound ? none + 1.0 : none, soft, scale, hard, primal, dual, m);
    measure_side(t.below, at, lower - x, lower > -kHasBound ? none + 1.0 : none, soft, scale, hard, primal, dual, m);
    if (e % 4 == 3) normalise(m);
  });
  normalise(m);
}

static void measure(const Terms& t, int groups, const double* primal, const double* dual, Measure& out) {
  for (int lane = 0; lane < kLanes; lane += kWidth) {
    store(out.cost + lane, measure_cost(t, groups, lane, load(out.cost + lane)));
    if (!t.bounded) continue;
    Measured m = {load(out.soft + lane),      load(out.residual + lane), load(out.worst_residual + lane),
                  load(out.violation + lane), load(out.product + lane),  load(out.mantissa + lane),
                  load(out.exponent + lane)};
    measure_bounds(t, groups, lane, load(primal + lane), load(dual + lane), m);
    store(out.soft + lane, m.soft);
    store(out.residual + lane, m.residual);
    store(out.worst_residual + lane, m.worst);
    store(out.violation + lane, m.violation);
    store(out.product + lane, m.product);
    store(out.mantissa + lane, m.mantissa);
    store(out.exponent + lane, m.exponent);
  }
}

static void advance(const double* from, const double* change, const double* share, std::size_t numbers, double* to) {
  for (int lane = 0; lane < kLanes; lane += kWidth) {
    const Vec s = load(share + lane), none = {};
    for (std::size_t at = lane; at < numbers; at += kLanes) {
      store(to + at, load(from + at) + (s != 0.0 ? s * load(change + at) : none));
    }
  }
}

static void keep(const double* from, const double* mask, std::size_t numbers, double* to) {
  for (int lane = 0; lane < kLanes; lane += kWidth) {
    const Vec m = load(mask + lane);
    for (std::size_t at = lane; at < numbers; at += kLanes) {
      store(to + at, m != 0.0 ? load(from + at) : load(to + at));
    }
  }
}

static void commit(const Terms& t, int groups, const double* primal, const double* dual) {
  const std::size_t numbers = static_cast<std::size_t>(groups) * t.entries * kLanes;
  const Side sides[] = {t.above, t.below};
  for (const Side& side : sides) {
    advance(side.slack, side.slack_change, primal, numbers, side.slack);
    advance(side.multiplier, side.multiplier_change, dual, numbers, side.multiplier);
  }
}

static void multiply(const double* matrix, const double* vector, int rows, int columns, int groups, bool add,
                     double* out) {
  for (int lane = 0; lane < kLanes; lane += kWidth) {
    for (int g = 0; g < groups; ++g) {
      const double* x = vector + static_cast<std::size_t>(g) * columns * kLanes + lane;
      for (int i = 0; i < rows; ++i) {
        const std::size_t at = static_cast<std::size_t>(g) * rows + i;
        const double* m = matrix + at * columns * kLanes + lane;
        Vec sum = {}, other = {};
        int j = 0;
        for (; j + 1 < columns; j += 2) {
          sum += load(m + j * kLanes) * load(x + j * kLanes);
          other += load(m + (j + 1) * kLanes) * load(x + (j + 1) * kLanes);
        }
        if (j < columns) sum += load(m + j * kLanes) * load(x + j * kLanes);
        sum += other;
        double* to = out + at * kLanes + lane;
        store(to, add ? load(to) + sum : sum);
      }
    }
  }
}

static const RowLoops kLoops = {assemble, direct, measure, commit, advance, keep, multiply};
