// Many problems at once: answers are each problem's own, to the bit, and no step takes memory.
#include <cmath>
#include <cstring>
#include <vector>

#include "core/threadpool.h"
#include "tests/allocations.h"
#include "tests/check.h"
#include "tests/pendulum_control.h"

namespace robomorph::tests {
namespace {

using mpc::Code;
using mpc::Solver;
using mpc::StepOptions;

StepOptions step(bool warm, int iterations = 0) {
  StepOptions options;
  options.deadline = kNone;
  options.warm = warm;
  options.elapsed = warm ? 0.01 : 0.0;
  options.iterations = iterations;
  return options;
}

// Problem number `which` in place `p`: all begin elsewhere, some with bounds that cannot be kept.
void place(PendulumControl& control, int p, int which) {
  const double x = std::sin(1.0 + 3.7 * which), y = std::cos(2.0 * which);
  control.state_q[2 * p] = 0.5 * x;
  control.state_q[2 * p + 1] = 0.4 * y;
  control.state_v[2 * p] = 0.5 * y;
  control.state_v[2 * p + 1] = 0.3 * x;
  control.wishes[mpc::kPosition].reference.numbers[2 * p] = -0.6 * y;
  control.wishes[mpc::kPosition].reference.numbers[2 * p + 1] = 0.8 * x;
  const bool hopeless = which % 5 == 4;
  for (int i : {0, 1}) {
    control.wishes[mpc::kTorque].lower.numbers[2 * p + i] = hopeless ? 24.0 : -12.0 - x;
    control.wishes[mpc::kTorque].upper.numbers[2 * p + i] = hopeless ? 25.0 : 12.0 + x;
  }
}

PendulumControl many(const std::vector<int>& which) {
  const int count = static_cast<int>(which.size());
  PendulumControl control(2, 20, 0.03, count);
  control.optimal = 1e-8;
  control.swing_to({0.0, 0.0}, 10.0, 0.1, 1e-2, 50.0, 1.0);
  control.wishes[mpc::kPosition].reference = ControlTable(count, 1, 2, 0.0);
  control.bound(mpc::kTorque, -1.0, 1.0);
  control.wishes[mpc::kTorque].lower = ControlTable(count, 1, 2, 0.0);
  control.wishes[mpc::kTorque].upper = ControlTable(count, 1, 2, 0.0);
  control.wishes[mpc::kTorque].scale = {20.0, 20.0};
  control.bound(mpc::kVelocity, -2.0, 2.0);
  for (int p = 0; p < count; ++p) place(control, p, which[p]);
  return control;
}

std::vector<int> first(int count) {
  std::vector<int> which(count);
  for (int i = 0; i < count; ++i) which[i] = i;
  return which;
}

bool same(const std::vector<double>& a, std::size_t at_a, const std::vector<double>& b, std::size_t at_b, std::size_t size) {
  return std::memcmp(&a[at_a * size], &b[at_b * size], size * sizeof(double)) == 0;
}

bool same_answer(const PendulumControl& a, int i, const PendulumControl& b, int j) {
  return same(a.q, i, b.q, j, 21 * 2) && same(a.v, i, b.v, j, 21 * 2) && same(a.a, i, b.a, j, 20 * 2) &&
         same(a.torque, i, b.torque, j, 20 * 2) && same(a.gains, i, b.gains, j, 8) &&
         same(a.torque_gains, i, b.torque_gains, j, 8) && same(a.cost_found, i, b.cost_found, j, 1) &&
         same(a.worst, i, b.worst, j, 4) && same(a.multiplier[mpc::kTorque], i, b.multiplier[mpc::kTorque], j, 40) &&
         std::memcmp(&a.counts[i * mpc::kCounts], &b.counts[j * mpc::kCounts], mpc::kCounts * sizeof(std::int64_t)) == 0;
}

TEST_CASE(threads, "mpc_batch: the same to the bit for any number of threads") {
  PendulumControl one = many(first(37));
  Solver alone(one.problem(), 1);
  for (std::size_t count : {2, 3, 8}) {
    PendulumControl other = many(first(37));
    Solver together(other.problem(), count);
    for (bool warm : {false, true}) {
      alone.step(step(warm));
      together.step(step(warm));
      for (int i = 0; i < 37; ++i) CHECK(same_answer(one, i, other, i));
    }
    alone.step(step(false));
  }
}

TEST_CASE(company, "mpc_batch: problems know nothing of those beside them") {
  PendulumControl all = many(first(16));
  Solver(all.problem(), 1).step(step(false));
  const std::vector<int> mixed = {11, 3, 14, 0, 7, 9, 2, 5};
  PendulumControl some = many(mixed);
  Solver(some.problem(), 1).step(step(false));
  for (int i = 0; i < 8; ++i) CHECK(same_answer(some, i, all, mixed[i]));
  const std::vector<int> few = {4, 14, 1, 9, 6};  // a bundle with three lanes that repeat the last
  PendulumControl rest = many(few);
  Solver(rest.problem(), 1).step(step(false));
  for (int i = 0; i < 5; ++i) CHECK(same_answer(rest, i, all, few[i]));
}

TEST_CASE(alone, "mpc_batch: a problem alone has the same answer but for rounding") {
  PendulumControl all = many(first(16));
  Solver(all.problem(), 1).step(step(false));
  for (int i = 0; i < 16; ++i) {
    PendulumControl one = many({i});
    Solver(one.problem(), 1).step(step(false));
    CHECK(one.code(0) == all.code(i));
    CHECK_NEAR(one.cost_found[0], all.cost_found[i], 1e-6 * one.cost_found[0]);
    if (one.code(0) != Code::kConverged) continue;
    for (int k = 0; k < 40; ++k) CHECK_NEAR(one.a[k], all.a[40 * i + k], 1e-3);
    CHECK_NEAR(all.unrest(i), 0.0, 1e-3);
    CHECK(all.violation(i) <= all.tolerance);
    CHECK_NEAR(all.misfit(i), 0.0, 1e-10);
  }
  CHECK(all.code(4) == Code::kInfeasible);
}

TEST_CASE(ticks, "mpc_batch: ticks of many problems") {
  PendulumControl all = many(first(19)), one = many({6});
  Solver together(all.problem(), 2), alone(one.problem(), 1);
  together.step(step(false));
  alone.step(step(false));
  for (int k = 0; k < 30; ++k) {
    for (PendulumControl* control : {&all, &one}) {
      for (int p = 0; p < control->problems; ++p) {
        for (int i : {0, 1}) {
          const int at = p * 42 + i;
          control->state_q[2 * p + i] = (2.0 * control->q[at] + control->q[at + 2]) / 3.0;
          control->state_v[2 * p + i] = (2.0 * control->v[at] + control->v[at + 2]) / 3.0;
        }
      }
    }
    together.step(step(true, 1));
    alone.step(step(true, 1));
  }
  for (int k = 0; k < 40; ++k) CHECK_NEAR(one.a[k], all.a[40 * 6 + k], 1e-6);
  for (int p = 0; p < 19; ++p) CHECK_NEAR(all.misfit(p), 0.0, 1e-10);
}

TEST_CASE(deadline, "mpc_batch: a deadline leaves every problem with a plan") {
  PendulumControl all = many(first(40));
  Solver solver(all.problem(), 2);
  StepOptions options = step(false);
  options.deadline = 1e-9;
  solver.step(options);
  for (int p = 0; p < 40; ++p) {
    CHECK(all.code(p) == Code::kDeadline);
    CHECK(all.origin(p) == mpc::Origin::kHold);
    CHECK_NEAR(all.misfit(p), 0.0, 1e-10);
  }
  options.deadline = 1e3;
  solver.step(options);
  CHECK(all.code(0) == Code::kConverged);
}

TEST_CASE(memory, "mpc_batch: steps take no memory") {
  PendulumControl all = many(first(21)), one = many({2});
  Solver together(all.problem(), 2), alone(one.problem(), 1);
  const AllocationCount count;
  for (bool warm : {false, true, true}) {
    together.step(step(warm));
    alone.step(step(warm));
    together.step(step(warm, 1));
    alone.step(step(warm, 1));
  }
  CHECK_EQUAL(count.taken(), 0);
}

}  // namespace
}  // namespace robomorph::tests
