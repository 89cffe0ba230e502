#include "mpc/ddp_dynamics.h"

#include <algorithm>
#include <cmath>

namespace robomorph::mpc {

DdpDynamics::DdpDynamics(const Shape& shape, const DdpSizes& sizes, const Kernel& acceleration, const Kernel& gradient)
    : shape_(shape), sizes_(sizes), acceleration_(acceleration), gradient_(gradient) {
  const std::size_t stages = sizes.table.stages, square = shape.numbers(shape.nv * shape.nv);
  for (Doubles* points : {&stage_q_, &stage_v_}) *points = Doubles((stages - 1) * shape.numbers(shape.nv));
  for (Doubles* matrix : {&by_q_, &by_v_, &by_torque_}) *matrix = Doubles(stages * square);
  one_ = Doubles(4 * sizes.width);
  scratch_ = Doubles(5 * sizes.width + static_cast<std::size_t>(shape.nv) * kLanes);
  workspace_ = Doubles(std::max(acceleration.workspace, gradient.workspace) / sizeof(double) + kLanes);
}

double* DdpDynamics::point(Doubles& of, int stage, int node) {
  return of.data() + (stage - 1) * shape_.numbers(shape_.nv) +
         static_cast<std::size_t>(shape_.group(node)) * shape_.nv * kLanes + shape_.lane(node, 0);
}

bool DdpDynamics::accelerate(const double* q, const double* v, const double* torque, double* a) {
  const int nv = shape_.nv, width = sizes_.width;
  double* one = one_.data();  // kernels want whole vectors
  std::copy_n(q, nv, one);
  std::copy_n(v, nv, one + width);
  std::copy_n(torque, nv, one + 2 * width);
  const void* in[] = {one, one + width, one + 2 * width};
  void* out[] = {one + 3 * width};
  acceleration_.fn(in, out, workspace_.data());
  std::copy_n(one + 3 * width, nv, a);
  double sum = 0.0;
  for (int i = 0; i < nv; ++i) sum += a[i] * 0.0;  // NaN unless all are finite
  return sum == 0.0;
}

bool DdpDynamics::step(int node, const double* torque, double* q, double* v, double* a) {
  const int nv = shape_.nv, width = sizes_.width;
  const double dt = shape_.dt;
  if (!accelerate(q, v, torque, a)) return false;
  if (sizes_.euler) {
    for (int i = 0; i < nv; ++i) {
      v[i] += dt * a[i];
      q[i] += dt * v[i];
    }
    return true;
  }
  const Tableau& table = sizes_.table;
  double *at_q = scratch_.data(), *at_v = at_q + width, *slope = at_v + width, *sum_q = slope + width,
         *sum_v = sum_q + width;
  for (int i = 0; i < nv; ++i) {
    at_v[i] = v[i];
    slope[i] = a[i];
    sum_q[i] = table.weight[0] * v[i];
    sum_v[i] = table.weight[0] * a[i];
  }
  for (int s = 1; s < table.stages; ++s) {
    const double reach = table.reach[s] * dt;
    double *keep_q = point(stage_q_, s, node), *keep_v = point(stage_v_, s, node);
    for (int i = 0; i < nv; ++i) {
      at_q[i] = keep_q[i * kLanes] = q[i] + reach * at_v[i];
      at_v[i] = keep_v[i * kLanes] = v[i] + reach * slope[i];
    }
    if (!accelerate(at_q, at_v, torque, slope)) return false;
    for (int i = 0; i < nv; ++i) {
      sum_q[i] += table.weight[s] * at_v[i];
      sum_v[i] += table.weight[s] * slope[i];
    }
  }
  for (int i = 0; i < nv; ++i) {
    q[i] += dt * sum_q[i];
    v[i] += dt * sum_v[i];
  }
  return true;
}

void DdpDynamics::call_gradient(int stage, int group, const double* q, const double* v, const double* torque) {
  const std::size_t at = static_cast<std::size_t>(group) * shape_.nv * kLanes;
  const std::size_t square = stage * shape_.numbers(shape_.nv * shape_.nv) + at * shape_.nv;
  const void* in[] = {q + at, v + at, torque + at};
  void* out[] = {scratch_.data() + 5 * sizes_.width, by_q_.data() + square, by_v_.data() + square,
                 by_torque_.data() + square};
  gradient_.fn(in, out, workspace_.data());
}

void DdpDynamics::linearise(const double* q, const double* v, const double* torque) {
  const int groups = (shape_.horizon + kLanes - 1) / kLanes;  // with a node that takes a step
  for (int s = 0; s < sizes_.table.stages; ++s) {
    const std::size_t start = s == 0 ? 0 : (s - 1) * shape_.numbers(shape_.nv);
    const double* at_q = s == 0 ? q : stage_q_.data() + start;
    const double* at_v = s == 0 ? v : stage_v_.data() + start;
    for (int g = 0; g < groups; ++g) call_gradient(s, g, at_q, at_v, torque);
  }
}

Accelerations DdpDynamics::stage(int i) const {
  const std::size_t start = i * shape_.numbers(shape_.nv * shape_.nv);
  return {by_torque_.data() + start, by_q_.data() + start, by_v_.data() + start};
}

}  // namespace robomorph::mpc
