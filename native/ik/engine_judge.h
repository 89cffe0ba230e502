// How a trial configuration is evaluated, and what becomes of it. Included by engine.cpp alone.
#pragma once

#include "ik/engine.h"

namespace robomorph {

// Damping is a factor of the squared residual (at most one): quadratic convergence, yet bold far away.
inline constexpr double kFirstDamping = 1.0;
inline constexpr double kLeastDamping = 1e-4;
inline constexpr double kMostDamping = 1e5;
inline constexpr double kShrink = 0.3;
// While progress is slow, a step starts from a share of the last one: its part in the null space goes on, as long
// chains must unfold, and the rest is corrected by the linear model. Iterations of chain:100 fall from 28 to 12.
inline constexpr double kMomentum = 0.7;
inline constexpr double kQuick = 0.8;  // a gain of more than this share of the cost is quick: no momentum near the end
inline constexpr double kSlow = 0.02;  // an accepted step that gains less than this share of the cost is slow
inline constexpr int kMaxStalls = 3;

template <std::size_t L>
void IkEngine<L>::evaluate() {
  const int next = now_ ^ 1;
  const void* in[] = {a_.trial, a_.target, a_.sine, a_.cosine};
  void* out[] = {a_.raw, a_.jac[next]};
  if (plan_.trig != nullptr) {  // one lane: the joints fill the lanes
    for (std::size_t i = 0; i < plan_.nq; i += plan_.wide_lanes) {
      const void* angle[] = {a_.trial + i};
      void* both[] = {a_.sine + i, a_.cosine + i};
      plan_.trig(angle, both, a_.workspace);
    }
  }
  plan_.residual(in, out, a_.workspace);
  double* err = a_.err[next];
  ik_rows<L>(plan_, a_.raw, err, a_.bend[next]);
  double cost[L] = {};
  for (std::size_t i = 0; i < plan_.rows; ++i) {
    const double w = plan_.weights[i];
    for (std::size_t l = 0; l < L; ++l) cost[l] += (w * err[i * L + l]) * (w * err[i * L + l]);
  }
  double worst[L];
  ik_worst_group<L>(plan_, err, worst);
  for (std::size_t l = 0; l < L; ++l) {
    cost_[l] = cost[l];
    converged_[l] = worst[l] <= 1.0 && std::isfinite(cost[l]);
  }
}

template <std::size_t L>
void IkEngine<L>::judge(std::size_t l) {
  Lane& lane = lanes_[l];
  lane.moves = true;
  switch (lane.phase) {
    case Phase::kIdle:
      break;
    case Phase::kStart:
      accept(l);
      lane.phase = Phase::kSolve;
      if (!std::isfinite(lane.cost)) return finish(l, false);
      if (converged_[l]) settle_down(l);
      else if (hopeless(lane)) finish(l, false);
      break;
    case Phase::kSolve:
      judge_solve(l);
      break;
    case Phase::kPolish:
      judge_polish(l);
      break;
    case Phase::kReturn:
      accept(l);
      lane.phase = Phase::kPolish;
      break;
  }
}

template <std::size_t L>
void IkEngine<L>::judge_solve(std::size_t l) {
  Lane& lane = lanes_[l];
  ++lane.iteration;
  if (!plan_.gain_ratio) {
    if (!(cost_[l] <= lane.cost)) keep_least(l);
    accept(l);
    if (!std::isfinite(lane.cost)) return finish(l, false);
  } else {
    const double gained = lane.cost - cost_[l];
    const double expected = lane.cost - a_.model[l];
    if (gained > 0.0) {
      const bool quick = gained > kQuick * lane.cost;
      lane.stalls = gained < kSlow * lane.cost ? lane.stalls + 1 : 0;
      regulate(lane, expected > 0.0 ? gained / expected : 1.0);
      accept(l);
      for (std::size_t i = 0; i < plan_.nv; ++i) a_.last[i * L + l] = a_.step[i * L + l];
      lane.momentum = quick ? 0.0 : kMomentum;
    } else {
      // First without what the last step lent; then with more damping.
      if (lane.momentum == 0.0) {
        lane.damping *= lane.growth;
        lane.growth *= 2.0;
      }
      lane.momentum = 0.0;
      refuse(l);
      if (hopeless(lane)) finish(l, false);
      return;
    }
  }
  if (converged_[l]) return settle_down(l);
  if (hopeless(lane)) finish(l, false);
}

// Nielsen's rule, smooth in the gain ratio.
template <std::size_t L>
void IkEngine<L>::regulate(Lane& lane, double gain) {
  const double t = 2.0 * gain - 1.0;
  lane.damping *= std::clamp(1.0 - t * t * t, kShrink, 2.0);
  lane.damping = std::max(lane.damping, kLeastDamping);
  lane.growth = 2.0;
}

template <std::size_t L>
bool IkEngine<L>::hopeless(const Lane& lane) const {
  if (lane.iteration >= plan_.max_iterations) return true;
  return plan_.gain_ratio && (lane.stalls >= kMaxStalls || lane.damping > kMostDamping);
}

template <std::size_t L>
void IkEngine<L>::accept(std::size_t l) {
  for (std::size_t i = 0; i < plan_.nq; ++i) a_.q[i * L + l] = a_.trial[i * L + l];
  lanes_[l].cost = cost_[l];
}

// Where every step is taken, one that goes up leaves the best configuration behind.
template <std::size_t L>
void IkEngine<L>::keep_least(std::size_t l) {
  Lane& lane = lanes_[l];
  if (!(lane.cost < lane.least)) return;
  lane.least = lane.cost;
  for (std::size_t i = 0; i < plan_.nq; ++i) a_.best[i * L + l] = a_.q[i * L + l];
  ik_largest_errors<L>(plan_, a_.err[now_], l, lane.position_error, lane.rotation_error);
}

// The accepted configuration stays: its linear problem moves to the buffer that the next round reads.
template <std::size_t L>
void IkEngine<L>::refuse(std::size_t l) {
  const int next = now_ ^ 1;
  for (std::size_t i = 0; i < plan_.jacs; ++i) a_.jac[next][i * L + l] = a_.jac[now_][i * L + l];
  for (std::size_t i = 0; i < plan_.rows; ++i) a_.err[next][i * L + l] = a_.err[now_][i * L + l];
  for (std::size_t i = 0; i < plan_.bends; ++i) a_.bend[next][i * L + l] = a_.bend[now_][i * L + l];
}

}  // namespace robomorph
