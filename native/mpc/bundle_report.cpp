// What a plan costs and which bounds it breaks, by the caller's own numbers.
#include <algorithm>
#include <cmath>

#include "mpc/bundle.h"

namespace robomorph::mpc {
namespace {

struct Worst {
  double scaled = 0.0, amount = 0.0;
  int quantity = -1, node = 0, entry = 0;
};

}  // namespace

void Bundle::report(int i) {
  Progress& p = p_[i];
  const Results& out = problem_.out;
  const std::size_t caller = w_.caller(i);
  double cost = 0.0, soft = 0.0;
  Worst worst;
  for (int x = 0; x < kQuantities; ++x) {
    const Terms& t = w_.terms[x];
    if (!t.costs && !t.bounded) continue;
    for (int k = 0; k <= w_.shape.horizon; ++k) {
      for (int e = 0; e < t.entries; ++e) {
        const std::size_t at = w_.at(t.entries, k, e, i);
        const double off = t.trial[at] - t.reference[at];
        cost += 0.5 * t.cost[at] * off * off;
        if (!t.bounded || !t.limited[e] || !bounded_at(x, k, w_.shape)) continue;
        const double over = t.trial[at] - w_.caller_upper(x, k, e, i), under = w_.caller_lower(x, k, e, i) - t.trial[at];
        const double g = std::max(over, under), hard = t.hard_scale[w_.at(e, i)];
        if (!(g > 0.0)) continue;
        if (hard == 0.0) soft += 0.5 * problem_.wishes[x].soft[e] * g * g;
        else if (g * hard > worst.scaled) worst = {g * hard, over > under ? over : -under, x, k, e};
      }
    }
  }
  if (!std::isfinite(cost)) p.code = Code::kFailed;
  if (out.cost != nullptr) out.cost[caller] = cost;
  if (out.soft_cost != nullptr) out.soft_cost[caller] = soft;
  if (out.violation != nullptr) out.violation[caller] = worst.scaled;
  if (out.worst != nullptr) {
    double* to = out.worst + 4 * caller;
    to[0] = worst.quantity;
    to[1] = worst.node;
    to[2] = worst.entry;
    to[3] = worst.amount;
  }
  write_multipliers(i);
}

// What the motion costs now, for the caller's record.
void Bundle::note(int i) {
  const Results& out = problem_.out;
  const Progress& p = p_[i];
  if (out.trace == nullptr || i >= w_.count() || p.iterations >= out.trace_width) return;
  out.trace[static_cast<std::size_t>(w_.caller(i)) * out.trace_width + p.iterations] = p.now.cost;
}

void Bundle::write_multipliers(int i) {
  for (int x = 0; x < kBoundable; ++x) {
    const Terms& t = w_.terms[x];
    double* to = problem_.out.multiplier[x];
    if (to == nullptr) continue;
    const int nodes = problem_.nodes(x);
    to += static_cast<std::size_t>(w_.caller(i)) * nodes * t.entries;
    if (!t.bounded) {
      std::fill_n(to, static_cast<std::size_t>(nodes) * t.entries, 0.0);
      continue;
    }
    for (int k = 0; k < nodes; ++k) {
      for (int e = 0; e < t.entries; ++e) {
        const std::size_t at = w_.at(t.entries, k, e, i);
        *to++ = t.above.multiplier[at] - t.below.multiplier[at];
      }
    }
  }
}

}  // namespace robomorph::mpc
