// Sweeps along the horizon, in every version that this processor runs, against a dense matrix solved with pivoting.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "mpc/sweep_versions.h"
#include "tests/check.h"
#include "tests/control_problem.h"

namespace robomorph::tests {
namespace {

using mpc::kLanes;
using mpc::Shape;
using mpc::Sweep;

std::vector<std::unique_ptr<Sweep>> versions(const Shape& shape) {
  std::vector<std::unique_ptr<Sweep>> out;
  out.push_back(mpc::make_sweep(shape));
  out.push_back(mpc::make_sweep(shape, mpc::sweep_plain()));
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    out.push_back(mpc::make_sweep(shape, mpc::sweep_avx2()));
  }
  if (__builtin_cpu_supports("avx512f")) out.push_back(mpc::make_sweep(shape, mpc::sweep_avx512()));
#endif
  return out;
}

Shape shape_of(int nv, int horizon, int rows = 0, bool row_velocity = false, bool jerk = false) {
  Shape s;
  s.nv = nv, s.horizon = horizon, s.rows = rows, s.row_velocity = row_velocity, s.jerk = jerk, s.dt = 0.05;
  return s;
}

std::vector<ControlProblem> several(const Shape& shape, int count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<ControlProblem> out;
  for (int p = 0; p < count; ++p) out.push_back(random_problem(shape, random));
  return out;
}

void run(Sweep& sweep, ControlBundle& b) {
  sweep.solve(b.model, b.dq0.data(), b.dv0.data(), b.regularisation.data(), b.direction, b.ok.get());
}

void check_close(const Numbers& found, const Numbers& expected, double tolerance) {
  double scale = 1e-3;
  for (double x : expected) scale = std::max(scale, std::abs(x));
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK_NEAR(found[i], expected[i], tolerance * scale);
}

void check_close(const ControlStep& found, const ControlStep& expected, double tolerance) {
  check_close(found.da, expected.da, tolerance);
  check_close(found.dv, expected.dv, tolerance);
  check_close(found.dq, expected.dq, tolerance);
}

void check_sums(const ControlProblem& problem, const ControlBundle& b, int p, double tolerance) {
  double slope, curve, size = 1.0;
  direct_sums(problem, b.step(p), &slope, &curve);
  for (double x : b.step(p).da) size = std::max(size, std::abs(x));
  size = std::max({size, std::abs(slope), curve});
  CHECK_NEAR(b.direction.slope[p], slope, tolerance * size);
  CHECK_NEAR(b.direction.curve[p], curve, tolerance * size);
}

// All versions, over nodes and over problems, against the dense minimum of some problems.
void check_all(const Shape& shape, unsigned seed, int dense = 2) {
  const auto problems = several(shape, kLanes, seed);
  std::vector<ControlStep> minima;
  for (int p = 0; p < dense; ++p) minima.push_back(dense_minimum(problems[p]));
  for (int together : {1, kLanes}) {
    Shape s = shape;
    s.problems = together;
    for (const auto& sweep : versions(s)) {
      for (int first = 0; first < (together == 1 ? dense : 1); ++first) {
        ControlBundle b({problems.begin() + first, problems.begin() + first + together});
        run(*sweep, b);
        CHECK(b.lanes_repeat());
        for (int p = 0; p < together; ++p) {
          CHECK(b.ok[p]);
          CHECK_NEAR(unrest(problems[first + p], b.step(p)), 0.0, 1e-12);
          check_sums(problems[first + p], b, p, 1e-10);
          if (first + p < dense) check_close(b.step(p), minima[first + p], 1e-9);
        }
      }
    }
  }
}

TEST_CASE(mpc_sweep_plain, "mpc_sweep: torques and states against a dense matrix") {
  unsigned seed = 1;
  for (int nv : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15}) {
    for (int horizon : {1, 2, 7, 8, 9}) {
      if (nv * horizon <= 80) check_all(shape_of(nv, horizon), seed++);
    }
  }
  check_all(shape_of(2, 40), seed++);
  check_all(shape_of(7, 23), seed++, 1);
  check_all(shape_of(16, 4), seed++, 1);
  check_all(shape_of(17, 3), seed++, 1);
  check_all(shape_of(30, 4), seed++, 1);
}

TEST_CASE(mpc_sweep_rows, "mpc_sweep: tasks, velocities of tasks and jerk against a dense matrix") {
  unsigned seed = 100;
  for (bool jerk : {false, true}) {
    for (bool velocity : {false, true}) {
      for (int nv : {1, 3, 7, 8, 11}) {
        for (int rows : {0, 1, 6, 19}) {
          check_all(shape_of(nv, 5 + static_cast<int>(seed % 5), rows, velocity, jerk), seed, 1);
          ++seed;
        }
      }
    }
  }
  check_all(shape_of(2, 40, 3, true, true), seed++);
  check_all(shape_of(30, 3, 12, true, true), seed++, 1);
}

TEST_CASE(mpc_sweep_long, "mpc_sweep: many joints over many nodes are at a minimum, and versions agree") {
  unsigned seed = 200;
  for (bool jerk : {false, true}) {
    for (int nv : {7, 12, 30, 33, 64}) {
      const Shape shape = shape_of(nv, nv > 30 ? 9 : 40, 6, jerk, jerk);
      check_all(shape, seed, 0);
      auto problems = several(shape, kLanes, seed++);
      Shape across = shape;
      across.problems = kLanes;
      ControlBundle one({problems[0]}), eight(problems);
      run(*mpc::make_sweep(shape), one);
      run(*mpc::make_sweep(across), eight);
      check_close(one.step(0), eight.step(0), 1e-9);
    }
  }
}

TEST_CASE(mpc_sweep_gains, "mpc_sweep: gains are how the first acceleration follows the state") {
  for (bool jerk : {false, true}) {
    for (int nv : {2, 7, 10}) {
      const auto problems = several(shape_of(nv, 11, 3, true, jerk), kLanes, 300 + nv);
      for (int together : {1, kLanes}) {
        Shape s = problems[0].shape;
        s.problems = together;
        for (const auto& sweep : versions(s)) {
          ControlBundle b({problems.begin(), problems.begin() + together});
          run(*sweep, b);
          const ControlStep before = b.step(together - 1);
          const int p = together - 1;
          for (int j = 0; j < 2 * nv; ++j) {  // the step is linear in the state: any difference will do
            ControlBundle other({problems.begin(), problems.begin() + together});
            (j < nv ? other.dq0 : other.dv0)[p * nv + j % nv] += 1.0;
            run(*sweep, other);
            const ControlStep after = other.step(p);
            for (int i = 0; i < nv; ++i) CHECK_NEAR(b.gain(p, i, j), after.da[i] - before.da[i], 1e-8);
          }
        }
      }
    }
  }
}

// Breaks one number of a problem; what must come of it is `ok` false for this one alone.
template <typename Break>
void check_refused(Break break_one) {
  const Shape shape = shape_of(5, 10, 4, true, true);
  const auto fine = several(shape, kLanes, 400);
  auto broken = fine;
  for (int p : {1, 6}) break_one(broken[p]);
  Shape s = shape;
  s.problems = kLanes;
  for (const auto& sweep : versions(s)) {
    ControlBundle good(fine), bad(broken);
    run(*sweep, good);
    run(*sweep, bad);
    for (int p = 0; p < kLanes; ++p) {
      CHECK_EQUAL(bad.ok[p], p != 1 && p != 6);
      if (bad.ok[p]) check_close(bad.step(p), good.step(p), 0.0);
    }
  }
  s.problems = 1;
  for (const auto& sweep : versions(s)) {
    ControlBundle bad({broken[1]}), good({fine[1]}), again({fine[1]});
    run(*sweep, good);
    run(*sweep, bad);
    CHECK(!bad.ok[0]);
    run(*sweep, again);  // nothing stays behind
    CHECK(again.ok[0]);
    check_close(again.step(0), good.step(0), 0.0);
  }
}

TEST_CASE(mpc_sweep_refuses, "mpc_sweep: a problem without a minimum, or with numbers that are none, is told apart") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  check_refused([](ControlProblem& p) { p.a_weight[3 * 5 + 2] = -1e6; });
  check_refused([](ControlProblem& p) { p.a_weight[2] = -1e6; });
  check_refused([](ControlProblem& p) { p.q_weight[8 * 5 + 2] = -1e9; });
  for (double bad : {nan, infinity}) {
    check_refused([=](ControlProblem& p) { p.mass[4 * 25 + 7] = bad; });
    check_refused([=](ControlProblem& p) { p.torque_dq[9 * 25 + 7] = bad; });
    check_refused([=](ControlProblem& p) { p.row_dq[10 * 20 + 3] = bad; p.row_weight[10 * 4] = 1.0; });
    check_refused([=](ControlProblem& p) { p.q_gradient[4] = bad; });
    check_refused([=](ControlProblem& p) { p.torque_gradient[12] = bad; });
    check_refused([=](ControlProblem& p) { p.q_weight[10 * 5] = bad; });
    check_refused([=](ControlProblem& p) { p.dq0[3] = bad; });
    check_refused([=](ControlProblem& p) { p.regularisation = bad; });
  }
  check_refused([](ControlProblem& p) {  // an acceleration that nothing holds
    p.mass.assign(p.mass.size(), 0.0);
    for (Numbers* x : {&p.a_weight, &p.q_weight, &p.v_weight, &p.jerk_weight, &p.row_weight, &p.torque_dq,
                       &p.torque_dv}) {
      x->assign(x->size(), 0.0);
    }
    p.regularisation = 0.0;
  });
}

TEST_CASE(mpc_sweep_unwanted, "mpc_sweep: a problem that is not wanted stays so") {
  auto problems = several(shape_of(3, 4), kLanes, 500);
  for (int together : {1, kLanes}) {
    Shape s = problems[0].shape;
    s.problems = together;
    for (const auto& sweep : versions(s)) {
      ControlBundle b({problems.begin(), problems.begin() + together});
      b.ok[0] = false;
      run(*sweep, b);
      CHECK(!b.ok[0]);
      for (int p = 1; p < together; ++p) CHECK(b.ok[p]);
    }
  }
}

// Weights of an interior point close to its bounds: the minimum is still one as far as sums of such numbers tell.
TEST_CASE(mpc_sweep_huge, "mpc_sweep: huge weights on rows") {
  for (bool jerk : {false, true}) {
    auto problems = several(shape_of(7, 30, 20, true, jerk), kLanes, 600);
    std::mt19937 random(7);
    for (ControlProblem& p : problems) {
      for (Numbers* x : {&p.torque_weight, &p.row_weight, &p.q_weight, &p.v_weight}) {
        for (double& w : *x) {
          if (random() % 10 == 0) w = 1e12;
        }
      }
    }
    for (int together : {1, kLanes}) {
      Shape s = problems[0].shape;
      s.problems = together;
      for (const auto& sweep : versions(s)) {
        ControlBundle b({problems.begin(), problems.begin() + together});
        run(*sweep, b);
        for (int p = 0; p < together; ++p) {
          CHECK(b.ok[p]);
          CHECK_NEAR(unrest(problems[p], b.step(p)), 0.0, 1e-12);
          check_sums(problems[p], b, p, 1e-6);
        }
      }
    }
  }
}

}  // namespace
}  // namespace robomorph::tests
