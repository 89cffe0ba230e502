#include "mpc/ddp_sweep.h"

#include <algorithm>
#include <cmath>

#include "mpc/ddp_versions.h"

namespace robomorph::mpc {
namespace {

constexpr int kSpare = kLanes;  // products of tiles write some rows, and read some numbers, too many

int whole(int count) { return (count + kLanes - 1) / kLanes * kLanes; }

struct Layout {
  std::size_t total = 0;
  std::size_t take(std::size_t numbers) {
    const std::size_t at = total;
    total += (numbers + kLanes - 1) / kLanes * kLanes;
    return at;
  }
};

// Where everything lies in one block of `*total` numbers from `base` on; null asks for the total only.
DdpScratch scratch_of(const DdpSizes& sizes, double* base, std::size_t* total) {
  const std::size_t nv = sizes.nv, stride = sizes.stride, half = sizes.half;
  Layout layout;
  DdpScratch s;
  const auto take = [&](std::size_t numbers) {
    const std::size_t at = layout.take(numbers);
    return base == nullptr ? nullptr : base + at;
  };
  s.hessian = take((3 * nv + kSpare) * stride);
  s.product = take((std::max(2 * nv, static_cast<std::size_t>(sizes.rows)) + kSpare) * stride);
  s.turned = take((2 * nv + kSpare) * stride);
  s.value = take((2 * nv + kSpare) * half);
  s.value_p = take(half);
  s.spare = take(half);
  s.tasks = take((sizes.rows + kSpare) * stride);
  if (!sizes.euler) s.lanes = take(5 * nv * 3 * nv * kLanes);
  *total = layout.total;
  return s;
}

std::size_t scratch_numbers(const DdpSizes& sizes) {
  std::size_t total = 0;
  scratch_of(sizes, nullptr, &total);
  return total;
}

}  // namespace

Tableau tableau(Integrator integrator) {
  if (integrator == Integrator::kMidpoint) return {2, {0.0, 0.5}, {0.0, 1.0}};
  if (integrator == Integrator::kRk4) return {4, {0.0, 0.5, 0.5, 1.0}, {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}};
  return {1, {}, {1.0}};
}

DdpSizes ddp_sizes(const Shape& shape, Integrator integrator) {
  DdpSizes sizes;
  sizes.nv = shape.nv;
  sizes.horizon = shape.horizon;
  sizes.rows = shape.rows;
  sizes.row_velocity = shape.row_velocity;
  sizes.euler = integrator == Integrator::kEuler;
  sizes.dt = shape.dt;
  sizes.table = tableau(integrator);
  sizes.stride = whole(3 * shape.nv + 1);
  sizes.half = whole(2 * shape.nv);
  sizes.width = whole(shape.nv);
  sizes.policy = (2 * shape.nv + 1) * sizes.width;
  sizes.kept = sizes.euler ? shape.nv : 3 * shape.nv;
  return sizes;
}

const DdpLoops& ddp_loops() {
#if defined(__x86_64__)
  static const DdpLoops& best = __builtin_cpu_supports("avx512f")                                ? ddp_avx512()
                                : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? ddp_avx2()
                                                                                                  : ddp_plain();
  return best;
#else
  return ddp_plain();
#endif
}

DdpSweep::DdpSweep(const DdpSizes& sizes, const DdpLoops& loops)
    : sizes_(sizes),
      loops_(loops),
      policy_(static_cast<std::size_t>(sizes.horizon) * sizes.policy),
      kept_(static_cast<std::size_t>(sizes.horizon) * sizes.kept * sizes.stride + kSpare),
      scratch_(scratch_numbers(sizes)) {}

bool DdpSweep::backward(const DdpModel& model, double regularisation) {
  std::size_t total = 0;
  const DdpScratch scratch = scratch_of(sizes_, scratch_.data(), &total);
  const double gain = loops_.backward(sizes_, model, regularisation, scratch, kept_.data(), policy_.data());
  expected_ = 0.5 * gain;
  return gain >= 0.0 && std::isfinite(gain);
}

void DdpSweep::forward(const double* dq0, const double* dv0, const DdpDirection& direction) {
  std::size_t total = 0;
  const DdpScratch scratch = scratch_of(sizes_, scratch_.data(), &total);
  const int nv = sizes_.nv, stride = sizes_.stride;
  double *z = scratch.hessian, *dtau = scratch.product, *after = scratch.value, *change = scratch.spare;
  std::fill_n(z, stride, 0.0);
  std::copy_n(dq0, nv, z + nv);
  std::copy_n(dv0, nv, z + 2 * nv);
  const auto put = [&](double* grouped, int node, const double* from) {
    double* at = grouped + static_cast<std::size_t>(node / kLanes) * nv * kLanes + node % kLanes;
    for (int i = 0; i < nv; ++i) at[i * kLanes] = from == nullptr ? 0.0 : from[i];
  };
  for (int node = 0; node < sizes_.horizon; ++node) {
    const double* own = kept_.data() + static_cast<std::size_t>(node) * sizes_.kept * stride;
    put(direction.dq, node, z + nv);
    put(direction.dv, node, z + 2 * nv);
    std::fill_n(dtau, sizes_.width, 0.0);
    add_feedback(node, z + nv, 1.0, dtau);
    std::copy_n(dtau, nv, z);
    loops_.multiply(own, sizes_.kept, stride, z, after);
    put(direction.dtau, node, z);
    for (int i = 0; i < nv; ++i) change[i] = after[i] / sizes_.dt;
    put(direction.da, node, change);
    if (!sizes_.euler) {
      std::copy_n(after + nv, 2 * nv, z + nv);
      continue;
    }
    for (int i = 0; i < nv; ++i) {
      z[2 * nv + i] += after[i];
      z[nv + i] += sizes_.dt * z[2 * nv + i];
    }
  }
  for (int node = sizes_.horizon; node < whole(sizes_.horizon + 1); ++node) {
    put(direction.dq, node, z + nv);
    put(direction.dv, node, z + 2 * nv);
    put(direction.dtau, node, nullptr);
    put(direction.da, node, nullptr);
  }
}

void DdpSweep::add_feedback(int node, const double* dx, double alpha, double* out) const {
  const int count = 2 * sizes_.nv;
  loops_.feedback(policy(node), count, sizes_.width, dx, out);
  loops_.feedback(policy(node) + count * sizes_.width, 1, sizes_.width, &alpha, out);
}

}  // namespace robomorph::mpc
