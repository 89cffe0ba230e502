#include "tests/ddp_random.h"

#include <cmath>

#include "tests/wave_motion.h"

namespace robomorph::tests {
namespace {

using mpc::Doubles;
using mpc::kLanes;

double at(const Doubles& grouped, int entries, int node, int e) {
  return grouped.data()[(static_cast<std::size_t>(node / kLanes) * entries + e) * kLanes + node % kLanes];
}

enum Quantity { kTorque, kQ, kV, kA, kRow };

// Gaussian elimination with pivots of the largest size; matrix (n, n) and right side are spent.
std::vector<double> solve_dense(std::vector<double> matrix, std::vector<double> right) {
  const std::size_t n = right.size();
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t best = i;
    for (std::size_t r = i + 1; r < n; ++r) {
      if (std::abs(matrix[r * n + i]) > std::abs(matrix[best * n + i])) best = r;
    }
    for (std::size_t c = 0; c < n; ++c) std::swap(matrix[i * n + c], matrix[best * n + c]);
    std::swap(right[i], right[best]);
    for (std::size_t r = i + 1; r < n; ++r) {
      const double factor = matrix[r * n + i] / matrix[i * n + i];
      for (std::size_t c = i; c < n; ++c) matrix[r * n + c] -= factor * matrix[i * n + c];
      right[r] -= factor * right[i];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t c = i + 1; c < n; ++c) right[i] -= matrix[i * n + c] * right[c];
    right[i] /= matrix[i * n + i];
  }
  return right;
}

}  // namespace

RandomStep::RandomStep(const mpc::Shape& given, mpc::Integrator method, unsigned seed)
    : shape(given), integrator(method) {
  WaveRandom random(seed);
  const int nv = shape.nv, stages = mpc::tableau(integrator).stages;
  const auto add = [&](int entries, double offset, double scale) {
    numbers.emplace_back(shape.numbers(entries));
    for (std::size_t i = 0; i < numbers.back().size(); ++i) numbers.back().data()[i] = offset + scale * random();
  };
  for (int s = 0; s < stages; ++s) {
    for (double scale : {0.6, 9.0, 3.0}) add(nv * nv, 0.0, scale);
    for (int g = 0; g < shape.groups(); ++g) {  // M^-1: heavy on its diagonal
      for (int i = 0; i < nv; ++i) {
        for (int l = 0; l < kLanes; ++l) numbers[3 * s].data()[((g * nv + i) * nv + i) * kLanes + l] += 3.0;
      }
    }
  }
  add(shape.rows * nv, 0.0, 1.0);
  add(shape.rows * nv, 0.0, 1.0);
  for (int quantity : {kTorque, kQ, kV, kA, kRow}) {
    add(quantity == kRow ? shape.rows : nv, 1.1, 1.0);
    add(quantity == kRow ? shape.rows : nv, 0.0, 2.0);
  }
}

mpc::DdpModel RandomStep::model() const {
  mpc::DdpModel model;
  const int stages = mpc::tableau(integrator).stages;
  for (int s = 0; s < stages; ++s) {
    model.stages[s] = {numbers[3 * s].data(), numbers[3 * s + 1].data(), numbers[3 * s + 2].data()};
  }
  const Doubles* rest = numbers.data() + 3 * stages;
  mpc::Quadratic& cost = model.cost;
  cost.row_dq = rest[0].data();
  cost.row_dv = shape.row_velocity ? rest[1].data() : nullptr;
  const double** places[] = {&cost.torque_weight, &cost.torque_gradient, &cost.q_weight,   &cost.q_gradient,
                             &cost.v_weight,      &cost.v_gradient,      &cost.a_weight,   &cost.a_gradient,
                             &cost.row_weight,    &cost.row_gradient};
  for (int i = 0; i < 10; ++i) *places[i] = rest[2 + i].data();
  return model;
}

double RandomStep::term(int quantity, int node, int i, double r, double extra) const {
  const Doubles* rest = numbers.data() + 3 * mpc::tableau(integrator).stages;
  const int entries = quantity == kRow ? shape.rows : shape.nv;
  const double w = at(rest[2 + 2 * quantity], entries, node, i) + extra;
  return 0.5 * w * r * r + at(rest[3 + 2 * quantity], entries, node, i) * r;
}

double RandomStep::row(int node, int r, const std::vector<double>& x) const {
  const int nv = shape.nv;
  const Doubles* rest = numbers.data() + 3 * mpc::tableau(integrator).stages;
  double value = 0.0;
  for (int j = 0; j < nv; ++j) {
    value += at(rest[0], shape.rows * nv, node, r * nv + j) * x[j];
    if (shape.row_velocity) value += at(rest[1], shape.rows * nv, node, r * nv + j) * x[nv + j];
  }
  return value;
}

// x becomes what it is after the step; a: accelerations at its start.
void RandomStep::step(int node, const double* torque, std::vector<double>& x, std::vector<double>& first) const {
  const int nv = shape.nv;
  const mpc::Tableau table = mpc::tableau(integrator);
  std::vector<double> q(x.begin(), x.begin() + nv), v(x.begin() + nv, x.end()), a(nv), mean_v(nv), mean_a(nv);
  for (int s = 0; s < table.stages; ++s) {
    for (int i = 0; i < nv && s > 0; ++i) {  // along the slope of the stage before
      q[i] = x[i] + table.reach[s] * shape.dt * v[i];
      v[i] = x[nv + i] + table.reach[s] * shape.dt * a[i];
    }
    for (int i = 0; i < nv; ++i) {
      a[i] = 0.0;
      for (int j = 0; j < nv; ++j) {
        a[i] += at(numbers[3 * s], nv * nv, node, i * nv + j) * torque[j];
        a[i] += at(numbers[3 * s + 1], nv * nv, node, i * nv + j) * q[j];
        a[i] += at(numbers[3 * s + 2], nv * nv, node, i * nv + j) * v[j];
      }
      mean_v[i] += table.weight[s] * v[i];
      mean_a[i] += table.weight[s] * a[i];
    }
    if (s == 0) first = a;
  }
  for (int i = 0; i < nv; ++i) {
    x[nv + i] += shape.dt * mean_a[i];
    x[i] += shape.dt * (integrator == mpc::Integrator::kEuler ? x[nv + i] : mean_v[i]);
  }
}

double RandomStep::cost(const double* dx0, const std::vector<double>& torques, double extra,
                        std::vector<double>* z) const {
  const int nv = shape.nv;
  std::vector<double> x(dx0, dx0 + 2 * nv), a(nv);
  double total = 0.0;
  z->assign((shape.horizon + 1) * 4 * nv, 0.0);
  for (int k = 0; k <= shape.horizon; ++k) {
    double* out = z->data() + k * 4 * nv;
    for (int i = 0; i < nv; ++i) {
      total += term(kQ, k, i, x[i], 0.0) + term(kV, k, i, x[nv + i], 0.0);
      out[i] = x[i];
      out[nv + i] = x[nv + i];
    }
    for (int r = 0; r < shape.rows; ++r) total += term(kRow, k, r, row(k, r, x), 0.0);
    if (k == shape.horizon) break;
    step(k, torques.data() + k * nv, x, a);
    for (int i = 0; i < nv; ++i) {
      total += term(kA, k, i, a[i], extra) + term(kTorque, k, i, torques[k * nv + i], 0.0);
      out[2 * nv + i] = a[i];
      out[3 * nv + i] = torques[k * nv + i];
    }
  }
  return total;
}

std::vector<double> RandomStep::dense(const double* dx0, double extra) const {
  const int n = shape.horizon * shape.nv;
  std::vector<double> z, matrix(n * n), right(n), torques(n);
  // The cost is quadratic: its values at units and at pairs of units give the system.
  const double base = cost(dx0, torques, extra, &z);
  std::vector<double> plus(n), minus(n);
  for (int i = 0; i < n; ++i) {
    torques[i] = 1.0;
    plus[i] = cost(dx0, torques, extra, &z);
    torques[i] = -1.0;
    minus[i] = cost(dx0, torques, extra, &z);
    torques[i] = 0.0;
    right[i] = -0.5 * (plus[i] - minus[i]);
    matrix[i * n + i] = plus[i] + minus[i] - 2.0 * base;
  }
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) {
      torques[i] = torques[j] = 1.0;
      matrix[i * n + j] = matrix[j * n + i] = cost(dx0, torques, extra, &z) - plus[i] - plus[j] + base;
      torques[i] = torques[j] = 0.0;
    }
  }
  return solve_dense(matrix, right);
}

}  // namespace robomorph::tests
