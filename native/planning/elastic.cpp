// The elastic mode of the interior point method: rows that may be missed, at a price of one a unit.
#include <algorithm>
#include <cmath>

#include "planning/interior.h"

namespace robomorph::planning {
namespace {

// How far a variable is thought to move when violations are bounded below: some steps as the last one, and at least so.
constexpr double kSteps = 10.0, kReach = 0.3;
constexpr double kHopeless = 0.9;  // share of the violations that no step within reach removes
constexpr int kFirstLook = 3;      // iterations before

}  // namespace

// The best elastics for the residuals: p - q = r with p q = mu (p + q) / 2.
void Interior::begin_elastics() {
  for (int i = 0; i < m_; ++i) {
    if (unbounded(i)) {
      p_[i] = q_[i] = zp_[i] = zq_[i] = 1.0;
      continue;
    }
    const double r = c_[i] - s_[i], half = 0.5 * (mu_ - r);
    q_[i] = half + std::sqrt(half * half + 0.5 * mu_ * r + 1e-30);
    q_[i] = std::max(q_[i], 1e-12);
    p_[i] = std::max(r + q_[i], 1e-12);
    zp_[i] = mu_ / p_[i];
    zq_[i] = mu_ / q_[i];
    y_[i] = std::max(-0.99, std::min(0.99, y_[i]));
  }
}

// dp = (mu - p (1 - y - dy)) / zp and dq alike, so that J dx + residual = ds + dp - dq gives dy.
void Interior::weigh_elastics() {
  for (int i = 0; i < m_; ++i) {
    residual_[i] -= p_[i] - q_[i];
    slack_sigma_[i] = sigma_[i];
    if (unbounded(i)) continue;
    const double above = p_[i] / zp_[i], below = q_[i] / zq_[i];
    sigma_[i] = 1.0 / (1.0 / slack_sigma_[i] + above + below);
    push_[i] = sigma_[i] * (push_[i] / slack_sigma_[i] - step_p(i, 0.0) + step_q(i, 0.0));
  }
}

double Interior::elastic_slope() const {
  double sum = 0.0;
  for (int i = 0; i < m_; ++i) {
    if (unbounded(i)) continue;
    sum += (1.0 - mu_ / p_[i]) * step_p(i, step_.dy[i]) + (1.0 - mu_ / q_[i]) * step_q(i, step_.dy[i]);
  }
  return sum;
}

// For |y| <= 1 the violations after any step d of the linear model are at least
// sum_i (y_i c_i - the most of y_i s over its interval) + (J'y) . d.
bool Interior::hopeless() const {
  if (iterations_ < kFirstLook) return false;
  const double now = session_.total_violation(c_.data());
  double least = 0.0;
  for (int i = 0; i < m_; ++i) {
    const double y = std::max(-1.0, std::min(1.0, y_[i])), bound = y > 0.0 ? session_.upper[i] : session_.lower[i];
    if (y != 0.0 && std::isfinite(bound)) least += y * (c_[i] - bound);
  }
  for (int i = 0; i < n_; ++i) least -= std::max(kReach, kSteps * std::abs(step_.dx[i])) * std::abs(dual_[i]);
  return least > kHopeless * now && now > session_.options.tolerance;
}

void Interior::multipliers(Vector& out) const {
  const double unit = aim_.elastic ? 1.0 : scale_;
  for (int i = 0; i < m_; ++i) out[i] = y_[i] / unit;
}

}  // namespace robomorph::planning
