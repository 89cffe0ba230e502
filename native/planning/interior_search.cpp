// The line search of the interior point method: what a step must bring, and second-order corrections.
#include <algorithm>
#include <cmath>

#include "planning/interior.h"

namespace robomorph::planning {
namespace {

constexpr double kArmijo = 1e-8;
constexpr double kSlopePower = 2.3, kThetaPower = 1.1;  // when the merit decides, and no longer the violation
constexpr double kLeastShare = 0.05;                    // safety in the least alpha
constexpr int kMostCorrections = 4;
constexpr double kCorrectionGain = 0.99;
constexpr double kTiny = 1e-15;       // relative size of steps that rounding swallows
constexpr double kNeighbour = 1e10;   // multipliers stay within this factor of mu over the distance

}  // namespace

// Products of eight distances take one logarithm.
double Interior::barrier(const double* s) const {
  double sum = 0.0, product = 1.0;
  const auto distance = [](double value) { return std::isinf(value) ? 1.0 : value; };
  for (int i = 0; i < m_; ++i) {
    product *= distance(s[i] - session_.lower[i]) * distance(session_.upper[i] - s[i]);
    if (i % 4 != 3) continue;
    sum += std::log(product);
    product = 1.0;
  }
  return sum + std::log(product);
}

double Interior::longest(const double* ds) const {
  double alpha = 1.0;
  for (int i = 0; i < m_; ++i) {
    const double room = ds[i] < 0.0 ? s_[i] - session_.lower[i] : session_.upper[i] - s_[i];
    const double length = std::abs(ds[i]);
    if (alpha * length > tau_ * room) alpha = tau_ * room / length;
  }
  return alpha;
}

double Interior::longest_dual() const {
  double alpha = 1.0;
  for (int i = 0; i < m_; ++i) {
    if (-alpha * dzl_[i] > tau_ * zl_[i]) alpha = -tau_ * zl_[i] / dzl_[i];
    if (-alpha * dzu_[i] > tau_ * zu_[i]) alpha = -tau_ * zu_[i] / dzu_[i];
  }
  return alpha;
}

bool Interior::try_step(const double* x, const double* dx, const double* ds, double alpha) {
  for (int i = 0; i < n_; ++i) trial_x_[i] = x[i] + alpha * dx[i];
  for (int i = 0; i < m_; ++i) trial_s_[i] = s_[i] + alpha * ds[i];
  if (!session_.values(trial_x_.data(), &trial_cost_, trial_c_.data())) return false;
  trial_theta_ = 0.0;
  for (int i = 0; i < m_; ++i) trial_theta_ += std::abs(trial_c_[i] - trial_s_[i]);
  trial_phi_ = scale_ * trial_cost_ - mu_ * barrier(trial_s_.data());
  return std::isfinite(trial_phi_) && std::isfinite(trial_theta_);
}

bool Interior::merit_decides(double alpha) const {
  return slope_ < 0.0 && theta_ <= least_theta_ &&
         alpha * std::pow(-slope_, kSlopePower) > std::pow(theta_, kThetaPower);
}

bool Interior::acceptable(double alpha) const {
  const double rounding = 1e-14 * (1.0 + std::abs(phi_));
  if (!filter_.accepts(trial_theta_, trial_phi_ - rounding)) return false;
  if (merit_decides(alpha)) return trial_phi_ <= phi_ + kArmijo * alpha * slope_ + rounding;
  return trial_theta_ <= (1.0 - Filter::kViolation) * theta_ ||
         trial_phi_ <= phi_ - Filter::kMerit * theta_ + (theta_ == 0.0 ? rounding : 0.0);
}

double Interior::least_alpha() const {
  double share = Filter::kViolation;
  if (slope_ < 0.0) {
    share = std::min(share, Filter::kMerit * theta_ / -slope_);
    if (theta_ <= least_theta_) {
      share = std::min(share, std::pow(theta_, kThetaPower) / std::pow(-slope_, kSlopePower));
    }
  }
  return std::max(1e-12, kLeastShare * share);
}

Interior::Search Interior::search(double* x) {
  const double longest_step = longest(ds_.data());
  double tiny = 0.0;
  for (int i = 0; i < n_; ++i) tiny = std::max(tiny, std::abs(dx_[i]) / (1.0 + std::abs(x[i])));
  const double least = least_alpha();
  for (double alpha = longest_step; alpha > least; alpha *= 0.5) {
    const bool good = try_step(x, dx_.data(), ds_.data(), alpha);
    if (good && (acceptable(alpha) || tiny < kTiny)) {
      accept(x, alpha, alpha);
      return Search::kAccepted;
    }
    if (good && alpha == longest_step && trial_theta_ >= theta_ && correct(x, alpha)) return Search::kAccepted;
  }
  alpha_ = 0.0;
  return Search::kFailed;
}

// The violation that a full step leaves behind by the rows' curvature is taken out with the same matrix.
bool Interior::correct(double* x, double alpha) {
  double before = theta_;
  for (int i = 0; i < m_; ++i) residual_[i] = alpha * (c_[i] - s_[i]) + (trial_c_[i] - trial_s_[i]);
  for (int count = 0; count < kMostCorrections; ++count) {
    direction(residual_.data(), soc_dx_.data(), soc_ds_.data());
    const double step = longest(soc_ds_.data());
    if (!try_step(x, soc_dx_.data(), soc_ds_.data(), step)) return false;
    if (acceptable(alpha)) {
      accept(x, step, step);
      return true;
    }
    if (trial_theta_ > kCorrectionGain * before) return false;
    before = trial_theta_;
    for (int i = 0; i < m_; ++i) residual_[i] = step * residual_[i] + (trial_c_[i] - trial_s_[i]);
  }
  return false;
}

// Takes the trial point; multipliers move by the directions of the uncorrected step.
void Interior::accept(double* x, double alpha, double dual_alpha) {
  if (!merit_decides(alpha) || trial_phi_ > phi_ + kArmijo * alpha * slope_) filter_.add(theta_, phi_);
  const double bound_alpha = longest_dual();
  std::copy(trial_x_.begin(), trial_x_.end(), x);
  std::swap(s_, trial_s_);
  std::swap(c_, trial_c_);
  cost_ = trial_cost_;
  alpha_ = alpha;
  const auto near = [this](double z, double distance) {
    const double centre = mu_ / distance;
    return std::max(centre / kNeighbour, std::min(centre * kNeighbour, z));
  };
  for (int i = 0; i < m_; ++i) {
    y_[i] += dual_alpha * dy_[i];
    zl_[i] = near(zl_[i] + bound_alpha * dzl_[i], s_[i] - session_.lower[i]);
    zu_[i] = near(zu_[i] + bound_alpha * dzu_[i], session_.upper[i] - s_[i]);
  }
}

}  // namespace robomorph::planning
