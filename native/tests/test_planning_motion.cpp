// Motion problems: rows against plain loops, derivatives against differences, the same bits on any number of threads.
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "planning/motion_problem.h"
#include "tests/check.h"
#include "tests/wave_motion.h"

namespace robomorph::tests {
namespace {

using planning::Banded;
using planning::MotionData;
using planning::MotionProblem;
using Vector = std::vector<double>;

const std::vector<WaveSizes>& all_sizes() {
  static const std::vector<WaveSizes> sizes = [] {
    std::vector<WaveSizes> out(6);
    out[1].border = true;
    out[1].time = 2.0;
    out[2].shared = true;
    out[3].energy = 0.7;
    out[3].sparse = true;
    out[4] = {11, 9, true, true, true, 0.5, 0.7, 2.0};
    out[5] = {1, 7, true, false, true, 0.0, 0.3, 0.0};
    return out;
  }();
  return sizes;
}

Vector random_vector(int size, unsigned seed) {
  WaveRandom random(seed);
  Vector out(size);
  for (double& x : out) x = random();
  return out;
}

struct Case {
  MotionProblem problem;
  Vector x;

  Case(const WaveSizes& sizes, unsigned seed, std::size_t threads = 1)
      : problem(wave_motion(sizes, seed), wave_kernels(), threads, 0.0), x(problem.variables) {
    problem.initial(x.data());
    if (sizes.border) x.back() = 1.2;
  }

  Vector rows(const Vector& at, double* cost = nullptr) {
    Vector out(problem.rows);
    double own = 0.0;
    CHECK(problem.values(at.data(), cost == nullptr ? &own : cost, out.data()));
    return out;
  }

  Vector linearise(const Vector& at) {
    Vector out(problem.variables);
    CHECK(problem.linearise(at.data(), out.data()));
    return out;
  }

  Vector times(const Vector& direction) {
    Vector out(problem.rows);
    problem.jacobian_times(direction.data(), out.data());
    return out;
  }

  Vector transposed(const Vector& multipliers) {
    Vector out(problem.variables);
    problem.jacobian_transposed_times(multipliers.data(), out.data());
    return out;
  }

  // (variables, variables)
  Vector condensed(double cost_scale, const Vector& multipliers, const Vector& weights, bool exact) {
    Banded band;
    band.size = problem.blocks * problem.block;
    band.half = (problem.reach + 1) * problem.block - 1;
    band.stride = band.half + 3;
    band.border = problem.border;
    band.data.assign(static_cast<std::size_t>(band.size) * band.stride, 1e300);  // must not matter
    band.arrow.assign(band.size, 1e300);
    problem.condensed(cost_scale, multipliers.data(), weights.data(), exact, band);
    const int n = problem.variables;
    Vector out(static_cast<std::size_t>(n) * n, 0.0);
    for (int j = 0; j < band.size; ++j) {
      for (int i = j; i < band.size && i - j <= band.half; ++i) out[i * n + j] = out[j * n + i] = band.at(i, j);
      if (band.border != 0) out[(n - 1) * n + j] = out[j * n + n - 1] = band.arrow[j];
    }
    if (band.border != 0) out[n * n - 1] = band.corner;
    return out;
  }
};

// Rows of `rows` entry by entry, from the functions alone.
Vector plain_rows(const MotionData& d, const Vector& control, double sigma) {
  Vector out;
  const int nv = d.nv, nodes = d.pieces.nodes;
  for (std::size_t i = 0; i < d.rows.piece.size(); ++i) {
    const int e = d.rows.piece[i];
    Vector values(nodes);
    for (int k = 0; k < nodes; ++k) {
      double state[3][kWaveJoints] = {}, found[kWaveChannels + kWaveJoints];
      for (int r = 0; r < 3; ++r) {
        for (int j = 0; j < nv; ++j) {
          for (int w = 0; w < d.width; ++w) {
            state[r][j] += d.pieces.basis[((e * 3 + r) * nodes + k) * d.width + w] *
                           control[(d.pieces.first[e] + w) * nv + j] / std::pow(sigma, r);
          }
        }
      }
      wave_functions(state[0], state[1], state[2], d.references.data(), found);
      values[k] = found[d.rows.function[i]];
    }
    const planning::MotionMatrix& m = d.matrices[d.rows.matrix[i]];
    for (int r = 0; r < m.rows; ++r) {
      double sum = 0.0;
      for (int k = 0; k < nodes; ++k) sum += m.entries[r * nodes + k] * values[k];
      out.push_back(sum / std::pow(sigma, d.rows.rate[i]) / d.rows.scale[i]);
    }
  }
  return out;
}

TEST_CASE(planning_motion_rows, "planning_motion: rows are those of plain loops") {
  for (const WaveSizes& sizes : all_sizes()) {
    Case c(sizes, 1);
    const MotionData& d = c.problem.data();
    Vector control = d.control;
    for (int p = 0; p < d.points; ++p) {
      for (int j = 0; d.block_of[p] >= 0 && j < d.nv; ++j) control[p * d.nv + j] = c.x[d.block_of[p] * d.nv + j];
    }
    const Vector expected = plain_rows(d, control, sizes.border ? c.x.back() : 1.0), found = c.rows(c.x);
    CHECK(found.size() > expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK_NEAR(found[i], expected[i], 1e-12);
    if (sizes.border) CHECK_EQUAL(found.back(), c.x.back());
  }
}

TEST_CASE(planning_motion_jacobian, "planning_motion: products with the Jacobian agree with differences") {
  constexpr double kStep = 1e-6;
  for (const WaveSizes& sizes : all_sizes()) {
    Case c(sizes, 2);
    const Vector gradient = c.linearise(c.x), m = random_vector(c.problem.rows, 5), back = c.transposed(m);
    for (int i = 0; i < c.problem.variables; ++i) {
      Vector ahead = c.x, behind = c.x, unit(c.problem.variables, 0.0);
      ahead[i] += kStep;
      behind[i] -= kStep;
      unit[i] = 1.0;
      double costs[2], sum = 0.0;
      const Vector up = c.rows(ahead, &costs[0]), down = c.rows(behind, &costs[1]), found = c.times(unit);
      CHECK_NEAR(gradient[i], (costs[0] - costs[1]) / (2.0 * kStep), 1e-6);
      for (std::size_t r = 0; r < up.size(); ++r) {
        CHECK_NEAR(found[r], (up[r] - down[r]) / (2.0 * kStep), 1e-6);
        sum += m[r] * found[r];
      }
      CHECK_NEAR(back[i], sum, 1e-10);
    }
  }
}

// Differences of the gradient of cost_scale * cost + multipliers . rows.
Vector differences(Case& c, double cost_scale, const Vector& multipliers) {
  constexpr double kStep = 1e-5;
  const int n = c.problem.variables;
  Vector out(static_cast<std::size_t>(n) * n);
  for (int i = 0; i < n; ++i) {
    for (int side : {1, -1}) {
      Vector at = c.x;
      at[i] += side * kStep;
      const Vector cost = c.linearise(at), rows = c.transposed(multipliers);
      for (int j = 0; j < n; ++j) out[i * n + j] += side * (cost_scale * cost[j] + rows[j]) / (2.0 * kStep);
    }
  }
  return out;
}

TEST_CASE(planning_motion_condensed, "planning_motion: the condensed matrix has all second derivatives") {
  for (const WaveSizes& sizes : all_sizes()) {
    Case c(sizes, 3);
    const int n = c.problem.variables, m = c.problem.rows;
    const Vector multipliers = random_vector(m, 6), weights = random_vector(m, 7), none(m, 0.0);
    const Vector expected = differences(c, 0.8, multipliers);
    c.linearise(c.x);
    const Vector hessian = c.condensed(0.8, multipliers, none, true);
    const Vector squares = c.condensed(0.0, multipliers, weights, false);
    const Vector both = c.condensed(0.8, multipliers, weights, true);
    std::vector<Vector> columns;
    for (int i = 0; i < n; ++i) {
      Vector unit(n, 0.0);
      unit[i] = 1.0;
      columns.push_back(c.times(unit));
    }
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        double sum = 0.0;
        for (int r = 0; r < m; ++r) sum += weights[r] * columns[i][r] * columns[j][r];
        CHECK_NEAR(squares[i * n + j], sum, 1e-9);
        CHECK_NEAR(hessian[i * n + j], expected[i * n + j], 2e-6);
        CHECK_NEAR(both[i * n + j], hessian[i * n + j] + sum, 1e-9);
      }
    }
  }
}

// Everything that a problem answers, as bytes.
std::string answers(const WaveSizes& sizes, std::size_t threads) {
  Case c(sizes, 4, threads);
  const Vector m = random_vector(c.problem.rows, 8), w = random_vector(c.problem.rows, 9);
  std::string out;
  const auto add = [&](const Vector& v) { out.append(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(double)); };
  c.problem.refresh_margins(c.x.data());
  add(Vector(c.problem.lower(), c.problem.lower() + c.problem.rows));
  double cost = 0.0;
  add(c.rows(c.x, &cost));
  add({cost});
  add(c.linearise(c.x));
  add(c.times(c.x));
  add(c.transposed(m));
  add(c.condensed(0.4, m, w, true));
  add(c.condensed(0.4, m, w, false));
  return out;
}

TEST_CASE(planning_motion_threads, "planning_motion: the same bits on any number of threads") {
  for (WaveSizes sizes : all_sizes()) {
    sizes.points = 20;
    const std::string one = answers(sizes, 1);
    for (std::size_t threads : {2, 3}) CHECK(answers(sizes, threads) == one);
  }
}

TEST_CASE(planning_motion_margins, "planning_motion: margins draw bounds in, and never past each other") {
  Case c(all_sizes()[4], 5);
  MotionProblem& p = c.problem;
  const Vector lower(p.lower(), p.lower() + p.rows), upper(p.upper(), p.upper() + p.rows);
  CHECK(p.refresh_margins(c.x.data()));
  CHECK(!p.refresh_margins(c.x.data()));
  bool some = false;
  for (int i = 0; i < p.rows; ++i) {
    CHECK(p.margins()[i] >= 0.0);
    CHECK(p.lower()[i] >= lower[i] && p.upper()[i] <= upper[i] && p.lower()[i] <= p.upper()[i]);
    if (std::isfinite(lower[i]) && !std::isfinite(upper[i])) CHECK_NEAR(p.lower()[i], lower[i] + p.margins()[i], 1e-12);
    some = some || p.margins()[i] > 0.0;
  }
  CHECK(some);
}

TEST_CASE(planning_motion_bad_points, "planning_motion: points without values are told") {
  Case c(all_sizes()[4], 6);
  Vector rows(c.problem.rows), gradient(c.problem.variables);
  double cost = 0.0;
  for (double sigma : {0.0, -1.0, std::nan("")}) {
    Vector at = c.x;
    at.back() = sigma;
    CHECK(!c.problem.values(at.data(), &cost, rows.data()));
    CHECK(!c.problem.linearise(at.data(), gradient.data()));
    CHECK(!c.problem.refresh_margins(at.data()));
  }
  Vector at = c.x;
  at[0] = std::nan("");
  CHECK(!c.problem.values(at.data(), &cost, rows.data()));
  CHECK(!c.problem.linearise(at.data(), gradient.data()));
}

TEST_CASE(planning_motion_faults, "planning_motion: numbers that would lead astray are refused") {
  const MotionData good = wave_motion(all_sizes()[4], 7);
  CHECK_EQUAL(planning::motion_fault(good, wave_kernels()), "");
  const std::vector<std::function<void(MotionData&)>> spoils = {
      [](MotionData& d) { d.nv = 0; },
      [](MotionData& d) { d.points = 3; },
      [](MotionData& d) { d.control.pop_back(); },
      [](MotionData& d) { d.control[3] = std::nan(""); },
      [](MotionData& d) { d.block_of[4] = d.points; },
      [](MotionData& d) { d.block_of[4] = -2; },
      [](MotionData& d) { d.block_of.assign(d.points, 1); },
      [](MotionData& d) { d.pieces.first[1] = d.points - 1; },
      [](MotionData& d) { d.pieces.basis.pop_back(); },
      [](MotionData& d) { d.pieces.between.pop_back(); },
      [](MotionData& d) { d.pieces.quadrature[0] = std::nan(""); },
      [](MotionData& d) { d.matrices[0].rows += 1; },
      [](MotionData& d) { d.coarse.pop_back(); },
      [](MotionData& d) { d.coarse[0].rows = -1; },
      [](MotionData& d) { d.fine[0] = {0, {}}; },
      [](MotionData& d) { d.rows.piece[0] = d.pieces.count; },
      [](MotionData& d) { d.rows.function[0] = -1; },
      [](MotionData& d) { d.rows.function[0] = kWaveChannels + kWaveJoints; },
      [](MotionData& d) { d.rows.matrix[0] = 4; },
      [](MotionData& d) { d.rows.rate[0] = 4; },
      [](MotionData& d) { d.rows.scale[0] = 0.0; },
      [](MotionData& d) { d.rows.lower[1] = 3.0; },
      [](MotionData& d) { d.rows.upper[1] = std::nan(""); },
      [](MotionData& d) { d.rows.lower.pop_back(); },
      [](MotionData& d) { d.spline_rows.joint[0] = kWaveJoints; },
      [](MotionData& d) { d.spline_rows.first[0] = d.points - 1; },
      [](MotionData& d) { d.spline_rows.matrix[0] = 2; },
      [](MotionData& d) { d.cost.smoothness.pop_back(); },
      [](MotionData& d) { d.cost.torque_scale[0] = 0.0; },
      [](MotionData& d) { d.cost.jerk = std::nan(""); },
      [](MotionData& d) { d.torque = false; },
      [](MotionData& d) { d.shortest = 0.0; },
      [](MotionData& d) { d.longest = 0.1; },
      [](MotionData& d) { d.pattern.pop_back(); },
  };
  for (const auto& spoil : spoils) {
    MotionData bad = good;
    spoil(bad);
    CHECK(!planning::motion_fault(bad, wave_kernels()).empty());
  }
  CHECK(!planning::motion_fault(good, {}).empty());
}

}  // namespace
}  // namespace robomorph::tests
