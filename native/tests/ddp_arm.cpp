#include "tests/ddp_arm.h"

#include <algorithm>
#include <cmath>

namespace robomorph::tests {
namespace {

using mpc::kLanes;

constexpr int n = kArmJoints;

struct Parts {
  double m, rest;
};

Parts parts_of(const double* q, const double* v, int i) {
  const int j = (i + 1) % n;
  return {2.0 + std::cos(q[i] + q[j]), 3.0 * std::sin(q[i]) + 0.3 * v[i] * v[j] + 0.2 * q[j]};
}

// d (m a + rest) / d q, by v; a held.
void torque_derivatives(const double* q, const double* v, const double* a, double* dq, double* dv) {
  std::fill_n(dq, n * n, 0.0);
  std::fill_n(dv, n * n, 0.0);
  for (int i = 0; i < n; ++i) {
    const int j = (i + 1) % n;
    const double turn = -std::sin(q[i] + q[j]) * a[i];
    dq[i * n + i] += turn + 3.0 * std::cos(q[i]);
    dq[i * n + j] += turn + 0.2;
    dv[i * n + i] += 0.3 * v[j];
    dv[i * n + j] += 0.3 * v[i];
  }
}

// One lane of an argument, and back.
void gather(const void* from, int lanes, int lane, int count, double* out) {
  for (int i = 0; i < count; ++i) out[i] = static_cast<const double*>(from)[i * lanes + lane];
}
void scatter(const double* from, int lanes, int lane, int count, void* out) {
  for (int i = 0; i < count; ++i) static_cast<double*>(out)[i * lanes + lane] = from[i];
}

void torque_of(const double* q, const double* v, const double* a, double* torque) {
  for (int i = 0; i < n; ++i) {
    const Parts p = parts_of(q, v, i);
    torque[i] = p.m * a[i] + p.rest;
  }
}

void torque_kernel(const void* const* in, void* const* out, void*) {
  for (int l = 0; l < kLanes; ++l) {
    double q[n], v[n], a[n], torque[n], dq[n * n], dv[n * n], mass[n * n] = {};
    gather(in[0], kLanes, l, n, q), gather(in[1], kLanes, l, n, v), gather(in[2], kLanes, l, n, a);
    torque_of(q, v, a, torque);
    torque_derivatives(q, v, a, dq, dv);
    for (int i = 0; i < n; ++i) mass[i * n + i] = parts_of(q, v, i).m;
    scatter(torque, kLanes, l, n, out[0]), scatter(dq, kLanes, l, n * n, out[1]);
    scatter(dv, kLanes, l, n * n, out[2]), scatter(mass, kLanes, l, n * n, out[3]);
  }
}

void torque_values_kernel(const void* const* in, void* const* out, void*) {
  for (int l = 0; l < kLanes; ++l) {
    double q[n], v[n], a[n], torque[n];
    gather(in[0], kLanes, l, n, q), gather(in[1], kLanes, l, n, v), gather(in[2], kLanes, l, n, a);
    torque_of(q, v, a, torque);
    scatter(torque, kLanes, l, n, out[0]);
  }
}

void acceleration_kernel(const void* const* in, void* const* out, void*) {
  arm_acceleration(static_cast<const double*>(in[0]), static_cast<const double*>(in[1]),
                   static_cast<const double*>(in[2]), static_cast<double*>(out[0]));
}

void gradient_kernel(const void* const* in, void* const* out, void*) {
  for (int l = 0; l < kLanes; ++l) {
    double q[n], v[n], torque[n], a[n], dq[n * n], dv[n * n], inverse[n * n] = {};
    gather(in[0], kLanes, l, n, q), gather(in[1], kLanes, l, n, v), gather(in[2], kLanes, l, n, torque);
    arm_acceleration(q, v, torque, a);
    torque_derivatives(q, v, a, dq, dv);
    for (int i = 0; i < n; ++i) {
      const double m = parts_of(q, v, i).m;
      inverse[i * n + i] = 1.0 / m;
      for (int j = 0; j < n; ++j) dq[i * n + j] /= -m, dv[i * n + j] /= -m;
    }
    scatter(a, kLanes, l, n, out[0]), scatter(dq, kLanes, l, n * n, out[1]);
    scatter(dv, kLanes, l, n * n, out[2]), scatter(inverse, kLanes, l, n * n, out[3]);
  }
}

double row_of(const double* q, const double* v, double reference) {
  double sum = -reference;
  for (int i = 0; i < n; ++i) sum += std::sin(q[i]) + 0.1 * v[i];
  return sum;
}

void row_kernel(const void* const* in, void* const* out, void*) {
  for (int l = 0; l < kLanes; ++l) {
    double q[n], v[n], dq[n], dv[n], value;
    gather(in[0], kLanes, l, n, q), gather(in[1], kLanes, l, n, v);
    value = row_of(q, v, static_cast<const double*>(in[2])[l]);
    for (int i = 0; i < n; ++i) dq[i] = std::cos(q[i]), dv[i] = 0.1;
    scatter(&value, kLanes, l, 1, out[0]), scatter(dq, kLanes, l, n, out[1]), scatter(dv, kLanes, l, n, out[2]);
  }
}

}  // namespace

void arm_acceleration(const double* q, const double* v, const double* torque, double* a) {
  for (int i = 0; i < n; ++i) {
    const Parts p = parts_of(q, v, i);
    a[i] = (torque[i] - p.rest) / p.m;
  }
}

void arm_step(mpc::Method method, double h, const double* torque, double* q, double* v) {
  double a1[n], a2[n], a3[n], a4[n], q2[n], v2[n], q3[n], v3[n], q4[n], v4[n];
  arm_acceleration(q, v, torque, a1);
  if (method == mpc::Method::kEuler || method == mpc::Method::kInverse) {
    for (int i = 0; i < n; ++i) v[i] += h * a1[i], q[i] += h * v[i];
    return;
  }
  for (int i = 0; i < n; ++i) q2[i] = q[i] + h / 2 * v[i], v2[i] = v[i] + h / 2 * a1[i];
  arm_acceleration(q2, v2, torque, a2);
  if (method == mpc::Method::kMidpoint) {
    for (int i = 0; i < n; ++i) q[i] += h * v2[i], v[i] += h * a2[i];
    return;
  }
  for (int i = 0; i < n; ++i) q3[i] = q[i] + h / 2 * v2[i], v3[i] = v[i] + h / 2 * a2[i];
  arm_acceleration(q3, v3, torque, a3);
  for (int i = 0; i < n; ++i) q4[i] = q[i] + h * v3[i], v4[i] = v[i] + h * a3[i];
  arm_acceleration(q4, v4, torque, a4);
  for (int i = 0; i < n; ++i) {
    q[i] += h / 6 * (v[i] + 2 * v2[i] + 2 * v3[i] + v4[i]);
    v[i] += h / 6 * (a1[i] + 2 * a2[i] + 2 * a3[i] + a4[i]);
  }
}

Arm::Arm(mpc::Method method, int horizon, bool row) {
  const std::size_t nodes = horizon + 1;
  problem.method = method;
  problem.nv = n, problem.horizon = horizon, problem.dt = 0.05;
  problem.rows = row ? 1 : 0, problem.row_velocity = row, problem.references = row ? 1 : 0;
  problem.torque = {torque_kernel, 0}, problem.torque_values = {torque_values_kernel, 0};
  problem.acceleration = {acceleration_kernel, 0}, problem.acceleration_gradient = {gradient_kernel, 0};
  problem.row_kernel = {row_kernel, 0};
  state_q = {0.4, -0.3, 0.9}, state_v = {0.2, 0.5, -0.4};
  q_reference = {-0.5, 0.8, 0.1}, torque_reference = {0.1, 0.2, 0.3}, row_reference = {0.7};
  const double dt = problem.dt;
  q_weight = {10 * dt, 20 * dt, 5 * dt, 300, 300, 300}, v_weight = {0.1 * dt, 0.1 * dt, 0.2 * dt, 5, 5, 5};
  a_weight = {0.003 * dt, 0.0, 0.01 * dt}, torque_weight = {0.01 * dt, 0.02 * dt, 0.01 * dt};
  row_weight = {7 * dt, 50};
  q.resize(nodes * n), v.resize(nodes * n), a.resize(horizon * n), torque.resize(horizon * n);
  gains.resize(2 * n * n), torque_gains.resize(2 * n * n), cost.resize(1), violation.resize(1), worst.resize(4);
  times.resize(4), counts.resize(8);
  problem.state_q = state_q.data(), problem.state_v = state_v.data();
  problem.row_reference = {row_reference.data(), 1, 1};
  mpc::Wishes* w = problem.wishes;
  w[mpc::kPosition].reference = {q_reference.data(), 1, 1}, w[mpc::kPosition].weight = {q_weight.data(), 1, 2};
  w[mpc::kVelocity].weight = {v_weight.data(), 1, 2}, w[mpc::kAcceleration].weight = {a_weight.data(), 1, 1};
  w[mpc::kTorque].reference = {torque_reference.data(), 1, 1}, w[mpc::kTorque].weight = {torque_weight.data(), 1, 1};
  if (row) w[mpc::kRow].weight = {row_weight.data(), 1, 2};
  mpc::Results& out = problem.out;
  out.q = q.data(), out.v = v.data(), out.a = a.data(), out.torque = torque.data(), out.gains = gains.data();
  out.torque_gains = torque_gains.data(), out.cost = cost.data(), out.violation = violation.data();
  out.worst = worst.data(), out.times = times.data(), out.counts = counts.data(), out.counts_width = 8;
}

void Arm::bound(int quantity, double most) {
  lower[quantity].assign(n, -most), upper[quantity].assign(n, most);
  problem.wishes[quantity].lower = {lower[quantity].data(), 1, 1};
  problem.wishes[quantity].upper = {upper[quantity].data(), 1, 1};
}

double Arm::cost_of(const std::vector<double>& torques) const {
  double at_q[n], at_v[n], at_a[n], sum = 0.0;
  std::copy_n(state_q.data(), n, at_q);
  std::copy_n(state_v.data(), n, at_v);
  for (int k = 0; k <= problem.horizon; ++k) {
    const int end = k == problem.horizon ? n : 0;
    for (int i = 0; i < n; ++i) {
      sum += 0.5 * q_weight[end + i] * std::pow(at_q[i] - q_reference[i], 2);
      sum += 0.5 * v_weight[end + i] * std::pow(at_v[i], 2);
    }
    if (problem.rows > 0) sum += 0.5 * row_weight[end / n] * std::pow(row_of(at_q, at_v, row_reference[0]), 2);
    if (end > 0) break;
    arm_acceleration(at_q, at_v, torques.data() + k * n, at_a);
    for (int i = 0; i < n; ++i) {
      sum += 0.5 * a_weight[i] * std::pow(at_a[i], 2);
      sum += 0.5 * torque_weight[i] * std::pow(torques[k * n + i] - torque_reference[i], 2);
    }
    arm_step(problem.method, problem.dt, torques.data() + k * n, at_q, at_v);
  }
  return sum;
}

}  // namespace robomorph::tests
