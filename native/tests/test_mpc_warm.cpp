// Steps that go on from the last plan, and steps that a deadline cuts short.
#include <algorithm>
#include <cmath>

#include "tests/check.h"
#include "tests/pendulum_control.h"

namespace robomorph::tests {
namespace {

using mpc::Code;
using mpc::Origin;
using mpc::Solver;
using mpc::StepOptions;

StepOptions cold() {
  StepOptions options;
  options.deadline = kNone;
  return options;
}

StepOptions warm(double elapsed, int iterations = 0) {
  StepOptions options = cold();
  options.warm = true;
  options.elapsed = elapsed;
  options.iterations = iterations;
  return options;
}

PendulumControl swing(bool bounds, int horizon = 30) {
  PendulumControl control(2, horizon, 0.02);
  control.state_q = {-0.2, 0.1};
  control.state_v = {0.4, 0.0};
  control.swing_to({0.7, 0.5}, 10.0, 0.1, 1e-2, 50.0, 1.0);
  control.optimal = 1e-10;
  if (bounds) {
    control.bound(mpc::kTorque, -14.0, 14.0);
    control.bound(mpc::kVelocity, -1.7, 1.7);
    control.bound(mpc::kPosition, -1.0, 0.65);
  }
  return control;
}

// The state that the plan has after so many steps, between nodes on a straight line.
void go_along(PendulumControl& control, double steps) {
  const int whole = static_cast<int>(steps);
  const double part = steps - whole;
  for (int i = 0; i < control.nv; ++i) {
    const int at = whole * control.nv + i;
    control.state_q[i] = (1.0 - part) * control.q[at] + part * control.q[at + control.nv];
    control.state_v[i] = (1.0 - part) * control.v[at] + part * control.v[at + control.nv];
  }
}

TEST_CASE(follows, "mpc_warm: a shifted plan is a motion, for whole steps and parts") {
  for (bool bounds : {false, true}) {
    for (double steps : {0.0, 0.1, 1.0, 2.6, 9.0, 29.9}) {
      PendulumControl control = swing(bounds);
      Solver solver(control.problem(), 1);
      solver.step(cold());
      const PendulumControl before = control;
      go_along(control, std::min(steps, 29.0));
      if (steps > 29.0) go_along(control, 29.0);
      StepOptions late = warm(steps * control.dt);
      late.deadline = 0.0;
      solver.step(late);
      CHECK(control.code(0) == Code::kDeadline);
      CHECK(control.origin(0) == Origin::kShifted);
      CHECK_EQUAL(control.count(0, mpc::kIterations), 0);
      CHECK_NEAR(control.misfit(0), 0.0, 1e-10);
      const int whole = static_cast<int>(steps);
      const double part = steps - whole;
      for (int k = 0; k < control.horizon; ++k) {
        const auto old = [&](int node, int i) { return node < control.horizon ? before.a[2 * node + i] : 0.0; };
        for (int i : {0, 1}) {
          const double expected = (1.0 - part) * old(k + whole, i) + part * old(k + whole + 1, i);
          CHECK_NEAR(control.a[2 * k + i], expected, 1e-9);
        }
      }
    }
  }
}

TEST_CASE(same_optimum, "mpc_warm: steps to convergence end where steps from nothing do") {
  for (bool bounds : {false, true}) {
    PendulumControl control = swing(bounds);
    Solver solver(control.problem(), 1);
    solver.step(cold());
    for (int round = 0; round < 12; ++round) {
      const double steps = round % 3 == 0 ? 1.0 : 0.35;
      go_along(control, steps);
      for (double& q : control.state_q) q += 0.01 * std::sin(7.0 * round);  // somebody pushes
      for (double& v : control.state_v) v -= 0.05 * std::cos(5.0 * round);
      solver.step(warm(steps * control.dt));
      CHECK(control.code(0) == Code::kConverged);
      CHECK_NEAR(control.misfit(0), 0.0, 1e-10);
      PendulumControl fresh = swing(bounds);
      fresh.state_q = control.state_q;
      fresh.state_v = control.state_v;
      Solver(fresh.problem(), 1).step(cold());
      CHECK(fresh.code(0) == Code::kConverged);
      CHECK_NEAR(control.cost_found[0], fresh.cost_found[0], 1e-6 * fresh.cost_found[0]);
      CHECK(control.count(0, mpc::kIterations) <= fresh.count(0, mpc::kIterations) + 2);
    }
  }
}

// In closed loop with one iteration a tick.
TEST_CASE(ticks, "mpc_warm: ticks of one iteration stay near the optimum and within bounds") {
  for (bool bounds : {false, true}) {
    PendulumControl control = swing(bounds);
    Solver solver(control.problem(), 1);
    solver.step(cold());
    const double tick = 0.1;  // of a step
    double worst = 0.0, most_cost = 0.0;
    for (int k = 0; k < 300; ++k) {
      go_along(control, tick);
      control.state_v[0] += k == 100 ? 0.1 : 0.0;
      solver.step(warm(tick * control.dt, 1));
      CHECK(control.code(0) == Code::kIterations);
      CHECK_EQUAL(control.count(0, mpc::kIterations), 1);
      CHECK_NEAR(control.misfit(0), 0.0, 1e-10);
      if (k > 5 && (k < 100 || k > 105)) worst = std::max(worst, control.violation(0));
      if (k % 50 == 49) {
        PendulumControl fresh = swing(bounds);
        fresh.state_q = control.state_q;
        fresh.state_v = control.state_v;
        Solver(fresh.problem(), 1).step(cold());
        most_cost = std::max(most_cost, control.cost_found[0] / fresh.cost_found[0] - 1.0);
      }
    }
    CHECK(worst < 1e-3);
    CHECK(most_cost < 0.02);
    CHECK(most_cost > -1e-6);
  }
}

TEST_CASE(changes, "mpc_warm: bounds and references that change between steps count at once") {
  PendulumControl control = swing(true);
  Solver solver(control.problem(), 1);
  solver.step(cold());
  control.wishes[mpc::kPosition].reference.numbers = {-0.3, 0.2};
  control.wishes[mpc::kVelocity].upper.numbers = {0.9, kNone};
  go_along(control, 1.0);
  solver.step(warm(control.dt));
  CHECK(control.code(0) == Code::kConverged);
  CHECK_NEAR(control.unrest(0), 0.0, 1e-4);
  CHECK(control.violation(0) <= control.tolerance);
  control.wishes[mpc::kVelocity].upper.numbers = {1.7, 1.7};
  go_along(control, 1.0);
  solver.step(warm(control.dt));
  CHECK(control.code(0) == Code::kConverged);
  CHECK_NEAR(control.unrest(0), 0.0, 1e-4);
}

TEST_CASE(late_cold, "mpc_warm: without time and without a plan the answer is to brake") {
  PendulumControl control = swing(true);
  Solver solver(control.problem(), 1);
  StepOptions late = cold();
  late.deadline = 0.0;
  solver.step(late);
  CHECK(control.code(0) == Code::kDeadline);
  CHECK(control.origin(0) == Origin::kHold);
  CHECK_NEAR(control.misfit(0), 0.0, 1e-10);
  CHECK_NEAR(control.v[control.horizon * 2], 0.0, 1e-12);
  CHECK_NEAR(control.cost_found[0], static_cast<double>(control.cost(0, control.plan(0))), 1e-9 * control.cost_found[0]);
  // And is a plan that the next step may go on from.
  go_along(control, 1.0);
  solver.step(warm(control.dt));
  CHECK(control.code(0) == Code::kConverged);
}

TEST_CASE(stopped, "mpc_warm: a caller who wants no more gets the best so far") {
  PendulumControl control = swing(true);
  Solver solver(control.problem(), 1);
  StepOptions options = cold();
  struct Patience {
    int left;
  } patience{9};
  options.go_on = [](void* context) { return --static_cast<Patience*>(context)->left >= 0; };
  options.context = &patience;
  solver.step(options);
  CHECK(control.code(0) == Code::kDeadline);
  CHECK_EQUAL(control.count(0, mpc::kIterations), 9);
  CHECK_NEAR(control.misfit(0), 0.0, 1e-10);
  CHECK(control.violation(0) <= control.tolerance || control.origin(0) == Origin::kHold);
}

TEST_CASE(far_state, "mpc_warm: a state far from the plan is a new problem, not a failure") {
  PendulumControl control = swing(true);
  Solver solver(control.problem(), 1);
  solver.step(cold());
  control.state_q = {0.5, -0.9};
  control.state_v = {-1.5, 1.5};
  solver.step(warm(control.dt));
  CHECK(control.code(0) == Code::kConverged);
  CHECK_NEAR(control.unrest(0), 0.0, 1e-3);
  CHECK(control.violation(0) <= control.tolerance);
}

TEST_CASE(long_ago, "mpc_warm: a plan older than its horizon is forgotten") {
  PendulumControl control = swing(true);
  Solver solver(control.problem(), 1);
  solver.step(cold());
  const PendulumControl first = control;
  solver.step(warm(10.0));
  CHECK(control.code(0) == Code::kConverged);
  CHECK(control.a == first.a);
}

}  // namespace
}  // namespace robomorph::tests
