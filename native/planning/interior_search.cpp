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
constexpr double kTiny = 1e-15;      // relative size of steps that rounding swallows
constexpr double kNeighbour = 1e10;  // multipliers stay within this factor of mu over the distance

// Adds the logarithms of many positive numbers; eight share one.
class LogSum {
 public:
  void add(double value) {
    product_ *= std::isinf(value) ? 1.0 : value;
    if (++count_ % 8 != 0) return;
    sum_ += std::log(product_);
    product_ = 1.0;
  }
  double value() const { return sum_ + std::log(product_); }

 private:
  double sum_ = 0.0, product_ = 1.0;
  int count_ = 0;
};

}  // namespace

double Interior::merit(double cost, const Vector& s, const Vector& p, const Vector& q) const {
  LogSum logs;
  double missed = 0.0;
  for (int i = 0; i < m_; ++i) {
    logs.add(s[i] - session_.lower[i]);
    logs.add(session_.upper[i] - s[i]);
  }
  for (int i = 0; aim_.elastic && i < m_; ++i) {
    if (unbounded(i)) continue;
    logs.add(p[i]);
    logs.add(q[i]);
    missed += p[i] + q[i];
  }
  return scale_ * cost + missed - mu_ * logs.value();
}

double Interior::residual_sum(const Vector& c, const Vector& s, const Vector& p, const Vector& q) const {
  double sum = 0.0;
  if (aim_.elastic) {
    for (int i = 0; i < m_; ++i) sum += std::abs(c[i] - s[i] - p[i] + q[i]);
  } else {
    for (int i = 0; i < m_; ++i) sum += std::abs(c[i] - s[i]);
  }
  return sum;
}

double Interior::longest(const Step& step) const {
  double alpha = 1.0;
  for (int i = 0; i < m_; ++i) {
    const double ds = step.ds[i], room = ds < 0.0 ? s_[i] - session_.lower[i] : session_.upper[i] - s_[i];
    if (alpha * std::abs(ds) > tau_ * room) alpha = tau_ * room / std::abs(ds);
  }
  for (int i = 0; aim_.elastic && i < m_; ++i) {
    if (unbounded(i)) continue;
    const double dp = step_p(i, step.dy[i]), dq = step_q(i, step.dy[i]);
    if (-alpha * dp > tau_ * p_[i]) alpha = -tau_ * p_[i] / dp;
    if (-alpha * dq > tau_ * q_[i]) alpha = -tau_ * q_[i] / dq;
  }
  return alpha;
}

double Interior::longest_dual() const {
  double alpha = 1.0;
  for (int i = 0; i < m_; ++i) {
    if (-alpha * dzl_[i] > tau_ * zl_[i]) alpha = -tau_ * zl_[i] / dzl_[i];
    if (-alpha * dzu_[i] > tau_ * zu_[i]) alpha = -tau_ * zu_[i] / dzu_[i];
  }
  for (int i = 0; aim_.elastic && i < m_; ++i) {
    if (unbounded(i)) continue;
    const double dzp = 1.0 - y_[i] - zp_[i] - step_.dy[i], dzq = 1.0 + y_[i] - zq_[i] + step_.dy[i];
    if (-alpha * dzp > tau_ * zp_[i]) alpha = -tau_ * zp_[i] / dzp;
    if (-alpha * dzq > tau_ * zq_[i]) alpha = -tau_ * zq_[i] / dzq;
  }
  return alpha;
}

bool Interior::try_step(const double* x, const Step& step, double alpha) {
  for (int i = 0; i < n_; ++i) trial_x_[i] = x[i] + alpha * step.dx[i];
  for (int i = 0; i < m_; ++i) trial_s_[i] = s_[i] + alpha * step.ds[i];
  for (int i = 0; aim_.elastic && i < m_; ++i) {
    const double moves = unbounded(i) ? 0.0 : alpha;
    trial_p_[i] = p_[i] + moves * step_p(i, step.dy[i]);
    trial_q_[i] = q_[i] + moves * step_q(i, step.dy[i]);
  }
  if (!session_.values(trial_x_.data(), &trial_cost_, trial_c_.data())) return false;
  trial_theta_ = residual_sum(trial_c_, trial_s_, trial_p_, trial_q_);
  trial_phi_ = merit(trial_cost_, trial_s_, trial_p_, trial_q_);
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

bool Interior::search(double* x) {
  const double most = longest(step_), least = least_alpha();
  double size = 0.0;
  for (int i = 0; i < n_; ++i) size = std::max(size, std::abs(step_.dx[i]) / (1.0 + std::abs(x[i])));
  for (double alpha = most; alpha > least; alpha *= 0.5) {
    const bool good = try_step(x, step_, alpha);
    if (good && (acceptable(alpha) || size < kTiny)) {
      accept(x, alpha);
      return true;
    }
    if (good && alpha == most && trial_theta_ >= theta_ && correct(x, alpha)) return true;
  }
  alpha_ = 0.0;
  return false;
}

// The violation that a full step leaves behind by the rows' curvature is taken out with the same matrix.
bool Interior::correct(double* x, double alpha) {
  double before = theta_;
  for (int count = 0; count < kMostCorrections; ++count) {
    for (int i = 0; i < m_; ++i) {
      const double left = trial_c_[i] - trial_s_[i] - (aim_.elastic ? trial_p_[i] - trial_q_[i] : 0.0);
      residual_[i] = alpha * residual_[i] + left;
    }
    direction(residual_.data(), corrected_);
    alpha = longest(corrected_);
    if (!try_step(x, corrected_, alpha)) return false;
    if (acceptable(alpha)) {
      accept(x, alpha);
      return true;
    }
    if (trial_theta_ > kCorrectionGain * before) return false;
    before = trial_theta_;
  }
  return false;
}

// Takes the trial point; multipliers move by the directions of the uncorrected step.
void Interior::accept(double* x, double alpha) {
  if (!merit_decides(alpha) || trial_phi_ > phi_ + kArmijo * alpha * slope_) filter_.add(theta_, phi_);
  const double by_bounds = longest_dual();
  const auto near = [this](double z, double distance) {
    const double centre = mu_ / distance;
    return std::max(centre / kNeighbour, std::min(centre * kNeighbour, z));
  };
  for (int i = 0; aim_.elastic && i < m_; ++i) {
    if (unbounded(i)) continue;
    zp_[i] = near(zp_[i] + by_bounds * (1.0 - y_[i] - zp_[i] - step_.dy[i]), trial_p_[i]);
    zq_[i] = near(zq_[i] + by_bounds * (1.0 + y_[i] - zq_[i] + step_.dy[i]), trial_q_[i]);
  }
  std::copy(trial_x_.begin(), trial_x_.end(), x);
  std::swap(s_, trial_s_);
  std::swap(c_, trial_c_);
  std::swap(p_, trial_p_);
  std::swap(q_, trial_q_);
  cost_ = trial_cost_;
  alpha_ = alpha;
  for (int i = 0; i < m_; ++i) {
    y_[i] += alpha * step_.dy[i];
    zl_[i] = near(zl_[i] + by_bounds * dzl_[i], s_[i] - session_.lower[i]);
    zu_[i] = near(zu_[i] + by_bounds * dzu_[i], session_.upper[i] - s_[i]);
  }
}

}  // namespace robomorph::planning
