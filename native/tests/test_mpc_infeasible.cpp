// Bounds that no motion keeps, starts outside of them, and numbers that are none.
#include <cmath>
#include <limits>

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

PendulumControl swing(int nv = 2, int horizon = 30) {
  PendulumControl control(nv, horizon, 0.02);
  control.swing_to(std::vector<double>(nv, 0.6), 10.0, 0.1, 1e-2, 50.0, 1.0);
  return control;
}

bool all_finite(const PendulumControl& control) {
  for (const auto* array : {&control.q, &control.v, &control.a, &control.torque}) {
    for (double x : *array) {
      if (!std::isfinite(x)) return false;
    }
  }
  return true;
}

// The plan is a motion, and the bound that is named is broken by what is said.
void check_told(const PendulumControl& control) {
  CHECK(all_finite(control));
  CHECK_NEAR(control.misfit(0), 0.0, 1e-9);
  CHECK_NEAR(control.violation_found[0], control.violation(0), 1e-9);
  const int x = static_cast<int>(control.worst[0]), node = static_cast<int>(control.worst[1]),
            entry = static_cast<int>(control.worst[2]);
  CHECK(x >= 0 && x < mpc::kBoundable);
  if (x < 0 || x >= mpc::kBoundable) return;
  const std::vector<double>* values[] = {&control.torque, &control.q, &control.v, &control.a};
  if (x == mpc::kRow) return;
  const double found = (*values[x])[node * control.nv + entry], amount = control.worst[3];
  const ControlWishes& w = control.wishes[x];
  const int nodes = x == mpc::kTorque || x == mpc::kAcceleration ? control.horizon : control.horizon + 1;
  const double bound = (amount > 0.0 ? w.upper : w.lower).at(0, node, entry, control.horizon, nodes);
  CHECK_NEAR(found - bound, amount, 1e-9);
  CHECK_NEAR(std::fabs(amount) / w.scale[entry], control.violation_found[0], 1e-9);
}

TEST_CASE(contradiction, "mpc_infeasible: a lower bound above the upper one is broken by half the difference") {
  PendulumControl control = swing();
  control.bound(mpc::kVelocity, 0.3, 0.1);
  control.relax_start = false;
  control.wishes[mpc::kVelocity].scale = {1.0, 1.0};
  Solver(control.problem(), 1).step(cold());
  CHECK(control.code(0) == Code::kInfeasible);
  check_told(control);
  CHECK_NEAR(control.violation_found[0], 0.1, 0.2);
  CHECK_EQUAL(static_cast<int>(control.worst[0]), static_cast<int>(mpc::kVelocity));
}

TEST_CASE(too_weak, "mpc_infeasible: torques below gravity end in an answer that names a torque") {
  for (double share : {0.9, 0.5, 0.1}) {
    PendulumControl control = swing(2, 50);
    control.state_q = {1.2, 1.2};
    control.swing_to({1.2, 1.2}, 10.0, 0.1, 1e-2, 50.0, 1.0);
    // Holding takes 9.1 and 4.6 N m.
    control.bound(mpc::kTorque, -9.1 * share, 9.1 * share);
    control.bound(mpc::kPosition, 1.1, 1.3);
    Solver(control.problem(), 1).step(cold());
    CHECK(control.code(0) == Code::kInfeasible);
    check_told(control);
    CHECK(control.violation_found[0] > 1e-3);
    // Holding still would break torques by so much.
    CHECK(control.violation_found[0] < 1.2 * (9.2 - 9.1 * share) / (18.2 * share));
  }
}

TEST_CASE(first_node, "mpc_infeasible: a first node out of reach is told without searching") {
  PendulumControl control = swing();
  control.bound(mpc::kAcceleration, -5.0, 5.0);
  control.bound(mpc::kVelocity, -1.0, 1.0);
  control.state_v = {1.5, 0.0};
  control.relax_start = false;
  Solver(control.problem(), 1).step(cold());
  CHECK(control.code(0) == Code::kInfeasible);
  check_told(control);
  CHECK_EQUAL(control.count(0, mpc::kIterations), control.count(0, mpc::kElasticIterations));
}

TEST_CASE(relaxed, "mpc_infeasible: bounds that the start breaks are widened where the caller agrees") {
  PendulumControl control = swing();
  control.bound(mpc::kVelocity, -1.0, 1.0);
  control.bound(mpc::kPosition, -0.5, 0.5);
  control.bound(mpc::kTorque, -40.0, 40.0);
  control.swing_to({0.3, 0.3}, 10.0, 0.1, 1e-2, 50.0, 1.0);
  control.state_q = {0.52, -0.1};
  control.state_v = {0.1, 1.2};
  Solver(control.problem(), 1).step(cold());
  CHECK(control.code(0) == Code::kConverged);
  CHECK(control.count(0, mpc::kRelaxed) > 0);
  CHECK(all_finite(control));
  CHECK_NEAR(control.misfit(0), 0.0, 1e-9);
  // Judged by the caller's bounds: broken at first, kept in the end.
  CHECK(control.violation_found[0] > 1e-4);
  CHECK_NEAR(control.violation_found[0], control.violation(0), 1e-9);
  for (int k = 15; k <= control.horizon; ++k) {
    CHECK(control.q[2 * k] <= 0.5 + 1e-2);
    CHECK(std::fabs(control.v[2 * k + 1]) <= 1.0 + 1e-5);
  }
}

TEST_CASE(within, "mpc_infeasible: starts within bounds widen nothing") {
  PendulumControl control = swing();
  control.bound(mpc::kVelocity, -1.0, 1.0);
  control.bound(mpc::kPosition, -0.7, 0.7);
  control.state_v = {0.99, -0.99};
  Solver(control.problem(), 1).step(cold());
  CHECK(control.code(0) == Code::kConverged);
  CHECK_EQUAL(control.count(0, mpc::kRelaxed), 0);
  CHECK(control.violation(0) <= control.tolerance);
}

TEST_CASE(again, "mpc_infeasible: a problem that becomes feasible is solved, from an elastic plan") {
  PendulumControl control = swing();
  control.bound(mpc::kTorque, -40.0, 40.0);
  control.bound(mpc::kVelocity, 0.4, 0.2);
  control.relax_start = false;
  control.wishes[mpc::kVelocity].scale = {1.0, 1.0};
  Solver solver(control.problem(), 1);
  solver.step(cold());
  CHECK(control.code(0) == Code::kInfeasible);
  for (double& x : control.wishes[mpc::kVelocity].lower.numbers) x = -1.0;
  for (double& x : control.wishes[mpc::kVelocity].upper.numbers) x = 1.0;
  StepOptions warm = cold();
  warm.warm = true;
  solver.step(warm);
  CHECK(control.code(0) == Code::kConverged);
  CHECK(control.violation(0) <= control.tolerance);
  CHECK_NEAR(control.unrest(0), 0.0, 1e-3);
}

TEST_CASE(ticks, "mpc_infeasible: ticks go on where bounds cannot be kept, and come back") {
  PendulumControl control = swing();
  control.bound(mpc::kVelocity, -1.0, 1.0);
  control.bound(mpc::kPosition, -0.5, 0.5);
  control.bound(mpc::kTorque, -25.0, 25.0);
  control.swing_to({0.3, 0.3}, 10.0, 0.1, 1e-2, 50.0, 1.0);
  Solver solver(control.problem(), 1);
  solver.step(cold());
  StepOptions tick = cold();
  tick.warm = true;
  tick.iterations = 1;
  tick.elapsed = 0.1 * control.dt;
  for (int k = 0; k < 400; ++k) {
    for (int i : {0, 1}) {
      control.state_v[i] = 0.9 * control.v[i] + 0.1 * control.v[2 + i] + (k == 50 ? 1.5 : 0.0);
      control.state_q[i] = 0.9 * control.q[i] + 0.1 * control.q[2 + i];
    }
    solver.step(tick);
    CHECK(all_finite(control));
    CHECK_NEAR(control.misfit(0), 0.0, 1e-9);
  }
  CHECK(control.violation(0) < 1e-4);
  CHECK_NEAR(control.q[0], 0.3, 0.05);
}

TEST_CASE(not_numbers, "mpc_infeasible: numbers that are not finite are told and give no plan of NaN") {
  const double bad[] = {NAN, INFINITY};
  for (double x : bad) {
    PendulumControl control = swing();
    control.wishes[mpc::kPosition].reference.numbers[1] = x;
    Solver solver(control.problem(), 1);
    solver.step(cold());
    CHECK(control.code(0) == Code::kFailed);
    CHECK(all_finite(control));
    // And the next step, with numbers again, is as if nothing had been.
    control.wishes[mpc::kPosition].reference.numbers[1] = 0.6;
    StepOptions warm = cold();
    warm.warm = true;
    solver.step(warm);
    CHECK(control.code(0) == Code::kConverged);
    control.state_q[0] = x;
    solver.step(warm);
    CHECK(control.code(0) == Code::kFailed);
    control.state_q[0] = 0.0;
    solver.step(warm);
    CHECK(control.code(0) == Code::kConverged);
  }
}

TEST_CASE(no_cost, "mpc_infeasible: without any cost on controls regularisation finds a motion") {
  PendulumControl control = swing();
  control.wishes[mpc::kTorque].weight = ControlTable(1, 1, 2, 0.0);
  control.wishes[mpc::kPosition].weight = ControlTable(1, 2, 2, 0.0);
  control.wishes[mpc::kVelocity].weight = ControlTable(1, 2, 2, 0.0);
  Solver(control.problem(), 1).step(cold());
  CHECK(control.code(0) == Code::kConverged || control.code(0) == Code::kStalled);
  CHECK(all_finite(control));
  control.wishes[mpc::kPosition].weight.numbers[3] = 1.0;  // one joint, at the end
  Solver(control.problem(), 1).step(cold());
  CHECK(all_finite(control));
  CHECK_NEAR(control.q[control.horizon * 2 + 1], 0.6, 1e-3);
}

}  // namespace
}  // namespace robomorph::tests
