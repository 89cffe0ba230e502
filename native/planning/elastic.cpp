#include "planning/elastic.h"

#include <algorithm>
#include <cmath>

namespace robomorph::planning {
namespace {

constexpr double kArmijo = 1e-4;
constexpr double kLeastAlpha = 1e-6;
constexpr double kFirstShare = 0.1;   // mu at first, of the largest violation
constexpr double kDecrease = 0.2;     // of mu after a good step
constexpr double kLeastMu = 1e-9;
constexpr double kRegular = 1e-3;     // the cost's share, of mu, for what rows leave open
constexpr double kDualRoom = 1e-3;    // duals stay this far, relatively, from their ends
constexpr double kReach = 0.3;        // how far a variable may be thought to move when violations are bounded below
constexpr double kHopeless = 0.9;     // share of the violations that no step within reach removes

// One side of one row: v is the violation, p the elastic that is best for it, t = p - v the room left.
struct Side {
  double p, t;

  Side(double v, double mu) {
    const double root = std::sqrt(v * v + 4.0 * mu * mu);
    // The smaller of the two by their product, without cancellation: p t = mu (p + t) - and p + t = 2 mu + root.
    const double sum = 2.0 * mu + root, larger = 0.5 * (sum + std::abs(v)), smaller = mu * sum / larger;
    p = v > 0.0 ? larger : smaller;
    t = v > 0.0 ? smaller : larger;
  }
};

double clamp(double value, double low, double high) { return value < low ? low : (value > high ? high : value); }

}  // namespace

Elastic::Elastic(Session& session)
    : session_(session),
      c_(session.m),
      trial_rows_(session.m),
      gradient_(session.n),
      y_(session.m),
      weights_(session.m),
      zl_(session.m),
      zu_(session.m),
      direction_(session.n),
      row_step_(session.m),
      trial_(session.n),
      dual_(session.n) {}

ElasticEnd Elastic::run(double* x, double margin, int most) {
  if (!begin(x)) return ElasticEnd::kBadNumbers;
  double mu = std::max(kLeastMu, kFirstShare * session_.violation(c_.data()));
  for (int iteration = 0;; ++iteration) {
    if (inside(margin)) return ElasticEnd::kFeasible;
    if (iteration == most) return ElasticEnd::kGaveUp;
    if (!session_.linearise(x, gradient_.data())) return ElasticEnd::kBadNumbers;
    smooth(mu);
    if (!step(x, mu)) return ElasticEnd::kBadNumbers;
    if (hopeless()) return ElasticEnd::kInfeasible;
    const double alpha = search(x, mu);
    double dual = 0.0;
    for (double value : dual_) dual = std::max(dual, std::abs(value));
    const Iteration done{Phase::kElastic, mu, cost_, session_.violation(c_.data()), dual, alpha,
                         session_.regularisation()};
    if (!session_.proceed(done, x)) return ElasticEnd::kStopped;
    if (alpha == 0.0 && mu <= kLeastMu) return ElasticEnd::kGaveUp;
    if (alpha > 0.0) move_duals(trial_rows_.data(), alpha, mu);  // which now holds the rows before the step
    if (alpha == 0.0 || alpha > 0.5) mu = std::max(kLeastMu, kDecrease * mu);
  }
}

bool Elastic::begin(const double* x) {
  if (!session_.values(x, &cost_, c_.data())) return false;
  std::fill(zl_.begin(), zl_.end(), 0.5);
  std::fill(zu_.begin(), zu_.end(), 0.5);
  return true;
}

// Multipliers and weights of the smoothed violations. The duals kept from step to step are the primal ones' neighbours.
void Elastic::smooth(double mu) {
  constexpr double kApart = 1e3;
  const auto side = [mu](double v, double& z, double& weight) {
    const Side best(v, mu);
    const double now = mu / best.t;
    z = clamp(z, now / kApart, 1.0 - (1.0 - now) / kApart);
    z = clamp(z, now / kApart, std::min(1.0 - 1e-12, now * kApart));
    weight += 1.0 / (best.t / z + best.p / (1.0 - z));
    return now;
  };
  for (int i = 0; i < session_.m; ++i) {
    weights_[i] = y_[i] = 0.0;
    if (std::isfinite(session_.upper[i])) y_[i] += side(c_[i] - session_.upper[i], zu_[i], weights_[i]);
    if (std::isfinite(session_.lower[i])) y_[i] -= side(session_.lower[i] - c_[i], zl_[i], weights_[i]);
  }
}

bool Elastic::step(const double*, double mu) {
  regular_ = kRegular * mu;
  session_.problem.jacobian_transposed_times(y_.data(), dual_.data());
  for (int i = 0; i < session_.n; ++i) direction_[i] = -(dual_[i] + regular_ * gradient_[i]);
  session_.condense(regular_, y_.data(), weights_.data(), false);
  if (!session_.factorise(1e-8)) return false;
  slope_ = 0.0;
  for (int i = 0; i < session_.n; ++i) trial_[i] = direction_[i];
  session_.solve(direction_.data());
  for (int i = 0; i < session_.n; ++i) slope_ -= trial_[i] * direction_[i];
  session_.problem.jacobian_times(direction_.data(), row_step_.data());
  return std::isfinite(slope_);
}

Elastic::Merit Elastic::merit(const double* x, double mu) {
  Merit out;
  if (!session_.values(x, &trial_cost_, trial_rows_.data())) return out;
  out.finite = true;
  out.value = regular_ * trial_cost_;
  const auto side = [mu](double v) {
    const Side best(v, mu);
    return best.p - mu * std::log(best.p * best.t);
  };
  for (int i = 0; i < session_.m; ++i) {
    if (std::isfinite(session_.upper[i])) out.value += side(trial_rows_[i] - session_.upper[i]);
    if (std::isfinite(session_.lower[i])) out.value += side(session_.lower[i] - trial_rows_[i]);
  }
  return out;
}

// Moves x by the longest of alpha = 1, 1/2, ... that lowers the merit enough; returns it, or 0.
double Elastic::search(double* x, double mu) {
  const Merit before = merit(x, mu);
  for (double alpha = 1.0; alpha > kLeastAlpha; alpha *= 0.5) {
    for (int i = 0; i < session_.n; ++i) trial_[i] = x[i] + alpha * direction_[i];
    const Merit after = merit(trial_.data(), mu);
    if (!after.finite || !(after.value <= before.value + kArmijo * alpha * slope_ + 1e-14 * std::abs(before.value))) {
      continue;
    }
    std::copy(trial_.begin(), trial_.end(), x);
    std::swap(c_, trial_rows_);
    cost_ = trial_cost_;
    return alpha;
  }
  return 0.0;
}

// Newton's step of the duals: z + (v + dv + mu / z - mu / (1 - z)) / (t / z + p / (1 - z)), kept between its ends.
void Elastic::move_duals(const double* rows, double alpha, double mu) {
  const auto side = [mu, alpha](double v, double dv, double& z) {
    const Side best(v, mu);
    const double weight = 1.0 / (best.t / z + best.p / (1.0 - z));
    const double to = z + weight * (v + dv + mu / z - mu / (1.0 - z));
    z += alpha * (clamp(to, kDualRoom * z, 1.0 - kDualRoom * (1.0 - z)) - z);
  };
  for (int i = 0; i < session_.m; ++i) {
    if (std::isfinite(session_.upper[i])) side(rows[i] - session_.upper[i], row_step_[i], zu_[i]);
    if (std::isfinite(session_.lower[i])) side(session_.lower[i] - rows[i], -row_step_[i], zl_[i]);
  }
}

bool Elastic::inside(double margin) const {
  for (int i = 0; i < session_.m; ++i) {
    const double room = std::min(c_[i] - session_.lower[i], session_.upper[i] - c_[i]);
    const double wanted = std::min(margin, 0.01 * (session_.upper[i] - session_.lower[i]));
    if (room <= wanted) return false;
  }
  return true;
}

// For |y| <= 1 the violations after any step d of the linear model are at least
// sum_i (y_i c_i - max of y_i over the interval) + (J'y) . d.
bool Elastic::hopeless() const {
  const double now = session_.total_violation(c_.data());
  double least = 0.0;
  for (int i = 0; i < session_.m; ++i) {
    if (y_[i] > 0.0 && std::isfinite(session_.upper[i])) least += y_[i] * (c_[i] - session_.upper[i]);
    if (y_[i] < 0.0 && std::isfinite(session_.lower[i])) least += y_[i] * (c_[i] - session_.lower[i]);
  }
  for (double value : dual_) least -= kReach * std::abs(value);
  return least > kHopeless * now && now > 0.0;
}

}  // namespace robomorph::planning
