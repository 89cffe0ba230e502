#include "ik/joints.h"

#include <cmath>
#include <vector>

#include "ik/lanes.h"
#include "ik/random.h"
#include "tests/check.h"

using namespace robomorph;

namespace {

constexpr IkJointKind kKinds[] = {IkJointKind::kScalar, IkJointKind::kFloating, IkJointKind::kPlanar,
                                  IkJointKind::kSpherical};

// A configuration on the manifold.
std::vector<double> random_configuration(IkJointKind kind, std::uint64_t seed) {
  const int nq = ik_joint_size(kind).nq;
  std::vector<double> q(static_cast<std::size_t>(nq));
  for (int i = 0; i < nq; ++i) q[i] = 2.0 * ik_uniform(11, seed, static_cast<std::uint64_t>(i)) - 1.0;
  const int first = kind == IkJointKind::kFloating ? 3 : kind == IkJointKind::kPlanar ? 2 : 0;
  if (kind == IkJointKind::kScalar) return q;
  double square = 0.0;
  for (int i = first; i < nq; ++i) square += q[i] * q[i];
  for (int i = first; i < nq; ++i) q[i] /= std::sqrt(square);
  return q;
}

// How far two configurations are apart; a quaternion and its negative are the same turn.
double apart(IkJointKind kind, const double* a, const double* b) {
  const int nq = ik_joint_size(kind).nq;
  const int turn = kind == IkJointKind::kFloating ? 3 : kind == IkJointKind::kSpherical ? 0 : nq;
  double dot = 0.0, square = 0.0;
  for (int i = turn; i < nq; ++i) dot += a[i] * b[i];
  for (int i = 0; i < nq; ++i) {
    const double d = a[i] - (i >= turn && dot < 0.0 ? -b[i] : b[i]);
    square += d * d;
  }
  return std::sqrt(square);
}

}  // namespace

TEST_CASE(joints_there, "ik_joints: the pull towards a posture leads there, whichever kind of joint") {
  for (const IkJointKind kind : kKinds) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      const auto q = random_configuration(kind, seed), to = random_configuration(kind, seed + 1000);
      double way[kMostFreedoms], moved[kMostCoordinates];
      ik_pull(kind, q.data(), 1, to.data(), way);
      ik_move(kind, q.data(), way, moved, 1);
      CHECK_NEAR(apart(kind, moved, to.data()), 0.0, 1e-9);
      const int nv = ik_joint_size(kind).nv;
      if (kind == IkJointKind::kSpherical || kind == IkJointKind::kFloating) {  // the shorter way round
        const double* turn = way + nv - 3;
        CHECK(std::sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]) <= kPi + 1e-9);
      }
    }
  }
}

TEST_CASE(joints_back, "ik_joints: a step is found again by the pull, and units stay units after many steps") {
  for (const IkJointKind kind : kKinds) {
    auto q = random_configuration(kind, 5);
    const int nv = ik_joint_size(kind).nv, nq = ik_joint_size(kind).nq;
    for (std::uint64_t n = 0; n < 1000; ++n) {
      double step[kMostFreedoms] = {}, found[kMostFreedoms], moved[kMostCoordinates];
      for (int i = 0; i < nv; ++i) step[i] = ik_uniform(1, n, static_cast<std::uint64_t>(i)) - 0.5;
      ik_move(kind, q.data(), step, moved, 1);
      ik_pull(kind, q.data(), 1, moved, found);
      for (int i = 0; i < nv; ++i) CHECK_NEAR(found[i], step[i], 1e-9);
      q.assign(moved, moved + nq);
    }
    if (kind == IkJointKind::kScalar) continue;
    const int first = kind == IkJointKind::kFloating ? 3 : kind == IkJointKind::kPlanar ? 2 : 0;
    double square = 0.0;
    for (int i = first; i < nq; ++i) square += q[i] * q[i];
    CHECK_NEAR(square, 1.0, 1e-14);
  }
}

TEST_CASE(joints_strides, "ik_joints: a lane among others gives the same bits and leaves the others alone") {
  constexpr std::size_t kStride = 4, kLane = 2;
  for (const IkJointKind kind : kKinds) {
    const int nq = ik_joint_size(kind).nq, nv = ik_joint_size(kind).nv;
    const auto q = random_configuration(kind, 1), to = random_configuration(kind, 2);
    double wide_q[kMostCoordinates * kStride], wide_way[kMostFreedoms * kStride], wide_out[kMostCoordinates * kStride];
    for (double* array : {wide_q, wide_out}) std::fill_n(array, kMostCoordinates * kStride, -9.0);
    std::fill_n(wide_way, kMostFreedoms * kStride, -9.0);
    for (int i = 0; i < nq; ++i) wide_q[i * kStride + kLane] = q[i];
    double way[kMostFreedoms], out[kMostCoordinates];
    ik_pull(kind, q.data(), 1, to.data(), way);
    ik_move(kind, q.data(), way, out, 1);
    ik_pull(kind, wide_q + kLane, kStride, to.data(), wide_way + kLane);
    ik_move(kind, wide_q + kLane, wide_way + kLane, wide_out + kLane, kStride);
    for (int i = 0; i < nv; ++i) CHECK_EQUAL(wide_way[i * kStride + kLane], way[i]);
    for (int i = 0; i < nq; ++i) CHECK_EQUAL(wide_out[i * kStride + kLane], out[i]);
    for (std::size_t i = 0; i < kMostCoordinates * kStride; ++i) {
      if (i % kStride != kLane) CHECK_EQUAL(wide_out[i], -9.0);
    }
  }
}

TEST_CASE(joints_turn, "ik_joints: a quarter turn about z takes x to y, and steps are in the turned axes") {
  const double quarter[4] = {0, 0, std::sqrt(0.5), std::sqrt(0.5)}, x[3] = {1, 0, 0};
  double out[3];
  ik_turn(quarter, x, out);
  CHECK_NEAR(out[0], 0.0, 1e-15);
  CHECK_NEAR(out[1], 1.0, 1e-15);
  const double base[7] = {5, 6, 7, quarter[0], quarter[1], quarter[2], quarter[3]};
  const double forward[6] = {1, 0, 0, 0, 0, 0};
  double moved[7];
  ik_move(IkJointKind::kFloating, base, forward, moved, 1);
  CHECK_NEAR(moved[0], 5.0, 1e-14);
  CHECK_NEAR(moved[1], 7.0, 1e-14);
  const double plane[4] = {5, 6, 0, 1}, step[3] = {1, 0, kPi / 2};
  ik_move(IkJointKind::kPlanar, plane, step, moved, 1);
  const double expected[4] = {5, 7, -1, 0};
  for (int i = 0; i < 4; ++i) CHECK_NEAR(moved[i], expected[i], 1e-15);
}

TEST_CASE(joints_scatter, "ik_joints: starts of a ball joint are unit turns everywhere, or half way") {
  double mean[4] = {};
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    double uniform[3], all[4] = {0, 0, 0, 1}, half[4] = {0, 0, 0, 1}, way[3], near[3];
    const double here[4] = {0, 0, 0, 1};
    for (std::uint64_t i = 0; i < 3; ++i) uniform[i] = ik_uniform(2, seed, i);
    ik_scatter(IkJointKind::kSpherical, all, 1, uniform, false);
    ik_scatter(IkJointKind::kSpherical, half, 1, uniform, true);
    ik_pull_rotation(here, 1, all, way);
    ik_pull_rotation(here, 1, half, near);
    for (int i = 0; i < 3; ++i) CHECK_NEAR(near[i], 0.5 * way[i], 1e-9);
    double square = 0.0;
    for (int i = 0; i < 4; ++i) {
      square += all[i] * all[i];
      mean[i] += all[i] * all[i] / 2000.0;
    }
    CHECK_NEAR(square, 1.0, 1e-14);
  }
  for (const double x : mean) CHECK_NEAR(x, 0.25, 0.03);
  double base[7] = {1, 2, 3, 0, 0, 0, 1};
  const double uniform[3] = {0.1, 0.2, 0.3};
  ik_scatter(IkJointKind::kFloating, base, 1, uniform, false);
  CHECK_EQUAL(base[0], 1.0);
}

TEST_CASE(joints_arrays, "ik_joints: the arrays of a worker are aligned and do not overlap") {
  for (const std::size_t lanes : {1, 4, 8}) {
    IkPlan plan;
    plan.lanes = lanes;
    plan.nq = 7, plan.nv = 6, plan.targets = 12, plan.raws = 12, plan.rows = 6, plan.jacs = 30, plan.bends = 1;
    plan.workspace = 333;
    IkArrays arrays;
    std::vector<char> memory(arrays.place(plan, nullptr) + 64);
    char* start = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) % 64;
    const std::size_t bytes = arrays.place(plan, start);
    double* const placed[] = {arrays.q,    arrays.trial,   arrays.best,   arrays.target, arrays.raw,
                              arrays.mask, arrays.weights, arrays.jac[0], arrays.jac[1], arrays.err[0],
                              arrays.step, arrays.err[1],  arrays.base,   arrays.last,   arrays.bend[1]};
    const std::size_t sizes[] = {7, 7, 7, 12, 12, 6, 6, 30, 30, 6, 6, 6, 6, 6, 1};
    for (int i = 0; i < 15; ++i) {
      CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(placed[i]) % 64, std::uintptr_t{0});
      std::fill_n(placed[i], sizes[i] * lanes, double(i));
    }
    for (int i = 0; i < 15; ++i) {
      for (std::size_t k = 0; k < sizes[i] * lanes; ++k) CHECK_EQUAL(placed[i][k], double(i));
    }
    CHECK(arrays.workspace + plan.workspace <= start + bytes);
  }
}

TEST_CASE(joints_wrap, "ik_joints: angles wrap to within half a turn") {
  for (double angle = -20.0; angle < 20.0; angle += 0.37) {
    const double wrapped = ik_wrapped(angle);
    CHECK(std::fabs(wrapped) <= kPi + 1e-12);
    CHECK_NEAR(std::sin(wrapped), std::sin(angle), 1e-13);
  }
}
