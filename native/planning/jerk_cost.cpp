#include "planning/jerk_cost.h"

#include <algorithm>

namespace robomorph::planning {

JerkCost::JerkCost(const MotionData& data)
    : nv_(data.nv), weight_(data.cost.jerk), joint_weight_(data.cost.joint_weight) {
  if (!present()) return;
  for (int c = 0; c < data.points; ++c) {
    for (int d = 0; d < data.points; ++d) {
      const double factor = data.cost.smoothness[c * data.points + d];
      if (factor != 0.0) terms_.push_back({c, d, 2.0 * weight_ * factor});
    }
  }
}

double JerkCost::evaluate(const std::vector<double>& control, std::vector<double>& slopes) const {
  if (!present()) return 0.0;
  std::fill(slopes.begin(), slopes.end(), 0.0);
  for (const Term& term : terms_) {
    double* out = slopes.data() + term.row * nv_;
    const double* p = control.data() + term.column * nv_;
    for (int j = 0; j < nv_; ++j) out[j] += term.factor * joint_weight_[j] * p[j];
  }
  double total = 0.0;
  for (std::size_t i = 0; i < slopes.size(); ++i) total += slopes[i] * control[i];
  return 0.5 * total;
}

}  // namespace robomorph::planning
