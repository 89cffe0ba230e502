// What the forward-dynamics form knows of a problem: torques are the controls, x = (q, v),
//   x[k+1] = integrate(x[k], FD(q, v, tau[k])),   tau held over the step.
//
// "Stages" are the points of one step at which an integrator asks for accelerations; the first is the node itself.
#pragma once

#include "mpc/shape.h"
#include "mpc/sweep.h"

namespace robomorph::mpc {

enum class Integrator {
  kEuler = 0,     // semi-implicit: v+ = v + dt a, q+ = q + dt v+
  kMidpoint = 1,  // explicit, second order
  kRk4 = 2,       // the classical one, fourth order
};

inline constexpr int kMostStages = 4;

// Stage i starts `reach` steps further along the slope of stage i - 1; the step ends along the weighted mean of all.
struct Tableau {
  int stages = 1;
  double reach[kMostStages] = {};
  double weight[kMostStages] = {};
};

Tableau tableau(Integrator integrator);

// How accelerations change at the points of one stage, in groups of lanes: nv * nv entries each.
struct Accelerations {
  const double* dtau = nullptr;  // M^-1
  const double* dq = nullptr;
  const double* dv = nullptr;
};

// A step's model: accelerations at every stage; weights and gradients of `cost` as in sweep.h. Here torques are
// units and accelerations (of the first stage) have the Jacobian, so torque_mass, torque_dq, torque_dv are not read.
struct DdpModel {
  Accelerations stages[kMostStages];
  Quadratic cost;
};

// Sizes of a sweep's matrices, plain numbers: what is included by files with instructions of their own has no
// functions. A row over (dtau, dq, dv, 1) has `stride` numbers, the constant at 3 nv.
struct DdpSizes {
  int nv = 0;
  int horizon = 0;
  int rows = 0;
  bool row_velocity = false;
  bool euler = true;
  double dt = 0.0;
  Tableau table;
  int stride = 0;
  int half = 0;    // of a row over (dq, dv)
  int width = 0;   // of a row of torques
  int policy = 0;  // numbers of a node's feedback
  int kept = 0;    // rows kept of every node: accelerations, and for all but Euler's method the state after the step
};

DdpSizes ddp_sizes(const Shape& shape, Integrator integrator);

}  // namespace robomorph::mpc
