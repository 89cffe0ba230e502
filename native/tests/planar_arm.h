// Problems for the IK engine whose programs are plain C++ functions: a planar arm of links of length one that is
// to reach a point, and a ball joint that is to take an orientation.
#pragma once

#include <cstdint>
#include <vector>

#include "ik/plan.h"

namespace robomorph::tests {

inline constexpr double kPositionTolerance = 1e-8;
inline constexpr double kAngleTolerance = 1e-8;

// Joints may turn by pi either way unless the test says otherwise (`set_limits`). 2 or 3 joints; 1, 2, 4 or 8 lanes.
IkPlan planar_plan(std::size_t joints, std::size_t lanes);

// The same with one lane and sines and cosines from a program of their own.
IkPlan planar_plan_with_trig(std::size_t joints, std::size_t wide_lanes);

// Quick-IK's way: `speculations` lengths of every step, tried in `wide_lanes`.
IkPlan planar_plan_speculating(std::size_t joints, std::size_t wide_lanes, int speculations);

// A ball joint (x, y, z, w); the target is a rotation matrix, row by row.
IkPlan ball_plan(std::size_t lanes);

void set_limits(IkPlan& plan, std::size_t joint, double lower, double upper);

// Where the arm's tip is, and which way leads there, worked out apart from the programs above.
void planar_tip(const double* q, std::size_t joints, double* xy);

// A row-major rotation matrix of a unit quaternion.
void rotation_of(const double* quaternion, double* matrix);

// Problems and their results, in buffers that end where the numbers end.
struct Problems {
  std::size_t count;
  std::vector<double> target, start, posture, q, position_error, rotation_error;
  std::vector<unsigned char> success;
  std::vector<std::int32_t> iterations, starts;

  // Targets within reach (and starts within limits) of `seed`.
  static Problems planar(const IkPlan& plan, std::size_t count, std::uint64_t seed);
  static Problems ball(const IkPlan& plan, std::size_t count, std::uint64_t seed);

  bool solve(const IkPlan& plan, std::size_t threads);
  bool operator==(const Problems& other) const;  // to the bit

 private:
  Problems(const IkPlan& plan, std::size_t count);
};

}  // namespace robomorph::tests
