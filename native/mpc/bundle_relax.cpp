// Bounds and the state at the start, which no motion can change.
#include <algorithm>
#include <cmath>

#include "mpc/bundle.h"

namespace robomorph::mpc {
namespace {

constexpr double kStop = 0.2;     // s from the highest velocity to none
constexpr double kReturn = 0.1;   // s, the time constant of the way back into bounds

// A bound that is `excess` broken at first, `stop` s of braking beyond which it eases back.
double eased(double excess, double time, double stop) {
  const double x = std::max(time - stop, 0.0) / kReturn;
  return excess * (1.0 + x) * std::exp(-x);
}

}  // namespace

// Widens bounds of q and v node by node to what braking leaves, where the start is beyond them.
void Bundle::relax(int p) {
  const Shape& s = w_.shape;
  const Terms &q = w_.terms[kPosition], &v = w_.terms[kVelocity];
  const double slack = 0.5 * problem_.tolerance;
  for (int e = 0; e < s.nv; ++e) {
    const std::size_t from = static_cast<std::size_t>(w_.caller(p)) * s.nv + e, first = w_.at(s.nv, 1, e, p);
    const double q0 = problem_.state_q[from], v0 = problem_.state_v[from];
    double brake = std::fabs(v0) / kStop;
    if (v.bounded && v.upper[first] < kHasBound && v.lower[first] > -kHasBound) {
      brake = std::max(0.5 * (v.upper[first] - v.lower[first]) / kStop, 1e-9);
    }
    for (int side : {-1, 1}) {
      const auto beyond = [&](const Terms& t, double value) {
        if (!t.bounded) return 0.0;
        const double excess = side > 0 ? value - t.upper[first] : t.lower[first] - value;
        return excess * t.hard_scale[w_.at(e, p)] > slack ? excess : 0.0;
      };
      const double fast = beyond(v, v0), outside = beyond(q, q0);
      const double outward = std::max(side * v0, 0.0), stop = brake > 0.0 ? outward / brake : 0.0;
      const double far = outside + 0.5 * outward * stop + outward * s.dt;
      for (int k = 1; k <= s.horizon && (fast > 0.0 || outside > 0.0); ++k) {
        const std::size_t at = w_.at(s.nv, k, e, p);
        const double speed = side * v0 - brake * k * s.dt;
        if (fast > 0.0 && speed > side * (side > 0 ? v.upper[at] : v.lower[at])) {
          w_.widen(kVelocity, k, e, p, side < 0 ? side * speed : v.lower[at], side > 0 ? side * speed : v.upper[at]);
          ++p_[p].relaxed;
        }
        if (outside <= 0.0) continue;
        const double way = eased(far, k * s.dt, stop);
        if (way * q.inverse_scale[w_.at(e, p)] < slack) continue;
        w_.widen(kPosition, k, e, p, q.lower[at] - (side < 0 ? way : 0.0), q.upper[at] + (side > 0 ? way : 0.0));
        ++p_[p].relaxed;
      }
    }
  }
}

// Is there an acceleration of every joint that keeps its own bounds of q, v and a at the first step?
bool Bundle::first_step_possible(int p) const {
  const Shape& s = w_.shape;
  for (int e = 0; e < s.nv; ++e) {
    const std::size_t from = static_cast<std::size_t>(w_.caller(p)) * s.nv + e;
    const double q0 = problem_.state_q[from], v0 = problem_.state_v[from], dt = s.dt;
    double least = -INFINITY, most = INFINITY;
    const auto narrow = [&](int x, int node, double at_rest, double by) {
      const Terms& t = w_.terms[x];
      if (!t.bounded || t.hard_scale[w_.at(e, p)] == 0.0) return;
      const std::size_t at = w_.at(s.nv, node, e, p);
      const double room = 0.5 * problem_.tolerance / t.hard_scale[w_.at(e, p)];
      if (t.lower[at] > -kHasBound) least = std::max(least, (t.lower[at] - room - at_rest) / by);
      if (t.upper[at] < kHasBound) most = std::min(most, (t.upper[at] + room - at_rest) / by);
    };
    narrow(kAcceleration, 0, 0.0, 1.0);
    narrow(kVelocity, 1, v0, dt);
    narrow(kPosition, 1, q0 + dt * v0, dt * dt);
    if (least > most) return false;
  }
  return true;
}

}  // namespace robomorph::mpc
