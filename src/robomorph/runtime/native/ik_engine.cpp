#include "ik_engine.h"

#include "threadpool.h"

namespace robomorph {
namespace {

// Damping is a factor of the squared residual (at most one): quadratic convergence, yet bold far away.
constexpr double kFirstDamping = 1.0;
constexpr double kLeastDamping = 1e-4;
constexpr double kMostDamping = 1e5;
constexpr double kShrink = 0.3;
// While progress is slow, a step starts from a share of the last one: its part in the null space goes on, as long
// chains must unfold, and the rest is corrected by the linear model. Iterations of chain:100 fall from 28 to 12.
constexpr double kMomentum = 0.7;
constexpr double kQuick = 0.8;  // a gain of more than this share of the cost is quick: no momentum near the end
constexpr double kDampingFloor = 1e-11;
constexpr double kPolishDamping = 1e-9;
constexpr int kMaxSaturations = 8;
constexpr double kSlow = 0.02;  // an accepted step that gains less than this share of the cost is slow
constexpr int kMaxStalls = 3;
constexpr int kMaxPolishes = 40;
constexpr int kMaxCorrections = 4;
constexpr double kLeastPull = 0.03;
constexpr double kPolished = 1e-4;  // the gain in distance, relative, at which polishing ends

}  // namespace

template <std::size_t L>
IkEngine<L>::IkEngine(const IkPlan& plan, const IkBatch& batch, IkQueue& queue, char* memory)
    : plan_(plan), batch_(batch), queue_(queue) {
  const std::size_t bytes = a_.place(plan, memory) - round_up(plan.workspace);
  std::memset(memory, 0, bytes);
  speculation_.place(plan, memory + bytes + round_up(plan.workspace));
  for (std::size_t i = 0; i < plan.rows; ++i) std::fill_n(a_.weights + i * L, L, plan.weights[i]);
  std::fill_n(a_.lam, L, 1.0);
  for (std::size_t i = 0; i < plan.nv; ++i) std::fill_n(a_.mask + i * L, L, plan.held[i] ? 0.0 : 1.0);
  // Idle lanes must hold a configuration that every program can evaluate.
  for (std::size_t i = 0; i < plan.nq; ++i) std::fill_n(a_.q + i * L, L, batch.start[i]);
}

template <std::size_t L>
void IkEngine<L>::run() {
  while (true) {
    bool busy = false;
    for (std::size_t l = 0; l < L; ++l) {
      if (lanes_[l].phase == Phase::kIdle) refill(l);
      busy = busy || lanes_[l].phase != Phase::kIdle;
    }
    if (!busy) return;
    move_lanes();
    evaluate();
    for (std::size_t l = 0; l < L; ++l) {
      if (lanes_[l].phase != Phase::kIdle) judge(l);
    }
    now_ ^= 1;
  }
}

// --- one round -----------------------------------------------------------------------------------------------------

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
  // Rows of a group are neighbours: its sum of squares, in tolerances, must not exceed one.
  double worst[L] = {}, sum[L] = {};
  for (std::size_t i = 0; i < plan_.rows; ++i) {
    const double t = plan_.inverse_tolerance[i];
    for (std::size_t l = 0; l < L; ++l) sum[l] += (t * err[i * L + l]) * (t * err[i * L + l]);
    if (i + 1 == plan_.rows || plan_.group[i + 1] != plan_.group[i]) {
      for (std::size_t l = 0; l < L; ++l) {
        worst[l] = sum[l] > worst[l] ? sum[l] : worst[l];
        sum[l] = 0.0;
      }
    }
  }
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

// The accepted configuration stays: its linear problem moves to the buffer that the next round reads.
template <std::size_t L>
void IkEngine<L>::refuse(std::size_t l) {
  const int next = now_ ^ 1;
  for (std::size_t i = 0; i < plan_.jacs; ++i) a_.jac[next][i * L + l] = a_.jac[now_][i * L + l];
  for (std::size_t i = 0; i < plan_.rows; ++i) a_.err[next][i * L + l] = a_.err[now_][i * L + l];
  for (std::size_t i = 0; i < plan_.bends; ++i) a_.bend[next][i * L + l] = a_.bend[now_][i * L + l];
}

// --- the null space ------------------------------------------------------------------------------------------------

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
    double way[6 * L];
    const int nv = joint.kind == IkJointKind::kPlanar ? 3 : 6;
    const double* q = a_.q + joint.q * L + l;
    if (joint.kind == IkJointKind::kPlanar) ik_pull_planar(q, L, to + joint.q, way);
    else ik_pull_floating(q, L, to + joint.q, way);
    for (int i = 0; i < nv; ++i) {
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

// --- the search ----------------------------------------------------------------------------------------------------

template <std::size_t L>
void IkEngine<L>::finish(std::size_t l, bool success) {
  Lane& lane = lanes_[l];
  IkSlot& slot = slots_[static_cast<std::size_t>(lane.slot)];
  if (!success) keep_best(l);
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
        slot.open(problem, plan_.max_starts);
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
}

// --- steps ---------------------------------------------------------------------------------------------------------

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
    const double share = speculation_.best_share(plan_, a_.q, a_.step, a_.target);
    for (std::size_t i = 0; i < plan_.nv; ++i) a_.step[i] *= share;
  }
  make_trial();
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
    // A joint that goes to its limit may miss it by a rounding error.
    for (std::size_t l = 0; l < L; ++l) {
      const double to = moving_[l] > 0.0 ? q[l] + step[l] : q[l];
      const double high = to > joint.upper ? joint.upper : to;
      trial[l] = high < joint.lower ? joint.lower : high;
    }
  }
  for (const IkJoint& joint : plan_.others) {
    for (std::size_t l = 0; l < L; ++l) {
      const double* q = a_.q + joint.q * L + l;
      const double* step = a_.step + joint.v * L + l;
      double* trial = a_.trial + joint.q * L + l;
      const bool planar = joint.kind == IkJointKind::kPlanar;
      if (moving_[l] == 0.0) {
        for (int i = 0; i < (planar ? 4 : 7); ++i) trial[i * L] = q[i * L];
      } else if (planar) {
        ik_move_planar(q, step, trial, L);
      } else {
        ik_move_floating(q, step, trial, L);
      }
    }
  }
}

namespace {

struct Job {
  const IkPlan& plan;
  const IkBatch& batch;
  IkQueue queue;
  std::atomic<bool> out_of_memory{false};
};

template <std::size_t L>
void work(void* context, std::size_t, std::size_t) {
  Job& job = *static_cast<Job*>(context);
  IkArrays arrays;
  IkSpeculation speculation;
  char* memory = thread_scratch(arrays.place(job.plan, nullptr) + speculation.place(job.plan, nullptr));
  if (memory == nullptr) {
    job.out_of_memory = true;
    return;
  }
  IkEngine<L>(job.plan, job.batch, job.queue, memory).run();
}

Task task_for(std::size_t lanes) {
  switch (lanes) {
    case 1: return work<1>;
    case 2: return work<2>;
    case 4: return work<4>;
    default: return work<8>;
  }
}

}  // namespace

bool ik_solve(const IkPlan& plan, const IkBatch& batch, std::size_t threads) {
  if (batch.count == 0) return true;
  Job job{plan, batch, IkQueue(batch.count)};
  const std::size_t useful = std::min(threads, (batch.count + plan.lanes - 1) / plan.lanes);
  global_pool().run(std::max<std::size_t>(useful, 1), task_for(plan.lanes), &job);
  return !job.out_of_memory;
}

}  // namespace robomorph
