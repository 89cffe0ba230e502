// What a step leaves with the caller.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "mpc/bundle.h"

namespace robomorph::mpc {

void Bundle::finish() {
  const Motion* chosen[kLanes] = {};
  bool other = false;
  for (int i = 0; i < problems(); ++i) {
    chosen[i] = choose(i);
    other |= chosen[i] != nullptr || p_[i].gap;
  }
  if (other) {
    // The plan that the next step goes on from stays what it is.
    for (int x : {kPosition, kVelocity, kAcceleration}) {
      Terms& t = w_.terms[x];
      std::copy_n(t.value, t.numbers(w_.shape), t.change);
      std::swap(t.value, t.change);
    }
    for (int i = 0; i < problems(); ++i) {
      if (chosen[i] != nullptr) recall(*chosen[i], i);
    }
    form_->begin_at_state();
    for (int x : {kPosition, kVelocity, kAcceleration}) std::swap(w_.terms[x].value, w_.terms[x].change);
  }
  seconds_ = form_->spent();
  if (!other) swap_trial();  // what is written out is the trial
  for (int i = 0; i < w_.count(); ++i) {
    write_plan(i);
    report(i);
    write_counts(i);
  }
  if (!other) swap_trial();
  for (int i = 0; i < problems(); ++i) {
    const Progress& p = p_[i];
    Kept& kept = kept_[i];
    kept.plan = p.code != Code::kFailed;
    kept.unit = p.unit;
    kept.hardness = p.hardness;
    kept.elastic = p.elastic && p.now.violation > problem_.tolerance;
  }
  const double all = seconds_between(begin_, Clock::now());
  for (int i = 0; i < w_.count() && problem_.out.times != nullptr; ++i) {
    double* times = problem_.out.times + 4 * static_cast<std::size_t>(w_.caller(i));
    times[0] = seconds_.kernels;
    times[1] = seconds_.sweep;
    times[2] = row_seconds_;
    times[3] = all - times[0] - times[1] - times[2];
  }
}

// Which motion the caller gets; null: the last iteration's.
const Bundle::Motion* Bundle::choose(int i) {
  Progress& p = p_[i];
  if (p.code == Code::kFailed || (p.code == Code::kDeadline && p.iterations == 0)) {
    p.origin = p.braking ? Origin::kHold : Origin::kShifted;
    return nullptr;
  }
  if (w_.bounds[i] == 0 || p.now.violation <= problem_.tolerance) return nullptr;
  if (p.best_cost < INFINITY) {
    p.origin = p.code == Code::kConverged ? Origin::kFresh : Origin::kBest;
    return &best_;
  }
  if (p.softest_violation < p.now.violation) return &softest_;
  if (p.code == Code::kDeadline && p.begun_violation <= p.now.violation) {
    p.origin = p.begun_warm ? Origin::kShifted : Origin::kHold;
    return &begun_;
  }
  return nullptr;
}

// Rolled out anew, so that it begins at the measured state and obeys the integrator to rounding.
void Bundle::write_plan(int p) {
  const Shape& s = w_.shape;
  const Results& out = problem_.out;
  const std::size_t caller = w_.caller(p), node = caller * s.nodes() * s.nv, step = caller * s.horizon * s.nv;
  const Terms* t = w_.terms;
  for (int e = 0; e < s.nv; ++e) {
    double q = problem_.state_q[caller * s.nv + e], v = problem_.state_v[caller * s.nv + e];
    for (int k = 0; k <= s.horizon; ++k) {
      if (problem_.method != Method::kInverse) {  // another integrator's motion, as it was rolled out
        q = t[kPosition].trial[w_.at(s.nv, k, e, p)];
        v = t[kVelocity].trial[w_.at(s.nv, k, e, p)];
      }
      if (out.q != nullptr) out.q[node + k * s.nv + e] = q;
      if (out.v != nullptr) out.v[node + k * s.nv + e] = v;
      if (k == s.horizon) break;
      const std::size_t at = w_.at(s.nv, k, e, p);
      const double a = t[kAcceleration].trial[at];
      if (out.a != nullptr) out.a[step + k * s.nv + e] = a;
      if (out.torque != nullptr) out.torque[step + k * s.nv + e] = t[kTorque].trial[at];
      v += s.dt * a;
      q += s.dt * v;
    }
  }
  const std::size_t size = 2 * static_cast<std::size_t>(s.nv) * s.nv;
  const double* gains = gains_.data() + p * size;
  if (out.gains != nullptr) std::memcpy(out.gains + caller * size, gains, size * sizeof(double));
  if (out.torque_gains != nullptr) form_->torque_gains(p, gains, out.torque_gains + caller * size);
}

void Bundle::write_counts(int i) {
  const Progress& p = p_[i];
  const Results& out = problem_.out;
  if (out.counts == nullptr) return;
  std::int64_t counts[kCounts] = {};
  counts[kIterations] = p.iterations;
  counts[kCode] = static_cast<int>(p.code);
  counts[kConverged] = p.code == Code::kConverged;
  counts[kOrigin] = static_cast<int>(p.origin);
  counts[kElasticIterations] = p.elastic_iterations;
  counts[kTrials] = p.trials;
  counts[kRelaxed] = p.relaxed;
  std::int64_t* to = out.counts + static_cast<std::size_t>(w_.caller(i)) * out.counts_width;
  for (int c = 0; c < out.counts_width; ++c) to[c] = c < kCounts ? counts[c] : 0;
}

}  // namespace robomorph::mpc
