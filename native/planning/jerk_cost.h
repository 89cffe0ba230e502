// The cost sum_j weight_j |R p_j|^2 / sigma^5, whose Hessian by the control points is constant. Differences R p come
// first: p' (R' R) p would lose its digits where intervals are short.
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
    int column;
    double factor;
  };
  int nv_;
  double weight_;
  std::vector<double> joint_weight_;
  std::vector<std::vector<Term>> rows_;  // of R
};

}  // namespace robomorph::planning
