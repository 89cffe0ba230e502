// The step of a Gauss-Newton method along the horizon: one sweep back, one forth.
//
// Accelerations are the controls, so the dynamics are a double integrator:
//   dv[k+1] = dv[k] + dt da[k],   dq[k+1] = dq[k] + dt dv[k+1],   dq[0], dv[0] given.
// The sweep minimises the sum over nodes of  1/2 w (J dz)^2 + g (J dz)  over all rows J, each with a weight w and a
// gradient g: torques (rows of [mass | dq | dv]), tasks (rows over dq, maybe dv), and q, v, a themselves (units).
// At the last node there is no acceleration, and rows of torques, a and jerk do not count.
#pragma once

#include <memory>

#include "mpc/shape.h"

namespace robomorph::mpc {

// All in groups of lanes (shape.h); the number of entries stands behind each.
struct Quadratic {
  const double* torque_mass = nullptr;      // nv * nv: d tau_i / d a_j at i * nv + j
  const double* torque_dq = nullptr;        // nv * nv
  const double* torque_dv = nullptr;        // nv * nv
  const double* torque_weight = nullptr;    // nv
  const double* torque_gradient = nullptr;  // nv
  const double* row_dq = nullptr;           // rows * nv
  const double* row_dv = nullptr;           // rows * nv; null without row_velocity
  const double* row_weight = nullptr;       // rows
  const double* row_gradient = nullptr;     // rows
  const double* q_weight = nullptr;         // nv, as the next seven
  const double* q_gradient = nullptr;
  const double* v_weight = nullptr;
  const double* v_gradient = nullptr;
  const double* a_weight = nullptr;
  const double* a_gradient = nullptr;
  const double* jerk_weight = nullptr;  // of a[k] - a[k-1], where a[-1] is given; null without jerk
  const double* jerk_gradient = nullptr;
};

// What a sweep gives. dq, dv, da in groups of lanes, nv entries each; lanes beyond the last node repeat it, and da of
// the last node is zero.
struct Direction {
  double* dq = nullptr;
  double* dv = nullptr;
  double* da = nullptr;
  double* gains = nullptr;  // (problems, nv, 2 nv), row-major: da[0] = ... + gains (dq[0], dv[0])
  double* slope = nullptr;  // (problems,): sum of g (J dz), the model's first-order change
  double* curve = nullptr;  // (problems,): sum of w (J dz)^2
};

class Sweep {
 public:
  virtual ~Sweep() = default;

  // dq0, dv0: (problems, nv). regularisation: (problems,), added to the diagonal of the accelerations. ok: (problems,),
  // false where a pivot was not positive or a number not finite; the direction of such a problem means nothing, and
  // those of the others are not touched by it. Allocates nothing. Where `ok` comes in as false a problem's
  // answer is not wanted.
  virtual void solve(const Quadratic& model, const double* dq0, const double* dv0, const double* regularisation,
                     const Direction& direction, bool* ok) = 0;

  // The same for other gradients and another first state, with the matrices, weights and regularisation of the last call of
  // `solve`, which must have found the problem ok. Of the model only the rows and gradients are read, and gains are not
  // written. A small part of the cost of `solve`.
  virtual void again(const Quadratic& model, const double* dq0, const double* dv0, const Direction& direction,
                     bool* ok) = 0;
};

// The best version for this processor: lanes are nodes (shape.problems == 1) or problems.
std::unique_ptr<Sweep> make_sweep(const Shape& shape);

}  // namespace robomorph::mpc
