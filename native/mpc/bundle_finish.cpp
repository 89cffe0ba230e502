// What a step leaves with the caller.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "mpc/bundle.h"

namespace robomorph::mpc {

void Bundle::finish() {
  for (int i = 0; i < w_.count(); ++i) {
    write_plan(i);
    write_facts(i);
    find_worst(i);
  }
  const double all = std::chrono::duration<double>(Clock::now() - begin_).count();
  for (int i = 0; i < w_.count() && problem_.out.times != nullptr; ++i) {
    double* times = problem_.out.times + 4 * static_cast<std::size_t>(w_.caller(i));
    times[0] = seconds_.kernels;
    times[1] = seconds_.sweep;
    times[2] = row_seconds_;
    times[3] = all - times[0] - times[1] - times[2];
  }
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
        q = t[kPosition].value[w_.at(s.nv, k, e, p)];
        v = t[kVelocity].value[w_.at(s.nv, k, e, p)];
      }
      if (out.q != nullptr) out.q[node + k * s.nv + e] = q;
      if (out.v != nullptr) out.v[node + k * s.nv + e] = v;
      if (k == s.horizon) break;
      const std::size_t at = w_.at(s.nv, k, e, p);
      const double a = t[kAcceleration].value[at];
      if (out.a != nullptr) out.a[step + k * s.nv + e] = a;
      if (out.torque != nullptr) out.torque[step + k * s.nv + e] = t[kTorque].value[at];
      v += s.dt * a;
      q += s.dt * v;
    }
  }
  const std::size_t size = 2 * static_cast<std::size_t>(s.nv) * s.nv;
  const double* gains = gains_.data() + p * size;
  if (out.gains != nullptr) std::memcpy(out.gains + caller * size, gains, size * sizeof(double));
  if (out.torque_gains != nullptr) form_->torque_gains(p, gains, out.torque_gains + caller * size);
}

void Bundle::write_facts(int i) {
  const Progress& p = p_[i];
  const Results& out = problem_.out;
  const std::size_t caller = w_.caller(i);
  if (out.cost != nullptr) out.cost[caller] = p.now.cost;
  if (out.counts == nullptr) return;
  std::int64_t counts[kCounts] = {};
  counts[kIterations] = p.iterations;
  counts[kCode] = static_cast<int>(p.code);
  counts[kConverged] = p.code == Code::kConverged;
  counts[kOrigin] = static_cast<int>(Origin::kFresh);
  counts[kElasticIterations] = p.elastic_iterations;
  counts[kTrials] = p.trials;
  counts[kRelaxed] = p.relaxed;
  for (int c = 0; c < out.counts_width; ++c) out.counts[caller * out.counts_width + c] = c < kCounts ? counts[c] : 0;
}

// By the caller's bounds, which need not be those that were solved for.
void Bundle::find_worst(int) {}

}  // namespace robomorph::mpc
