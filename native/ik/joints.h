// Joints with several coordinates, by their manifold and one lane at a time: how they step, which way leads to a
// posture, and where a search may start. What is not in `ik_joint_size` does not exist.
#pragma once

#include <cmath>
#include <cstddef>

#include "ik/plan.h"

namespace robomorph {

inline constexpr double kPi = 3.14159265358979323846;

struct IkJointSize {
  int nq, nv;
};

// Indexed by IkJointKind.
inline constexpr IkJointSize kIkJointSizes[] = {{1, 1}, {7, 6}, {4, 3}, {4, 3}};
inline constexpr int kIkJointKinds = sizeof(kIkJointSizes) / sizeof(kIkJointSizes[0]);
inline constexpr int kMostCoordinates = 7, kMostFreedoms = 6;

inline IkJointSize ik_joint_size(IkJointKind kind) { return kIkJointSizes[static_cast<int>(kind)]; }

// --- quaternions (x, y, z, w) ---------------------------------------------------------------------------------------

// The vector v turned by a unit quaternion.
inline void ik_turn(const double* quaternion, const double* v, double* out) {
  const double x = quaternion[0], y = quaternion[1], z = quaternion[2], w = quaternion[3];
  const double tx = 2 * (y * v[2] - z * v[1]), ty = 2 * (z * v[0] - x * v[2]), tz = 2 * (x * v[1] - y * v[0]);
  out[0] = v[0] + w * tx + y * tz - z * ty;
  out[1] = v[1] + w * ty + z * tx - x * tz;
  out[2] = v[2] + w * tz + x * ty - y * tx;
}

inline void ik_quaternion_product(const double* a, const double* b, double* out) {
  out[0] = a[3] * b[0] + b[3] * a[0] + a[1] * b[2] - a[2] * b[1];
  out[1] = a[3] * b[1] + b[3] * a[1] + a[2] * b[0] - a[0] * b[2];
  out[2] = a[3] * b[2] + b[3] * a[2] + a[0] * b[1] - a[1] * b[0];
  out[3] = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
}

// The quaternion q turned further by the rotation vector `step` in the turned axes; of unit length again.
inline void ik_move_rotation(const double* q, const double* step, double* out, std::size_t stride) {
  double turn[4], w[3], product[4];
  for (int i = 0; i < 4; ++i) turn[i] = q[i * stride];
  for (int i = 0; i < 3; ++i) w[i] = step[i * stride];
  const double angle = std::sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  const double scale = angle > 1e-9 ? std::sin(0.5 * angle) / angle : 0.5;
  const double small[4] = {scale * w[0], scale * w[1], scale * w[2], std::cos(0.5 * angle)};
  ik_quaternion_product(turn, small, product);
  double norm = 0.0;
  for (const double x : product) norm += x * x;
  norm = std::sqrt(norm);
  for (int i = 0; i < 4; ++i) out[i * stride] = product[i] / norm;
}

// The rotation vector that leads from q to `to`, whose stride is 1; the shorter way round.
inline void ik_pull_rotation(const double* q, std::size_t stride, const double* to, double* out) {
  const double inverse[4] = {-q[0], -q[stride], -q[2 * stride], q[3 * stride]};
  double turn[4];
  ik_quaternion_product(inverse, to, turn);
  const double sign = turn[3] < 0.0 ? -1.0 : 1.0;
  const double sine = std::sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]);
  const double angle = 2.0 * std::atan2(sine, sign * turn[3]);
  const double scale = sine > 1e-9 ? sign * angle / sine : 2.0 * sign;
  for (int i = 0; i < 3; ++i) out[i * stride] = scale * turn[i];
}

// --- motions: the position steps along the axes before the turn, which is the exponential to first order -----------

inline void ik_move_planar(const double* q, const double* step, double* out, std::size_t stride) {
  const double c = q[2 * stride], s = q[3 * stride];
  const double vx = step[0], vy = step[stride], a = step[2 * stride];
  out[0] = q[0] + c * vx - s * vy;
  out[stride] = q[stride] + s * vx + c * vy;
  const double cc = c * std::cos(a) - s * std::sin(a), ss = s * std::cos(a) + c * std::sin(a);
  const double norm = std::sqrt(cc * cc + ss * ss);
  out[2 * stride] = cc / norm;
  out[3 * stride] = ss / norm;
}

inline void ik_pull_planar(const double* q, std::size_t stride, const double* to, double* out) {
  const double c = q[2 * stride], s = q[3 * stride], dx = to[0] - q[0], dy = to[1] - q[stride];
  out[0] = c * dx + s * dy;
  out[stride] = c * dy - s * dx;
  out[2 * stride] = std::atan2(c * to[3] - s * to[2], c * to[2] + s * to[3]);
}

inline void ik_move_floating(const double* q, const double* step, double* out, std::size_t stride) {
  double turn[4], v[3], moved[3];
  for (int i = 0; i < 4; ++i) turn[i] = q[(3 + i) * stride];
  for (int i = 0; i < 3; ++i) v[i] = step[i * stride];
  ik_turn(turn, v, moved);
  for (int i = 0; i < 3; ++i) out[i * stride] = q[i * stride] + moved[i];
  ik_move_rotation(q + 3 * stride, step + 3 * stride, out + 3 * stride, stride);
}

inline void ik_pull_floating(const double* q, std::size_t stride, const double* to, double* out) {
  const double inverse[4] = {-q[3 * stride], -q[4 * stride], -q[5 * stride], q[6 * stride]};
  const double d[3] = {to[0] - q[0], to[1] - q[stride], to[2] - q[2 * stride]};
  double local[3];
  ik_turn(inverse, d, local);
  for (int i = 0; i < 3; ++i) out[i * stride] = local[i];
  ik_pull_rotation(q + 3 * stride, stride, to + 3, out + 3 * stride);
}

// --- by kind --------------------------------------------------------------------------------------------------------

// The configuration that `step` leads to from q.
inline void ik_move(IkJointKind kind, const double* q, const double* step, double* out, std::size_t stride) {
  switch (kind) {
    case IkJointKind::kScalar: out[0] = q[0] + step[0]; break;
    case IkJointKind::kFloating: ik_move_floating(q, step, out, stride); break;
    case IkJointKind::kPlanar: ik_move_planar(q, step, out, stride); break;
    case IkJointKind::kSpherical: ik_move_rotation(q, step, out, stride); break;
  }
}

// The step (in the joint's own axes, to first order) that leads from q towards `to`, whose stride is 1.
inline void ik_pull(IkJointKind kind, const double* q, std::size_t stride, const double* to, double* out) {
  switch (kind) {
    case IkJointKind::kScalar: out[0] = to[0] - q[0]; break;
    case IkJointKind::kFloating: ik_pull_floating(q, stride, to, out); break;
    case IkJointKind::kPlanar: ik_pull_planar(q, stride, to, out); break;
    case IkJointKind::kSpherical: ik_pull_rotation(q, stride, to, out); break;
  }
}

// Another start: any turn of a spherical joint from three numbers in [0, 1), or half the way to it. Bases that move
// freely can reach everything from where they are, and stay.
inline void ik_scatter(IkJointKind kind, double* q, std::size_t stride, const double* uniform, bool near) {
  if (kind != IkJointKind::kSpherical) return;
  const double a = std::sqrt(1.0 - uniform[0]), b = std::sqrt(uniform[0]);
  const double u = 2.0 * kPi * uniform[1], v = 2.0 * kPi * uniform[2];
  const double random[4] = {a * std::sin(u), a * std::cos(u), b * std::sin(v), b * std::cos(v)};
  double here[4], way[3], there[4];
  for (int i = 0; i < 4; ++i) here[i] = q[i * stride];
  ik_pull_rotation(here, 1, random, way);
  for (double& x : way) x *= near ? 0.5 : 1.0;
  ik_move_rotation(here, way, there, 1);
  for (int i = 0; i < 4; ++i) q[i * stride] = there[i];
}

// A coordinate brought within its joint's limits.
inline double ik_inside(const IkScalar& joint, double q) {
  const double high = q > joint.upper ? joint.upper : q;
  return high < joint.lower ? joint.lower : high;
}

}  // namespace robomorph
