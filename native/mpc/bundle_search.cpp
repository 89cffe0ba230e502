// How far a step goes.
#include <algorithm>
#include <cmath>

#include "mpc/bundle.h"

namespace robomorph::mpc {
namespace {

constexpr double kToBoundary = 0.995;  // of the way to where a slack or multiplier is zero
constexpr int kMostTrials = 12;
constexpr double kArmijo = 1e-4;
constexpr double kRounding = 1e-12;
constexpr double kFading = 0.5;
constexpr double kStiffness = 0.01;  // of the model's, along the direction: a small regularisation

double share_of(double reach) { return reach > kToBoundary ? kToBoundary / reach : 1.0; }

}  // namespace

// What a problem's direction promises, and how far slacks and multipliers let it go.
void Bundle::aim(int i) {
  Progress& p = p_[i];
  p.primal = p.dual = 0.0;
  p.optimal = false;
  if (!p.active || !facts_.ok[i] || !std::isfinite(facts_.slope[i] + facts_.curve[i])) return;
  p.curve = facts_.curve[i];
  const double square = form_->square(i) + 1e-300, descent = std::max(-facts_.slope[i], 0.0);
  p.stiffness = kStiffness * p.curve / square;
  p.last_rate = p.last_decrease > 0.0 ? p.decrease / p.last_decrease : 1.0;
  p.last_decrease = p.decrease;
  // Regularisation hides a share of what could be gained.
  p.decrease = 0.5 * descent / std::max(1.0 - p.regularisation * square / (descent + 1e-300), 1e-6);
  const double inner =
      facts_.slope[i] - sum_of(reach_.slope, i) - p.mu * sum_of(reach_.logs, i) + sum_of(reach_.soft, i);
  // Residuals cost as much as makes the direction one of descent, or as the dearest bound; what was needed once fades.
  p.penalty *= kFading;
  if (p.now.residual > 0.0) {
    const double least = 1.5 * (inner + 0.5 * p.curve) / (0.7 * p.now.residual);
    p.penalty = std::max(p.penalty, std::min(least, 3.0 * most_of(reach_.price, i)));
  }
  p.slope = std::min(inner - p.penalty * p.now.residual, 0.0);
  p.optimal = is_optimal(p);  // the step is taken all the same: it squares what is left
  p.primal = share_of(most_of(reach_.primal, i));
  p.dual = share_of(most_of(reach_.dual, i));
  // Of soft bounds a multiplier is a violation, too, and goes with the motion.
  if (p.elastic || w_.soft) p.primal = p.dual = std::min(p.primal, p.dual);
}

bool Bundle::acceptable(const Progress& p) const {
  if (!p.next.finite()) return false;
  if (p.gap) return true;  // costs of a motion that begins elsewhere say nothing
  double reference = p.now.merit(p.mu, p.penalty);
  const int known = w_.bounds[index(p)] > 0 ? std::min(p.remembered, kRemembered) : 0;
  for (int i = 0; i < known; ++i) reference = std::max(reference, p.before[i].merit(p.mu, p.penalty));
  const double rounding = kRounding * (std::fabs(reference) + p.now.cost);
  return p.next.merit(p.mu, p.penalty) <= reference + kArmijo * p.primal * p.slope + rounding;
}

// Shortens steps until all are acceptable; those that never are become zero.
void Bundle::search() {
  bool settled[kLanes] = {};
  for (int trial = 0; trial <= kMostTrials; ++trial) {
    share_out();
    form_->trial(primal_);
    measure(primal_, dual_);
    bool all = true;
    for (int i = 0; i < problems(); ++i) {
      Progress& p = p_[i];
      if (!p.active || settled[i]) continue;
      p.next = point_of(i);
      ++p.trials;
      settled[i] = p.primal == 0.0 || acceptable(p);
      if (settled[i]) continue;
      all = false;
      const double shorter = trial + 1 < kMostTrials ? (p.next.finite() ? 0.5 : 0.1) : 0.0;
      p.primal *= shorter;
      p.dual *= shorter;
    }
    if (all) return;
  }
}

}  // namespace robomorph::mpc
