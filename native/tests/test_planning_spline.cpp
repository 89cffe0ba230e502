// The solver on motions of a planar chain: banded matrices, a border, thousands of rows.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "planning/solve.h"
#include "tests/check.h"
#include "tests/spline_motion.h"

namespace {

using robomorph::planning::Banded;
using robomorph::planning::Options;
using robomorph::planning::Result;
using robomorph::planning::solve;
using robomorph::planning::Status;
using robomorph::planning::status_name;
using robomorph::tests::SplineMotion;
using Kind = SplineMotion::Kind;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<double> bent(int joints) {
  std::vector<double> q(joints, -4.2 / joints);
  q[0] = 2.4;
  return q;
}

// The tip stays within a millimetre and the middle goes down, as in a squat.
SplineMotion squat(int joints, int intervals, double drop, bool free_duration = false) {
  const std::vector<double> q = bent(joints);
  SplineMotion out(joints, intervals, q, q, free_duration);
  const int x = out.add_channel(Kind::kX, joints - 1), y = out.add_channel(Kind::kY, joints - 1);
  const int angle = out.add_channel(Kind::kAngle, joints - 1), middle = out.add_channel(Kind::kY, joints / 2);
  for (int channel : {x, y, angle}) {
    const double at = out.channel_value_at(q.data(), channel);
    out.keep(channel, false, 0, intervals, at - 1e-3, at + 1e-3, 100.0);
  }
  const double top = out.channel_value_at(q.data(), middle);
  out.keep(middle, false, 2 * intervals / 5, 3 * intervals / 5, -kInfinity, top - drop, 100.0);
  out.limit_joints(3.0, 3.0);
  out.ready();
  return out;
}

// The tip moves at a speed for a while.
SplineMotion kick(int joints, int intervals, double speed, bool free_duration = false) {
  const std::vector<double> q = bent(joints);
  SplineMotion out(joints, intervals, q, q, free_duration);
  const int x = out.add_channel(Kind::kX, joints - 1), y = out.add_channel(Kind::kY, joints - 1);
  const double at = out.channel_value_at(q.data(), y);
  out.keep(y, false, 0, intervals, at - 0.05, at + 0.05, 100.0);
  out.keep(x, true, 2 * intervals / 5, 3 * intervals / 5, speed, kInfinity, 1.0 / speed);
  out.limit_joints(3.0, 3.0);
  out.ready();
  return out;
}

std::vector<double> noisy_guess(const SplineMotion& problem, double noise, int seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> x = problem.guess();
  for (int i = 0; i < problem.variables - problem.border; ++i) x[i] += noise * normal(random);
  return x;
}

void check_solved(const Result& result) {
  CHECK_EQUAL(std::string(status_name(result.status)), "solved");
  CHECK(result.infeasibility <= 1e-6);
}

}  // namespace

TEST_CASE(derivatives, "planning_spline: the problem's own derivatives agree with differences") {
  for (SplineMotion problem : {squat(4, 8, 0.1, true), kick(4, 8, 0.2, true)}) {
    const int n = problem.variables, m = problem.rows;
    std::vector<double> x = noisy_guess(problem, 0.1, 1), gradient(n), shifted(n), rows(m), ahead(m), product(m);
    std::vector<double> direction(n), lambda(m), back(n), front(n), zero(m, 0.0);
    std::mt19937 random(2);
    std::normal_distribution<double> normal;
    for (double& value : direction) value = normal(random);
    for (double& value : lambda) value = normal(random);
    x[n - 1] = 1.2;
    problem.linearise(x.data(), gradient.data());
    problem.jacobian_times(direction.data(), product.data());
    const double step = 1e-6;
    double cost[2], worst = 0.0;
    for (int i = 0; i < n; ++i) shifted[i] = x[i] - step * direction[i];
    problem.values(shifted.data(), &cost[0], rows.data());
    for (int i = 0; i < n; ++i) shifted[i] = x[i] + step * direction[i];
    problem.values(shifted.data(), &cost[1], ahead.data());
    for (int i = 0; i < m; ++i) worst = std::fmax(worst, std::abs((ahead[i] - rows[i]) / (2 * step) - product[i]));
    CHECK_NEAR(worst, 0.0, 1e-4);
    Banded out;
    out.size = problem.block * problem.blocks;
    out.half = (problem.reach + 1) * problem.block - 1;
    out.stride = out.half + 1;
    out.border = 1;
    out.data.resize(static_cast<std::size_t>(out.size) * out.stride);
    out.arrow.resize(out.size);
    problem.condensed(0.0, lambda.data(), zero.data(), true, out);
    for (int sign : {-1, 1}) {
      for (int i = 0; i < n; ++i) shifted[i] = x[i] + sign * step * direction[i];
      problem.linearise(shifted.data(), gradient.data());
      problem.jacobian_transposed_times(lambda.data(), (sign < 0 ? back : front).data());
    }
    worst = 0.0;
    for (int i = 0; i < n; ++i) {
      double sum = 0.0;
      for (int j = 0; j < n; ++j) {
        const int a = std::max(i, j), b = std::min(i, j);
        const double entry = a == n - 1 ? (b == n - 1 ? out.corner : out.arrow[b]) : a - b <= out.half ? out.at(a, b) : 0.0;
        sum += entry * direction[j];
      }
      worst = std::fmax(worst, std::abs((front[i] - back[i]) / (2 * step) - sum));
    }
    CHECK_NEAR(worst, 0.0, 1e-3);
  }
}

TEST_CASE(squats, "planning_spline: a squat, from a straight guess and from noise, has one optimum") {
  SplineMotion problem = squat(12, 10, 0.1);
  std::vector<double> x = problem.guess();
  const Result result = solve(problem, Options{}, x.data());
  check_solved(result);
  CHECK(result.iterations < 60);
  const double top = problem.channel_value(x.data(), 3, 0.0);
  for (int i = 0; i <= 1000; ++i) {
    const double time = 10.0 * i / 1000.0;
    CHECK_NEAR(problem.channel_value(x.data(), 0, time), problem.channel_value(x.data(), 0, 0.0), 1.0001e-3);
    if (time >= 4.0 && time <= 6.0) CHECK(problem.channel_value(x.data(), 3, time) <= top - 0.1 + 1e-8);
  }
  for (int seed = 1; seed <= 5; ++seed) {
    Options options;
    options.smoothing = 1e-2;
    x = noisy_guess(problem, 0.3, seed);
    const Result other = solve(problem, options, x.data());
    check_solved(other);
    CHECK_NEAR(other.cost, result.cost, 1e-4 * result.cost);
  }
}

TEST_CASE(large, "planning_spline: a thousand variables and many thousand rows") {
  SplineMotion problem = squat(28, 40, 0.1);
  CHECK(problem.variables > 1000 && problem.rows > 6000);
  std::vector<double> x = problem.guess();
  check_solved(solve(problem, Options{}, x.data()));
  std::vector<double> again = problem.guess();
  solve(problem, Options{}, again.data());
  CHECK(x == again);
}

TEST_CASE(border, "planning_spline: a free duration") {
  SplineMotion kicking = kick(8, 10, 0.1, true);  // speeds are divided by the factor, so that a short time is cheap
  std::vector<double> y = kicking.guess();
  check_solved(solve(kicking, Options{}, y.data()));
  CHECK_NEAR(y.back(), 0.5, 1e-3);
  SplineMotion squatting = squat(8, 10, 0.05, true);
  squatting.time_weight = -1.0;
  std::vector<double> x = squatting.guess();
  check_solved(solve(squatting, Options{}, x.data()));
  CHECK_NEAR(x.back(), 2.0, 1e-3);
}

TEST_CASE(feasible, "planning_spline: without cost a few iterations do") {
  SplineMotion problem = squat(28, 10, 0.15);
  std::vector<double> x = problem.guess();
  Options options;
  options.feasible_only = true;
  const Result result = solve(problem, options, x.data());
  check_solved(result);
  CHECK(result.infeasibility == 0.0);
  CHECK(result.iterations <= 20);
}

TEST_CASE(too_fast, "planning_spline: a speed that joints cannot give is found out") {
  SplineMotion problem = kick(8, 10, 5.0);
  std::vector<double> x = problem.guess();
  const Result result = solve(problem, Options{}, x.data());
  CHECK_EQUAL(std::string(status_name(result.status)), "infeasible");
  CHECK(result.iterations < 100);
  double largest = 0.0;
  int where = 0;
  for (int i = 0; i < problem.rows; ++i) {
    CHECK(std::abs(result.multipliers[i]) <= 1.0 + 1e-6);
    const double beyond = std::max(problem.lower()[i] - result.rows[i], result.rows[i] - problem.upper()[i]);
    if (beyond > largest) where = i;
    largest = std::max(largest, beyond);
  }
  CHECK(std::abs(result.multipliers[where]) > 0.5);
}
