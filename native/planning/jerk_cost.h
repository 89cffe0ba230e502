// The cost sum_j weight_j p_j' Q p_j / sigma^5, whose Hessian by the control points is constant.
#pragma once

#include <vector>

#include "planning/motion_data.h"

namespace robomorph::planning {

class JerkCost {
 public:
  explicit JerkCost(const MotionData& data);

  // At sigma = 1, for control points (points, nv), and the gradient by all of them.
  double evaluate(const std::vector<double>& control, std::vector<double>& slopes) const;
  bool present() const { return weight_ != 0.0; }
  double weight() const { return weight_; }

 private:
  struct Term {
    int row, column;
    double factor;
  };
  int nv_;
  double weight_;
  std::vector<double> joint_weight_;
  std::vector<Term> terms_;
};

}  // namespace robomorph::planning
