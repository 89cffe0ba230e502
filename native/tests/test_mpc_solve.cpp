// Control problems solved to convergence: are the conditions of optimality true of the answers?
#include <algorithm>
#include <cmath>

#include "tests/check.h"
#include "tests/pendulum_control.h"

namespace robomorph::tests {
namespace {

using mpc::Code;
using mpc::Solver;
using mpc::StepOptions;

StepOptions cold() {
  StepOptions options;
  options.deadline = kNone;
  return options;
}

PendulumControl swing(int nv, int horizon = 24) {
  PendulumControl control(nv, horizon, 0.03);
  std::vector<double> goal(nv);
  for (int i = 0; i < nv; ++i) {
    goal[i] = 0.9 - 0.25 * i;
    control.state_q[i] = -0.2 + 0.1 * i;
    control.state_v[i] = 0.3 - 0.1 * i;
  }
  control.swing_to(goal, 10.0, 0.1, 1e-2, 50.0, 1.0);
  return control;
}

void check_optimal(const PendulumControl& control, int p = 0) {
  CHECK(control.code(p) == Code::kConverged);
  CHECK_EQUAL(control.count(p, mpc::kConverged), 1);
  CHECK(control.origin(p) == mpc::Origin::kFresh);
  CHECK_NEAR(control.misfit(p), 0.0, 1e-10);
  CHECK_NEAR(control.unrest(p), 0.0, 2e-5);
  CHECK_NEAR(control.violation(p), 0.0, control.tolerance);
  CHECK(control.violation_found[p] <= control.tolerance);
  CHECK_NEAR(control.complementarity(p), 0.0, 1e-7 * control.cost_found[p]);
  Real price = 0.0;
  const Real cost = control.cost(p, control.plan(p), &price);
  CHECK_NEAR(control.cost_found[p], static_cast<double>(cost), 1e-10 * static_cast<double>(cost));
  CHECK_NEAR(control.soft_cost[p], static_cast<double>(price), 1e-9 * static_cast<double>(cost));
}

TEST_CASE(unbounded, "mpc_solve: motions without bounds are optimal, for all numbers of joints") {
  for (int nv : {1, 2, 3, 7}) {
    for (int horizon : {1, 2, 7, 8, 9, 24}) {
      PendulumControl control = swing(nv, horizon);
      Solver solver(control.problem(), 1);
      solver.step(cold());
      check_optimal(control);
      if (nv < 7) CHECK(control.count(0, mpc::kIterations) <= 60);
    }
  }
}

// Bounds at a share of what a motion without bounds reaches.
void bound_by(PendulumControl& control, int quantity, double share) {
  PendulumControl free = control;
  Solver(free.problem(), 1).step(cold());
  const std::vector<double>& found = quantity == mpc::kTorque     ? free.torque
                                     : quantity == mpc::kPosition ? free.q
                                     : quantity == mpc::kVelocity ? free.v
                                                                  : free.a;
  double most = 0.0;
  for (double x : found) most = std::max(most, std::fabs(x));
  control.bound(quantity, -share * most, share * most);
}

TEST_CASE(torques, "mpc_solve: torques stay within bounds") {
  for (int nv : {1, 2, 3, 7}) {
    PendulumControl control = swing(nv);
    bound_by(control, mpc::kTorque, 0.7);
    Solver solver(control.problem(), 1);
    solver.step(cold());
    check_optimal(control);
    CHECK(control.active(mpc::kTorque, 0) > 0);
  }
}

TEST_CASE(velocities, "mpc_solve: velocities, positions and accelerations stay within bounds") {
  for (int quantity : {mpc::kVelocity, mpc::kPosition, mpc::kAcceleration}) {
    PendulumControl control = swing(3);
    bound_by(control, quantity, 0.7);
    Solver(control.problem(), 1).step(cold());
    check_optimal(control);
    CHECK(control.active(quantity, 0) > 1);
  }
  PendulumControl control = swing(3);
  control.bound(mpc::kVelocity, -1.6, 1.6);
  control.bound(mpc::kPosition, -0.5, 0.7);
  control.bound(mpc::kAcceleration, -9.0, 9.0);
  bound_by(control, mpc::kTorque, 0.9);
  Solver solver(control.problem(), 1);
  solver.step(cold());
  check_optimal(control);
  CHECK(control.active(mpc::kVelocity, 0) > 2);
  CHECK(control.active(mpc::kTorque, 0) > 0);
  CHECK(control.active(mpc::kAcceleration, 0) > 2);
}

TEST_CASE(one_sided, "mpc_solve: bounds on one side, or of some entries and nodes only") {
  PendulumControl control = swing(2);
  control.bound(mpc::kPosition, -kNone, 0.6);
  control.bound(mpc::kTorque, -kNone, kNone);
  control.wishes[mpc::kTorque].upper = ControlTable(1, control.horizon, 2, kNone);
  for (int k = 3; k < 9; ++k) control.wishes[mpc::kTorque].upper.numbers[k * 2] = 1.0;
  control.wishes[mpc::kTorque].lower = ControlTable(1, control.horizon, 2, -kNone);
  Solver solver(control.problem(), 1);
  solver.step(cold());
  check_optimal(control);
  CHECK(control.active(mpc::kTorque, 0) > 1);
  CHECK(control.active(mpc::kPosition, 0) > 2);
}

TEST_CASE(tasks, "mpc_solve: rows of tasks cost and are bounded") {
  for (bool velocity : {false, true}) {
    PendulumControl control = swing(3);
    control.use_rows(velocity);
    control.wishes[mpc::kPosition].weight = ControlTable(1, 1, 3, 1e-3);
    control.wishes[mpc::kRow].weight = ControlTable(1, 2, control.rows, 2.0);
    control.row_reference = ControlTable(1, control.horizon + 1, control.rows, 0.0);
    for (int k = 0; k <= control.horizon; ++k) {
      control.row_reference.numbers[k * control.rows] = 0.8 + 0.005 * k;
      control.row_reference.numbers[k * control.rows + 1] = -0.7;
    }
    control.bound(mpc::kRow, -1.4, velocity ? -0.3 : -0.2);
    if (velocity) {  // no bounds of the speed
      for (int r : {2, 3}) control.wishes[mpc::kRow].lower.numbers[r] = -kNone;
      for (int r : {2, 3}) control.wishes[mpc::kRow].upper.numbers[r] = kNone;
    }
    Solver solver(control.problem(), 1);
    solver.step(cold());
    check_optimal(control);
    if (!velocity) CHECK(control.active(mpc::kRow, 0) > 0);
  }
}

TEST_CASE(soft, "mpc_solve: soft bounds are broken at their price, hard ones beside them are not") {
  PendulumControl control = swing(2);
  control.bound(mpc::kVelocity, -1.0, 1.0);
  control.bound(mpc::kTorque, -14.0, 14.0);
  control.wishes[mpc::kVelocity].soft = {0.5, kNone};
  Solver solver(control.problem(), 1);
  solver.step(cold());
  check_optimal(control);
  CHECK(control.soft_cost[0] > 1e-3);
}

TEST_CASE(jerks, "mpc_solve: changes of accelerations cost, the first from the one before") {
  PendulumControl control = swing(2);
  control.jerk = true;
  control.jerk_weight = {1e-3, 3e-3};
  control.last_a = {2.0, -1.0};
  control.bound(mpc::kTorque, -14.0, 14.0);
  Solver solver(control.problem(), 1);
  solver.step(cold());
  check_optimal(control);
}

TEST_CASE(tables, "mpc_solve: references, weights and bounds of every node, changed between steps") {
  PendulumControl control = swing(2);
  control.wishes[mpc::kPosition].reference = ControlTable(1, control.horizon + 1, 2, 0.0);
  control.wishes[mpc::kPosition].weight = ControlTable(1, control.horizon + 1, 2, 0.3);
  control.wishes[mpc::kTorque].reference = ControlTable(1, control.horizon, 2, 1.0);
  control.wishes[mpc::kVelocity].lower = ControlTable(1, control.horizon + 1, 2, -2.0);
  control.wishes[mpc::kVelocity].upper = ControlTable(1, control.horizon + 1, 2, 2.0);
  Solver solver(control.problem(), 1);
  for (int round = 0; round < 3; ++round) {
    for (int k = 0; k <= control.horizon; ++k) {
      control.wishes[mpc::kPosition].reference.numbers[2 * k] = 0.5 * std::sin(0.2 * k + round);
      control.wishes[mpc::kPosition].weight.numbers[2 * k + 1] = 0.1 + 0.01 * k * round;
      control.wishes[mpc::kVelocity].upper.numbers[2 * k] = round == 2 ? kNone : 1.2 - 0.02 * k;
    }
    for (int i = 0; i < control.horizon; ++i) control.wishes[mpc::kTorque].reference.numbers[2 * i] = round;
    solver.step(cold());
    check_optimal(control);
  }
}

TEST_CASE(scales, "mpc_solve: neither the unit of the cost nor that of bounds matters") {
  PendulumControl first = swing(2);
  first.bound(mpc::kTorque, -13.0, 13.0);
  first.bound(mpc::kVelocity, -1.8, 1.8);
  Solver(first.problem(), 1).step(cold());
  for (double unit : {1e-9, 1e-4, 1e5, 1e9}) {
    PendulumControl other = first;
    for (mpc::Quantity x : {mpc::kTorque, mpc::kPosition, mpc::kVelocity}) {
      for (double& weight : other.wishes[x].weight.numbers) weight *= unit;
    }
    Solver(other.problem(), 1).step(cold());
    check_optimal(other);
    CHECK_EQUAL(other.count(0, mpc::kIterations), first.count(0, mpc::kIterations));
    CHECK_NEAR(other.cost_found[0], unit * first.cost_found[0], 1e-8 * unit * first.cost_found[0]);
  }
}

// Of a motion without bounds the gains tell how the first acceleration changes with the state.
TEST_CASE(gains, "mpc_solve: gains are derivatives of the first acceleration and torque") {
  PendulumControl control = swing(1, 12);
  control.optimal = 1e-16;
  // Near the bottom, where the model is almost exact.
  control.swing_to({0.0}, 10.0, 0.1, 1e-2, 50.0, 1.0);
  control.state_q[0] = 1e-4;
  control.state_v[0] = 0.0;
  Solver solver(control.problem(), 1);
  solver.step(cold());
  const double a = control.a[0], tau = control.torque[0];
  const std::vector<double> gains = control.gains, torque_gains = control.torque_gains;
  for (int i : {0, 1}) {
    double& entry = i == 0 ? control.state_q[0] : control.state_v[0];
    entry += 1e-4;
    solver.step(cold());
    CHECK_NEAR((control.a[0] - a) / 1e-4, gains[i], 1e-4 * std::fabs(gains[i]));
    CHECK_NEAR((control.torque[0] - tau) / 1e-4, torque_gains[i], 1e-4 * std::fabs(torque_gains[i]));
    entry -= 1e-4;
  }
}

}  // namespace
}  // namespace robomorph::tests
