#include "tests/wave_motion.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "planning/dense.h"

namespace robomorph::tests {
namespace {

using planning::kLanes;
using planning::MotionData;
using planning::MotionMatrix;

constexpr int kN = kWaveJoints, kC = kWaveChannels;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// How channel c depends on joint j; the first two channels know the first joint alone.
double factor(int c, int j) { return c < 2 && j > 0 ? 0.0 : 0.4 + 0.3 * c - 0.5 * j; }

double delta(int i, int j) { return i == j ? 1.0 : 0.0; }

// --- one state ------------------------------------------------------------------------------------------------------

double phase(int c, const double* q, const double* references) {
  double sum = references[c % 2];
  for (int j = 0; j < kN; ++j) sum += factor(c, j) * q[j];
  return sum;
}

double torque(int i, const double* q, const double* v, const double* a) {
  double sum = std::cos(q[i]);
  for (int j = 0; j < kN; ++j) sum += std::cos(q[i] - q[j]) * a[j] + std::sin(q[i] - q[j]) * v[j] * v[j];
  return sum;
}

double torque_by_q(int i, int k, const double* q, const double* v, const double* a) {
  double sum = -std::sin(q[i]) * delta(i, k);
  for (int j = 0; j < kN; ++j) {
    const double turn = q[i] - q[j];
    sum += (delta(i, k) - delta(j, k)) * (std::cos(turn) * v[j] * v[j] - std::sin(turn) * a[j]);
  }
  return sum;
}

double torque_by_qq(int i, int k, int l, const double* q, const double* v, const double* a) {
  double sum = -std::cos(q[i]) * delta(i, k) * delta(i, l);
  for (int j = 0; j < kN; ++j) {
    const double turn = q[i] - q[j], both = (delta(i, k) - delta(j, k)) * (delta(i, l) - delta(j, l));
    sum -= both * (std::sin(turn) * v[j] * v[j] + std::cos(turn) * a[j]);
  }
  return sum;
}

// --- kernels: entry k of lane l at k * kLanes + l -------------------------------------------------------------------

struct State {
  double q[kN], v[kN], a[kN];
  State(const void* const* in, int lane) {
    for (int j = 0; j < kN; ++j) {
      q[j] = static_cast<const double*>(in[0])[j * kLanes + lane];
      v[j] = static_cast<const double*>(in[1])[j * kLanes + lane];
      a[j] = static_cast<const double*>(in[2])[j * kLanes + lane];
    }
  }
};

struct Pose {
  double q[kN], references[2];
  Pose(const void* const* in, int lane) {
    for (int j = 0; j < kN; ++j) q[j] = static_cast<const double*>(in[0])[j * kLanes + lane];
    for (int j = 0; j < 2; ++j) references[j] = static_cast<const double*>(in[1])[j * kLanes + lane];
  }
};

double* out_at(void* const* out, int port, int entry, int lane) {
  return static_cast<double*>(out[port]) + entry * kLanes + lane;
}

void channel_values(const void* const* in, void* const* out, void*) {
  for (int l = 0; l < kLanes; ++l) {
    const Pose s(in, l);
    for (int c = 0; c < kC; ++c) *out_at(out, 0, c, l) = std::sin(phase(c, s.q, s.references));
  }
}

void channels(const void* const* in, void* const* out, void* workspace) {
  channel_values(in, out, workspace);
  for (int l = 0; l < kLanes; ++l) {
    const Pose s(in, l);
    for (int c = 0; c < kC; ++c) {
      const double slope = std::cos(phase(c, s.q, s.references));
      for (int j = 0; j < kN; ++j) *out_at(out, 1, c * kN + j, l) = slope * factor(c, j);
    }
  }
}

void channel_hessian(const void* const* in, void* const* out, void*) {
  for (int l = 0; l < kLanes; ++l) {
    const Pose s(in, l);
    for (int i = 0; i < kN; ++i) {
      for (int j = 0; j < kN; ++j) {
        double sum = 0.0;
        for (int c = 0; c < kC; ++c) {
          const double m = static_cast<const double*>(in[2])[c * kLanes + l];
          sum -= m * std::sin(phase(c, s.q, s.references)) * factor(c, i) * factor(c, j);
        }
        *out_at(out, 0, i * kN + j, l) = sum;
      }
    }
  }
}

void torque_values(const void* const* in, void* const* out, void*) {
  for (int l = 0; l < kLanes; ++l) {
    const State s(in, l);
    for (int i = 0; i < kN; ++i) *out_at(out, 0, i, l) = torque(i, s.q, s.v, s.a);
  }
}

void torques(const void* const* in, void* const* out, void* workspace) {
  torque_values(in, out, workspace);
  for (int l = 0; l < kLanes; ++l) {
    const State s(in, l);
    for (int i = 0; i < kN; ++i) {
      for (int k = 0; k < kN; ++k) {
        *out_at(out, 1, i * kN + k, l) = torque_by_q(i, k, s.q, s.v, s.a);
        *out_at(out, 2, i * kN + k, l) = 2.0 * std::sin(s.q[i] - s.q[k]) * s.v[k];
        *out_at(out, 3, i * kN + k, l) = std::cos(s.q[i] - s.q[k]);
      }
    }
  }
}

void torque_hessian(const void* const* in, void* const* out, void*) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const State s(in, lane);
    for (int k = 0; k < kN; ++k) {
      for (int l = 0; l < kN; ++l) {
        double qq = 0.0, qv = 0.0, vv = 0.0, qa = 0.0;
        for (int i = 0; i < kN; ++i) {
          const double m = static_cast<const double*>(in[3])[i * kLanes + lane];
          const double turn = s.q[i] - s.q[l], moved = delta(i, k) - delta(l, k);
          qq += m * torque_by_qq(i, k, l, s.q, s.v, s.a);
          qv += m * moved * 2.0 * std::cos(turn) * s.v[l];
          vv += m * delta(k, l) * 2.0 * std::sin(turn);
          qa -= m * moved * std::sin(turn);
        }
        const double values[] = {qq, qv, vv, qa};
        for (int port = 0; port < 4; ++port) *out_at(out, port, k * kN + l, lane) = values[port];
      }
    }
  }
}

// --- numbers --------------------------------------------------------------------------------------------------------

std::vector<double> numbers(WaveRandom& random, std::size_t count) {
  std::vector<double> out(count);
  for (double& x : out) x = random();
  return out;
}

std::vector<MotionMatrix> matrices(WaveRandom& random, const std::vector<int>& rows, int columns) {
  std::vector<MotionMatrix> out;
  for (int count : rows) out.push_back({count, numbers(random, static_cast<std::size_t>(count) * columns)});
  return out;
}

template <typename Rows>
void add_bounds(Rows& rows, int i, int matrix, int rate) {
  rows.matrix.push_back(matrix);
  rows.rate.push_back(rate);
  rows.lower.push_back(i % 5 == 0 ? -kInfinity : -1.0);
  rows.upper.push_back(i % 7 == 0 ? kInfinity : 2.0);
  rows.scale.push_back(0.5 + 0.1 * (i % 9));
}

// Every function somewhere; some pieces have no rows.
void add_rows(MotionData& d, int pieces, int points) {
  for (int i = 0; i < 6 * pieces; ++i) {
    if (i % pieces == pieces - 1) continue;
    d.rows.piece.push_back(i % pieces);
    d.rows.function.push_back(i % (kC + kN));
    add_bounds(d.rows, i, i % 4, i % 3);
  }
  for (int i = 0; i < 3 * points; ++i) {
    d.spline_rows.first.push_back(i * 5 % (points - d.width + 1));
    d.spline_rows.joint.push_back(i % kN);
    add_bounds(d.spline_rows, i, i % 2, i % 4);
  }
}

void add_blocks(MotionData& d, const WaveSizes& sizes) {
  const int period = sizes.points > 8 ? sizes.points - 3 : 3;  // the latter: a block twice in one piece
  for (int c = 0; c < sizes.points; ++c) {
    const bool end = c < 2 || c >= sizes.points - 2;
    d.block_of.push_back(sizes.shared ? (c * 7) % period : end ? -1 : c - 2);
  }
}

void add_cost(MotionData& d, const WaveSizes& sizes, WaveRandom& random) {
  d.cost.jerk = sizes.jerk;
  d.cost.energy = sizes.energy;
  d.cost.time = sizes.time;
  d.cost.smoothness.assign(static_cast<std::size_t>(sizes.points) * sizes.points, 0.0);
  for (int i = 0; i < sizes.points; ++i) {
    for (int j = std::max(0, i - d.width + 1); j <= i; ++j) d.cost.smoothness[i * sizes.points + j] = random();
  }
  d.cost.joint_weight = {1.0, 0.5, 2.0};
  d.cost.torque_scale = {1.0, 3.0, 2.0};
}

}  // namespace

MotionData wave_motion(const WaveSizes& sizes, unsigned seed) {
  WaveRandom random(seed);
  MotionData d;
  d.nv = kN;
  d.width = 4;
  d.channels = kC;
  d.points = sizes.points;
  d.torque = true;
  d.seconds = 1.5;
  d.free_duration = sizes.border;
  d.shortest = 0.4;
  d.longest = 3.0;
  d.references = {0.3, -0.2};
  d.control = numbers(random, static_cast<std::size_t>(sizes.points) * kN);
  add_blocks(d, sizes);
  planning::MotionPieces& p = d.pieces;
  p.count = sizes.points - d.width + 1;
  p.nodes = sizes.nodes;
  for (int e = 0; e < p.count; ++e) p.first.push_back(e);
  p.basis = numbers(random, static_cast<std::size_t>(p.count) * 3 * p.nodes * d.width);
  p.between = numbers(random, static_cast<std::size_t>(p.count) * 3 * (p.nodes - 1) * d.width);
  p.quadrature = numbers(random, static_cast<std::size_t>(p.count) * p.nodes);
  for (double& w : p.quadrature) w = std::fabs(w);
  const int n = p.nodes;
  d.matrices = matrices(random, {n, n - 1, 1, 2 * n + 3}, n);
  d.coarse = matrices(random, {n, n, n, 0}, n);
  d.fine = matrices(random, {2 * n - 1, 2 * n - 1, n, 0}, 2 * n - 1);
  d.spline_matrices = matrices(random, {4, 2}, d.width);
  add_rows(d, p.count, sizes.points);
  add_cost(d, sizes, random);
  for (int f = 0; sizes.sparse && f < kC + kN; ++f) {
    for (int j = 0; j < kN; ++j) d.pattern.push_back(f >= kC || factor(f, j) != 0.0 ? 1 : 0);
  }
  return d;
}

planning::MotionKernels wave_kernels() {
  return {{channel_values, 64}, {channels, 64}, {channel_hessian, 64}, {torque_values, 64}, {torques, 64},
          {torque_hessian, 64}};
}

void wave_functions(const double* q, const double* qd, const double* qdd, const double* references, double* out) {
  for (int c = 0; c < kC; ++c) out[c] = std::sin(phase(c, q, references));
  for (int i = 0; i < kN; ++i) out[kC + i] = torque(i, q, qd, qdd);
}

}  // namespace robomorph::tests
