#include "planning/interior.h"

#include <algorithm>
#include <cmath>

namespace robomorph::planning {
namespace {

constexpr double kPush = 0.1;            // slacks begin at least this far inside, absolutely and of the interval
constexpr double kLeastUnit = 1e-3, kMostUnit = 100.0;
constexpr double kMostMu = 1e-4;         // of the unit
constexpr double kMuFactor = 0.2;        // of mu, when its problem is solved to kMuSolved times mu
constexpr double kMuPower = 1.5;
constexpr double kMuSolved = 10.0;
constexpr double kLeastTau = 0.99;       // of the way to a bound
constexpr double kMostGradient = 100.0;  // of the cost, after scaling
constexpr double kTrace = 1e-4;          // of the cost, where only feasibility is asked for
constexpr double kScaleFrom = 100.0;     // multipliers of this size and more scale the dual residual
constexpr double kShort = 0.02, kFar = 1e-3;  // steps and violations that make kShortInRow of them a reason to restore
constexpr int kShortInRow = 4;
constexpr double kMostShift = 1e4;
constexpr int kMostPairs = 1000;  // in the filter

}  // namespace

Interior::Interior(Session& session)
    : session_(session),
      n_(session.n),
      m_(session.m),
      filter_(kMostPairs) {
  for (Vector* rows : {&c_, &s_, &y_, &zl_, &zu_, &sigma_, &pull_, &push_, &slack_sigma_, &residual_, &p_, &q_, &zp_,
                       &zq_, &dzl_, &dzu_, &trial_s_, &trial_c_, &trial_p_, &trial_q_, &work_, &step_.ds, &step_.dy,
                       &corrected_.ds, &corrected_.dy}) {
    rows->assign(m_, 0.0);
  }
  for (Vector* variables : {&gradient_, &trial_x_, &dual_, &step_.dx, &corrected_.dx}) variables->assign(n_, 0.0);
}

InteriorEnd Interior::run(double* x, const Aim& aim) {
  aim_ = aim;
  mu_ = aim.mu;
  short_steps_ = iterations_ = 0;
  least_shift_ = 0.0;
  unit_ = 1.0;
  if (!begin(x)) return InteriorEnd::kBadNumbers;
  while (true) {
    if (!session_.linearise(x, gradient_.data())) return InteriorEnd::kBadNumbers;
    session_.problem.jacobian_transposed_times(y_.data(), dual_.data());
    measure();
    InteriorEnd end;
    if (over(x, &end)) return end;
    while (lower_mu(x)) {
    }
    if (!newton(least_shift_)) return InteriorEnd::kBadNumbers;
    const bool found = search(x);
    const Iteration done{aim_.elastic ? Phase::kElastic : Phase::kInterior, mu_, cost_, session_.violation(c_.data()),
                         error_, alpha_, session_.regularisation()};
    if (!session_.proceed(done, x)) return InteriorEnd::kStopped;
    if (gave_up(found, &end)) return end;
  }
}

bool Interior::begin(const double* x) {
  if (!session_.values(x, &cost_, c_.data())) return false;
  if (!session_.linearise(x, gradient_.data())) return false;
  double steepest = 0.0;
  for (double value : gradient_) steepest = std::max(steepest, std::abs(value));
  scale_ = session_.options.cost_scale;
  scale_ = std::min(scale_, kMostGradient / std::max(steepest, kMostGradient / scale_));
  if (aim_.elastic || aim_.feasible) scale_ *= kTrace;
  const double* known = aim_.multipliers;
  for (int i = 0; i < m_; ++i) {
    const double low = session_.lower[i], high = session_.upper[i];
    double push = kPush * std::min(1.0, high - low);
    if (known != nullptr) push = std::min(push, mu_ / std::max(std::abs(scale_ * known[i]), mu_));
    s_[i] = std::max(low + push, std::min(high - push, c_[i]));
    zl_[i] = mu_ / (s_[i] - low);
    zu_[i] = mu_ / (high - s_[i]);
    if (known != nullptr && std::isfinite(low)) zl_[i] = std::max(zl_[i], -scale_ * known[i]);
    if (known != nullptr && std::isfinite(high)) zu_[i] = std::max(zu_[i], scale_ * known[i]);
    y_[i] = zu_[i] - zl_[i];
  }
  if (aim_.elastic) begin_elastics();
  reset_filter();
  return true;
}

void Interior::reset_filter() {
  theta_ = residual_sum(c_, s_, p_, q_);
  least_theta_ = 1e-4 * std::max(1.0, theta_);
  filter_.clear(1e4 * std::max(1.0, theta_));
}

// Costs have any size: what counts as small, and where mu begins, are shares of it. Nothing else tells a mu that is far
// too large, around which many steps would be lost.
void Interior::measure() {
  unit_ = 1.0;
  if (aim_.elastic || aim_.feasible) return;
  unit_ = std::max(kLeastUnit, std::min(kMostUnit, scale_ * std::abs(cost_)));
  if (mu_ <= kMostMu * unit_) return;
  mu_ = kMostMu * unit_;
  reset_filter();
}

// After the bounds moved: slacks beyond or at one are drawn a little inside.
void Interior::keep_inside() {
  for (int i = 0; i < m_; ++i) {
    const double low = session_.lower[i], high = session_.upper[i];
    const double push = std::min(1e-2 * mu_, 1e-2 * (high - low));
    s_[i] = std::max(low + push, std::min(high - push, s_[i]));
  }
}

// Is the run over at x? Margins are looked at anew before an answer is given, and may ask for more.
bool Interior::over(const double* x, InteriorEnd* end) {
  const double tolerance = unit_ * session_.options.tolerance;
  if (aim_.feasible || aim_.elastic) {
    *end = InteriorEnd::kFeasible;
    if (inside()) {
      if (!session_.refresh_bounds(x)) return true;
      keep_inside();
      if (inside()) return true;
    }
    if (aim_.elastic && session_.violation(c_.data()) <= aim_.enough) return true;
  }
  *end = InteriorEnd::kInfeasible;
  if (aim_.elastic) return conditions(0.0) <= tolerance || hopeless();
  *end = InteriorEnd::kSolved;
  const auto optimal = [this, tolerance] {
    return conditions(0.0) <= tolerance && session_.violation(c_.data()) <= session_.options.feasibility;
  };
  if (!optimal()) return false;
  if (!session_.refresh_bounds(x)) return true;
  keep_inside();
  return optimal();
}

// After a step, or none found. Where only the merit is at odds, more of the identity may still find one.
bool Interior::gave_up(bool found, InteriorEnd* end) {
  const double violation = session_.violation(c_.data());
  short_steps_ = alpha_ < kShort && violation > kFar ? short_steps_ + 1 : 0;
  *end = aim_.elastic ? InteriorEnd::kStalled : InteriorEnd::kRestore;
  if (!aim_.elastic && short_steps_ == kShortInRow) return true;
  if (++iterations_ == aim_.most) {
    *end = InteriorEnd::kCapped;
    return true;
  }
  if (found) {
    least_shift_ = 0.0;
    return false;
  }
  if (!aim_.elastic && violation > session_.options.tolerance) return true;
  *end = InteriorEnd::kStalled;
  least_shift_ = std::max(1e-6, 100.0 * session_.regularisation());
  return least_shift_ > kMostShift;
}

bool Interior::inside() const {
  for (int i = 0; i < m_; ++i) {
    const double room = std::min(c_[i] - session_.lower[i], session_.upper[i] - c_[i]);
    if (room <= std::min(aim_.margin, 0.01 * (session_.upper[i] - session_.lower[i]))) return false;
  }
  return true;
}

// The largest error of the optimality conditions of the problem with this mu, scaled by the size of multipliers.
double Interior::conditions(double mu) {
  double dual = 0.0, primal = 0.0, product = 0.0, size = 0.0, bounds = 0.0;
  for (int i = 0; i < n_; ++i) dual = std::max(dual, std::abs(scale_ * gradient_[i] + dual_[i]));
  for (int i = 0; i < m_; ++i) {
    const double low = s_[i] - session_.lower[i], high = session_.upper[i] - s_[i];
    const double elastic = aim_.elastic ? p_[i] - q_[i] : 0.0;
    dual = std::max(dual, std::abs(zu_[i] - zl_[i] - y_[i]));
    primal = std::max(primal, std::abs(c_[i] - s_[i] - elastic));
    if (zl_[i] > 0.0) product = std::max(product, std::abs(low * zl_[i] - mu));
    if (zu_[i] > 0.0) product = std::max(product, std::abs(high * zu_[i] - mu));
    size += std::abs(y_[i]);
    bounds += zl_[i] + zu_[i];
  }
  for (int i = 0; aim_.elastic && i < m_; ++i) {
    if (unbounded(i)) continue;
    dual = std::max(dual, std::max(std::abs(1.0 - y_[i] - zp_[i]), std::abs(1.0 + y_[i] - zq_[i])));
    product = std::max(product, std::max(std::abs(p_[i] * zp_[i] - mu), std::abs(q_[i] * zq_[i] - mu)));
  }
  const double by_dual = std::max(kScaleFrom, (size + bounds) / (3.0 * m_ + 1.0)) / kScaleFrom;
  const double by_bounds = std::max(kScaleFrom, bounds / (2.0 * m_ + 1.0)) / kScaleFrom;
  error_ = dual / by_dual;
  return std::max(primal, std::max(error_, product / by_bounds));
}

bool Interior::lower_mu(const double* x) {
  const double least = 0.1 * unit_ * session_.options.tolerance;
  if (mu_ <= least || conditions(mu_) > kMuSolved * mu_) return false;
  const double before = mu_;
  mu_ = std::max(least, std::min(kMuFactor * mu_, unit_ * std::pow(mu_ / unit_, kMuPower)));
  if (aim_.elastic) scale_ *= mu_ / before;  // what is left in the end are violations alone
  if (session_.refresh_bounds(x)) keep_inside();
  reset_filter();
  return true;
}

// Weights and direction; theta, phi and the slope of phi along it.
bool Interior::newton(double least_shift) {
  tau_ = std::max(kLeastTau, 1.0 - mu_);
  for (int i = 0; i < m_; ++i) {
    const double low = s_[i] - session_.lower[i], high = session_.upper[i] - s_[i];
    sigma_[i] = zl_[i] / low + zu_[i] / high;
    pull_[i] = mu_ / high - mu_ / low;
    push_[i] = pull_[i] - y_[i];
    residual_[i] = c_[i] - s_[i];
  }
  if (aim_.elastic) weigh_elastics();
  session_.condense(scale_, y_.data(), sigma_.data(), session_.options.exact);
  if (!session_.factorise(least_shift)) return false;
  direction(residual_.data(), step_);
  bound_directions();
  theta_ = slope_ = 0.0;
  for (int i = 0; i < m_; ++i) {
    theta_ += std::abs(residual_[i]);
    slope_ += pull_[i] * step_.ds[i];
  }
  for (int i = 0; i < n_; ++i) slope_ += scale_ * gradient_[i] * step_.dx[i];
  if (aim_.elastic) slope_ += elastic_slope();
  phi_ = merit(cost_, s_, p_, q_);
  return std::isfinite(slope_);
}

// The step that brings `residual` to zero in the linear model: dy = sigma (J dx + residual) + push.
void Interior::direction(const double* residual, Step& step) {
  for (int i = 0; i < m_; ++i) work_[i] = sigma_[i] * residual[i] + push_[i] + y_[i];
  session_.problem.jacobian_transposed_times(work_.data(), step.dx.data());
  for (int i = 0; i < n_; ++i) step.dx[i] = -(step.dx[i] + scale_ * gradient_[i]);
  session_.solve(step.dx.data());
  session_.problem.jacobian_times(step.dx.data(), step.ds.data());
  for (int i = 0; i < m_; ++i) {
    step.ds[i] += residual[i];
    step.dy[i] = sigma_[i] * step.ds[i] + push_[i];
  }
  if (!aim_.elastic) return;
  for (int i = 0; i < m_; ++i) {
    if (!unbounded(i)) step.ds[i] = (step.dy[i] + y_[i] - pull_[i]) / slack_sigma_[i];
  }
}

void Interior::bound_directions() {
  for (int i = 0; i < m_; ++i) {
    const double low = s_[i] - session_.lower[i], high = session_.upper[i] - s_[i];
    dzl_[i] = mu_ / low - zl_[i] - zl_[i] / low * step_.ds[i];
    dzu_[i] = mu_ / high - zu_[i] + zu_[i] / high * step_.ds[i];
  }
}

}  // namespace robomorph::planning
