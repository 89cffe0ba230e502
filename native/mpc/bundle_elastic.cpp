// Where bounds cannot all be kept: all of them soft, at a price that rises. There always is an answer.
#include <algorithm>
#include <cmath>

#include "mpc/bundle.h"

namespace robomorph::mpc {
namespace {

constexpr double kHarder = 100.0;
constexpr double kNearly = 1e-3;  // violations below, scaled, may be those of bounds that can be kept

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

// At this price the problem is solved, or leads no further.
void Bundle::end_elastic(Progress& p) {
  const double hardest = kHardest * p.unit;
  if (p.hardness < 0.99 * hardest) {
    soften(p, std::min(kHarder * p.hardness, hardest));
    return p.begin(Phase::kElastic, Begin::kAsItIs);
  }
  if (p.now.violation > kNearly) return p.end(Code::kInfeasible);
  alignas(64) double mask[kLanes] = {};
  for (int l = 0; l < kLanes; ++l) mask[l] = problems() == 1 || l == index(p) ? 1.0 : 0.0;
  const Terms* t = w_.terms;
  const std::size_t size = w_.shape.numbers(problem_.nv);
  loops_.keep(t[kPosition].value, mask, size, softest_.q.data());
  loops_.keep(t[kVelocity].value, mask, size, softest_.v.data());
  loops_.keep(t[kAcceleration].value, mask, size, softest_.a.data());
  soften(p, INFINITY);
  p.begin(Phase::kAgain, Begin::kAsItIs);
}

}  // namespace robomorph::mpc
