// A control problem of invented dynamics whose inverse and derivatives are written out, as plain C++ kernels:
//   m_i a_i = tau_i - 3 sin q_i - 0.3 v_i v_j - 0.2 q_j,   m_i = 2 + cos(q_i + q_j),   j = i + 1, round.
// One row of a task: sum of sin q_i minus a reference, plus a tenth of the sum of v.
#pragma once

#include <vector>

#include "mpc/ddp_model.h"
#include "mpc/problem.h"

namespace robomorph::tests {

inline constexpr int kArmJoints = 3;

void arm_acceleration(const double* q, const double* v, const double* torque, double* a);

// One step from (q, v), which become those after it, by a textbook's formulas.
void arm_step(mpc::Method method, double dt, const double* torque, double* q, double* v);

// A problem with all its arrays; quantities without bounds unless a test sets them.
struct Arm {
  mpc::Problem problem;
  std::vector<double> state_q, state_v, q_reference, torque_reference, row_reference;
  std::vector<double> q_weight, v_weight, a_weight, torque_weight, row_weight;
  std::vector<double> lower[mpc::kBoundable], upper[mpc::kBoundable];
  std::vector<double> q, v, a, torque, gains, torque_gains, cost, violation, worst, times;
  std::vector<std::int64_t> counts;

  Arm(mpc::Method method, int horizon, bool row);
  Arm(const Arm&) = delete;

  void bound(int quantity, double most);  // both ways, all joints, all nodes
  // What the plan's torques would cost, stepped and summed apart from all that is tested.
  double cost_of(const std::vector<double>& torques) const;
};

}  // namespace robomorph::tests
