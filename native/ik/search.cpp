#include "ik/search.h"

#include <algorithm>

namespace robomorph {
namespace {

bool settle_failure(IkSlot& slot, int start, const IkOutcome& outcome) {
  if (slot.winner >= 0) return false;
  const bool better = outcome.cost < slot.best_cost ||
                      (outcome.cost == slot.best_cost && start < slot.best_failure) || slot.best_failure < 0;
  if (!better) return false;
  slot.best_cost = outcome.cost;
  slot.best_failure = start;
  return true;
}

bool settle_nearest(const IkPlan& plan, IkSlot& slot, int start, const IkOutcome& outcome) {
  const bool candidate = start < plan.candidates;
  const bool holder = slot.winner >= 0 && slot.winner < plan.candidates;  // is the answer so far a candidate's?
  if (start == 0 && outcome.distance <= plan.near_enough) {
    slot.ended = true;
  } else if (candidate && holder) {
    const bool nearer = outcome.distance < slot.best_distance ||
                        (outcome.distance == slot.best_distance && start < slot.winner);
    if (!nearer) return false;
  } else if (!candidate && (holder || (slot.winner >= 0 && slot.winner < start))) {
    return false;
  }
  slot.winner = start;
  slot.best_distance = outcome.distance;
  return true;
}

}  // namespace

bool ik_settle(const IkPlan& plan, IkSlot& slot, int start, const IkOutcome& outcome) {
  slot.count(start, outcome.iterations);
  if (!outcome.success) return settle_failure(slot, start, outcome);
  if (plan.choice == IkChoice::kNearest) return settle_nearest(plan, slot, start, outcome);
  if (slot.winner >= 0 && slot.winner < start) return false;
  slot.winner = start;
  return true;
}

void ik_close(const IkPlan& plan, const IkBatch& batch, const IkSlot& slot) {
  int used = slot.winner < 0 ? plan.max_starts : slot.winner + 1;
  if (plan.choice == IkChoice::kNearest && slot.winner >= 0 && !slot.ended) used = std::max(used, plan.candidates);
  std::int64_t total = 0;
  const std::size_t counted = std::min(static_cast<std::size_t>(used), slot.iterations.size());
  for (std::size_t s = 0; s < counted; ++s) total += slot.iterations[s];
  batch.iterations[slot.problem] = static_cast<std::int32_t>(std::min<std::int64_t>(total, INT32_MAX));
  batch.starts[slot.problem] = used;
}

}  // namespace robomorph
