// From raw errors to rows of the residual, for all lanes at once.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "ik/joints.h"
#include "ik/plan.h"

namespace robomorph {

// atan(x) for x >= 0 to about 1e-11, without branches, so that loops over lanes are vectorised.
inline double ik_atan(double x) {
  const bool far = x > 0.41421356237309503;
  const double y = far ? (x - 1.0) / (x + 1.0) : x;  // within tan(pi/8) of zero, for x up to 1 + sqrt(2)
  const double t = y * y;
  double p = 1.0 / 23.0;
  p = 1.0 / 21.0 - t * p;
  p = 1.0 / 19.0 - t * p;
  p = 1.0 / 17.0 - t * p;
  p = 1.0 / 15.0 - t * p;
  p = 1.0 / 13.0 - t * p;
  p = 1.0 / 11.0 - t * p;
  p = 1.0 / 9.0 - t * p;
  p = 1.0 / 7.0 - t * p;
  p = 1.0 / 5.0 - t * p;
  p = 1.0 / 3.0 - t * p;
  const double r = y * (1.0 - t * p);
  return far ? kPi / 4 + r : r;
}

// The rotation vector of a rotation by nearly half a turn, where the sine says nothing about the axis: the
// symmetric part of the matrix does. `m` is row-major with the given stride.
inline void ik_log_near_half_turn(const double* m, std::size_t stride, double* e, std::size_t e_stride) {
  const auto at = [&](int i, int j) { return m[(3 * i + j) * stride]; };
  const double c = std::clamp((at(0, 0) + at(1, 1) + at(2, 2) - 1.0) / 2.0, -1.0, 1.0);
  int k = 0;
  for (int i = 1; i < 3; ++i) {
    if (at(i, i) > at(k, k)) k = i;
  }
  double axis[3];
  for (int i = 0; i < 3; ++i) axis[i] = i == k ? at(k, k) - c : 0.5 * (at(i, k) + at(k, i));
  const double norm = std::sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
  const double s[3] = {at(2, 1) - at(1, 2), at(0, 2) - at(2, 0), at(1, 0) - at(0, 1)};
  const double along = axis[0] * s[0] + axis[1] * s[1] + axis[2] * s[2];
  const double sine = 0.5 * std::sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
  const double angle = std::atan2(sine, c);
  const double scale = norm > 0.0 ? (along < 0.0 ? -angle : angle) / norm : 0.0;
  for (int i = 0; i < 3; ++i) e[i * e_stride] = axis[i] * scale;
}

template <std::size_t L>
void ik_rotation_rows(const double* raw, double* err, double* bend) {
  double cosine[L];
  for (std::size_t l = 0; l < L; ++l) {
    const double x = 0.5 * (raw[7 * L + l] - raw[5 * L + l]);
    const double y = 0.5 * (raw[2 * L + l] - raw[6 * L + l]);
    const double z = 0.5 * (raw[3 * L + l] - raw[1 * L + l]);
    const double c = 0.5 * (raw[l] + raw[4 * L + l] + raw[8 * L + l] - 1.0);
    const double s = std::sqrt(x * x + y * y + z * z);
    // The angle is 2 atan(s / (1 + c)); angle / s tends to 1 where both vanish.
    const double half = s / (1.0 + c);  // beyond atan's range it is replaced below
    const double scale = s > 1e-7 ? 2.0 * ik_atan(half) / (s + 1e-300) : 1.0;
    cosine[l] = c;
    err[l] = scale * x;
    err[L + l] = scale * y;
    err[2 * L + l] = scale * z;
  }
  for (std::size_t l = 0; l < L; ++l) {
    // Beyond atan's range (an angle of 135 degrees) and up to half a turn.
    if (!(cosine[l] > -0.7)) ik_log_near_half_turn(raw + l, L, err + l, L);
  }
  if (bend == nullptr) return;
  for (std::size_t l = 0; l < L; ++l) {
    const double a2 = err[l] * err[l] + err[L + l] * err[L + l] + err[2 * L + l] * err[2 * L + l];
    const double a = std::sqrt(a2);
    bend[l] = a < 0.05 ? 1.0 / 12.0 + a2 / 720.0 : (1.0 - 0.5 * a / std::tan(0.5 * a)) / a2;
  }
}

template <std::size_t L>
void ik_axis_rows(const double* raw, double* err) {
  for (std::size_t l = 0; l < L; ++l) {
    const double c = raw[l], u = raw[L + l], v = raw[2 * L + l];
    const double s = std::sqrt(u * u + v * v);
    const double angle = std::atan2(s, c);
    const double scale = s > 1e-12 ? angle / s : 1.0;
    err[l] = s > 1e-12 || c > 0.0 ? scale * u : kPi;  // half a turn away, any direction will do
    err[L + l] = scale * v;
  }
}

// All rows of the residual, unweighted.
template <std::size_t L>
void ik_rows(const IkPlan& plan, const double* raw, double* err, double* bend) {
  for (const IkBlock& block : plan.blocks) {
    const double* from = raw + block.raw * L;
    double* to = err + block.row * L;
    switch (block.kind) {
      case IkBlockKind::kLinear:
        for (std::size_t i = 0; i < block.rows * L; ++i) to[i] = from[i];
        break;
      case IkBlockKind::kRotation:
        ik_rotation_rows<L>(from, to, block.bend < 0 ? nullptr : bend + block.bend * L);
        break;
      case IkBlockKind::kAxis:
        ik_axis_rows<L>(from, to);
        break;
    }
  }
}

// Per lane the largest sum of squares over a group of rows, in tolerances: at most one where all are met. Rows of a
// group are neighbours.
template <std::size_t L>
void ik_worst_group(const IkPlan& plan, const double* err, double (&worst)[L]) {
  double sum[L] = {};
  for (std::size_t l = 0; l < L; ++l) worst[l] = 0.0;
  for (std::size_t i = 0; i < plan.rows; ++i) {
    const double t = plan.inverse_tolerance[i];
    for (std::size_t l = 0; l < L; ++l) sum[l] += (t * err[i * L + l]) * (t * err[i * L + l]);
    if (i + 1 == plan.rows || plan.group[i + 1] != plan.group[i]) {
      for (std::size_t l = 0; l < L; ++l) {
        worst[l] = sum[l] > worst[l] ? sum[l] : worst[l];
        sum[l] = 0.0;
      }
    }
  }
}

// The largest error of each kind over the blocks (m and rad); rows of weight zero are not asked for.
template <std::size_t L>
void ik_largest_errors(const IkPlan& plan, const double* err, std::size_t lane, double& position, double& rotation) {
  position = rotation = 0.0;
  for (const IkBlock& block : plan.blocks) {
    double sum = 0.0;
    for (int i = block.row; i < block.row + block.rows; ++i) {
      if (plan.weights[i] != 0.0) sum += err[i * L + lane] * err[i * L + lane];
    }
    double& largest = block.kind == IkBlockKind::kLinear ? position : rotation;
    largest = std::max(largest, std::sqrt(sum));
  }
}

}  // namespace robomorph
