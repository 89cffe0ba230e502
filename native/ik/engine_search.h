// Which start a lane works on next, and where its answer goes. Included by engine.cpp alone.
#pragma once

#include "ik/engine.h"

namespace robomorph {

template <std::size_t L>
void IkEngine<L>::finish(std::size_t l, bool success) {
  Lane& lane = lanes_[l];
  IkSlot& slot = slots_[static_cast<std::size_t>(lane.slot)];
  if (!success) {
    if (lane.cost <= lane.least || !std::isfinite(lane.least)) keep_best(l);
    else lane.cost = lane.least;  // that configuration was kept
  }
  record(lane, slot, l, {success, lane.iteration, lane.cost, lane.distance});
  release(l);
  if (success) cancel_useless(lane.slot);
}

template <std::size_t L>
void IkEngine<L>::record(const Lane& lane, const IkSlot& slot, std::size_t l, const IkOutcome& outcome) {
  const bool all = plan_.choice == IkChoice::kAll;
  const bool better = ik_settle(plan_, slots_[static_cast<std::size_t>(lane.slot)], lane.start, outcome);
  if (!better && !all) return;
  const std::size_t at = all ? slot.problem * static_cast<std::size_t>(plan_.max_starts) + lane.start : slot.problem;
  for (std::size_t i = 0; i < plan_.nq; ++i) batch_.q[at * plan_.nq + i] = a_.best[i * L + l];
  batch_.success[at] = outcome.success;
  batch_.position_error[at] = lane.position_error;
  batch_.rotation_error[at] = lane.rotation_error;
  if (all) {
    batch_.iterations[at] = outcome.iterations;
    batch_.starts[at] = 1;
  }
}

template <std::size_t L>
void IkEngine<L>::release(std::size_t l) {
  Lane& lane = lanes_[l];
  IkSlot& slot = slots_[static_cast<std::size_t>(lane.slot)];
  lane.phase = Phase::kIdle;
  lane.moves = false;
  --slot.in_flight;
  if (slot.in_flight == 0 && !slot.wants_start(plan_)) {
    if (plan_.choice != IkChoice::kAll) ik_close(plan_, batch_, slot);
    slot.problem = IkSlot::kNone;
  }
}

template <std::size_t L>
void IkEngine<L>::cancel_useless(int index) {
  for (std::size_t l = 0; l < L; ++l) {
    const Lane& lane = lanes_[l];
    const IkSlot& slot = slots_[static_cast<std::size_t>(index)];
    if (lane.phase == Phase::kIdle || lane.slot != index || slot.problem == IkSlot::kNone) continue;
    if (!slot.needs(plan_, lane.start)) release(l);
  }
}

// The slot whose next start this lane should take: its own if nobody works on it, else a new problem, else the one
// with the fewest lanes. -1: there is nothing left to do.
template <std::size_t L>
int IkEngine<L>::slot_for_lane(std::size_t l) {
  const IkSlot& own = slots_[static_cast<std::size_t>(lanes_[l].slot)];
  if (own.wants_start(plan_) && own.in_flight == 0) return lanes_[l].slot;
  int fewest = -1;
  for (std::size_t s = 0; s < L; ++s) {
    IkSlot& slot = slots_[s];
    if (slot.problem == IkSlot::kNone && !queue_empty_) {
      const std::size_t problem = queue_.next();
      if (problem != IkSlot::kNone) {
        slot.open(problem);
        return static_cast<int>(s);
      }
      queue_empty_ = true;
    }
    if (!slot.wants_start(plan_)) continue;
    if (fewest < 0 || slot.in_flight < slots_[static_cast<std::size_t>(fewest)].in_flight) fewest = static_cast<int>(s);
  }
  return fewest;
}

template <std::size_t L>
bool IkEngine<L>::refill(std::size_t l) {
  const int slot = slot_for_lane(l);
  if (slot < 0) return false;
  begin(l, slot);
  return true;
}

template <std::size_t L>
void IkEngine<L>::begin(std::size_t l, int index) {
  IkSlot& slot = slots_[static_cast<std::size_t>(index)];
  Lane& lane = lanes_[l];
  lane = Lane{};
  lane.phase = Phase::kStart;
  lane.slot = index;
  lane.start = slot.next_start++;
  lane.damping = kFirstDamping;
  ++slot.in_flight;
  const double* target = batch_.target + slot.problem * plan_.targets;
  const double* start = batch_.start + slot.problem * plan_.nq;
  for (std::size_t i = 0; i < plan_.targets; ++i) a_.target[i * L + l] = target[i];
  for (std::size_t i = 0; i < plan_.nq; ++i) a_.q[i * L + l] = start[i];
  // In the search for the nearest solution, every other start stays half way near the given one.
  const bool near = plan_.choice == IkChoice::kNearest && lane.start % 2 == 1;
  for (std::size_t k = 0; k < plan_.scalars.size(); ++k) {
    const IkScalar& joint = plan_.scalars[k];
    if (joint.held) continue;
    double& q = a_.q[joint.q * L + l];
    const double inside = std::clamp(q, joint.lower, joint.upper);
    if (lane.start == 0) {
      q = inside;
      continue;
    }
    const double lower = std::max(joint.lower, inside - kPi), upper = std::min(joint.upper, inside + kPi);
    const double random = lower + (upper - lower) * ik_uniform(plan_.seed, static_cast<std::uint64_t>(lane.start), k);
    q = near ? 0.5 * (inside + random) : random;
  }
  for (std::size_t k = 0; k < plan_.others.size() && lane.start > 0; ++k) {
    const IkJoint& joint = plan_.others[k];
    if (plan_.held[joint.v]) continue;
    double uniform[3];
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t place = plan_.scalars.size() + 3 * k + i;
      uniform[i] = ik_uniform(plan_.seed, static_cast<std::uint64_t>(lane.start), place);
    }
    ik_scatter(joint.kind, a_.q + joint.q * L + l, L, uniform, near);
  }
}

}  // namespace robomorph
