#include "planning/jerk_cost.h"

#include <algorithm>

namespace robomorph::planning {

JerkCost::JerkCost(const MotionData& data)
    : nv_(data.nv), weight_(data.cost.jerk), joint_weight_(data.cost.joint_weight) {
  if (!present()) return;
  rows_.resize(data.cost.smoothness.size() / data.points);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (int c = 0; c < data.points; ++c) {
      const double factor = data.cost.smoothness[r * data.points + c];
      if (factor != 0.0) rows_[r].push_back({c, factor});
    }
  }
}

double JerkCost::evaluate(const std::vector<double>& control, std::vector<double>& slopes) const {
  if (!present()) return 0.0;
  std::fill(slopes.begin(), slopes.end(), 0.0);
  double total = 0.0;
  for (const std::vector<Term>& row : rows_) {
    for (int j = 0; j < nv_; ++j) {
      double difference = 0.0;
      for (const Term& term : row) difference += term.factor * control[term.column * nv_ + j];
      const double pull = weight_ * joint_weight_[j] * difference;
      for (const Term& term : row) slopes[term.column * nv_ + j] += 2.0 * pull * term.factor;
      total += pull * difference;
    }
  }
  return total;
}

}  // namespace robomorph::planning
