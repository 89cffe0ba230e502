#include "tests/pendulum_control.h"

#include <algorithm>
#include <cmath>

#include "tests/pendulum_kernels.h"

namespace robomorph::tests {

using mpc::kBoundable;

double ControlTable::at(int problem, int node, int entry, int horizon, int all_nodes) const {
  const int p = problems == 1 ? 0 : problem;
  const int k = nodes == 1 ? 0 : nodes == all_nodes ? node : node < horizon ? 0 : 1;
  return numbers[(p * nodes + k) * entries + entry];
}

void pendulum_torques(int nv, const Real* q, const Real* v, const Real* a, Real* torques) {
  for (int i = 0; i < nv; ++i) {
    torques[i] = kArmature * a[i] + (nv - i) * static_cast<Real>(kGravity) * kLength * std::sin(q[i]);
    for (int j = 0; j < nv; ++j) {
      const Real c = (nv - std::max(i, j)) * static_cast<Real>(kLength) * kLength;
      torques[i] += c * (std::cos(q[i] - q[j]) * a[j] + std::sin(q[i] - q[j]) * v[j] * v[j]);
    }
  }
}

PendulumControl::PendulumControl(int nv, int horizon, double dt, int problems)
    : nv(nv), horizon(horizon), problems(problems), dt(dt) {
  const int states = problems * nv, steps = problems * horizon * nv, nodes = problems * (horizon + 1) * nv;
  for (auto* array : {&state_q, &state_v, &last_a}) array->assign(states, 0.0);
  for (auto* array : {&q, &v}) array->assign(nodes, NAN);
  for (auto* array : {&a, &torque}) array->assign(steps, NAN);
  for (auto* array : {&gains, &torque_gains}) array->assign(states * 2 * nv, NAN);
  for (auto* array : {&cost_found, &soft_cost, &violation_found}) array->assign(problems, NAN);
  for (auto* array : {&worst, &times}) array->assign(4 * problems, NAN);
  counts.assign(problems * mpc::kCounts, -1);
}

void PendulumControl::swing_to(const std::vector<double>& goal, double q_weight, double v_weight, double torque_weight,
                               double last_q, double last_v) {
  const auto weigh = [&](int x, double running, double terminal) {
    ControlTable& weight = wishes[x].weight = ControlTable(1, 2, nv, running * dt);
    for (int e = 0; e < nv; ++e) weight.numbers[nv + e] = terminal;
  };
  weigh(mpc::kPosition, q_weight, last_q);
  weigh(mpc::kVelocity, v_weight, last_v);
  wishes[mpc::kTorque].weight = ControlTable(1, 1, nv, torque_weight * dt);
  wishes[mpc::kPosition].reference = ControlTable(1, 1, nv, 0.0);
  wishes[mpc::kPosition].reference.numbers = goal;
}

void PendulumControl::use_rows(bool velocity) {
  row_velocity = velocity;
  rows = references = velocity ? 4 : 2;
  row_reference = ControlTable(1, 1, references, 0.0);
}

void PendulumControl::bound(int x, double lower, double upper) {
  const int entries = x == mpc::kRow ? rows : nv;
  wishes[x].lower = ControlTable(1, 1, entries, lower);
  wishes[x].upper = ControlTable(1, 1, entries, upper);
  const bool both = std::isfinite(lower) && std::isfinite(upper);
  wishes[x].scale.assign(entries, both && upper > lower ? upper - lower : 1.0);
}

mpc::Problem PendulumControl::problem() {
  mpc::Problem p;
  p.nv = nv, p.horizon = horizon, p.dt = dt, p.rows = rows, p.row_velocity = row_velocity, p.references = references;
  p.jerk = jerk, p.problems = problems, p.tolerance = tolerance, p.optimal = optimal, p.cap = cap;
  p.relax_start = relax_start;
  p.torque = pendulum_torque_kernel(nv);
  if (rows > 0) p.row_kernel = pendulum_row_kernel(nv, row_velocity);
  p.state_q = state_q.data(), p.state_v = state_v.data(), p.last_a = last_a.data();
  p.row_reference = row_reference.view();
  p.jerk_weight = jerk ? jerk_weight.data() : nullptr;
  for (int x = 0; x < kBoundable; ++x) {
    const ControlWishes& w = wishes[x];
    p.wishes[x] = {w.reference.view(), w.weight.view(), w.lower.view(), w.upper.view(),
                   w.soft.empty() ? nullptr : w.soft.data(), w.scale.empty() ? nullptr : w.scale.data()};
    multiplier[x].assign(problems * p.nodes(x) * p.entries(x), NAN);
    p.out.multiplier[x] = multiplier[x].data();
  }
  p.out.q = q.data(), p.out.v = v.data(), p.out.a = a.data(), p.out.torque = torque.data();
  p.out.gains = gains.data(), p.out.torque_gains = torque_gains.data();
  p.out.cost = cost_found.data(), p.out.soft_cost = soft_cost.data(), p.out.violation = violation_found.data();
  p.out.worst = worst.data(), p.out.times = times.data();
  p.out.counts = counts.data(), p.out.counts_width = mpc::kCounts;
  return p;
}

struct PendulumControl::Motion {
  Reals q, v, a, torque, row;
};

PendulumControl::Motion PendulumControl::roll_out(int p, const Reals& accelerations) const {
  Motion m{Reals((horizon + 1) * nv), Reals((horizon + 1) * nv), accelerations, Reals(horizon * nv),
           Reals((horizon + 1) * rows)};
  const Real step = dt;
  for (int i = 0; i < nv; ++i) m.q[i] = state_q[p * nv + i], m.v[i] = state_v[p * nv + i];
  for (int k = 0; k <= horizon; ++k) {
    const Real *at_q = &m.q[k * nv], *at_v = &m.v[k * nv];
    for (int i = 0; i < nv && rows > 0; ++i) {
      Real* row = &m.row[k * rows];
      row[0] += kLength * std::sin(at_q[i]);
      row[1] -= kLength * std::cos(at_q[i]);
      if (row_velocity) row[2] += kLength * std::cos(at_q[i]) * at_v[i], row[3] += kLength * std::sin(at_q[i]) * at_v[i];
    }
    for (int r = 0; r < rows; ++r) m.row[k * rows + r] -= row_reference.at(p, k, r, horizon, horizon + 1);
    if (k == horizon) break;
    pendulum_torques(nv, at_q, at_v, &m.a[k * nv], &m.torque[k * nv]);
    for (int i = 0; i < nv; ++i) {
      m.v[(k + 1) * nv + i] = at_v[i] + step * m.a[k * nv + i];
      m.q[(k + 1) * nv + i] = at_q[i] + step * m.v[(k + 1) * nv + i];
    }
  }
  return m;
}

Real PendulumControl::value(const Motion& m, int x, int node, int entry) const {
  switch (x) {
    case mpc::kTorque: return m.torque[node * nv + entry];
    case mpc::kPosition: return m.q[node * nv + entry];
    case mpc::kVelocity: return m.v[node * nv + entry];
    case mpc::kAcceleration: return m.a[node * nv + entry];
    default: return m.row[node * rows + entry];
  }
}

double PendulumControl::bound_at(const ControlTable& table, int x, int p, int node, int entry, double none) const {
  const bool controls = x == mpc::kTorque || x == mpc::kAcceleration;
  return table.numbers.empty() ? none : table.at(p, node, entry, horizon, controls ? horizon : horizon + 1);
}

template <typename Use>
void PendulumControl::each_bound(int p, Use use) const {
  for (int x = 0; x < kBoundable; ++x) {
    const bool controls = x == mpc::kTorque || x == mpc::kAcceleration;
    const int nodes = controls ? horizon : horizon + 1, entries = x == mpc::kRow ? rows : nv;
    if (wishes[x].lower.numbers.empty()) continue;
    for (int k = controls ? 0 : 1; k < nodes; ++k) {
      for (int e = 0; e < entries; ++e) use(x, k, e, (p * nodes + k) * entries + e);
    }
  }
}

Real PendulumControl::cost(int p, const Reals& accelerations, Real* price) const {
  const Motion m = roll_out(p, accelerations);
  Real total = 0.0;
  for (int x = 0; x < kBoundable; ++x) {
    const ControlWishes& w = wishes[x];
    if (w.weight.numbers.empty()) continue;
    const bool controls = x == mpc::kTorque || x == mpc::kAcceleration;
    const int nodes = controls ? horizon : horizon + 1, entries = x == mpc::kRow ? rows : nv;
    for (int k = 0; k < nodes; ++k) {
      for (int e = 0; e < entries; ++e) {
        const double reference = w.reference.numbers.empty() ? 0.0 : w.reference.at(p, k, e, horizon, nodes);
        const Real off = value(m, x, k, e) - reference;
        total += 0.5L * w.weight.at(p, k, e, horizon, nodes) * off * off;
      }
    }
  }
  for (int k = 0; jerk && k < horizon; ++k) {
    for (int e = 0; e < nv; ++e) {
      const Real off = m.a[k * nv + e] - (k > 0 ? m.a[(k - 1) * nv + e] : Real(last_a[p * nv + e]));
      total += 0.5L * jerk_weight[e] * off * off;
    }
  }
  if (price == nullptr) return total;
  *price = 0.0;
  each_bound(p, [&](int x, int k, int e, int) {
    const ControlWishes& w = wishes[x];
    if (w.soft.empty() || std::isinf(w.soft[e])) return;
    const Real at = value(m, x, k, e);
    const Real over = std::max<Real>({0.0L, at - bound_at(w.upper, x, p, k, e, kNone), bound_at(w.lower, x, p, k, e, -kNone) - at});
    *price += 0.5L * w.soft[e] * over * over;
  });
  return total;
}

Reals PendulumControl::plan(int p) const {
  return Reals(a.begin() + p * horizon * nv, a.begin() + (p + 1) * horizon * nv);
}

double PendulumControl::unrest(int p) const {
  const Real h = 1e-6L;
  const auto hard = [&](int x, int e) { return wishes[x].soft.empty() || std::isinf(wishes[x].soft[e]); };
  const auto lagrangian = [&](const Reals& accelerations) {
    Real price = 0.0, total = cost(p, accelerations, &price);
    const Motion m = roll_out(p, accelerations);
    each_bound(p, [&](int x, int k, int e, int place) {
      if (hard(x, e)) total += multiplier[x][place] * value(m, x, k, e);
    });
    return total + price;
  };
  const auto steepest = [&](Reals at, auto function) {
    Real most = 0.0;
    for (Real& entry : at) {
      const Real middle = entry;
      entry = middle + h;
      const Real up = function(at);
      entry = middle - h;
      most = std::max(most, std::fabs((up - function(at)) / (2.0L * h)));
      entry = middle;
    }
    return most;
  };
  const Real still = steepest(Reals(horizon * nv, 0.0L), [&](const Reals& at) { return cost(p, at); });
  return static_cast<double>(steepest(plan(p), lagrangian) / still);
}

double PendulumControl::violation(int p) const {
  const Motion m = roll_out(p, plan(p));
  Real most = 0.0;
  each_bound(p, [&](int x, int k, int e, int) {
    const ControlWishes& w = wishes[x];
    if (!w.soft.empty() && std::isfinite(w.soft[e])) return;
    const Real at = value(m, x, k, e), scale = w.scale.empty() ? 1.0 : w.scale[e];
    most = std::max<Real>({most, (at - bound_at(w.upper, x, p, k, e, kNone)) / scale, (bound_at(w.lower, x, p, k, e, -kNone) - at) / scale});
  });
  return static_cast<double>(most);
}

double PendulumControl::complementarity(int p) const {
  const Motion m = roll_out(p, plan(p));
  Real most = 0.0;
  each_bound(p, [&](int x, int k, int e, int place) {
    const ControlWishes& w = wishes[x];
    if (!w.soft.empty() && std::isfinite(w.soft[e])) return;
    const Real at = value(m, x, k, e), factor = multiplier[x][place];
    const Real far = factor > 0.0L ? bound_at(w.upper, x, p, k, e, kNone) - at : at - bound_at(w.lower, x, p, k, e, -kNone);
    if (factor != 0.0L) most = std::max(most, std::fabs(factor) * std::fabs(far));
  });
  return static_cast<double>(most);
}

double PendulumControl::misfit(int p) const {
  const Motion m = roll_out(p, plan(p));
  Real most = 0.0;
  for (int i = 0; i < (horizon + 1) * nv; ++i) {
    most = std::max({most, std::fabs(m.q[i] - q[p * (horizon + 1) * nv + i]), std::fabs(m.v[i] - v[p * (horizon + 1) * nv + i])});
  }
  for (int i = 0; i < horizon * nv; ++i) most = std::max(most, std::fabs(m.torque[i] - torque[p * horizon * nv + i]));
  for (int i = 0; i < nv; ++i) {
    if (q[p * (horizon + 1) * nv + i] != state_q[p * nv + i] || v[p * (horizon + 1) * nv + i] != state_v[p * nv + i]) return kNone;
  }
  return static_cast<double>(most);
}

int PendulumControl::active(int quantity, int p) const {
  const Motion m = roll_out(p, plan(p));
  int count = 0;
  each_bound(p, [&](int x, int k, int e, int) {
    const ControlWishes& w = wishes[x];
    if (x != quantity) return;
    const Real at = value(m, x, k, e), near = 1e-4 * (w.scale.empty() ? 1.0 : w.scale[e]);
    count += std::fabs(at - bound_at(w.upper, x, p, k, e, kNone)) < near || std::fabs(at - bound_at(w.lower, x, p, k, e, -kNone)) < near;
  });
  return count;
}

}  // namespace robomorph::tests
