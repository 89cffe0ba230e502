#include "tests/planar_arm.h"

#include <cmath>
#include <cstring>

#include "ik/joints.h"
#include "ik/random.h"

namespace robomorph::tests {
namespace {

constexpr std::size_t kWorkspace = 200;

// Programs may use their workspace as they like.
void spoil(void* workspace) { std::memset(workspace, 0xff, kWorkspace); }

const double* input(const void* const* in, int i) { return static_cast<const double*>(in[i]); }
double* output(void* const* out, int i) { return static_cast<double*>(out[i]); }

// Error of the tip and its Jacobian (2 x N, row-major), lane by lane, of the links' directions.
template <std::size_t N, std::size_t L, typename Direction>
void tip_error(const double* target, std::size_t l, double* raw, double* jac, Direction direction) {
  double x[N + 1] = {}, y[N + 1] = {};  // of the joints
  double angle = 0.0;
  for (std::size_t k = 0; k < N; ++k) {
    direction(k, angle, x[k + 1], y[k + 1]);
    x[k + 1] += x[k];
    y[k + 1] += y[k];
  }
  raw[l] = x[N] - target[l];
  raw[L + l] = y[N] - target[L + l];
  if (jac == nullptr) return;
  for (std::size_t k = 0; k < N; ++k) {
    jac[k * L + l] = -(y[N] - y[k]);
    jac[(N + k) * L + l] = x[N] - x[k];
  }
}

template <std::size_t N, std::size_t L>
void residual(const void* const* in, void* const* out, void* workspace) {
  spoil(workspace);
  const double* q = input(in, 0);
  for (std::size_t l = 0; l < L; ++l) {
    tip_error<N, L>(input(in, 1), l, output(out, 0), output(out, 1),
                    [&](std::size_t k, double& angle, double& x, double& y) {
                      angle += q[k * L + l];
                      x = std::cos(angle);
                      y = std::sin(angle);
                    });
  }
}

template <std::size_t N, std::size_t L>
void errors(const void* const* in, void* const* out, void* workspace) {
  spoil(workspace);
  const double* q = input(in, 0);
  for (std::size_t l = 0; l < L; ++l) {
    tip_error<N, L>(input(in, 1), l, output(out, 0), nullptr,
                    [&](std::size_t k, double& angle, double& x, double& y) {
                      angle += q[k * L + l];
                      x = std::cos(angle);
                      y = std::sin(angle);
                    });
  }
}

// (q, target, sin, cos): the sum rule instead of the functions.
template <std::size_t N>
void residual_from_trig(const void* const* in, void* const* out, void* workspace) {
  spoil(workspace);
  const double *s = input(in, 2), *c = input(in, 3);
  double sine = 0.0, cosine = 1.0;
  tip_error<N, 1>(input(in, 1), 0, output(out, 0), output(out, 1), [&](std::size_t k, double&, double& x, double& y) {
    const double turned = sine * c[k] + cosine * s[k];
    cosine = cosine * c[k] - sine * s[k];
    sine = turned;
    x = cosine;
    y = sine;
  });
}

template <std::size_t L>
void trig(const void* const* in, void* const* out, void* workspace) {
  spoil(workspace);
  for (std::size_t l = 0; l < L; ++l) {
    output(out, 0)[l] = std::sin(input(in, 0)[l]);
    output(out, 1)[l] = std::cos(input(in, 0)[l]);
  }
}

// Solves a x = b by elimination; a is symmetric and positive definite. The answer is left in b.
template <std::size_t N>
void solve_in_place(double (&a)[N][N], double (&b)[N]) {
  for (std::size_t k = 0; k < N; ++k) {
    for (std::size_t i = k + 1; i < N; ++i) {
      const double share = a[i][k] / a[k][k];
      for (std::size_t j = k; j < N; ++j) a[i][j] -= share * a[k][j];
      b[i] -= share * b[k];
    }
  }
  for (std::size_t k = N; k-- > 0;) {
    for (std::size_t j = k + 1; j < N; ++j) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
}

// Levenberg-Marquardt over joints: base - (J^T J + lam)^-1 J^T (e + J base), held joints move by base alone.
template <std::size_t M, std::size_t N, std::size_t L>
void step(const void* const* in, void* const* out, void* workspace) {
  spoil(workspace);
  const double *jac = input(in, 0), *err = input(in, 1), *weights = input(in, 3), *mask = input(in, 4);
  const double *base = input(in, 5), *lam = input(in, 6);
  for (std::size_t l = 0; l < L; ++l) {
    double rows[M][N], left[M], gram[N][N] = {}, x[N] = {};
    for (std::size_t i = 0; i < M; ++i) {
      const double w = weights[i * L + l];
      left[i] = w * err[i * L + l];
      for (std::size_t k = 0; k < N; ++k) {
        const double entry = w * jac[(i * N + k) * L + l];
        left[i] += entry * base[k * L + l];
        rows[i][k] = entry * mask[k * L + l];
      }
    }
    for (std::size_t k = 0; k < N; ++k) {
      for (std::size_t i = 0; i < M; ++i) {
        for (std::size_t j = 0; j < N; ++j) gram[k][j] += rows[i][k] * rows[i][j];
        x[k] += rows[i][k] * left[i];
      }
      gram[k][k] += lam[l];
    }
    solve_in_place(gram, x);
    double model = 0.0;
    for (std::size_t i = 0; i < M; ++i) {
      for (std::size_t k = 0; k < N; ++k) left[i] -= rows[i][k] * x[k];
      model += left[i] * left[i];
    }
    for (std::size_t k = 0; k < N; ++k) output(out, 0)[k * L + l] = base[k * L + l] - mask[k * L + l] * x[k];
    output(out, 1)[l] = model;
  }
}

// Raw error R(q) R*^T; turns about the joint's own axes are turns about R's columns.
template <std::size_t L>
void ball_residual(const void* const* in, void* const* out, void* workspace) {
  spoil(workspace);
  const double *q = input(in, 0), *target = input(in, 1);
  for (std::size_t l = 0; l < L; ++l) {
    double quaternion[4], r[9];
    for (std::size_t i = 0; i < 4; ++i) quaternion[i] = q[i * L + l];
    rotation_of(quaternion, r);
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        double sum = 0.0;
        for (std::size_t k = 0; k < 3; ++k) sum += r[3 * i + k] * target[(3 * j + k) * L + l];
        output(out, 0)[(3 * i + j) * L + l] = sum;
        output(out, 1)[(3 * i + j) * L + l] = r[3 * i + j];
      }
    }
  }
}

template <std::size_t N, std::size_t L>
void set_programs(IkPlan& plan) {
  plan.residual = residual<N, L>;
  plan.step = step<2, N, L>;
}

template <std::size_t N>
void set_lanes(IkPlan& plan) {
  switch (plan.lanes) {
    case 1: return set_programs<N, 1>(plan);
    case 2: return set_programs<N, 2>(plan);
    case 4: return set_programs<N, 4>(plan);
    default: return set_programs<N, 8>(plan);
  }
}

template <std::size_t N>
KernelFn errors_for(std::size_t lanes) {
  switch (lanes) {
    case 1: return errors<N, 1>;
    case 2: return errors<N, 2>;
    case 4: return errors<N, 4>;
    default: return errors<N, 8>;
  }
}

KernelFn trig_for(std::size_t lanes) {
  switch (lanes) {
    case 1: return trig<1>;
    case 2: return trig<2>;
    case 4: return trig<4>;
    default: return trig<8>;
  }
}

void set_rows(IkPlan& plan, std::size_t rows, double tolerance) {
  plan.rows = rows;
  plan.weights.assign(rows, 1.0);
  plan.inverse_tolerance.assign(rows, 1.0 / tolerance);
  plan.group.assign(rows, 0);
  plan.groups = 1;
  plan.workspace = kWorkspace;
}

}  // namespace

IkPlan planar_plan(std::size_t joints, std::size_t lanes) {
  IkPlan plan;
  plan.lanes = lanes;
  if (joints == 2) set_lanes<2>(plan);
  else set_lanes<3>(plan);
  plan.nq = plan.nv = joints;
  plan.targets = plan.raws = 2;
  plan.jacs = 2 * joints;
  plan.blocks = {{IkBlockKind::kLinear, 0, 0, 2, -1}};
  plan.held.assign(joints, 0);
  for (std::size_t k = 0; k < joints; ++k) {
    plan.scalars.push_back({static_cast<int>(k), static_cast<int>(k), -kPi, kPi, false, false});
  }
  plan.limited = plan.scalars;
  set_rows(plan, 2, kPositionTolerance);
  return plan;
}

IkPlan planar_plan_with_trig(std::size_t joints, std::size_t wide_lanes) {
  IkPlan plan = planar_plan(joints, 1);
  plan.residual = joints == 2 ? residual_from_trig<2> : residual_from_trig<3>;
  plan.trig = trig_for(wide_lanes);
  plan.wide_lanes = wide_lanes;
  return plan;
}

IkPlan planar_plan_speculating(std::size_t joints, std::size_t wide_lanes, int speculations) {
  IkPlan plan = planar_plan(joints, 1);
  plan.errors = joints == 2 ? errors_for<2>(wide_lanes) : errors_for<3>(wide_lanes);
  plan.wide_lanes = wide_lanes;
  plan.speculations = speculations;
  plan.gain_ratio = false;
  return plan;
}

IkPlan ball_plan(std::size_t lanes) {
  IkPlan plan;
  plan.lanes = lanes;
  plan.residual = lanes == 1 ? ball_residual<1> : lanes == 2 ? ball_residual<2> : ball_residual<8>;
  plan.step = lanes == 1 ? step<3, 3, 1> : lanes == 2 ? step<3, 3, 2> : step<3, 3, 8>;
  plan.nq = 4;
  plan.nv = 3;
  plan.targets = plan.raws = plan.jacs = 9;
  plan.bends = 1;
  plan.blocks = {{IkBlockKind::kRotation, 0, 0, 3, 0}};
  plan.others = {{IkJointKind::kSpherical, 0, 0}};
  plan.held.assign(3, 0);
  set_rows(plan, 3, kAngleTolerance);
  return plan;
}

void set_limits(IkPlan& plan, std::size_t joint, double lower, double upper) {
  plan.scalars[joint].lower = plan.limited[joint].lower = lower;
  plan.scalars[joint].upper = plan.limited[joint].upper = upper;
}

void planar_tip(const double* q, std::size_t joints, double* xy) {
  double angle = 0.0;
  xy[0] = xy[1] = 0.0;
  for (std::size_t k = 0; k < joints; ++k) {
    angle += q[k];
    xy[0] += std::cos(angle);
    xy[1] += std::sin(angle);
  }
}

void rotation_of(const double* quaternion, double* matrix) {
  for (int column = 0; column < 3; ++column) {
    const double axis[3] = {column == 0 ? 1.0 : 0.0, column == 1 ? 1.0 : 0.0, column == 2 ? 1.0 : 0.0};
    double turned[3];
    ik_turn(quaternion, axis, turned);
    for (int row = 0; row < 3; ++row) matrix[3 * row + column] = turned[row];
  }
}

Problems::Problems(const IkPlan& plan, std::size_t count)
    : count(count), target(count * plan.targets), start(count * plan.nq), posture(count * plan.nq) {
  const std::size_t entries = count * (plan.choice == IkChoice::kAll ? static_cast<std::size_t>(plan.max_starts) : 1);
  q.assign(entries * plan.nq, NAN);
  position_error.assign(entries, NAN);
  rotation_error.assign(entries, NAN);
  success.assign(entries, 77);
  iterations.assign(entries, -1);
  starts.assign(entries, -1);
}

Problems Problems::planar(const IkPlan& plan, std::size_t count, std::uint64_t seed) {
  Problems problems(plan, count);
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<double> goal(plan.nq);
    for (std::size_t k = 0; k < plan.nq; ++k) {
      const IkScalar& joint = plan.scalars[k];
      const auto inside = [&](std::uint64_t place) {
        return joint.lower + (joint.upper - joint.lower) * ik_uniform(seed, i, 3 * k + place);
      };
      goal[k] = inside(0);
      problems.start[i * plan.nq + k] = inside(1);
      problems.posture[i * plan.nq + k] = inside(2);
    }
    planar_tip(goal.data(), plan.nq, &problems.target[2 * i]);
  }
  return problems;
}

Problems Problems::ball(const IkPlan& plan, std::size_t count, std::uint64_t seed) {
  Problems problems(plan, count);
  for (std::size_t i = 0; i < count; ++i) {
    double turns[3][4];
    for (std::uint64_t n = 0; n < 3; ++n) {
      double square = 0.0;
      for (std::uint64_t k = 0; k < 4; ++k) {
        turns[n][k] = ik_uniform(seed, i, 4 * n + k) - 0.5;
        square += turns[n][k] * turns[n][k];
      }
      for (double& x : turns[n]) x /= std::sqrt(square);
    }
    rotation_of(turns[0], &problems.target[9 * i]);
    for (std::size_t k = 0; k < 4; ++k) problems.start[4 * i + k] = turns[1][k];
    for (std::size_t k = 0; k < 4; ++k) problems.posture[4 * i + k] = turns[2][k];
  }
  return problems;
}

bool Problems::solve(const IkPlan& plan, std::size_t threads) {
  const IkBatch batch{count,
                      target.data(),
                      start.data(),
                      posture.data(),
                      q.data(),
                      success.data(),
                      position_error.data(),
                      rotation_error.data(),
                      iterations.data(),
                      starts.data()};
  return ik_solve(plan, batch, threads);
}

bool Problems::operator==(const Problems& other) const {
  const auto same = [](const std::vector<double>& a, const std::vector<double>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
  };
  return same(q, other.q) && same(position_error, other.position_error) &&
         same(rotation_error, other.rotation_error) && success == other.success && iterations == other.iterations &&
         starts == other.starts;
}

}  // namespace robomorph::tests
