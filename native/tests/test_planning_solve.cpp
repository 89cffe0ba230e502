// The solver on problems whose answers are known by hand or from the literature.
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
using robomorph::planning::status_name;
using robomorph::tests::linear;
using robomorph::tests::SmallProblem;
using robomorph::tests::squares;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void check_solved(const Result& result, double cost, double tolerance = 1e-5) {
  CHECK_EQUAL(std::string(status_name(result.status)), "solved");
  CHECK_NEAR(result.cost, cost, tolerance * (1.0 + std::abs(cost)));
  CHECK(result.infeasibility <= 1e-6);
}

// 100 (x1 - x0^2)^2 + (1 - x0)^2
double rosenbrock(const double* x, double* gradient, double* hessian) {
  const double u = x[1] - x[0] * x[0], v = 1.0 - x[0];
  gradient[0] += -400.0 * u * x[0] - 2.0 * v;
  gradient[1] += 200.0 * u;
  hessian[0] += -400.0 * (x[1] - 3.0 * x[0] * x[0]) + 2.0;
  hessian[1] += -400.0 * x[0];
  hessian[2] += -400.0 * x[0];
  hessian[3] += 200.0;
  return 100.0 * u * u + v * v;
}

double product(const double* x, double* gradient, double* hessian) {  // x0 x1, of two variables
  gradient[0] += x[1];
  gradient[1] += x[0];
  hessian[1] += 1.0;
  hessian[2] += 1.0;
  return x[0] * x[1];
}

double circle(const double* x, double* gradient, double* hessian) {  // x0^2 + x1^2
  for (int i = 0; i < 2; ++i) {
    gradient[i] += 2.0 * x[i];
    hessian[3 * i] += 2.0;
  }
  return x[0] * x[0] + x[1] * x[1];
}

}  // namespace

TEST_CASE(qp, "planning_solve: a quadratic programme, with multipliers of both signs") {
  SmallProblem problem(2, squares({1.0, 1.0}, {3.0, -2.0}));
  problem.add(-1.0, 1.0, linear({1.0, 0.0}));
  problem.add(-1.0, 1.0, linear({0.0, 1.0}));
  for (bool elastic : {true, false}) {
    Options options;
    options.tolerance = 1e-9;
    options.elastic_first = elastic;
    double x[] = {5.0, 5.0};
    const Result result = solve(problem, options, x);
    check_solved(result, 2.0 + 0.5);
    CHECK_NEAR(x[0], 1.0, 1e-6);
    CHECK_NEAR(x[1], -1.0, 1e-6);
    CHECK_NEAR(result.multipliers[0], 2.0, 1e-5);
    CHECK_NEAR(result.multipliers[1], -1.0, 1e-5);
    CHECK_NEAR(result.rows[0], 1.0, 1e-6);
    CHECK(result.iterations == static_cast<int>(result.trace.size()));
  }
}

TEST_CASE(one_sided, "planning_solve: one-sided rows and rows without bounds") {
  SmallProblem problem(2, squares({2.0, 2.0}, {0.0, 0.0}));
  problem.add(1.0, kInfinity, linear({1.0, 1.0}));
  problem.add(-kInfinity, kInfinity, linear({1.0, -3.0}));
  problem.add(-kInfinity, 0.25, linear({0.0, 1.0}));
  double x[] = {0.0, 0.0};
  const Result result = solve(problem, Options{}, x);
  check_solved(result, 0.75 * 0.75 + 0.25 * 0.25);
  CHECK_EQUAL(result.multipliers[1], 0.0);
}

TEST_CASE(equality, "planning_solve: an equality is a narrow interval") {
  SmallProblem problem(2, squares({1.0, 1.0}, {0.0, 0.0}));
  problem.add(2.0, 2.0, linear({1.0, 1.0}));
  double x[] = {-7.0, 3.0};
  const Result result = solve(problem, Options{}, x);
  check_solved(result, 1.0);
  CHECK_NEAR(result.rows[0], 2.0, 1.1e-7);
  CHECK_NEAR(result.multipliers[0], -1.0, 1e-4);
}

TEST_CASE(valley, "planning_solve: Rosenbrock's valley within bounds") {
  for (double bound : {1.5, 0.5}) {
    SmallProblem problem(2, rosenbrock);
    problem.add(-1.5, bound, linear({1.0, 0.0}));
    problem.add(-1.5, 2.0, linear({0.0, 1.0}));
    double x[] = {-1.2, 1.0};
    check_solved(solve(problem, Options{}, x), bound > 1.0 ? 0.0 : 0.25, 1e-4);
    CHECK_NEAR(x[0], bound > 1.0 ? 1.0 : 0.5, 1e-3);
  }
}

// Hock and Schittkowski's number 15: the valley, x0 x1 >= 1, x0 + x1^2 >= 0, x0 <= 0.5.
TEST_CASE(hock_15, "planning_solve: number 15 of Hock and Schittkowski") {
  SmallProblem problem(2, rosenbrock);
  problem.add(1.0, kInfinity, product);
  problem.add(0.0, kInfinity, [](const double* x, double* g, double* h) {
    g[0] += 1.0;
    g[1] += 2.0 * x[1];
    h[3] += 2.0;
    return x[0] + x[1] * x[1];
  });
  problem.add(-kInfinity, 0.5, linear({1.0, 0.0}));
  double x[] = {-2.0, 1.0};
  const Result result = solve(problem, Options{}, x);
  CHECK_EQUAL(std::string(status_name(result.status)), "solved");
  CHECK(std::abs(result.cost - 306.5) < 1e-2 || std::abs(result.cost - 360.379767) < 1e-2);  // its two minima
}

namespace {

// x0 x3 (x0 + x1 + x2) + x2
double cost_71(const double* x, double* g, double* h) {
  const double s = x[0] + x[1] + x[2];
  const double gradient[] = {x[3] * (s + x[0]), x[0] * x[3], x[0] * x[3] + 1.0, x[0] * s};
  const double hessian[] = {2.0 * x[3], x[3], x[3], s + x[0], x[3], 0.0, 0.0, x[0],
                            x[3],       0.0,  0.0,  x[0],     s + x[0], x[0], x[0], 0.0};
  for (int i = 0; i < 4; ++i) g[i] += gradient[i];
  for (int i = 0; i < 16; ++i) h[i] += hessian[i];
  return x[0] * x[3] * s + x[2];
}

double product_of_four(const double* x, double* g, double* h) {
  const auto without = [x](int i, int j) {
    double out = 1.0;
    for (int k = 0; k < 4; ++k) out *= k == i || k == j ? 1.0 : x[k];
    return out;
  };
  for (int i = 0; i < 4; ++i) {
    g[i] += without(i, i);
    for (int j = 0; j < 4; ++j) h[4 * i + j] += i == j ? 0.0 : without(i, j);
  }
  return x[0] * x[1] * x[2] * x[3];
}

}  // namespace

TEST_CASE(hock_71, "planning_solve: number 71 of Hock and Schittkowski, with its equality") {
  SmallProblem problem(4, cost_71);
  problem.add(25.0, kInfinity, product_of_four);
  problem.add(40.0, 40.0, squares({2.0, 2.0, 2.0, 2.0}, {0.0, 0.0, 0.0, 0.0}));
  for (int i = 0; i < 4; ++i) {
    std::vector<double> unit(4, 0.0);
    unit[i] = 1.0;
    problem.add(1.0, 5.0, linear(unit));
  }
  for (bool elastic : {true, false}) {
    Options options;
    options.elastic_first = elastic;
    double x[] = {1.0, 5.0, 5.0, 1.0};
    check_solved(solve(problem, options, x), 17.0140173, 1e-5);
  }
}

TEST_CASE(nonconvex, "planning_solve: negative curvature on the way") {
  SmallProblem problem(2, [](const double* x, double* g, double* h) {  // a saddle
    g[0] += x[1];
    g[1] += x[0];
    h[1] += 1.0;
    h[2] += 1.0;
    return x[0] * x[1];
  });
  problem.add(-1.0, 1.0, linear({1.0, 0.0}));
  problem.add(-1.0, 1.0, linear({0.0, 1.0}));
  double x[] = {0.3, 0.1};
  const Result result = solve(problem, Options{}, x);
  check_solved(result, -1.0);
  double largest = 0.0;
  for (const Iteration& iteration : result.trace) largest = std::fmax(largest, iteration.regularisation);
  CHECK(largest > 0.0);
}

TEST_CASE(curved, "planning_solve: a curved band, entered from outside") {
  SmallProblem problem(2, linear({1.0, 2.0}));
  problem.add(0.999, 1.001, circle);
  for (double start : {0.1, 1.0, 30.0}) {
    double x[] = {start, 0.3};
    check_solved(solve(problem, Options{}, x), -std::sqrt(5.0 * 1.001), 1e-5);
  }
}

TEST_CASE(duplicated, "planning_solve: rows that say the same thing many times") {
  SmallProblem problem(2, squares({1.0, 1.0}, {3.0, 3.0}));
  for (int copy = 0; copy < 20; ++copy) {
    problem.add(-kInfinity, 1.0, linear({1.0, 0.0}));
    problem.add(-kInfinity, 2.0, circle);
    problem.add(-1.0, 1.0, linear({0.5, 0.5}));
  }
  double x[] = {0.0, 0.0};
  const Result result = solve(problem, Options{}, x);
  check_solved(result, 4.0);
  double sum = 0.0;
  for (int i = 0; i < problem.rows; ++i) sum += result.multipliers[i];
  CHECK(std::isfinite(sum) && sum > 0.0);
}

TEST_CASE(infeasible, "planning_solve: rows that contradict each other are named") {
  SmallProblem problem(2, squares({1.0, 1.0}, {0.0, 0.0}));
  problem.add(-kInfinity, 1.0, circle);
  problem.add(3.0, kInfinity, linear({1.0, 0.0}));
  problem.add(-10.0, 10.0, linear({0.0, 1.0}));
  for (bool elastic : {true, false}) {
    for (bool only : {true, false}) {
      Options options;
      options.elastic_first = elastic;
      options.feasible_only = only;
      double x[] = {0.2, 0.7};
      const Result result = solve(problem, options, x);
      CHECK_EQUAL(std::string(status_name(result.status)), "infeasible");
      CHECK(result.iterations < 20);
      CHECK(result.multipliers[0] > 0.1);
      CHECK(result.multipliers[1] < -0.1);
      CHECK_NEAR(result.multipliers[2], 0.0, 0.1);
      // One unit of the first row buys less and less of the second: the sum is least at x0 = 1.
      CHECK_NEAR(result.infeasibility, 2.0, 0.3);
    }
  }
}

TEST_CASE(constant, "planning_solve: rows that no variable touches are judged, and left out") {
  for (double value : {0.5, 1.0, 1.5}) {
    SmallProblem problem(1, squares({1.0}, {0.3}));
    problem.add(0.0, 1.0, [value](const double*, double*, double*) { return value; });
    problem.add(-1.0, 1.0, linear({1.0}));
    double x[] = {0.9};
    const Result result = solve(problem, Options{}, x);
    CHECK_EQUAL(std::string(status_name(result.status)), value > 1.0 ? "infeasible" : "solved");
    CHECK_EQUAL(result.multipliers[0], value > 1.0 ? 1.0 : 0.0);
    if (value > 1.0) CHECK_EQUAL(result.iterations, 0);
  }
}
