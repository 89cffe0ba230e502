// Where a step begins.
#include <algorithm>
#include <cmath>

#include "mpc/bundle.h"

namespace robomorph::mpc {
namespace {

constexpr double kBraking = 0.2;     // s, to stand still
constexpr double kRoom = 0.01;       // of a range: the least slack at the start
constexpr double kFirstMu = 1e-5;    // relative to the cost

}  // namespace

void Bundle::start(const Request&) {
  gap_q_.clear();
  gap_v_.clear();
  for (int i = 0; i < problems(); ++i) {
    p_[i] = Progress{};
    p_[i].active = true;
    start_cold(i);
  }
  evaluate();
  swap_trial();  // measured is the trial
  measure(primal_, dual_);
  for (int i = 0; i < problems(); ++i) {
    Progress& p = p_[i];
    p.now = point_of(i);
    p.unit = p.now.cost;
    p.mu = kFirstMu * p.unit + 1e-100;
  }
  swap_trial();
  bool any = false;
  for (int i = 0; i < problems(); ++i) any |= w_.bounds[i] > 0;
  if (any) {
    for (int i = 0; i < problems(); ++i) start_slacks(i);
    swap_trial();
    measure(primal_, dual_);
    swap_trial();
    for (int i = 0; i < problems(); ++i) p_[i].now = point_of(i);
  }
  for (int i = 0; i < problems(); ++i) {
    p_[i].trials = 1;
    if (p_[i].now.finite()) continue;
    p_[i].active = false;
    p_[i].code = Code::kFailed;
  }
}

// Brakes to a stand, and stays.
void Bundle::start_cold(int p) {
  const Shape& s = w_.shape;
  const double dt = s.dt;
  const int steps = std::min(s.horizon, std::max(1, static_cast<int>(std::ceil(kBraking / dt))));
  Terms* t = w_.terms;
  for (int e = 0; e < s.nv; ++e) {
    const std::size_t from = static_cast<std::size_t>(w_.caller(p)) * s.nv + e;
    double q = problem_.state_q[from], v = problem_.state_v[from];
    const double brake = -v / (steps * dt);
    for (int k = 0; k <= s.horizon; ++k) {
      const double a = k < steps && k < s.horizon ? brake : 0.0;
      const std::size_t at = w_.at(s.nv, k, e, p);
      for (int l = 0; l < w_.lane_end(k, p) - s.lane(k, p); ++l) {
        t[kPosition].value[at + l] = q;
        t[kVelocity].value[at + l] = v;
        t[kAcceleration].value[at + l] = a;
      }
      v = k + 1 == steps ? 0.0 : v + dt * a;
      q += dt * v;
    }
  }
}

// Slacks as wide as bounds are far, with a little room where the motion begins beyond; all products the same.
void Bundle::start_slacks(int p) {
  const double mu = p_[p].mu;
  for (int x = 0; x < kBoundable; ++x) {
    Terms& t = w_.terms[x];
    if (!t.bounded) continue;
    for (int k = 0; k <= w_.shape.horizon; ++k) {
      for (int e = 0; e < t.entries; ++e) {
        const std::size_t at = w_.at(t.entries, k, e, p);
        const bool below = t.lower[at] > -kHasBound, above = t.upper[at] < kHasBound;
        const double inverse = t.inverse_soft[w_.at(e, p)];
        const double range = below && above ? std::fabs(t.upper[at] - t.lower[at]) : 1.0 / t.inverse_scale[w_.at(e, p)];
        const auto begin = [&](bool has, double g, double& slack, double& multiplier) {
          if (!has) return;
          slack = std::max(-g, kRoom * range) + 1e-100;
          multiplier = mu / slack;
          if (inverse == 0.0) return;
          const double root = std::sqrt(g * g + 4.0 * mu * inverse);
          multiplier = g > 0.0 ? 0.5 * (g + root) / inverse : 2.0 * mu / (root - g);
          slack = mu / multiplier;
        };
        begin(below, t.lower[at] - t.value[at], t.below.slack[at], t.below.multiplier[at]);
        begin(above, t.value[at] - t.upper[at], t.above.slack[at], t.above.multiplier[at]);
      }
    }
  }
}

}  // namespace robomorph::mpc
