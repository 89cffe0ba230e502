// Where a step begins, and every phase of it.
#include <algorithm>
#include <cmath>

#include "mpc/bundle.h"

namespace robomorph::mpc {
namespace {

constexpr double kBraking = 0.2;   // s, to stand still
constexpr double kRoom = 0.01;     // of a range: the least slack at the start
constexpr double kFirstMu = 1e-4;  // in units of the cost at the start
constexpr double kTickMu = 1e-7;

}  // namespace

void Bundle::start() {
  const bool shifted = request_.warm && request_.elapsed < w_.shape.horizon * w_.shape.dt;
  if (shifted) shift(request_.elapsed);
  gap_q_.clear();
  gap_v_.clear();
  for (int i = 0; i < problems(); ++i) start_progress(i, shifted);
  begin_phases();
  if (request_.deadline == Clock::time_point::max()) return;
  for (int i = 0; i < problems(); ++i) keep(begun_, i);
}

void Bundle::start_progress(int i, bool shifted) {
  const Kept& kept = kept_[i];
  const bool warm = shifted && kept.plan;
  Progress& p = p_[i] = Progress{};
  p.active = true;
  p.tick = warm && request_.iterations > 0;
  p.limit = p.tick || (!request_.warm && request_.iterations > 0) ? request_.iterations : problem_.cap;
  p.unit = warm ? kept.unit : 0.0;
  if (warm) p.begin(kept.elastic && !p.tick ? Phase::kElastic : Phase::kWarm, Begin::kAsItIs);
  if (problem_.relax_start) relax(i);
  const bool possible = first_step_possible(i);
  if (warm && (kept.elastic || !possible)) {
    soften(p, kept.elastic ? kept.hardness : kHardest * p.unit);
    if (!p.tick) p.phase = Phase::kElastic;
  }
  p.begun_warm = warm;
  if (!warm && !possible) p.phase = Phase::kElastic;
  if (warm && !form_->settles_at_state()) open_gap(i);
}

// The state that was measured is put into the direction, never into the motion: accelerations planned for one state
// say little about another.
void Bundle::open_gap(int p) {
  const Shape& s = w_.shape;
  for (int e = 0; e < s.nv; ++e) {
    const std::size_t from = static_cast<std::size_t>(w_.caller(p)) * s.nv + e, at = w_.at(s.nv, 0, e, p);
    const double q = problem_.state_q[from] - w_.terms[kPosition].value[at];
    const double v = problem_.state_v[from] - w_.terms[kVelocity].value[at];
    gap_q_.data()[p * s.nv + e] = q;
    gap_v_.data()[p * s.nv + e] = v;
    p_[p].gap |= q != 0.0 || v != 0.0;
  }
}

// Makes motions, slacks and multipliers of all problems at the beginning of a phase.
void Bundle::begin_phases() {
  const auto begins = [](const Progress& p) { return p.active && p.begin_with != Begin::kNothing; };
  if (std::none_of(p_, p_ + problems(), begins)) return;
  for (int i = 0; i < problems(); ++i) {
    if (!begins(p_[i])) continue;
    if (p_[i].begin_with == Begin::kBraking) start_cold(i);
    if (p_[i].begin_with == Begin::kSoftest) recall(softest_, i);
  }
  form_->settle();
  alignas(64) const double none[kLanes] = {};
  measure(none, none);
  for (int i = 0; i < problems(); ++i) {
    Progress& p = p_[i];
    if (!begins(p)) continue;
    p.unit = std::max(p.unit, point_of(i).cost);
    const bool anew = p.begin_with != Begin::kAsItIs;
    p.mu = (p.begin_with == Begin::kBraking ? kFirstMu : kTickMu) * p.unit + 1e-100;
    if (p.phase == Phase::kElastic && !p.elastic) soften(p, kSoftest * p.unit);
    if (anew) start_slacks(i);
    else recentre(i, p.mu);
  }
  measure(none, none);
  for (int i = 0; i < problems(); ++i) {
    Progress& p = p_[i];
    if (!begins(p)) continue;
    p.begin_with = Begin::kNothing;
    p.now = point_of(i);
    ++p.trials;
    if (p.iterations == 0) p.begun_violation = p.now.violation;
    note(i);
    if (p.now.finite()) continue;
    if (p.braking) p.end(Code::kFailed);
    else begin_anew(p);
  }
  swap_trial();
  form_->accept();
  begin_phases();  // what begins anew: once at most, as braking is the last resort
}

// The last plan is no start from here: its numbers are not finite.
void Bundle::begin_anew(Progress& p) {
  p.begin(p.elastic ? Phase::kElastic : Phase::kCold, Begin::kBraking);
  p.unit = 0.0;
  p.begun_warm = false;
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
      const int lanes = w_.lane_end(k, p) - s.lane(k, p);
      std::fill_n(t[kPosition].value + at, lanes, q);
      std::fill_n(t[kVelocity].value + at, lanes, v);
      std::fill_n(t[kAcceleration].value + at, lanes, a);
      v = k + 1 == steps ? 0.0 : v + dt * a;
      q += dt * v;
    }
    gap_q_.data()[p * s.nv + e] = gap_v_.data()[p * s.nv + e] = 0.0;
  }
  p_[p].gap = false;
  p_[p].braking = true;
}

// Slacks as wide as bounds are far, with a little room where the motion is beyond; all products the same. Soft bounds
// begin without any residual.
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
        begin(below, t.lower[at] - t.trial[at], t.below.slack[at], t.below.multiplier[at]);
        begin(above, t.trial[at] - t.upper[at], t.above.slack[at], t.above.multiplier[at]);
      }
    }
  }
}

}  // namespace robomorph::mpc
