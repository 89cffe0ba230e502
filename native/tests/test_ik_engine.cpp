#include <algorithm>
#include <cmath>

#include "tests/check.h"
#include "tests/planar_arm.h"
#include "tests/planar_checks.h"

using namespace robomorph;
using namespace robomorph::tests;

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr IkChoice kChoices[] = {IkChoice::kFirst, IkChoice::kNearest, IkChoice::kAll};

double distance_to_posture(const Problems& problems, std::size_t nq, std::size_t answer, std::size_t problem) {
  double square = 0.0;
  for (std::size_t k = 0; k < nq; ++k) {
    const double d = problems.q[answer * nq + k] - problems.posture[problem * nq + k];
    square += d * d;
  }
  return std::sqrt(square);
}

}  // namespace

TEST_CASE(engine_reaches, "ik_engine: targets within reach are reached, inside the limits") {
  for (const std::size_t joints : {2, 3}) {
    for (const std::size_t lanes : {1, 8}) {
      IkPlan plan = planar_plan(joints, lanes);
      plan.max_starts = 30;
      Problems problems = Problems::planar(plan, 101, 5 + joints);
      CHECK(problems.solve(plan, 2));
      check_solved(plan, problems);
    }
  }
}

TEST_CASE(engine_elbow, "ik_engine: limits leave one solution, and it is the one of the textbook") {
  IkPlan plan = planar_plan(2, 4);
  set_limits(plan, 1, 0.1, 2.5);
  plan.max_starts = 50;
  Problems problems = Problems::planar(plan, 60, 3);
  for (std::size_t i = 0; i < problems.count; ++i) problems.start[2 * i + 1] = -2.0;  // outside: brought inside
  CHECK(problems.solve(plan, 1));
  check_solved(plan, problems);
  for (std::size_t i = 0; i < problems.count; ++i) {
    const double x = problems.target[2 * i], y = problems.target[2 * i + 1];
    const double elbow = std::acos((x * x + y * y - 2.0) / 2.0);
    CHECK_NEAR(problems.q[2 * i + 1], elbow, 1e-6);
    const double shoulder = std::atan2(y, x) - std::atan2(std::sin(elbow), 1.0 + std::cos(elbow));
    CHECK_NEAR(std::remainder(problems.q[2 * i] - shoulder, 2 * kPi), 0.0, 1e-6);
  }
}

TEST_CASE(engine_far, "ik_engine: a target out of reach fails, with the arm stretched towards it") {
  IkPlan plan = planar_plan(2, 2);
  plan.max_starts = 5;
  Problems problems = Problems::planar(plan, 9, 11);
  for (std::size_t i = 0; i < problems.count; ++i) {
    problems.target[2 * i] = 5.0 * std::cos(0.3 * double(i));
    problems.target[2 * i + 1] = 5.0 * std::sin(0.3 * double(i));
  }
  CHECK(problems.solve(plan, 2));
  for (std::size_t i = 0; i < problems.count; ++i) {
    CHECK_EQUAL(int(problems.success[i]), 0);
    CHECK_EQUAL(problems.starts[i], 5);
    CHECK_NEAR(problems.position_error[i], 3.0, 0.05);
    CHECK_NEAR(problems.position_error[i], tip_distance(problems, 2, i, i), 1e-12);
    CHECK(within_limits(plan, &problems.q[2 * i]));
  }
}

TEST_CASE(engine_held, "ik_engine: held joints keep the start's value to the bit") {
  IkPlan plan = planar_plan(3, 4);
  plan.held[1] = 1;
  plan.scalars[1].held = plan.limited[1].held = true;
  plan.max_starts = 20;
  Problems problems = Problems::planar(plan, 40, 8);
  CHECK(problems.solve(plan, 2));
  int solved = 0;
  for (std::size_t i = 0; i < problems.count; ++i) {
    CHECK_EQUAL(problems.q[3 * i + 1], problems.start[3 * i + 1]);
    solved += problems.success[i];
    CHECK_EQUAL(bool(problems.success[i]), tip_distance(problems, 3, i, i) <= kPositionTolerance * 1.000001);
  }
  CHECK(solved > 10);  // most targets are still within reach
}

TEST_CASE(engine_saturates, "ik_engine: when a joint stops at its limit, the others make up for it in the same step") {
  IkPlan plan = planar_plan(2, 1);
  set_limits(plan, 1, -kPi, 0.35);
  plan.gain_ratio = false;
  plan.max_iterations = 1;
  Problems problems = Problems::planar(plan, 1, 1);
  const double q[2] = {0.2, 0.3}, goal[2] = {0.1, 1.0};
  problems.start = {q[0], q[1]};
  planar_tip(goal, 2, problems.target.data());
  CHECK(problems.solve(plan, 1));
  CHECK_EQUAL(problems.q[1], 0.35);
  // One step by hand: the elbow moves by 0.05, the shoulder by what is then best for the linear model.
  double tip[2];
  planar_tip(q, 2, tip);
  const double e[2] = {tip[0] - problems.target[0], tip[1] - problems.target[1]};
  const double elbow[2] = {-(tip[1] - std::sin(q[0])), tip[0] - std::cos(q[0])};
  const double cost = e[0] * e[0] + e[1] * e[1];  // the first damping, too
  const double along = -tip[1] * (e[0] + 0.05 * elbow[0]) + tip[0] * (e[1] + 0.05 * elbow[1]);
  CHECK_NEAR(problems.q[0], q[0] - along / (tip[0] * tip[0] + tip[1] * tip[1] + cost), 1e-12);
}

TEST_CASE(engine_same_bits, "ik_engine: the same bits for every number of lanes and threads") {
  for (const IkChoice choice : kChoices) {
    for (const bool polish : {false, true}) {
      const auto solved = [&](std::size_t lanes, std::size_t threads) {
        IkPlan plan = planar_plan(3, lanes);
        set_limits(plan, 2, -1.5, 2.0);
        plan.choice = choice;
        plan.polish = polish;
        plan.max_starts = 6;
        plan.candidates = 3;
        plan.max_iterations = 25;
        Problems problems = Problems::planar(plan, 57, 21);
        problems.target[20] = 4.0;  // some fail
        CHECK(problems.solve(plan, threads));
        return problems;
      };
      const Problems expected = solved(1, 1);
      for (const std::size_t lanes : {1, 2, 4, 8}) {
        for (const std::size_t threads : {1, 2, 5}) CHECK(solved(lanes, threads) == expected);
      }
    }
  }
}

TEST_CASE(engine_all, "ik_engine: every start's answer is given, the first from the given start") {
  IkPlan plan = planar_plan(2, 4);
  plan.choice = IkChoice::kAll;
  plan.max_starts = 8;
  Problems all = Problems::planar(plan, 20, 4);
  CHECK(all.solve(plan, 2));
  IkPlan first_plan = planar_plan(2, 4);
  Problems first = Problems::planar(first_plan, 20, 4);
  CHECK(first.solve(first_plan, 1));
  int solved = 0;
  for (std::size_t i = 0; i < 20; ++i) {
    for (std::size_t s = 0; s < 8; ++s) {
      const std::size_t at = 8 * i + s;
      CHECK(all.success[at] <= 1);
      solved += all.success[at];
      if (all.success[at]) CHECK(tip_distance(all, 2, at, i) <= kPositionTolerance * 1.000001);
      CHECK_EQUAL(all.starts[at], 1);
    }
    CHECK_EQUAL(int(all.success[8 * i]), int(first.success[i]));
    for (std::size_t k = 0; k < 2; ++k) CHECK_EQUAL(all.q[16 * i + k], first.q[2 * i + k]);
  }
  CHECK(solved > 100);
}

TEST_CASE(engine_polish, "ik_engine: polished answers are as near to the posture as the target allows") {
  const auto solved = [](bool polish) {
    IkPlan plan = planar_plan(3, 8);
    for (std::size_t k = 0; k < 3; ++k) set_limits(plan, k, -9.0, 9.0);  // out of the way
    plan.polish = polish;
    plan.max_starts = 20;
    Problems problems = Problems::planar(plan, 40, 33);
    for (double& x : problems.start) x *= 0.3;
    for (double& x : problems.posture) x *= 0.3;
    CHECK(problems.solve(plan, 1));
    check_solved(plan, problems);
    return problems;
  };
  const Problems rough = solved(false), fine = solved(true);
  for (std::size_t i = 0; i < fine.count; ++i) {
    const double* q = &fine.q[3 * i];
    CHECK(distance_to_posture(fine, 3, i, i) <= distance_to_posture(rough, 3, i, i) + 1e-9);
    // Where the posture is nearest, the way to it has no part along the null space of the Jacobian.
    double x[4] = {}, y[4] = {}, angle = 0.0;
    for (int k = 0; k < 3; ++k) {
      angle += q[k];
      x[k + 1] = x[k] + std::cos(angle);
      y[k + 1] = y[k] + std::sin(angle);
    }
    double a[3], b[3];
    for (int k = 0; k < 3; ++k) {
      a[k] = y[k] - y[3];
      b[k] = x[3] - x[k];
    }
    const double null[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    double along = 0.0, square = 0.0;
    for (int k = 0; k < 3; ++k) {
      along += null[k] * (fine.posture[3 * i + k] - q[k]);
      square += null[k] * null[k];
    }
    CHECK_NEAR(along / std::sqrt(square), 0.0, 0.1 * (0.1 + distance_to_posture(fine, 3, i, i)));
  }
}

TEST_CASE(engine_nearest, "ik_engine: of several solutions the nearest to the posture is given") {
  IkPlan plan = planar_plan(2, 4);
  Problems problems = Problems::planar(plan, 50, 17);
  for (std::size_t k = 0; k < 2; ++k) {
    set_limits(plan, k, -9.0, 9.0);
    plan.scalars[k].wraps = plan.limited[k].wraps = true;
  }
  plan.choice = IkChoice::kNearest;
  plan.max_starts = plan.candidates = 20;
  CHECK(problems.solve(plan, 2));
  for (std::size_t i = 0; i < problems.count; ++i) {
    CHECK_EQUAL(int(problems.success[i]), 1);
    // The mirrored elbow is the only other one, up to whole turns.
    const double x = problems.target[2 * i], y = problems.target[2 * i + 1];
    const double elbow = -problems.q[2 * i + 1];
    const double shoulder = std::atan2(y, x) - std::atan2(std::sin(elbow), 1.0 + std::cos(elbow));
    const double other = std::hypot(std::remainder(shoulder - problems.posture[2 * i], 2 * kPi),
                                    std::remainder(elbow - problems.posture[2 * i + 1], 2 * kPi));
    CHECK(distance_to_posture(problems, 2, i, i) <= other + 1e-6);
  }
}

TEST_CASE(engine_trig, "ik_engine: sines from a program of their own, in any number of lanes") {
  for (const std::size_t wide : {1, 2, 4, 8}) {
    IkPlan plan = planar_plan_with_trig(3, wide);
    plan.max_starts = 20;
    Problems problems = Problems::planar(plan, 30, 9);
    CHECK(problems.solve(plan, 2));
    check_solved(plan, problems);
  }
}

TEST_CASE(engine_best_kept, "ik_engine: a search that fails gives the best it came across") {
  for (const std::size_t lanes : {1, 4}) {
    double before[9];
    std::fill_n(before, 9, INFINITY);
    bool rose = false;
    for (const int iterations : {1, 2, 3, 5, 8, 13, 21, 34}) {
      IkPlan plan = planar_plan(2, lanes);
      plan.gain_ratio = false;
      plan.max_iterations = iterations;
      Problems problems = Problems::planar(plan, 9, 11);
      for (std::size_t i = 0; i < 9; ++i) problems.target[2 * i] += 4.0;  // out of reach
      CHECK(problems.solve(plan, 1));
      for (std::size_t i = 0; i < 9; ++i) {
        CHECK_EQUAL(int(problems.success[i]), 0);
        CHECK(problems.position_error[i] <= before[i]);
        CHECK_NEAR(problems.position_error[i], tip_distance(problems, 2, i, i), 1e-12);
        rose = rose || problems.position_error[i] == before[i];
        before[i] = problems.position_error[i];
      }
    }
    CHECK(rose);  // else nothing was tested
  }
}

TEST_CASE(engine_ball, "ik_engine: a ball joint turns to any orientation, from any start") {
  std::vector<Problems> answers;
  for (const std::size_t lanes : {1, 2, 8}) {
    IkPlan plan = ball_plan(lanes);
    plan.max_starts = 5;
    Problems problems = Problems::ball(plan, 60, 2);
    CHECK(problems.solve(plan, 2));
    for (std::size_t i = 0; i < problems.count; ++i) {
      CHECK_EQUAL(int(problems.success[i]), 1);
      double square = 0.0, matrix[9];
      for (std::size_t k = 0; k < 4; ++k) square += problems.q[4 * i + k] * problems.q[4 * i + k];
      CHECK_NEAR(square, 1.0, 1e-14);
      rotation_of(&problems.q[4 * i], matrix);
      for (std::size_t k = 0; k < 9; ++k) CHECK_NEAR(matrix[k], problems.target[9 * i + k], 2e-8);
      CHECK(problems.rotation_error[i] <= kAngleTolerance && problems.position_error[i] == 0.0);
    }
    answers.push_back(problems);
  }
  for (const Problems& problems : answers) CHECK(problems == answers[0]);
}

TEST_CASE(engine_no_numbers, "ik_engine: targets that are no numbers fail, and harm no neighbour") {
  for (const std::size_t lanes : {1, 4}) {
    IkPlan plan = planar_plan(2, lanes);
    plan.max_starts = 3;
    Problems clean = Problems::planar(plan, 12, 14), spoiled = clean;
    spoiled.target[8] = NAN;
    spoiled.target[15] = INFINITY;
    CHECK(clean.solve(plan, 1) && spoiled.solve(plan, 1));
    for (std::size_t i = 0; i < 12; ++i) {
      if (i == 4 || i == 7) {
        CHECK_EQUAL(int(spoiled.success[i]), 0);
      } else {
        CHECK_EQUAL(spoiled.q[2 * i], clean.q[2 * i]);
      }
    }
  }
}

TEST_CASE(engine_edges, "ik_engine: nothing to solve is solved; no memory is said") {
  IkPlan plan = planar_plan(2, 4);
  Problems none = Problems::planar(plan, 0, 1);
  CHECK(none.solve(plan, 4));
  plan.workspace = std::size_t{1} << 60;
  Problems some = Problems::planar(plan, 9, 1);
  CHECK(!some.solve(plan, 1));
  CHECK(!some.solve(plan, 3));
}
