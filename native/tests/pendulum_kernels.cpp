#include "tests/pendulum_kernels.h"

#include <cmath>
#include <cstring>

namespace robomorph::tests {
namespace {

constexpr int L = mpc::kLanes;
constexpr std::size_t kWorkspace = 256;

double coupling(int nv, int i, int j) { return (nv - (i > j ? i : j)) * kLength * kLength; }

template <int N>
void torques(const void* const* in, void* const* out, void* workspace) {
  std::memset(workspace, 0xff, kWorkspace);
  const double *q = static_cast<const double*>(in[0]), *v = static_cast<const double*>(in[1]),
               *a = static_cast<const double*>(in[2]);
  double *tau = static_cast<double*>(out[0]), *by_q = static_cast<double*>(out[1]), *by_v = static_cast<double*>(out[2]),
         *mass = static_cast<double*>(out[3]);
  for (int l = 0; l < L; ++l) {
    for (int i = 0; i < N; ++i) {
      const double weight = (N - i) * kGravity * kLength;
      double sum = kArmature * a[i * L + l] + weight * std::sin(q[i * L + l]), own = weight * std::cos(q[i * L + l]);
      for (int j = 0; j < N; ++j) {
        const double c = coupling(N, i, j), angle = q[i * L + l] - q[j * L + l], speed = v[j * L + l];
        const double cosine = c * std::cos(angle), sine = c * std::sin(angle);
        sum += cosine * a[j * L + l] + sine * speed * speed;
        const double turn = -sine * a[j * L + l] + cosine * speed * speed;
        own += turn;
        by_q[(i * N + j) * L + l] = -turn;
        by_v[(i * N + j) * L + l] = 2.0 * sine * speed;
        mass[(i * N + j) * L + l] = cosine + (i == j ? kArmature : 0.0);
      }
      by_q[(i * N + i) * L + l] += own;
      tau[i * L + l] = sum;
    }
  }
}

template <int N, bool V>
void tip(const void* const* in, void* const* out, void* workspace) {
  std::memset(workspace, 0xff, kWorkspace);
  const double *q = static_cast<const double*>(in[0]), *v = V ? static_cast<const double*>(in[1]) : nullptr,
               *reference = static_cast<const double*>(in[V ? 2 : 1]);
  double *values = static_cast<double*>(out[0]), *by_q = static_cast<double*>(out[1]),
         *by_v = V ? static_cast<double*>(out[2]) : nullptr;
  constexpr int kRows = V ? 4 : 2;
  for (int l = 0; l < L; ++l) {
    for (int r = 0; r < kRows; ++r) values[r * L + l] = -reference[r * L + l];
    for (int i = 0; i < N; ++i) {
      const double s = kLength * std::sin(q[i * L + l]), c = kLength * std::cos(q[i * L + l]);
      values[l] += s;
      values[L + l] -= c;
      by_q[i * L + l] = c;
      by_q[(N + i) * L + l] = s;
      if constexpr (V) {
        const double speed = v[i * L + l];
        values[2 * L + l] += c * speed;
        values[3 * L + l] += s * speed;
        by_q[(2 * N + i) * L + l] = -s * speed;
        by_q[(3 * N + i) * L + l] = c * speed;
        by_v[i * L + l] = by_v[(N + i) * L + l] = 0.0;
        by_v[(2 * N + i) * L + l] = c;
        by_v[(3 * N + i) * L + l] = s;
      }
    }
  }
}

template <bool V>
mpc::Kernel rows_of(int nv) {
  switch (nv) {
    case 1: return {tip<1, V>, kWorkspace};
    case 2: return {tip<2, V>, kWorkspace};
    case 3: return {tip<3, V>, kWorkspace};
    default: return {tip<7, V>, kWorkspace};
  }
}

}  // namespace

mpc::Kernel pendulum_torque_kernel(int nv) {
  switch (nv) {
    case 1: return {torques<1>, kWorkspace};
    case 2: return {torques<2>, kWorkspace};
    case 3: return {torques<3>, kWorkspace};
    default: return {torques<7>, kWorkspace};
  }
}

mpc::Kernel pendulum_row_kernel(int nv, bool velocity) { return velocity ? rows_of<true>(nv) : rows_of<false>(nv); }

}  // namespace robomorph::tests
