// How torques, accelerations and states hang together: what the loop around the interior point asks for.
#pragma once

#include <memory>

#include "mpc/problem.h"
#include "mpc/shape.h"

namespace robomorph::mpc {

// Of each problem of a bundle.
struct alignas(64) StepFacts {
  double slope[kLanes];  // of the model along the direction: sum of g (J dz)
  double curve[kLanes];  // sum of w (J dz)^2
  bool ok[kLanes];       // coming in: is an answer wanted? going out: is there one?
};

struct Seconds {
  double kernels = 0.0;
  double sweep = 0.0;
};

class Work;

// All arrays are those of the bundle's Terms.
class Form {
 public:
  virtual ~Form() = default;

  // Fills `trial` of q, v, a, torques and rows: the motion so much (kLanes,) of the direction away from `value`; 0 gives
  // the value itself whatever the direction. Where a motion cannot be computed some number of it is NaN.
  virtual void trial(const double* share) = 0;

  // Fills `trial` of all quantities with the motion nearest to the q, v and a that the loop has written to `value`.
  virtual void settle() = 0;

  // Does a settled motion begin at the measured state? Else at that of `value`, and directions close the gap.
  virtual bool settles_at_state() const { return false; }

  // The last plan is moved on by so many nodes.
  virtual void shift(double /*nodes*/) {}

  // Fills `trial` of all quantities with the motion that follows `value` but begins at the state that the caller measured.
  virtual void begin_at_state() = 0;

  // The last trial has become the value: directions are wanted there.
  virtual void accept() = 0;

  // Fills `change` of q, v, a, and of torques and rows where they are bounded. dq0, dv0, regularisation and gains as
  // in sweep.h.
  virtual void direction(const double* dq0, const double* dv0, const double* regularisation, double* gains,
                         StepFacts& facts) = 0;

  // d torque[0] / d (q, v) (nv, 2 nv) of one problem, given the gains of accelerations, as linearised last.
  virtual void torque_gains(int problem, const double* gains, double* out) const = 0;

  // Of problem p's direction: sum of da^2, or whatever regularisation is added to.
  virtual double square(int problem) const = 0;

  // A guess of how much the model weighs controls, for where nothing else is known; above 0.
  virtual double stiffness(int problem) const = 0;

  // Spent since the last time it was asked.
  virtual Seconds spent() = 0;
};

// May problems lie side by side in lanes? And the form of a bundle's problems.
bool may_be_wide(const Problem& problem);
std::unique_ptr<Form> make_form(Work& work);

}  // namespace robomorph::mpc
