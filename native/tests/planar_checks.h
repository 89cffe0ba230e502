// What answers of the planar arm are held to.
#pragma once

#include <algorithm>
#include <cmath>

#include "tests/check.h"
#include "tests/planar_arm.h"

namespace robomorph::tests {

inline double tip_distance(const Problems& problems, std::size_t nq, std::size_t answer, std::size_t problem) {
  double tip[2];
  planar_tip(&problems.q[answer * nq], nq, tip);
  return std::hypot(tip[0] - problems.target[2 * problem], tip[1] - problems.target[2 * problem + 1]);
}

inline bool within_limits(const IkPlan& plan, const double* q) {
  return std::all_of(plan.scalars.begin(), plan.scalars.end(),
                     [&](const IkScalar& joint) { return q[joint.q] >= joint.lower && q[joint.q] <= joint.upper; });
}

// Every answer reaches its target, keeps within the limits, and says truly how far off it is.
inline void check_solved(const IkPlan& plan, const Problems& problems) {
  for (std::size_t i = 0; i < problems.count; ++i) {
    CHECK_EQUAL(int(problems.success[i]), 1);
    const double off = tip_distance(problems, plan.nq, i, i);
    CHECK(off <= kPositionTolerance * 1.000001);
    CHECK_NEAR(problems.position_error[i], off, 1e-14);
    CHECK_EQUAL(problems.rotation_error[i], 0.0);
    CHECK(within_limits(plan, &problems.q[i * plan.nq]));
    CHECK(problems.starts[i] >= 1 && problems.starts[i] <= plan.max_starts);
    CHECK(problems.iterations[i] >= 0 && problems.iterations[i] <= plan.max_iterations * plan.max_starts);
  }
}

}  // namespace robomorph::tests
