// How lanes step: damping, momentum, and limits inside the step. Included by engine.cpp alone.
#pragma once

#include "ik/engine.h"

namespace robomorph {

inline constexpr double kDampingFloor = 1e-11;
inline constexpr double kPolishDamping = 1e-9;
inline constexpr int kMaxSaturations = 8;

template <std::size_t L>
void IkEngine<L>::move_lanes() {
  if (!prepare_step()) return make_trial();
  const void* in[] = {a_.jac[now_], a_.err[now_], a_.bend[now_], a_.weights, a_.mask, a_.base, a_.lam};
  void* out[] = {a_.step, a_.model};
  bool inside = false;
  for (int pass = 0; pass < kMaxSaturations && !inside; ++pass) {
    plan_.step(in, out, a_.workspace);
    inside = !saturate();
  }
  if (!inside) shorten();
  if (L == 1 && plan_.speculations > 0 && lanes_[0].moves) {
    const double share = speculated_share();
    for (std::size_t i = 0; i < plan_.nv; ++i) a_.step[i] *= share;
  }
  make_trial();
}

// The best of the lengths that are tried, which is an exact line search and zig-zags as such do: a length that is
// random below it does not. One that ends the search is taken as it is.
template <std::size_t L>
double IkEngine<L>::speculated_share() {
  const Lane& lane = lanes_[0];
  const IkShare best = speculation_.best_share(plan_, a_.q, a_.step, a_.target);
  if (plan_.relaxation == 0.0 || best.within) return best.share;
  // Numbers of their own, not those of the random starts.
  const double random = ik_uniform(ik_mix(plan_.seed), static_cast<std::uint64_t>(lane.start),
                                   static_cast<std::uint64_t>(lane.iteration));
  return best.share * (1.0 - plan_.relaxation * random);
}

// False if no lane takes a step in this round.
template <std::size_t L>
bool IkEngine<L>::prepare_step() {
  bool any = false;
  double momentum[L];
  for (std::size_t l = 0; l < L; ++l) {
    const Lane& lane = lanes_[l];
    moving_[l] = lane.moves ? 1.0 : 0.0;
    any = any || lane.moves;
    momentum[l] = lane.moves && lane.phase == Phase::kSolve ? lane.momentum : 0.0;
    const double share = lane.damping * std::min(lane.cost, 1.0);
    a_.lam[l] = lane.phase == Phase::kPolish ? kPolishDamping : std::max(share, kDampingFloor);
    if (!lane.moves) a_.lam[l] = 1.0;
  }
  if (!any) return false;
  for (std::size_t i = 0; i < plan_.nv; ++i) {
    for (std::size_t l = 0; l < L; ++l) a_.base[i * L + l] = momentum[l] * a_.last[i * L + l];
  }
  // The others' masks never change: free, or held by the caller.
  for (const IkScalar& joint : plan_.limited) {
    if (joint.held) continue;
    for (std::size_t l = 0; l < L; ++l) a_.mask[joint.v * L + l] = moving_[l];
  }
  for (std::size_t l = 0; l < L; ++l) {
    const Lane& lane = lanes_[l];
    if (lane.moves && lane.phase == Phase::kPolish && lane.corrections == 0) towards_posture(l, lane.pull, a_.base);
  }
  return true;
}

// Joints that the step would take beyond a limit are held there; true if there were any, and the step must be
// made again for the others.
template <std::size_t L>
bool IkEngine<L>::saturate() {
  double any = 0.0;
  for (const IkScalar& joint : plan_.limited) {
    const double* q = a_.q + joint.q * L;
    const double* step = a_.step + joint.v * L;
    double* mask = a_.mask + joint.v * L;
    double* base = a_.base + joint.v * L;
    double hit = 0.0;
    for (std::size_t l = 0; l < L; ++l) {
      const double to = q[l] + step[l];
      const double beyond = (to < joint.lower || to > joint.upper) ? mask[l] : 0.0;
      hit += beyond;
    }
    if (hit == 0.0) continue;
    any += hit;
    for (std::size_t l = 0; l < L; ++l) {
      const double to = q[l] + step[l];
      if (mask[l] == 0.0 || (to >= joint.lower && to <= joint.upper)) continue;
      mask[l] = 0.0;
      base[l] = (to < joint.lower ? joint.lower : joint.upper) - q[l];
    }
  }
  return any > 0.0;
}

// Saturation did not come to an end: go only as far along the step as the limits allow.
template <std::size_t L>
void IkEngine<L>::shorten() {
  double share[L];
  std::fill_n(share, L, 1.0);
  for (const IkScalar& joint : plan_.limited) {
    for (std::size_t l = 0; l < L; ++l) {
      const double q = a_.q[joint.q * L + l], step = a_.step[joint.v * L + l];
      const double limit = step > 0.0 ? joint.upper : joint.lower;
      if ((step > 0.0 && q + step > limit) || (step < 0.0 && q + step < limit)) {
        share[l] = std::min(share[l], std::max(0.0, (limit - q) / step));
      }
    }
  }
  for (std::size_t i = 0; i < plan_.nv; ++i) {
    for (std::size_t l = 0; l < L; ++l) a_.step[i * L + l] *= share[l];
  }
  // The squared residual is convex along the step.
  for (std::size_t l = 0; l < L; ++l) {
    a_.model[l] = share[l] * a_.model[l] + (1.0 - share[l]) * lanes_[l].cost;
  }
}

template <std::size_t L>
void IkEngine<L>::make_trial() {
  for (const IkScalar& joint : plan_.scalars) {
    const double* q = a_.q + joint.q * L;
    const double* step = a_.step + joint.v * L;
    double* trial = a_.trial + joint.q * L;
    // A joint that goes to its limit may miss it by a rounding error, and a speculated step may go beyond it.
    for (std::size_t l = 0; l < L; ++l) {
      trial[l] = ik_inside(joint, moving_[l] > 0.0 ? q[l] + step[l] : q[l]);
    }
  }
  for (const IkJoint& joint : plan_.others) {
    for (std::size_t l = 0; l < L; ++l) {
      const double* q = a_.q + joint.q * L + l;
      const double* step = a_.step + joint.v * L + l;
      double* trial = a_.trial + joint.q * L + l;
      if (moving_[l] == 0.0 || plan_.held[joint.v]) {
        for (int i = 0; i < ik_joint_size(joint.kind).nq; ++i) trial[i * L] = q[i * L];
      } else {
        ik_move(joint.kind, q, step, trial, L);
      }
    }
  }
}

}  // namespace robomorph
