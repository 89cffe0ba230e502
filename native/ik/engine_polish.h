// Moving a solution along the null space, as near to the posture as it gets. Included by engine.cpp alone.
#pragma once

#include "ik/engine.h"

namespace robomorph {

inline constexpr int kMaxPolishes = 40;
inline constexpr int kMaxCorrections = 4;
inline constexpr double kLeastPull = 0.03;
inline constexpr double kPolished = 1e-4;  // the gain in distance, relative, at which polishing ends

template <std::size_t L>
void IkEngine<L>::settle_down(std::size_t l) {
  Lane& lane = lanes_[l];
  wrap_towards_posture(l);
  keep_best(l);
  lane.distance = towards_posture(l, 1.0, nullptr);
  if (!plan_.polish || lane.distance < 1e-9) return finish(l, true);
  lane.phase = Phase::kPolish;
  lane.pull = 1.0;
  lane.polishes = lane.corrections = 0;
}

template <std::size_t L>
void IkEngine<L>::keep_best(std::size_t l) {
  Lane& lane = lanes_[l];
  for (std::size_t i = 0; i < plan_.nq; ++i) a_.best[i * L + l] = a_.q[i * L + l];
  ik_largest_errors<L>(plan_, a_.err[now_ ^ 1], l, lane.position_error, lane.rotation_error);
}

template <std::size_t L>
void IkEngine<L>::judge_polish(std::size_t l) {
  Lane& lane = lanes_[l];
  ++lane.iteration;
  accept(l);
  if (!converged_[l]) {
    if (++lane.corrections > kMaxCorrections || !std::isfinite(lane.cost)) pull_back(l);
    return;
  }
  lane.corrections = 0;
  const double distance = towards_posture(l, 1.0, nullptr);
  const double gained = lane.distance - distance;
  if (!(gained > 0.0)) return pull_back(l);
  keep_best(l);
  const bool slow = gained < kPolished * lane.distance;
  lane.distance = distance;
  if (++lane.polishes >= kMaxPolishes || slow || distance < 1e-9) return finish(l, true);
  lane.pull = std::min(1.0, 2.0 * lane.pull);
}

// The last pull led nowhere: back to the best configuration, to try a shorter one, or to end there.
template <std::size_t L>
void IkEngine<L>::pull_back(std::size_t l) {
  Lane& lane = lanes_[l];
  lane.corrections = 0;
  lane.pull *= 0.25;
  for (std::size_t i = 0; i < plan_.nq; ++i) a_.q[i * L + l] = a_.best[i * L + l];
  lane.phase = Phase::kReturn;
  lane.moves = false;
  if (++lane.polishes >= kMaxPolishes || lane.pull < kLeastPull) finish(l, true);
}

template <std::size_t L>
const double* IkEngine<L>::posture(std::size_t l) const {
  return batch_.posture + slots_[static_cast<std::size_t>(lanes_[l].slot)].problem * plan_.nq;
}

// `fraction` of the way from the lane's configuration to the posture, written to `out` (lane order) if there is one;
// returns the length of the whole way.
template <std::size_t L>
double IkEngine<L>::towards_posture(std::size_t l, double fraction, double* out) const {
  const double* to = posture(l);
  double square = 0.0;
  for (const IkScalar& joint : plan_.scalars) {
    const double d = joint.held ? 0.0 : to[joint.q] - a_.q[joint.q * L + l];
    square += d * d;
    if (out != nullptr) out[joint.v * L + l] = fraction * d;
  }
  for (const IkJoint& joint : plan_.others) {
    double way[kMostFreedoms * L];
    ik_pull(joint.kind, a_.q + joint.q * L + l, L, to + joint.q, way);
    for (int i = 0; i < ik_joint_size(joint.kind).nv; ++i) {
      const double d = plan_.held[joint.v + i] ? 0.0 : way[i * L];
      square += d * d;
      if (out != nullptr) out[(joint.v + i) * L + l] = fraction * d;
    }
  }
  return std::sqrt(square);
}

template <std::size_t L>
void IkEngine<L>::wrap_towards_posture(std::size_t l) {
  const double* to = posture(l);
  for (const IkScalar& joint : plan_.scalars) {
    if (!joint.wraps || joint.held) continue;
    double& q = a_.q[joint.q * L + l];
    const double nearest = to[joint.q] + ik_wrapped(q - to[joint.q]);
    if (std::fabs(nearest - q) > 1.0 && nearest >= joint.lower && nearest <= joint.upper) q = nearest;
  }
}

}  // namespace robomorph
