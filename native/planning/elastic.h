// The elastic phase: the least sum of violations, smoothed by a barrier.
//
// A bound c <= u becomes c <= u + p with p >= 0 and the cost p - mu log p - mu log(u + p - c). The best p is known in
// closed form, so what is left is a smooth function of x alone, near mu |log(u - c)| inside and near c - u beyond. Each
// step solves with Gauss-Newton's matrix, or the exact one, weights from primal and dual quantities. Ends at the first
// point inside all bounds, or where the linear model shows that violations cannot fall.
#pragma once

#include "planning/session.h"

namespace robomorph::planning {

enum class ElasticEnd {
  kFeasible,    // strictly inside
  kInfeasible,  // a local minimum of the violations
  kGaveUp,      // `most` iterations, or no step found: x is the best point so far
  kStopped,     // by the session: see its status
  kBadNumbers,
};

class Elastic {
 public:
  explicit Elastic(Session& session);

  // From x, which it moves. `margin`: how far inside is inside, where the row is wide enough.
  ElasticEnd run(double* x, double margin, int most);

  // Of the last point: in [-1, 1], positive where an upper bound is broken.
  const Session::Vector& multipliers() const { return y_; }

 private:
  struct Merit {
    double value = 0.0;
    bool finite = false;
  };

  bool begin(const double* x);
  void smooth(double mu);
  bool step(const double* x, double mu);
  double search(double* x, double mu);
  Merit merit(const double* x, double mu);
  void move_duals(const double* rows, double alpha, double mu);
  bool inside(double margin) const;
  bool hopeless() const;

  Session& session_;
  Session::Vector c_, trial_rows_, gradient_, y_, weights_, zl_, zu_, direction_, row_step_, trial_, dual_;
  double cost_ = 0.0, trial_cost_ = 0.0, slope_ = 0.0, regular_ = 0.0;
};

}  // namespace robomorph::planning
