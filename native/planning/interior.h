// A primal-dual interior point method with a filter line search: the solver's engine, in two modes.
//
// Rows have slacks, c(x) = s with lower < s < upper; their equations and those of the bounds' multipliers are
// eliminated, which leaves (W + J' Sigma J) dx = right, of the problem's own sparsity. Positive definiteness of that
// matrix is what makes dx a direction of descent. Second-order corrections, and mu lowered step by step.
//
// In the elastic mode rows may be missed, c(x) = s + p - q with p, q > 0, and what is minimised is the sum of p and q,
// beside a trace of the cost. Both are eliminated as well and change weights and right-hand sides only. It is how a
// feasible point is found where the other mode has no way on, and how a problem is shown to have none nearby.
#pragma once

#include <cmath>

#include "planning/filter.h"
#include "planning/session.h"

namespace robomorph::planning {

enum class InteriorEnd {
  kSolved,
  kFeasible,    // inside all bounds, when that was what was asked for
  kInfeasible,  // elastic: a local minimum of the violations
  kRestore,     // no way on far from feasible points: the elastic mode has to help
  kStalled,
  kCapped,  // as many iterations as were allowed
  kStopped,  // by the session: see its status
  kBadNumbers,
};

class Interior {
 public:
  using Vector = Session::Vector;

  // What one run is for.
  struct Aim {
    double mu = 0.0;
    bool elastic = false;
    bool feasible = false;            // end at the first feasible point
    double margin = 0.0;              // which is this far inside, where the row is wide enough
    double enough = 0.0;              // elastic: or at violations of this size
    int most = 0;                     // iterations
    const double* multipliers = nullptr;  // to begin with
  };

  explicit Interior(Session& session);

  // From x, which it moves.
  InteriorEnd run(double* x, const Aim& aim);

  double mu() const { return mu_; }
  double error() const { return error_; }  // scaled dual residual
  // Of the cost; in the elastic mode of the violations, in [-1, 1].
  void multipliers(Vector& out) const;

 private:
  struct Step {
    Vector dx, ds, dy;
  };

  bool begin(const double* x);
  void begin_elastics();
  void reset_filter();
  void keep_inside();
  void measure();
  bool lower_mu(const double* x);
  double conditions(double mu);
  bool inside() const;
  bool hopeless() const;
  bool over(const double* x, InteriorEnd* end);
  bool gave_up(bool found, InteriorEnd* end);

  bool newton(double least_shift);
  void weigh_elastics();
  double elastic_slope() const;
  void direction(const double* residual, Step& step);
  // A row without bounds: its slack follows, and nothing is elastic.
  bool unbounded(int i) const { return std::isinf(session_.lower[i]) && std::isinf(session_.upper[i]); }
  double step_p(int i, double dy) const { return (mu_ - p_[i] * (1.0 - y_[i] - dy)) / zp_[i]; }
  double step_q(int i, double dy) const { return (mu_ - q_[i] * (1.0 + y_[i] + dy)) / zq_[i]; }
  void bound_directions();
  double longest(const Step& step) const;
  double longest_dual() const;

  bool search(double* x);
  bool try_step(const double* x, const Step& step, double alpha);
  bool merit_decides(double alpha) const;
  bool acceptable(double alpha) const;
  bool correct(double* x, double alpha);
  void accept(double* x, double alpha);
  double merit(double cost, const Vector& s, const Vector& p, const Vector& q) const;
  double residual_sum(const Vector& c, const Vector& s, const Vector& p, const Vector& q) const;
  double least_alpha() const;

  Session& session_;
  const int n_, m_;
  Aim aim_;
  Vector c_, s_, y_, zl_, zu_, sigma_, pull_, push_, slack_sigma_, residual_, gradient_;
  Vector p_, q_, zp_, zq_;  // elastics above and below, and their multipliers
  Vector dzl_, dzu_;
  Step step_, corrected_;
  Vector trial_x_, trial_s_, trial_c_, trial_p_, trial_q_, dual_, work_;
  Filter filter_;
  double scale_ = 1.0;  // of the cost
  double unit_ = 1.0;   // the cost's size
  double mu_ = 0.0, tau_ = 0.0, cost_ = 0.0, trial_cost_ = 0.0;
  double theta_ = 0.0, phi_ = 0.0, slope_ = 0.0, trial_theta_ = 0.0, trial_phi_ = 0.0;
  double least_theta_ = 0.0, alpha_ = 0.0, error_ = 0.0, least_shift_ = 0.0;
  int short_steps_ = 0, iterations_ = 0;
};

}  // namespace robomorph::planning
