// Where bounds cannot all be kept: all of them soft, at a price that rises. There always is an answer.
#include <algorithm>
#include <cmath>

#include "mpc/bundle.h"

namespace robomorph::mpc {
namespace {

constexpr double kHarder = 100.0;
// Violations below, scaled, may be those of bounds that can be kept: at a low price, and at the highest.
constexpr double kNearly = 0.05, kVeryNearly = 2e-3;

}  // namespace

// Bounds that the caller allows to be broken at a lower price stay as they are.
void Bundle::soften(Progress& p, double hardness) {
  p.hardness = hardness;
  p.elastic = std::isfinite(hardness);
  const int i = index(p);
  for (int x = 0; x < kBoundable; ++x) {
    Terms& t = w_.terms[x];
    for (int e = 0; t.bounded && e < t.entries; ++e) {
      const double* soft = problem_.wishes[x].soft;
      const double own = soft == nullptr ? 0.0 : 1.0 / soft[e];
      const double scale = 1.0 / t.inverse_scale[w_.at(e, i)];
      const double inverse = std::max(own, scale * scale / hardness);
      if (problems() == 1) std::fill_n(t.inverse_soft + e * kLanes, kLanes, inverse);
      else t.inverse_soft[w_.at(e, i)] = inverse;
    }
  }
}

void Bundle::begin_elastic(Progress& p) {
  p.begin(Phase::kElastic, Begin::kBraking);
  soften(p, kSoftest * p.unit);
}

void Bundle::keep_softest(Progress& p) {
  if (p.now.violation >= p.softest_violation) return;
  p.softest_violation = p.now.violation;
  keep(softest_, index(p));
}

// No more of it.
void Bundle::stop_elastic(Progress& p) {
  keep_softest(p);
  p.end(p.best_cost < INFINITY ? Code::kStalled : Code::kInfeasible);
}

// At this price the problem is solved, or leads no further.
void Bundle::end_elastic(Progress& p) {
  keep_softest(p);
  const double hardest = kHardest * p.unit;
  const bool last = p.hardness > 0.99 * hardest;
  if (p.softest_violation <= (last ? kVeryNearly : kNearly) && p.tried_again <= last) {
    p.tried_again = 1 + last;
    p.begin(Phase::kAgain, last ? Begin::kSoftest : Begin::kAsItIs);
    return soften(p, INFINITY);
  }
  if (last) return stop_elastic(p);
  p.begin(Phase::kElastic, Begin::kAsItIs);
  soften(p, std::min(kHarder * p.hardness, hardest));
}

// Hard bounds could not be kept from there either: on with elastic ones.
void Bundle::resume_elastic(Progress& p) {
  if (p.tried_again > 1) return p.end(p.best_cost < INFINITY ? Code::kStalled : Code::kInfeasible);
  p.begin(Phase::kElastic, Begin::kSoftest);
  soften(p, std::min(kHarder * kSoftest, kHardest) * p.unit);
}

}  // namespace robomorph::mpc
