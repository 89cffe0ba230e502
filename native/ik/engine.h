// One worker of the search: as many starts at once as there are lanes. In every round all lanes evaluate a trial
// configuration, each is judged on its own, and all make their next step; a lane that is done takes the next start.
#pragma once

#include <array>
#include <limits>

#include "ik/lanes.h"
#include "ik/search.h"
#include "ik/speculate.h"

namespace robomorph {

template <std::size_t L>
class IkEngine {
 public:
  IkEngine(const IkPlan& plan, const IkBatch& batch, IkQueue& queue, char* memory);
  void run();

 private:
  enum class Phase { kIdle, kStart, kSolve, kPolish, kReturn };

  struct Lane {
    Phase phase = Phase::kIdle;
    int slot = 0;
    int start = 0;
    int iteration = 0;
    int stalls = 0;
    int polishes = 0;
    int corrections = 0;
    double cost = 0.0;
    double least = std::numeric_limits<double>::infinity();  // cost of the best so far, once a step went up from it
    double damping = 0.0;
    double growth = 2.0;
    double momentum = 0.0;  // share of the last step that the next one starts from
    double pull = 0.0;      // fraction of the way to the posture that the next step asks for
    double distance = 0.0;  // of the best configuration from the posture
    double position_error = 0.0;  // of the best configuration, as is `rotation_error`
    double rotation_error = 0.0;
    bool moves = false;     // does this lane take a step in this round?
  };

  void evaluate();
  void judge(std::size_t l);
  void judge_solve(std::size_t l);
  void judge_polish(std::size_t l);
  void accept(std::size_t l);
  void refuse(std::size_t l);
  void regulate(Lane& lane, double gain);
  bool hopeless(const Lane& lane) const;
  void settle_down(std::size_t l);
  void keep_best(std::size_t l);
  void keep_least(std::size_t l);
  void pull_back(std::size_t l);
  void finish(std::size_t l, bool success);
  void record(const Lane& lane, const IkSlot& slot, std::size_t l, const IkOutcome& outcome);
  void release(std::size_t l);
  void cancel_useless(int slot);
  bool refill(std::size_t l);
  void begin(std::size_t l, int slot);
  int slot_for_lane(std::size_t l);
  void move_lanes();
  double speculated_share();
  bool prepare_step();
  bool saturate();
  void shorten();
  void make_trial();
  double towards_posture(std::size_t l, double fraction, double* out) const;
  void wrap_towards_posture(std::size_t l);
  const double* posture(std::size_t l) const;

  const IkPlan& plan_;
  const IkBatch& batch_;
  IkQueue& queue_;
  IkArrays a_;
  int now_ = 0;  // which of the two buffers holds the accepted configuration's Jacobian
  bool queue_empty_ = false;
  std::array<Lane, L> lanes_;
  std::array<IkSlot, L> slots_;
  std::array<double, L> cost_;
  std::array<double, L> moving_;  // 1 for lanes that take a step in this round
  std::array<bool, L> converged_;
  IkSpeculation speculation_;  // used by one lane only
};

}  // namespace robomorph
