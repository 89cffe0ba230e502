// The arrays of one worker, in lane order, and what moves a configuration: steps inside the limits, turns, starts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "ik_plan.h"
#include "ik_random.h"
#include "ik_rows.h"
#include "scratch.h"

namespace robomorph {

// Every array is (size, lanes); two of `jac`, `err` and `bend`: the accepted configuration's and the trial's.
struct IkArrays {
  double *q, *trial, *best, *target, *raw, *weights, *mask, *base, *lam, *step, *last, *model;
  double *sine, *cosine;  // of the trial, with one lane; padded to whole vectors
  double *jac[2], *err[2], *bend[2];
  char* workspace;

  // Places the arrays in one block from `memory`; with nullptr only counts. Returns the bytes.
  std::size_t place(const IkPlan& plan, char* memory) {
    std::size_t at = 0;
    const auto take = [&](double*& array, std::size_t size) {
      array = memory == nullptr ? nullptr : reinterpret_cast<double*>(memory + at);
      at += round_up(size * plan.lanes * sizeof(double) + sizeof(double));
    };
    const std::size_t padding = plan.trig == nullptr ? 0 : plan.wide_lanes;
    for (double** array : {&q, &trial, &best}) take(*array, plan.nq + padding);
    for (double** array : {&sine, &cosine}) take(*array, plan.trig == nullptr ? 0 : plan.nq + padding);
    for (double** array : {&mask, &base, &step, &last}) take(*array, plan.nv);
    take(target, plan.targets);
    take(raw, plan.raws);
    take(weights, plan.rows);
    take(lam, 1);
    take(model, 1);
    for (int i = 0; i < 2; ++i) {
      take(jac[i], plan.jacs);
      take(err[i], plan.rows);
      take(bend[i], plan.bends);
    }
    workspace = memory == nullptr ? nullptr : memory + at;
    return at + round_up(plan.workspace);
  }
};

inline double ik_wrapped(double angle) { return std::remainder(angle, 2.0 * kPi); }

// --- joints with several coordinates, one lane at a time -----------------------------------------------------------

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

// The vector v turned by the unit quaternion (x, y, z, w).
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

inline void ik_move_floating(const double* q, const double* step, double* out, std::size_t stride) {
  double turn[4], v[3], w[3], moved[3], product[4];
  for (int i = 0; i < 4; ++i) turn[i] = q[(3 + i) * stride];
  for (int i = 0; i < 3; ++i) v[i] = step[i * stride];
  for (int i = 0; i < 3; ++i) w[i] = step[(3 + i) * stride];
  ik_turn(turn, v, moved);
  for (int i = 0; i < 3; ++i) out[i * stride] = q[i * stride] + moved[i];
  const double angle = std::sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  const double scale = angle > 1e-9 ? std::sin(0.5 * angle) / angle : 0.5;
  const double small[4] = {scale * w[0], scale * w[1], scale * w[2], std::cos(0.5 * angle)};
  ik_quaternion_product(turn, small, product);
  double norm = 0.0;
  for (const double x : product) norm += x * x;
  norm = std::sqrt(norm);
  for (int i = 0; i < 4; ++i) out[(3 + i) * stride] = product[i] / norm;
}

// The step (in the joint's own axes, to first order) that leads from q towards `to`, whose stride is 1.
inline void ik_pull_planar(const double* q, std::size_t stride, const double* to, double* out) {
  const double c = q[2 * stride], s = q[3 * stride], dx = to[0] - q[0], dy = to[1] - q[stride];
  out[0] = c * dx + s * dy;
  out[stride] = c * dy - s * dx;
  out[2 * stride] = std::atan2(c * to[3] - s * to[2], c * to[2] + s * to[3]);
}

inline void ik_pull_floating(const double* q, std::size_t stride, const double* to, double* out) {
  double inverse[4] = {-q[3 * stride], -q[4 * stride], -q[5 * stride], q[6 * stride]};
  const double d[3] = {to[0] - q[0], to[1] - q[stride], to[2] - q[2 * stride]};
  double local[3], turn[4];
  ik_turn(inverse, d, local);
  ik_quaternion_product(inverse, to + 3, turn);
  const double sign = turn[3] < 0.0 ? -1.0 : 1.0;
  const double sine = std::sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]);
  const double angle = 2.0 * std::atan2(sine, sign * turn[3]);
  const double scale = sine > 1e-9 ? sign * angle / sine : 2.0 * sign;
  for (int i = 0; i < 3; ++i) out[i * stride] = local[i];
  for (int i = 0; i < 3; ++i) out[(3 + i) * stride] = scale * turn[i];
}

}  // namespace robomorph
