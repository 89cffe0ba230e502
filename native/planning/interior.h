// The second phase: a primal-dual interior point method with a filter line search.
//
// Rows have slacks, c(x) = s with lower < s < upper; their equations and those of the bounds' multipliers are
// eliminated, which leaves (W + J' Sigma J) dx = right, of the problem's own sparsity. Positive definiteness of that
// matrix is what makes dx a direction of descent. Second-order corrections, and mu lowered step by step.
#pragma once

#include "planning/filter.h"
#include "planning/session.h"

namespace robomorph::planning {

enum class InteriorEnd {
  kSolved,
  kRestore,  // far from feasible, and no way on: the elastic phase has to help
  kStalled,
  kStopped,  // by the session: see its status
  kBadNumbers,
};

class Interior {
 public:
  explicit Interior(Session& session);

  // From x, which it moves; slacks begin near c(x), multipliers at `multipliers` (may be null) or at mu's.
  InteriorEnd run(double* x, double mu, const double* multipliers);

  double mu() const { return mu_; }
  double error() const { return error_; }  // scaled dual residual
  const Session::Vector& multipliers() const { return y_; }

 private:
  using Vector = Session::Vector;
  enum class Search { kAccepted, kFailed };

  bool begin(const double* x, const double* multipliers);
  void reset_filter();
  void keep_inside();
  bool lower_mu(const double* x);
  double conditions(double mu);

  bool newton(double least_shift);
  void direction(const double* residual, double* dx, double* ds);
  void dual_directions();
  double longest(const double* ds) const;
  double longest_dual() const;

  Search search(double* x);
  bool try_step(const double* x, const double* dx, const double* ds, double alpha);
  bool merit_decides(double alpha) const;
  bool acceptable(double alpha) const;
  bool correct(double* x, double alpha);
  void accept(double* x, double alpha, double dual_alpha);
  double barrier(const double* s) const;
  double least_alpha() const;

  Session& session_;
  const int n_, m_;
  Vector c_, s_, y_, zl_, zu_, sigma_, pull_, residual_, gradient_;
  Vector dx_, ds_, dy_, dzl_, dzu_, soc_dx_, soc_ds_;
  Vector trial_x_, trial_s_, trial_c_, dual_, work_;
  Filter filter_;
  double scale_ = 1.0;  // of the cost
  double mu_ = 0.0, tau_ = 0.0, cost_ = 0.0, trial_cost_ = 0.0;
  double theta_ = 0.0, phi_ = 0.0, slope_ = 0.0, trial_theta_ = 0.0, trial_phi_ = 0.0;
  double least_theta_ = 0.0, alpha_ = 0.0, error_ = 0.0;
};

}  // namespace robomorph::planning
