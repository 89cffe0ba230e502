// The rules by which starts become an answer, without an engine.
#include "ik/search.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "core/threadpool.h"
#include "tests/check.h"

using namespace robomorph;

namespace {

struct Answer {
  int from = -1;  // the start whose configuration stands
  std::int32_t iterations = -1, starts = -1;

  bool operator==(const Answer& other) const {
    return from == other.from && iterations == other.iterations && starts == other.starts;
  }
};

// What is left when the starts end in the given order; those that are no longer needed by then are dropped.
Answer settle(const IkPlan& plan, const std::vector<IkOutcome>& outcomes, const std::vector<int>& order) {
  IkSlot slot;
  slot.open(0);
  Answer answer;
  for (const int start : order) {
    if (!slot.needs(plan, start)) continue;
    if (ik_settle(plan, slot, start, outcomes[static_cast<std::size_t>(start)])) answer.from = start;
  }
  IkBatch batch{};
  batch.iterations = &answer.iterations;
  batch.starts = &answer.starts;
  ik_close(plan, batch, slot);
  return answer;
}

// The same answer whatever the order in which starts end.
void check_orders(const IkPlan& plan, const std::vector<IkOutcome>& outcomes, const Answer& expected) {
  std::vector<int> order(outcomes.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    const Answer found = settle(plan, outcomes, order);
    if (found == expected) continue;
    CHECK_EQUAL(found.from, expected.from);
    CHECK_EQUAL(found.iterations, expected.iterations);
    CHECK_EQUAL(found.starts, expected.starts);
    return;
  } while (std::next_permutation(order.begin(), order.end()));
}

IkPlan plan_for(IkChoice choice, int starts, int candidates) {
  IkPlan plan;
  plan.choice = choice;
  plan.max_starts = starts;
  plan.candidates = candidates;
  plan.near_enough = 0.01;
  return plan;
}

}  // namespace

TEST_CASE(search_first, "ik_search: the earliest start that succeeds, in whatever order they end") {
  const IkPlan plan = plan_for(IkChoice::kFirst, 6, 1);
  check_orders(plan, {{false, 3, 1.0, 0},
                      {false, 4, 0.5, 0},
                      {true, 5, 0.0, 9},
                      {true, 6, 0, 1},
                      {true, 7, 0, 0},
                      {false, 8, 9, 0}},
               {2, 12, 3});
  check_orders(plan, {{true, 3, 0, 7}, {true, 1, 0, 1}, {false, 9, 1, 0}}, {0, 3, 1});
}

TEST_CASE(search_failed, "ik_search: without success, the start that ended with the smallest error") {
  const IkPlan plan = plan_for(IkChoice::kFirst, 5, 1);
  check_orders(plan, {{false, 3, 1.0, 0}, {false, 4, 0.5, 0}, {false, 5, 0.2, 0}, {false, 6, 0.2, 0}, {false, 7, 4, 0}},
               {2, 25, 5});
}

TEST_CASE(search_nearest, "ik_search: the nearest of the candidates, in whatever order they end") {
  const IkPlan plan = plan_for(IkChoice::kNearest, 6, 4);
  check_orders(plan, {{true, 1, 0, 3.0},
                      {true, 1, 0, 1.0},
                      {false, 1, 1, 0},
                      {true, 1, 0, 1.0},
                      {true, 1, 0, 0.1},
                      {true, 1, 0, 0.1}},
               {1, 4, 4});
  // None of the candidates: the earliest of the others.
  check_orders(plan, {{false, 1, 3, 3.0},
                      {false, 1, 1, 1.0},
                      {false, 1, 1, 0},
                      {false, 1, 2, 1.0},
                      {true, 1, 0, 2},
                      {true, 1, 0, 1}},
               {4, 5, 5});
}

TEST_CASE(search_near_enough, "ik_search: a first start near enough to the posture ends the search") {
  const IkPlan plan = plan_for(IkChoice::kNearest, 4, 4);
  check_orders(plan, {{true, 2, 0, 0.005}, {true, 1, 0, 0.001}, {true, 1, 0, 0.0}, {true, 1, 0, 4}}, {0, 2, 1});
}

TEST_CASE(search_wants, "ik_search: no start is begun that cannot matter") {
  IkPlan plan = plan_for(IkChoice::kFirst, 3, 1);
  IkSlot slot;
  CHECK(!slot.wants_start(plan));
  slot.open(4);
  CHECK_EQUAL(slot.problem, std::size_t{4});
  CHECK(slot.wants_start(plan));
  slot.next_start = 3;
  CHECK(!slot.wants_start(plan));
  slot.next_start = 1;
  CHECK(ik_settle(plan, slot, 0, {true, 1, 0, 1}));
  CHECK(!slot.wants_start(plan));
  CHECK(!slot.needs(plan, 2));
  plan = plan_for(IkChoice::kNearest, 3, 3);
  CHECK(slot.wants_start(plan) && slot.needs(plan, 2));
  plan = plan_for(IkChoice::kAll, 3, 1);
  CHECK(slot.wants_start(plan) && slot.needs(plan, 2));
  slot.open(9);  // nothing of the old problem is left
  CHECK(slot.winner == -1 && slot.iterations.empty() && slot.next_start == 0);
}

TEST_CASE(search_queue, "ik_search: every problem is handed out once, to however many ask") {
  constexpr std::size_t kCount = 5000;
  struct Shared {
    IkQueue queue{kCount};
    std::vector<int> taken = std::vector<int>(kCount, 0);
  } shared;
  run_on_new_threads(4, [](void* context, std::size_t, std::size_t) {
    Shared& all = *static_cast<Shared*>(context);
    for (std::size_t i = all.queue.next(); i != IkSlot::kNone; i = all.queue.next()) ++all.taken[i];
  }, &shared);
  for (const int times : shared.taken) CHECK_EQUAL(times, 1);
  CHECK_EQUAL(shared.queue.next(), IkSlot::kNone);
}
