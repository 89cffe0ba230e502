// Steps of a motion under torques, node after node, and how accelerations change along it.
#pragma once

#include "mpc/ddp_model.h"
#include "mpc/memory.h"
#include "mpc/problem.h"

namespace robomorph::mpc {

class DdpDynamics {
 public:
  // acceleration: one lane, (q, v, tau) -> a. gradient: kLanes lanes, (q, v, tau) -> a, its derivatives by q and v, M^-1.
  DdpDynamics(const Shape& shape, const DdpSizes& sizes, const Kernel& acceleration, const Kernel& gradient);

  // One step of node `node` from q, v (nv,), which become those after it; a (nv,): accelerations at its start. False
  // where a number is not finite. Points of later stages are kept for `linearise`.
  bool step(int node, const double* torque, double* q, double* v, double* a);

  // Derivatives at all points of the motion stepped last, whose nodes are given in groups of lanes.
  void linearise(const double* q, const double* v, const double* torque);

  // Derivatives at stage i, as linearised last.
  Accelerations stage(int i) const;

 private:
  bool accelerate(const double* q, const double* v, const double* torque, double* a);
  void call_gradient(int stage, int group, const double* q, const double* v, const double* torque);
  double* point(Doubles& of, int stage, int node);

  Shape shape_;
  DdpSizes sizes_;
  Kernel acceleration_, gradient_;
  Doubles stage_q_, stage_v_;          // (stages - 1, groups, nv, lanes)
  Doubles by_q_, by_v_, by_torque_;    // (stages, groups, nv * nv, lanes)
  Doubles one_, scratch_, workspace_;  // one: arguments of one lane; scratch: of a step
};

}  // namespace robomorph::mpc
