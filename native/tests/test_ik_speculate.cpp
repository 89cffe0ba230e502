#include <algorithm>
#include <cmath>

#include "ik/speculate.h"
#include "tests/check.h"
#include "tests/planar_arm.h"
#include "tests/planar_checks.h"

using namespace robomorph;
using namespace robomorph::tests;

TEST_CASE(speculate_reaches, "ik_speculate: speculation reaches the target, the same in any number of lanes") {
  const auto solved = [](std::size_t wide) {
    IkPlan plan = planar_plan_speculating(3, wide, 13);
    plan.max_starts = 10;
    plan.max_iterations = 300;
    Problems problems = Problems::planar(plan, 30, 6);
    CHECK(problems.solve(plan, 2));
    check_solved(plan, problems);
    return problems;
  };
  const Problems expected = solved(1);
  for (const std::size_t wide : {2, 4, 8}) CHECK(solved(wide) == expected);
}

TEST_CASE(speculate_share, "ik_speculate: of the lengths of a step the best is found") {
  for (const std::size_t wide : {1, 2, 4, 8}) {
    const IkPlan plan = planar_plan_speculating(2, wide, 10);
    IkSpeculation speculation;
    std::vector<char> memory(speculation.place(plan, nullptr) + 64);
    speculation.place(plan, memory.data() + 64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64);
    const double q[] = {0.0, 0.5}, goal[] = {0.3, 0.5};
    double target[2];
    planar_tip(goal, 2, target);
    const double step[] = {1.0, 0.0};
    CHECK_EQUAL(speculation.best_share(plan, q, step, target).share, 0.3);
    const double short_step[] = {0.1, 0.0};
    CHECK_EQUAL(speculation.best_share(plan, q, short_step, target).share, 1.0);
  }
}

TEST_CASE(speculate_longer, "ik_speculate: lengths beyond the step are tried, and stop at the limits") {
  for (const std::size_t wide : {1, 2, 4, 8}) {
    IkPlan plan = planar_plan_speculating(2, wide, 10);
    plan.longest_share = 2.0;
    plan.relaxation = 0.3;  // the shares are the same, and whether they end the search is told
    IkSpeculation speculation;
    std::vector<char> memory(speculation.place(plan, nullptr) + 64);
    speculation.place(plan, memory.data() + 64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64);
    const double q[] = {0.0, 0.5}, goal[] = {0.32, 0.5}, step[] = {0.2, 0.0};
    double target[2];
    planar_tip(goal, 2, target);
    const IkShare found = speculation.best_share(plan, q, step, target);
    CHECK_NEAR(found.share, 1.6, 1e-15);
    CHECK(found.within);
    const double far[] = {1.2, 0.5};
    planar_tip(far, 2, target);
    CHECK_EQUAL(speculation.best_share(plan, q, step, target).share, 2.0);
    CHECK(!speculation.best_share(plan, q, step, target).within);
    // From 1.2 on all lengths end at the limit: the first of them is taken.
    set_limits(plan, 0, -1.0, 0.23);
    CHECK_NEAR(speculation.best_share(plan, q, step, target).share, 1.2, 1e-15);
  }
}

TEST_CASE(speculate_limits, "ik_speculate: steps of up to twice their length keep the limits") {
  IkPlan plan = planar_plan_speculating(3, 4, 16);
  plan.longest_share = 2.0;
  for (std::size_t k = 0; k < 3; ++k) set_limits(plan, k, -0.9, 1.1);
  plan.max_starts = 20;
  plan.max_iterations = 300;
  Problems problems = Problems::planar(plan, 60, 12);
  CHECK(problems.solve(plan, 2));
  check_solved(plan, problems);
}

TEST_CASE(speculate_relaxes, "ik_speculate: a relaxed step is shorter than the best, by the same share anywhere") {
  const auto plan_for = [](std::size_t wide, std::uint64_t seed) {
    IkPlan plan = planar_plan_speculating(3, wide, 16);
    plan.relaxation = 0.3;
    plan.seed = seed;
    plan.max_starts = 10;
    plan.max_iterations = 300;
    return plan;
  };
  const auto solved = [&](std::size_t wide, std::size_t threads, std::uint64_t seed) {
    const IkPlan plan = plan_for(wide, seed);
    Problems problems = Problems::planar(plan, 30, 6);
    CHECK(problems.solve(plan, threads));
    check_solved(plan, problems);
    return problems;
  };
  const Problems expected = solved(1, 1, 0);
  for (const std::size_t wide : {1, 2, 4, 8}) {
    for (const std::size_t threads : {1, 2, 5}) CHECK(solved(wide, threads, 0) == expected);
  }
  CHECK(!(solved(1, 1, 1) == expected));
  // The same problem alone, and after others.
  const IkPlan plan = plan_for(2, 0);
  Problems alone = Problems::planar(plan, 1, 6);
  std::copy_n(&expected.target[2 * 17], 2, alone.target.begin());
  std::copy_n(&expected.start[3 * 17], 3, alone.start.begin());
  std::copy_n(&expected.posture[3 * 17], 3, alone.posture.begin());
  CHECK(alone.solve(plan, 1));
  for (std::size_t k = 0; k < 3; ++k) CHECK_EQUAL(alone.q[k], expected.q[3 * 17 + k]);
}

TEST_CASE(speculate_relaxed_share, "ik_speculate: one relaxed step is 0.7 to 1 times the best, unless that ends the search") {
  const auto moved = [](double relaxation, double tolerance, std::uint64_t seed) {
    IkPlan plan = planar_plan_speculating(2, 1, 64);
    plan.relaxation = relaxation;
    plan.seed = seed;
    plan.max_iterations = 1;
    plan.inverse_tolerance.assign(2, 1.0 / tolerance);
    Problems problems = Problems::planar(plan, 1, 1);
    const double goal[] = {0.3, 0.9};
    problems.start = {0.1, 0.5};
    planar_tip(goal, 2, problems.target.data());
    CHECK(problems.solve(plan, 1));
    return problems.q[0] - 0.1;
  };
  const double best = moved(0.0, 1e-9, 0);
  double least = 1.0, most = 0.0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const double share = moved(0.3, 1e-9, seed) / best;
    least = std::min(least, share);
    most = std::max(most, share);
    CHECK_EQUAL(moved(0.3, 0.5, seed), best);
  }
  CHECK(least >= 0.7 && least < 0.71);
  CHECK(most <= 1.0 && most > 0.99);
}
