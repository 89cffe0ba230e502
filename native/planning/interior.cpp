#include "planning/interior.h"

#include <algorithm>
#include <cmath>

namespace robomorph::planning {
namespace {

constexpr double kPushShare = 1e-2;     // slacks begin at least this far inside, absolutely and of the interval
constexpr double kMuFactor = 0.2;       // of mu, when its problem is solved to kMuSolved times mu
constexpr double kMuPower = 1.5;
constexpr double kMuSolved = 10.0;
constexpr double kLeastTau = 0.99;      // of the way to a bound
constexpr double kMostGradient = 100.0; // of the cost, after scaling
constexpr double kScaleFrom = 100.0;    // multipliers of this size and more scale the dual residual
constexpr int kMostRefreshes = 5;       // of margins after convergence
constexpr double kShort = 0.02, kFar = 1e-3;
constexpr int kShortInRow = 4;

}  // namespace

Interior::Interior(Session& session)
    : session_(session),
      n_(session.n),
      m_(session.m),
      c_(m_),
      s_(m_),
      y_(m_),
      zl_(m_),
      zu_(m_),
      sigma_(m_),
      pull_(m_),
      residual_(m_),
      gradient_(n_),
      dx_(n_),
      ds_(m_),
      dy_(m_),
      dzl_(m_),
      dzu_(m_),
      soc_dx_(n_),
      soc_ds_(m_),
      trial_x_(n_),
      trial_s_(m_),
      trial_c_(m_),
      dual_(n_),
      work_(m_),
      filter_(session.options.iterations + 1) {}

InteriorEnd Interior::run(double* x, double mu, const double* multipliers) {
  mu_ = mu;
  if (!begin(x, multipliers)) return InteriorEnd::kBadNumbers;
  int refreshes = 0, in_row = 0;
  double least_shift = 0.0;
  while (true) {
    if (!session_.linearise(x, gradient_.data())) return InteriorEnd::kBadNumbers;
    session_.problem.jacobian_transposed_times(y_.data(), dual_.data());
    const double error = conditions(0.0);
    if (error <= session_.options.tolerance) {
      if (refreshes++ == kMostRefreshes || !session_.refresh_bounds(x)) return InteriorEnd::kSolved;
      keep_inside();
      if (conditions(0.0) <= session_.options.tolerance) return InteriorEnd::kSolved;
    }
    while (lower_mu(x)) {
    }
    if (!newton(least_shift)) return InteriorEnd::kBadNumbers;
    const Search found = search(x);
    const double regularisation = session_.regularisation();
    const Iteration done{Phase::kInterior, mu_, cost_, session_.violation(c_.data()), error_, alpha_, regularisation};
    if (!session_.proceed(done, x)) return InteriorEnd::kStopped;
    in_row = alpha_ < kShort && done.infeasibility > kFar ? in_row + 1 : 0;
    if (in_row == kShortInRow) return InteriorEnd::kRestore;
    if (found == Search::kAccepted) {
      least_shift = 0.0;
      continue;
    }
    if (theta_ > 1e-6 * m_ || done.infeasibility > session_.options.tolerance) return InteriorEnd::kRestore;
    least_shift = std::max(1e-6, 100.0 * regularisation);
    if (least_shift > 1e4) return InteriorEnd::kStalled;
  }
}

bool Interior::begin(const double* x, const double* multipliers) {
  if (!session_.values(x, &cost_, c_.data())) return false;
  if (!session_.linearise(x, gradient_.data())) return false;
  double steepest = 0.0;
  for (double value : gradient_) steepest = std::max(steepest, std::abs(value));
  scale_ = steepest > kMostGradient ? kMostGradient / steepest : 1.0;
  for (int i = 0; i < m_; ++i) {
    const double low = session_.lower[i], high = session_.upper[i], width = high - low;
    double push = kPushShare * std::min(1.0, width);
    if (multipliers != nullptr) push = std::min(push, mu_ / std::max(std::abs(multipliers[i]), mu_));
    s_[i] = std::max(low + push, std::min(high - push, c_[i]));
    zl_[i] = mu_ / (s_[i] - low);
    zu_[i] = mu_ / (high - s_[i]);
    if (multipliers != nullptr && std::isfinite(low)) zl_[i] = std::max(zl_[i], -scale_ * multipliers[i]);
    if (multipliers != nullptr && std::isfinite(high)) zu_[i] = std::max(zu_[i], scale_ * multipliers[i]);
    y_[i] = zu_[i] - zl_[i];
  }
  reset_filter();
  return true;
}

void Interior::reset_filter() {
  theta_ = 0.0;
  for (int i = 0; i < m_; ++i) theta_ += std::abs(c_[i] - s_[i]);
  least_theta_ = 1e-4 * std::max(1.0, theta_);
  filter_.clear(1e4 * std::max(1.0, theta_));
}

// After the bounds moved: slacks beyond or at one are drawn a little inside.
void Interior::keep_inside() {
  for (int i = 0; i < m_; ++i) {
    const double low = session_.lower[i], high = session_.upper[i];
    const double push = std::min(1e-2 * mu_, 1e-2 * (high - low));
    s_[i] = std::max(low + push, std::min(high - push, s_[i]));
  }
}

// The largest error of the optimality conditions of the problem with this mu, scaled by the size of multipliers.
double Interior::conditions(double mu) {
  double dual = 0.0, primal = 0.0, product = 0.0, size = 0.0, bounds = 0.0;
  for (int i = 0; i < n_; ++i) dual = std::max(dual, std::abs(scale_ * gradient_[i] + dual_[i]));
  for (int i = 0; i < m_; ++i) {
    const double low = s_[i] - session_.lower[i], high = session_.upper[i] - s_[i];
    dual = std::max(dual, std::abs(zu_[i] - zl_[i] - y_[i]));
    primal = std::max(primal, std::abs(c_[i] - s_[i]));
    if (zl_[i] > 0.0) product = std::max(product, std::abs(low * zl_[i] - mu));
    if (zu_[i] > 0.0) product = std::max(product, std::abs(high * zu_[i] - mu));
    size += std::abs(y_[i]);
    bounds += zl_[i] + zu_[i];
  }
  const double by_dual = std::max(kScaleFrom, (size + bounds) / (3.0 * m_ + 1.0)) / kScaleFrom;
  const double by_bounds = std::max(kScaleFrom, bounds / (2.0 * m_ + 1.0)) / kScaleFrom;
  error_ = dual / by_dual;
  return std::max(primal, std::max(error_, product / by_bounds));
}

bool Interior::lower_mu(const double* x) {
  const double least = 0.1 * session_.options.tolerance;
  if (mu_ <= least || conditions(mu_) > kMuSolved * mu_) return false;
  mu_ = std::max(least, std::min(kMuFactor * mu_, std::pow(mu_, kMuPower)));
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
    residual_[i] = c_[i] - s_[i];
  }
  session_.condense(scale_, y_.data(), sigma_.data(), session_.options.exact);
  if (!session_.factorise(least_shift)) return false;
  direction(residual_.data(), dx_.data(), ds_.data());
  dual_directions();
  theta_ = slope_ = 0.0;
  for (int i = 0; i < m_; ++i) {
    theta_ += std::abs(residual_[i]);
    slope_ += pull_[i] * ds_[i];
  }
  for (int i = 0; i < n_; ++i) slope_ += scale_ * gradient_[i] * dx_[i];
  phi_ = scale_ * cost_ - mu_ * barrier(s_.data());
  return std::isfinite(slope_);
}

// dx and ds that bring c(x) - s from `residual` to zero in the linear model.
void Interior::direction(const double* residual, double* dx, double* ds) {
  for (int i = 0; i < m_; ++i) work_[i] = sigma_[i] * residual[i] + pull_[i];
  session_.problem.jacobian_transposed_times(work_.data(), dx);
  for (int i = 0; i < n_; ++i) dx[i] = -(dx[i] + scale_ * gradient_[i]);
  session_.solve(dx);
  session_.problem.jacobian_times(dx, ds);
  for (int i = 0; i < m_; ++i) ds[i] += residual[i];
}

void Interior::dual_directions() {
  for (int i = 0; i < m_; ++i) {
    const double low = s_[i] - session_.lower[i], high = session_.upper[i] - s_[i];
    dzl_[i] = mu_ / low - zl_[i] - zl_[i] / low * ds_[i];
    dzu_[i] = mu_ / high - zu_[i] + zu_[i] / high * ds_[i];
    dy_[i] = sigma_[i] * ds_[i] - y_[i] + pull_[i];
  }
}

}  // namespace robomorph::planning
