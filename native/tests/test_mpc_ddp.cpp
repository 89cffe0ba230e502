// Control with torques as controls, on invented dynamics, against steps and sums written apart.
#include <cmath>
#include <limits>
#include <vector>

#include "mpc/forward_form.h"
#include "mpc/solver.h"
#include "tests/allocations.h"
#include "tests/check.h"
#include "tests/ddp_arm.h"

namespace robomorph::tests {
namespace {

using mpc::Code;
using mpc::Method;

constexpr Method kForward[] = {Method::kEuler, Method::kMidpoint, Method::kRk4};
constexpr int n = kArmJoints;

// `again`: further steps from the same state, each beginning where the last one ended.
Code solve(Arm& arm, int again = 0) {
  mpc::Solver solver(arm.problem, 1);
  mpc::StepOptions options;
  options.deadline = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= again; ++i) {
    options.warm = i > 0;
    solver.step(options);
  }
  return static_cast<Code>(arm.counts[mpc::kCode]);
}

TEST_CASE(mpc_ddp_motion, "mpc_ddp: plans are what their torques do") {
  for (const Method method : kForward) {
    for (const int horizon : {1, 7, 8, 20}) {
      Arm arm(method, horizon, horizon == 8);
      CHECK(solve(arm) == Code::kConverged);
      std::vector<double> q = arm.state_q, v = arm.state_v, a(n);
      for (int k = 0; k < horizon; ++k) {
        arm_acceleration(q.data(), v.data(), arm.torque.data() + k * n, a.data());
        for (int i = 0; i < n; ++i) CHECK_NEAR(arm.a[k * n + i], a[i], 1e-10);
        arm_step(method, arm.problem.dt, arm.torque.data() + k * n, q.data(), v.data());
        for (int i = 0; i < n; ++i) {
          CHECK_NEAR(arm.q[(k + 1) * n + i], q[i], 1e-12);
          CHECK_NEAR(arm.v[(k + 1) * n + i], v[i], 1e-11);
        }
      }
      CHECK_NEAR(arm.cost[0], arm.cost_of(arm.torque), 1e-11 * arm.cost[0]);
    }
  }
}

TEST_CASE(mpc_ddp_optimal, "mpc_ddp: no torque can be changed for the better") {
  for (const Method method : kForward) {
    Arm arm(method, 12, true);
    CHECK(solve(arm) == Code::kConverged);
    std::vector<double> torques = arm.torque;
    const double step = 1e-3;
    for (double& x : torques) {
      const double kept = x;
      x = kept + step;
      const double more = arm.cost_of(torques);
      x = kept - step;
      const double less = arm.cost_of(torques);
      x = kept;
      // At the optimum differences are curvature alone.
      CHECK_NEAR((more - less) / (2 * step), 0.0, 1e-4);
      CHECK(more + less > 2.0 * arm.cost[0]);
    }
  }
}

TEST_CASE(mpc_ddp_inverse, "mpc_ddp: with Euler's method the optimum is that of the inverse-dynamics form") {
  for (const bool row : {false, true}) {
    Arm inverse(Method::kInverse, 30, row), forward(Method::kEuler, 30, row);
    CHECK(solve(inverse, 4) == Code::kConverged && solve(forward, 4) == Code::kConverged);
    CHECK_NEAR(forward.cost[0], inverse.cost[0], 1e-8 * inverse.cost[0]);
    for (std::size_t i = 0; i < inverse.q.size(); ++i) CHECK_NEAR(forward.q[i], inverse.q[i], 1e-5);
    // Gains are those of the last sweep, with its regularisation, which rows that bend may leave.
    if (row) continue;
    for (std::size_t i = 0; i < inverse.gains.size(); ++i) {
      CHECK_NEAR(forward.gains[i], inverse.gains[i], 1e-3 * std::abs(inverse.gains[i]) + 1e-3);
      CHECK_NEAR(forward.torque_gains[i], inverse.torque_gains[i], 1e-3 * std::abs(inverse.torque_gains[i]) + 1e-3);
    }
  }
}

// The form alone, at a motion that a few torques make.
struct Alone {
  explicit Alone(Arm& arm) : work(arm.problem, 0, 1, false), form(mpc::make_form(work)) {
    work.read();
    for (int k = 0; k <= arm.problem.horizon; ++k) {
      for (int i = 0; i < n; ++i) {  // standing still where the state is
        for (int l = 0; l < work.lane_end(k, 0) - work.shape.lane(k, 0); ++l) {
          work.terms[mpc::kPosition].value[work.at(n, k, i, 0) + l] = arm.state_q[i];
        }
      }
    }
    form->settle();
    swap();
    form->accept();
  }
  void swap() {
    for (mpc::Terms& t : work.terms) std::swap(t.value, t.trial);
  }
  std::vector<double> torques() const {  // of the trial
    std::vector<double> out;
    for (int k = 0; k < work.shape.horizon; ++k) {
      for (int i = 0; i < n; ++i) out.push_back(work.terms[mpc::kTorque].trial[work.at(n, k, i, 0)]);
    }
    return out;
  }
  mpc::Work work;
  std::unique_ptr<mpc::Form> form;
};

TEST_CASE(mpc_ddp_slope, "mpc_ddp: the total cost changes along a step as the sweep says") {
  for (const Method method : kForward) {
    Arm arm(method, 15, true);
    arm.state_v = {0.0, 0.0, 0.0};
    Alone alone(arm);
    alignas(64) double share[mpc::kLanes] = {}, regularisation[mpc::kLanes] = {};
    for (mpc::Terms& t : alone.work.terms) {
      for (std::size_t i = 0; t.costs && i < t.numbers(alone.work.shape); ++i) {
        t.weight[i] = t.cost[i];
        t.gradient[i] = t.cost[i] * (t.value[i] - t.reference[i]);
      }
    }
    const std::vector<double> nothing(n);
    std::vector<double> gains(2 * n * n);
    mpc::StepFacts facts = {};
    facts.ok[0] = true;
    alone.form->direction(nothing.data(), nothing.data(), regularisation, gains.data(), facts);
    CHECK(facts.ok[0]);
    alone.form->trial(share);
    const double base = arm.cost_of(alone.torques()), step = 1e-5;
    for (double& s : share) s = step;
    alone.form->trial(share);
    const double more = arm.cost_of(alone.torques());
    for (double& s : share) s = -step;
    alone.form->trial(share);
    const double less = arm.cost_of(alone.torques());
    CHECK_NEAR((more - less) / (2 * step), facts.slope[0], 1e-6 * std::abs(facts.slope[0]));
    CHECK_NEAR(facts.curve[0], -facts.slope[0], 1e-9 * facts.curve[0]);  // the model's best step from the same state
    CHECK(base > 0.0 && facts.slope[0] < 0.0);
  }
}

TEST_CASE(mpc_ddp_limits, "mpc_ddp: limits of all quantities hold where they bind") {
  for (const Method method : kForward) {
    for (const int quantity : {mpc::kTorque, mpc::kVelocity, mpc::kAcceleration}) {
      Arm free(method, 30, false), arm(method, 30, false);
      CHECK(solve(free) == Code::kConverged);
      const std::vector<double>& was =
          quantity == mpc::kTorque ? free.torque : quantity == mpc::kVelocity ? free.v : free.a;
      double most = 0.0;
      for (const double x : was) most = std::max(most, std::abs(x));
      arm.bound(quantity, 0.7 * most);
      CHECK(solve(arm) == Code::kConverged);
      const std::vector<double>& is = quantity == mpc::kTorque ? arm.torque : quantity == mpc::kVelocity ? arm.v : arm.a;
      double found = 0.0;
      for (const double x : is) found = std::max(found, std::abs(x));
      CHECK_NEAR(found, 0.7 * most, 1e-3 * most);
      CHECK(found < 0.7 * most + 1e-5);
      CHECK(arm.cost[0] > free.cost[0]);
    }
  }
}

TEST_CASE(mpc_ddp_memory, "mpc_ddp: a step takes no memory") {
  for (const Method method : kForward) {
    Arm arm(method, 20, true);
    arm.bound(mpc::kTorque, 4.0);
    mpc::Solver solver(arm.problem, 1);
    mpc::StepOptions options;
    options.deadline = std::numeric_limits<double>::infinity();
    const AllocationCount count;
    for (int i = 0; i < 5; ++i) {
      options.warm = i > 0;
      options.elapsed = 0.3 * i * arm.problem.dt;
      options.iterations = i > 2;
      arm.state_q[0] += 0.01;
      solver.step(options);
    }
    CHECK_EQUAL(count.taken(), 0L);
    CHECK(std::isfinite(arm.cost[0]));
    double* volatile taken = new double;
    delete taken;
    CHECK_EQUAL(count.taken(), 1L);  // the counter counts
  }
}

TEST_CASE(mpc_ddp_warm, "mpc_ddp: warm steps of one iteration follow a state that strays from the plan") {
  for (const Method method : kForward) {
    Arm arm(method, 25, false);
    arm.bound(mpc::kTorque, 12.0);
    mpc::Solver solver(arm.problem, 1);
    mpc::StepOptions options;
    options.deadline = std::numeric_limits<double>::infinity();
    solver.step(options);
    options.warm = true, options.iterations = 1, options.elapsed = arm.problem.dt;
    for (int tick = 0; tick < 80; ++tick) {
      arm_step(Method::kRk4, arm.problem.dt, arm.torque.data(), arm.state_q.data(), arm.state_v.data());
      if (tick == 10) arm.state_v[1] += 0.5;  // a push
      solver.step(options);
      std::vector<double> q = arm.state_q, v = arm.state_v;  // the plan begins there and obeys its integrator
      for (int k = 0; k < 25; ++k) arm_step(method, arm.problem.dt, arm.torque.data() + k * n, q.data(), v.data());
      for (int i = 0; i < n; ++i) CHECK_NEAR(arm.q[25 * n + i], q[i], 1e-9);
    }
    double torque[n], still[n] = {}, at_goal[n];
    std::copy_n(arm.torque.data(), n, torque);
    arm_acceleration(arm.state_q.data(), still, torque, at_goal);
    for (int i = 0; i < n; ++i) {
      CHECK_NEAR(arm.state_q[i], arm.q_reference[i], 0.1);
      CHECK_NEAR(arm.state_v[i], 0.0, 1e-2);
      CHECK_NEAR(at_goal[i], 0.0, 0.1);
    }
  }
}

TEST_CASE(mpc_ddp_bad, "mpc_ddp: numbers that are none are told, and the plan stays finite") {
  for (const Method method : kForward) {
    for (double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      for (int where = 0; where < 4; ++where) {
        Arm arm(method, 10, true);
        (where == 0 ? arm.q_reference : where == 1 ? arm.row_reference : where == 2 ? arm.torque_weight : arm.state_q)[0] = bad;
        CHECK(solve(arm) == Code::kFailed);
      }
    }
  }
}

}  // namespace
}  // namespace robomorph::tests
