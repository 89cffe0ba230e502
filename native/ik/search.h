// Which start of which problem a lane works on, and what becomes of the answers. The outcome of a problem depends
// on its starts alone: never on the lanes, threads or order in which they were run.
#pragma once

#include <atomic>
#include <limits>
#include <utility>
#include <vector>

#include "ik/plan.h"

namespace robomorph {

// What one start led to.
struct IkOutcome {
  bool success;
  int iterations;
  double cost;      // squared weighted residual
  double distance;  // to the posture
};

// A problem that lanes of one worker are working on.
struct IkSlot {
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  std::size_t problem = kNone;
  int next_start = 0;
  int in_flight = 0;
  int winner = -1;      // the start whose answer stands, once one succeeded
  bool ended = false;   // no further start is wanted, whatever the rule says
  int best_failure = -1;
  double best_cost = std::numeric_limits<double>::infinity();
  double best_distance = std::numeric_limits<double>::infinity();
  std::vector<std::int32_t> iterations;  // of each start that has ended; grows with them

  void open(std::size_t index) {
    std::vector<std::int32_t> counts = std::move(iterations);
    *this = IkSlot{};
    iterations = std::move(counts);
    problem = index;
    iterations.clear();
  }

  void count(int start, int taken) {
    const std::size_t at = static_cast<std::size_t>(start);
    if (iterations.size() <= at) iterations.resize(at + 1, 0);
    iterations[at] = taken;
  }

  bool wants_start(const IkPlan& plan) const {
    if (problem == kNone || ended || next_start >= plan.max_starts) return false;
    if (plan.choice == IkChoice::kAll) return true;
    if (plan.choice == IkChoice::kNearest && next_start < plan.candidates) return true;
    return winner < 0;
  }

  // Is the work of this start still of use?
  bool needs(const IkPlan& plan, int start) const {
    if (plan.choice == IkChoice::kAll || winner < 0) return true;
    if (ended) return false;
    if (plan.choice == IkChoice::kNearest && start < plan.candidates) return true;
    return start < winner;
  }
};

class IkQueue {
 public:
  explicit IkQueue(std::size_t count) : count_(count) {}
  std::size_t next() {
    const std::size_t index = taken_.fetch_add(1, std::memory_order_relaxed);
    return index < count_ ? index : IkSlot::kNone;
  }

 private:
  std::atomic<std::size_t> taken_{0};
  std::size_t count_;
};

// Takes the answer of a start into account; true if its configuration becomes the problem's answer so far.
bool ik_settle(const IkPlan& plan, IkSlot& slot, int start, const IkOutcome& outcome);

// Writes the counts of a finished problem.
void ik_close(const IkPlan& plan, const IkBatch& batch, const IkSlot& slot);

}  // namespace robomorph
