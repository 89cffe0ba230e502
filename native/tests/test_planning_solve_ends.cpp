// How the solver ends other than by solving, and what it begins with.
#include <cmath>
#include <limits>
#include <vector>

#include "planning/solve.h"
#include "tests/check.h"
#include "tests/small_problem.h"

namespace {

using robomorph::planning::Iteration;
using robomorph::planning::Options;
using robomorph::planning::Result;
using robomorph::planning::solve;
using robomorph::planning::Status;
using robomorph::tests::linear;
using robomorph::tests::SmallProblem;
using robomorph::tests::squares;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

SmallProblem simple() {
  SmallProblem problem(2, squares({1.0, 1.0}, {3.0, 0.5}));
  problem.add(-1.0, 1.0, linear({1.0, 0.0}));
  problem.add(-1.0, 1.0, linear({0.0, 1.0}));
  return problem;
}

// log(x0): no number for x0 <= 0.
double logarithm(const double* x, double* gradient, double* hessian) {
  gradient[0] += 1.0 / x[0];
  hessian[0] -= 1.0 / (x[0] * x[0]);
  return std::log(x[0]);
}

}  // namespace

TEST_CASE(feasible_only, "planning_solve_ends: without cost the first point inside will do") {
  SmallProblem problem = simple();
  Options options;
  options.feasible_only = true;
  options.margin = 1e-3;
  double x[] = {40.0, -40.0};
  const Result result = solve(problem, options, x);
  CHECK(result.status == Status::kSolved);
  CHECK(result.infeasibility == 0.0);
  for (double row : result.rows) CHECK(std::abs(row) < 1.0 - 1e-3);
  CHECK(result.iterations < 10);
  const std::vector<double> before(x, x + 2);
  CHECK_EQUAL(solve(problem, options, x).iterations, 0);
  CHECK(before == std::vector<double>(x, x + 2));
}

TEST_CASE(warm, "planning_solve_ends: a warm start takes fewer iterations") {
  SmallProblem problem = simple();
  double x[] = {-0.9, 0.9};
  const Result cold = solve(problem, Options{}, x);
  Options options;
  options.elastic_first = false;
  options.mu0 = 1e-6;
  const Result warm = solve(problem, options, x, cold.multipliers.data());
  CHECK(warm.status == Status::kSolved);
  CHECK(warm.iterations <= 2);
  CHECK(solve(problem, options, x).iterations > warm.iterations);  // the multipliers are what helps
  CHECK_NEAR(warm.cost, cold.cost, 1e-5);
}

TEST_CASE(limits, "planning_solve_ends: limits on iterations and time, and a callback that stops") {
  SmallProblem problem = simple();
  double x[] = {40.0, -40.0};
  Options options;
  options.iterations = 2;
  CHECK(solve(problem, options, x).status == Status::kIterations);
  options = Options{};
  options.deadline = 1e-12;
  x[0] = 40.0;
  CHECK(solve(problem, options, x).status == Status::kDeadline);
  options = Options{};
  int calls = 0;
  options.context = &calls;
  options.progress = [](void* context, const Iteration&, const double*) { return ++*static_cast<int*>(context) < 3; };
  x[0] = 40.0;
  const Result stopped = solve(problem, options, x);
  CHECK(stopped.status == Status::kStopped);
  CHECK_EQUAL(calls, 3);
  CHECK_EQUAL(stopped.iterations, 3);
}

TEST_CASE(no_number, "planning_solve_ends: steps to where there is no number are shortened") {
  SmallProblem problem(1, squares({1.0}, {-100.0}));
  problem.add(-5.0, 5.0, logarithm);
  for (bool elastic : {true, false}) {
    Options options;
    options.elastic_first = elastic;
    double x[] = {1.0};
    const Result result = solve(problem, options, x);
    CHECK(result.status == Status::kSolved);
    CHECK_NEAR(std::log(x[0]), -5.0, 1e-4);
  }
}

TEST_CASE(bad_start, "planning_solve_ends: a guess or derivatives without numbers") {
  SmallProblem problem(1, squares({1.0}, {1.0}));
  problem.add(-5.0, 5.0, logarithm);
  double x[] = {-1.0};
  CHECK(solve(problem, Options{}, x).status == Status::kBadNumbers);
  x[0] = std::nan("");
  CHECK(solve(problem, Options{}, x).status == Status::kBadNumbers);
  SmallProblem steep(1, [](const double* x, double* gradient, double*) {
    gradient[0] = kInfinity;
    return x[0];
  });
  steep.add(-1.0, 1.0, linear({1.0}));
  x[0] = 0.5;
  CHECK(solve(steep, Options{}, x).status == Status::kBadNumbers);
}

TEST_CASE(bad_hessian, "planning_solve_ends: second derivatives without numbers end the search") {
  SmallProblem problem(1, [](const double* x, double* gradient, double* hessian) {
    gradient[0] += 2.0 * x[0];
    hessian[0] += std::nan("");
    return x[0] * x[0];
  });
  problem.add(1.0, 2.0, linear({1.0}));
  double x[] = {5.0};
  CHECK(solve(problem, Options{}, x).status == Status::kBadNumbers);
}

TEST_CASE(empty_interval, "planning_solve_ends: bounds that cross cannot be met") {
  SmallProblem problem(1, squares({1.0}, {0.0}));
  problem.add(1.0, 0.5, linear({1.0}));
  double x[] = {0.0};
  const Result result = solve(problem, Options{}, x);
  CHECK(result.status == Status::kInfeasible);
  CHECK(result.infeasibility > 0.2);
}

TEST_CASE(no_rows, "planning_solve_ends: a problem without rows") {
  SmallProblem problem(2, squares({1.0, 4.0}, {3.0, 0.5}));
  double x[] = {-1.0, 1.0};
  const Result result = solve(problem, Options{}, x);
  CHECK(result.status == Status::kSolved);
  CHECK_NEAR(x[0], 3.0, 1e-5);
}

TEST_CASE(scales, "planning_solve_ends: the size of the cost does not matter") {
  int most = 0;
  for (double size : {1e-6, 1e-3, 1.0, 1e3, 1e6}) {
    SmallProblem problem(2, squares({size, size}, {3.0, 0.5}));
    problem.add(-1.0, 1.0, linear({1.0, 0.0}));
    problem.add(-1.0, 1.0, linear({0.0, 1.0}));
    double x[] = {-0.9, 0.9};
    const Result result = solve(problem, Options{}, x);
    CHECK(result.status == Status::kSolved);
    CHECK_NEAR(result.cost / size, 2.0, 2e-3);
    most = result.iterations > most ? result.iterations : most;
  }
  CHECK(most < 25);
}

TEST_CASE(odd_bounds, "planning_solve_ends: bounds that are no numbers") {
  const double odd[][2] = {{std::nan(""), 1.0}, {0.0, std::nan("")}, {kInfinity, kInfinity}, {-kInfinity, -kInfinity}};
  for (const auto& bounds : odd) {
    SmallProblem problem(1, squares({1.0}, {0.0}));
    problem.add(bounds[0], bounds[1], linear({1.0}));
    double x[] = {0.0};
    CHECK(solve(problem, Options{}, x).status == Status::kBadNumbers);
  }
}

TEST_CASE(no_variables, "planning_solve_ends: nothing to choose") {
  for (double value : {0.5, 1.5}) {
    SmallProblem problem(0, [](const double*, double*, double*) { return 7.0; });
    problem.blocks = 0;
    problem.block = 1;
    problem.add(0.0, 1.0, [value](const double*, double*, double*) { return value; });
    double x[] = {0.0};
    const Result result = solve(problem, Options{}, x);
    CHECK(result.status == (value < 1.0 ? Status::kSolved : Status::kInfeasible));
  }
}

TEST_CASE(odd_options, "planning_solve_ends: options beyond reason do not hang or crash") {
  const double odd[] = {-1.0, 0.0, 1e300, std::nan("")};
  for (double value : odd) {
    for (double Options::*option : {&Options::tolerance, &Options::feasibility, &Options::mu0, &Options::least_width,
                                    &Options::smoothing, &Options::margin}) {
      for (bool only : {false, true}) {
        SmallProblem problem = simple();
        problem.add(0.25, 0.25, linear({1.0, 1.0}));
        Options options;
        options.*option = value;
        options.feasible_only = only;
        options.iterations = 50;
        double x[] = {40.0, -40.0};
        const Result result = solve(problem, options, x);
        CHECK(result.iterations <= 50);
      }
    }
  }
  Options options;
  options.iterations = -3;
  SmallProblem problem = simple();
  double x[] = {40.0, -40.0};
  CHECK_EQUAL(solve(problem, options, x).iterations, 1);
  options.iterations = std::numeric_limits<int>::max();
  CHECK(solve(problem, options, x).status == Status::kSolved);
}

TEST_CASE(steep_cost, "planning_solve_ends: no cost is steep enough to make rows be missed") {
  for (double size : {1.0, 1e3, 1e6}) {
    SmallProblem problem(2, linear({size, 0.0}));
    problem.add(2.0, 5.0, [](const double* x, double* gradient, double* hessian) {  // hardly a slope
      gradient[0] += 1e-3 * std::cos(1e-3 * x[0]);
      hessian[0] -= 1e-6 * std::sin(1e-3 * x[0]);
      gradient[1] += 1.0;
      return std::sin(1e-3 * x[0]) + x[1];
    });
    problem.add(-30.0, 1500.0, linear({1.0, 0.0}));
    problem.add(-10.0, 1.5, linear({0.0, 1.0}));
    double x[] = {-20.0, 0.0};
    const Result result = solve(problem, Options{}, x);
    CHECK(result.status == Status::kSolved);
    CHECK_NEAR(x[0], 1e3 * std::asin(0.5), 0.1);
  }
}

TEST_CASE(steep_infeasible, "planning_solve_ends: the least violation is least whatever the cost") {
  SmallProblem problem(1, linear({1e6}));  // which would like x small
  problem.add(2.0, 3.0, linear({1e-3}));
  problem.add(-30.0, 1000.0, linear({1.0}));
  double x[] = {0.0};
  const Result result = solve(problem, Options{}, x);
  CHECK(result.status == Status::kInfeasible);
  CHECK_NEAR(x[0], 1000.0, 5.0);
  CHECK_NEAR(result.infeasibility, 1.0, 1e-2);
  CHECK_NEAR(result.multipliers[0], -1.0, 1e-2);
}

TEST_CASE(smoothing, "planning_solve_ends: smoothing lowers the guess's cost first") {
  SmallProblem problem(1, squares({1.0}, {3.0}));
  problem.add(-10.0, 10.0, linear({1.0}));
  Options options;
  options.feasible_only = true;
  double x[] = {5.0};
  solve(problem, options, x);
  CHECK_EQUAL(x[0], 5.0);
  options.smoothing = 1.0;
  CHECK(solve(problem, options, x).status == Status::kSolved);
  CHECK_NEAR(x[0], 4.0, 1e-12);  // half way for a weight as large as the curvature
}

TEST_CASE(second_differences, "planning_solve_ends: rows that are blind to even growth are not taken for constant") {
  for (int n = 3; n <= 40; ++n) {
    for (int apart = 1; 2 * apart < n; ++apart) {
      SmallProblem problem(n, squares(std::vector<double>(n, 1.0), std::vector<double>(n, 0.0)));
      for (int i = 0; i + 2 * apart < n; ++i) {
        std::vector<double> bend(n, 0.0);
        bend[i] = bend[i + 2 * apart] = 1.0;
        bend[i + apart] = -2.0;
        problem.add(0.5, 1.0, linear(bend));
      }
      std::vector<double> x(n, 0.0);
      const Result result = solve(problem, Options{}, x.data());
      CHECK(result.status == Status::kSolved);
      CHECK(result.infeasibility <= 1e-7);
      if (result.infeasibility > 1e-7) return;
    }
  }
}
