#include "tests/control_problem.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

namespace robomorph::tests {

using mpc::kLanes;

namespace {

Numbers filled(std::size_t count, std::mt19937& random, double low, double high) {
  std::uniform_real_distribution<double> draw(low, high);
  Numbers out(count);
  for (double& x : out) x = draw(random);
  return out;
}

// Weights from 1e-3 to 10, one of four zero.
Numbers weights(std::size_t count, std::mt19937& random) {
  Numbers out = filled(count, random, -3.0, 1.0);
  for (double& x : out) x = random() % 4 == 0 ? 0.0 : std::pow(10.0, x);
  return out;
}

// Solves by LU with row exchanges; matrix (size, size) is destroyed, x comes in as the right side. NaN where singular.
void solve_dense(Numbers& matrix, Numbers& x) {
  const int size = static_cast<int>(x.size());
  for (int k = 0; k < size; ++k) {
    int best = k;
    for (int i = k + 1; i < size; ++i) {
      if (std::abs(matrix[i * size + k]) > std::abs(matrix[best * size + k])) best = i;
    }
    if (best != k) {
      std::swap_ranges(&matrix[k * size], &matrix[k * size] + size, &matrix[best * size]);
      std::swap(x[k], x[best]);
    }
    for (int i = k + 1; i < size; ++i) {
      const double f = matrix[i * size + k] / matrix[k * size + k];
      if (f == 0.0) continue;
      for (int j = k; j < size; ++j) matrix[i * size + j] -= f * matrix[k * size + j];
      x[i] -= f * x[k];
    }
  }
  for (int k = size - 1; k >= 0; --k) {
    for (int j = k + 1; j < size; ++j) x[k] -= matrix[k * size + j] * x[j];
    x[k] /= matrix[k * size + k];
  }
}

}  // namespace

std::vector<ControlRow> ControlProblem::rows(int node) const {
  const int n = shape.nv;
  const bool last = node == shape.horizon;
  std::vector<ControlRow> out;
  const auto fresh = [&](const Numbers& weight, const Numbers& gradient, int i, int entries) -> Numbers& {
    out.push_back({weight[node * entries + i], gradient[node * entries + i], Numbers(4 * n)});
    return out.back().entries;
  };
  const auto fill = [&](Numbers& to, const Numbers& from, int row, int count, int block) {
    for (int j = 0; j < n; ++j) to[block * n + j] = from[(static_cast<std::size_t>(node) * count + row) * n + j];
  };
  for (int i = 0; i < n && !last; ++i) {
    Numbers& row = fresh(torque_weight, torque_gradient, i, n);
    fill(row, mass, i, n, 0);
    fill(row, torque_dq, i, n, 1);
    fill(row, torque_dv, i, n, 2);
  }
  for (int i = 0; i < shape.rows; ++i) {
    Numbers& row = fresh(row_weight, row_gradient, i, shape.rows);
    fill(row, row_dq, i, shape.rows, 1);
    if (shape.row_velocity) fill(row, row_dv, i, shape.rows, 2);
  }
  for (int i = 0; i < n; ++i) {
    fresh(q_weight, q_gradient, i, n)[n + i] = 1.0;
    fresh(v_weight, v_gradient, i, n)[2 * n + i] = 1.0;
    if (last) continue;
    fresh(a_weight, a_gradient, i, n)[i] = 1.0;
    if (!shape.jerk) continue;
    Numbers& row = fresh(jerk_weight, jerk_gradient, i, n);
    row[i] = 1.0;
    row[3 * n + i] = node > 0 ? -1.0 : 0.0;  // what was before node 0 does not change
  }
  return out;
}

ControlProblem random_problem(const mpc::Shape& shape, std::mt19937& random) {
  const int n = shape.nv, rows = shape.rows, nodes = shape.nodes();
  ControlProblem p;
  p.shape = shape;
  p.shape.problems = 1;
  p.dq0 = filled(n, random, -1.0, 1.0);
  p.dv0 = filled(n, random, -1.0, 1.0);
  p.mass = filled(nodes * n * n, random, -1.0, 1.0);
  for (int k = 0; k < nodes; ++k) {  // far from singular
    for (int i = 0; i < n; ++i) p.mass[(k * n + i) * n + i] += 2.0;
  }
  p.torque_dq = filled(nodes * n * n, random, -5.0, 5.0);
  p.torque_dv = filled(nodes * n * n, random, -1.0, 1.0);
  p.torque_weight = weights(nodes * n, random);
  p.row_dq = filled(nodes * rows * n, random, -2.0, 2.0);
  p.row_dv = filled(shape.row_velocity ? nodes * rows * n : 0, random, -1.0, 1.0);
  p.row_weight = weights(nodes * rows, random);
  p.q_weight = weights(nodes * n, random);
  p.v_weight = weights(nodes * n, random);
  p.a_weight = filled(nodes * n, random, 0.01, 0.1);
  p.jerk_weight = weights(shape.jerk ? nodes * n : 0, random);
  p.torque_gradient = filled(nodes * n, random, -1.0, 1.0);
  p.row_gradient = filled(nodes * rows, random, -1.0, 1.0);
  p.q_gradient = filled(nodes * n, random, -1.0, 1.0);
  p.v_gradient = filled(nodes * n, random, -1.0, 1.0);
  p.a_gradient = filled(nodes * n, random, -1.0, 1.0);
  p.jerk_gradient = filled(p.jerk_weight.size(), random, -1.0, 1.0);
  for (std::size_t i = 0; i < p.row_weight.size(); ++i) {
    if (random() % 4 == 0) p.row_weight[i] = p.row_gradient[i] = 0.0;
  }
  p.regularisation = random() % 2 == 0 ? 0.0 : 0.05;
  return p;
}

ControlStep roll_out(const ControlProblem& problem, const Numbers& da) {
  const int n = problem.shape.nv, nodes = problem.shape.nodes();
  ControlStep s{Numbers(nodes * n), Numbers(nodes * n), Numbers(nodes * n)};
  for (int i = 0; i < n; ++i) s.dq[i] = problem.dq0[i], s.dv[i] = problem.dv0[i];
  for (int i = 0; i < (nodes - 1) * n; ++i) {
    s.da[i] = da[i];
    s.dv[i + n] = s.dv[i] + problem.shape.dt * da[i];
    s.dq[i + n] = s.dq[i] + problem.shape.dt * s.dv[i + n];
  }
  return s;
}

ControlStep dense_minimum(const ControlProblem& problem) {
  const int n = problem.shape.nv, nodes = problem.shape.nodes(), states = 2 * n * nodes;
  const int size = 2 * states + (nodes - 1) * n;  // [q v of all nodes | a | multipliers]
  const double dt = problem.shape.dt;
  Numbers kkt(static_cast<std::size_t>(size) * size), x(size);
  const auto at = [&](int i, int j) -> double& { return kkt[static_cast<std::size_t>(i) * size + j]; };
  const auto place = [&](int node, int block, int i) {
    if (block == 0) return states + node * n + i;
    return block == 3 ? states + (node - 1) * n + i : 2 * node * n + (block - 1) * n + i;
  };
  for (int k = 0; k < nodes; ++k) {
    for (const ControlRow& row : problem.rows(k)) {
      for (int i = 0; i < 4 * n; ++i) {
        if (row.entries[i] == 0.0) continue;
        const int to = place(k, i / n, i % n);
        x[to] -= row.gradient * row.entries[i];
        for (int j = 0; j < 4 * n; ++j) {
          if (row.entries[j] != 0.0) at(to, place(k, j / n, j % n)) += row.weight * row.entries[i] * row.entries[j];
        }
      }
    }
    for (int i = 0; i < n; ++i) {
      const int eq = states + (nodes - 1) * n + 2 * k * n + i, ev = eq + n;
      const auto entry = [&](int e, int variable, double value) { at(e, variable) = at(variable, e) = value; };
      entry(eq, place(k, 1, i), 1.0);
      entry(ev, place(k, 2, i), 1.0);
      if (k == 0) {
        x[eq] = problem.dq0[i], x[ev] = problem.dv0[i];
        continue;
      }
      entry(eq, place(k - 1, 1, i), -1.0);
      entry(eq, place(k, 2, i), -dt);
      entry(ev, place(k - 1, 2, i), -1.0);
      entry(ev, place(k - 1, 0, i), -dt);
      at(place(k - 1, 0, i), place(k - 1, 0, i)) += problem.regularisation;
    }
  }
  solve_dense(kkt, x);
  return roll_out(problem, Numbers(x.begin() + states, x.begin() + states + (nodes - 1) * n));
}

namespace {

// J dz of a row, and the sum of the absolute values it is made of.
double tangent(const ControlRow& row, const ControlStep& s, int node, int n, double* size = nullptr) {
  double sum = 0.0, absolute = 0.0;
  const auto add = [&](int entry, double by) {
    sum += row.entries[entry] * by;
    absolute += std::abs(row.entries[entry] * by);
  };
  for (int i = 0; i < n; ++i) {
    add(i, s.da[node * n + i]);
    add(n + i, s.dq[node * n + i]);
    add(2 * n + i, s.dv[node * n + i]);
    if (node > 0) add(3 * n + i, s.da[(node - 1) * n + i]);
  }
  if (size != nullptr) *size = absolute;
  return sum;
}

}  // namespace

void direct_sums(const ControlProblem& problem, const ControlStep& step, double* slope, double* curve) {
  *slope = *curve = 0.0;
  for (int k = 0; k < problem.shape.nodes(); ++k) {
    for (const ControlRow& row : problem.rows(k)) {
      const double along = tangent(row, step, k, problem.shape.nv);
      *slope += row.gradient * along;
      *curve += row.weight * along * along;
    }
  }
}

double unrest(const ControlProblem& problem, const ControlStep& step) {
  const int n = problem.shape.nv, nodes = problem.shape.nodes();
  const double dt = problem.shape.dt;
  double worst = 0.0;
  // Derivatives by a, q, v and the acceleration before, and the sums of absolute values; from the end to the start.
  Numbers slope(4 * n), size(4 * n);
  for (int k = nodes - 1; k >= 0; --k) {
    for (Numbers* x : {&slope, &size}) {
      for (int i = 0; i < n; ++i) {  // of the next node's state by this node's variables
        double* at = x->data() + i;
        at[2 * n] += dt * at[n];
        at[0] = dt * at[2 * n] + at[3 * n];
        at[3 * n] = 0.0;
      }
    }
    for (int i = 0; i < n; ++i) {
      slope[i] += problem.regularisation * step.da[k * n + i];
      size[i] += std::abs(problem.regularisation * step.da[k * n + i]);
    }
    for (const ControlRow& row : problem.rows(k)) {
      double all;
      const double along = tangent(row, step, k, n, &all);
      for (int i = 0; i < 4 * n; ++i) {
        slope[i] += row.entries[i] * (row.weight * along + row.gradient);
        size[i] += std::abs(row.entries[i]) * (std::abs(row.weight) * all + std::abs(row.gradient));
      }
    }
    for (int i = 0; i < n && k < nodes - 1; ++i) {
      worst = std::isfinite(slope[i]) ? std::max(worst, std::abs(slope[i]) / std::max(size[i], 1e-300)) : INFINITY;
    }
  }
  return worst;
}

void ControlBundle::Free::operator()(double* p) const { ::operator delete[](p, std::align_val_t{64}); }

double* ControlBundle::take(std::size_t count) {
  auto* p = static_cast<double*>(::operator new[](std::max<std::size_t>(count, 1) * sizeof(double), std::align_val_t{64}));
  std::fill_n(p, count, std::numeric_limits<double>::quiet_NaN());
  memory_.emplace_back(p);
  return p;
}

const double* ControlBundle::pack(const std::vector<ControlProblem>& problems, Numbers ControlProblem::*from,
                                  int entries, bool at_last, bool poison) {
  double* out = take(shape_.numbers(entries));
  const int slots = shape_.problems == 1 ? shape_.groups() * kLanes : shape_.nodes();
  for (int p = 0; p < shape_.problems; ++p) {
    for (int slot = 0; slot < slots; ++slot) {
      const int node = std::min(slot, shape_.horizon);
      if (poison && node == shape_.horizon && !at_last) continue;
      for (int e = 0; e < entries; ++e) {
        out[(static_cast<std::size_t>(shape_.group(slot)) * entries + e) * kLanes + shape_.lane(slot, p)] =
            (problems[p].*from)[static_cast<std::size_t>(node) * entries + e];
      }
    }
  }
  return out;
}

ControlBundle::ControlBundle(const std::vector<ControlProblem>& problems, bool poison) : shape_(problems[0].shape) {
  shape_.problems = static_cast<int>(problems.size());
  const int n = shape_.nv, rows = shape_.rows;
  using P = ControlProblem;
  const auto put = [&](Numbers P::*from, int entries, bool at_last) {
    return pack(problems, from, entries, at_last, poison);
  };
  model.torque_mass = put(&P::mass, n * n, false);
  model.torque_dq = put(&P::torque_dq, n * n, false);
  model.torque_dv = put(&P::torque_dv, n * n, false);
  model.torque_weight = put(&P::torque_weight, n, false);
  model.torque_gradient = put(&P::torque_gradient, n, false);
  model.row_dq = put(&P::row_dq, rows * n, true);
  if (shape_.row_velocity) model.row_dv = put(&P::row_dv, rows * n, true);
  model.row_weight = put(&P::row_weight, rows, true);
  model.row_gradient = put(&P::row_gradient, rows, true);
  model.q_weight = put(&P::q_weight, n, true);
  model.q_gradient = put(&P::q_gradient, n, true);
  model.v_weight = put(&P::v_weight, n, true);
  model.v_gradient = put(&P::v_gradient, n, true);
  model.a_weight = put(&P::a_weight, n, false);
  model.a_gradient = put(&P::a_gradient, n, false);
  if (shape_.jerk) {
    model.jerk_weight = put(&P::jerk_weight, n, false);
    model.jerk_gradient = put(&P::jerk_gradient, n, false);
  }
  direction.dq = take(shape_.numbers(n));
  direction.dv = take(shape_.numbers(n));
  direction.da = take(shape_.numbers(n));
  direction.gains = take(shape_.problems * n * 2 * n);
  direction.slope = take(shape_.problems);
  direction.curve = take(shape_.problems);
  ok.reset(new bool[shape_.problems]);
  for (int p = 0; p < shape_.problems; ++p) {
    ok[p] = true;
    dq0.insert(dq0.end(), problems[p].dq0.begin(), problems[p].dq0.end());
    dv0.insert(dv0.end(), problems[p].dv0.begin(), problems[p].dv0.end());
    regularisation.push_back(problems[p].regularisation);
  }
}

ControlStep ControlBundle::step(int problem) const {
  const int n = shape_.nv;
  ControlStep out;
  for (int k = 0; k < shape_.nodes(); ++k) {
    for (int i = 0; i < n; ++i) {
      const std::size_t at =
          (static_cast<std::size_t>(shape_.group(k)) * n + i) * kLanes + shape_.lane(k, problem);
      out.dq.push_back(direction.dq[at]);
      out.dv.push_back(direction.dv[at]);
      out.da.push_back(direction.da[at]);
    }
  }
  return out;
}

double ControlBundle::gain(int problem, int i, int j) const {
  return direction.gains[(static_cast<std::size_t>(problem) * shape_.nv + i) * 2 * shape_.nv + j];
}

bool ControlBundle::lanes_repeat() const {
  if (shape_.problems != 1) return true;
  const int n = shape_.nv, last = shape_.horizon % kLanes;
  for (const double* x : {direction.dq, direction.dv, direction.da}) {
    const double* group = x + static_cast<std::size_t>(shape_.groups() - 1) * n * kLanes;
    for (int i = 0; i < n * kLanes; ++i) {
      if (i % kLanes > last && group[i] != group[i / kLanes * kLanes + last]) return false;
    }
  }
  return true;
}

}  // namespace robomorph::tests
