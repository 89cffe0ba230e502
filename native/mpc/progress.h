// Where the solution of one problem stands.
#pragma once

#include <cmath>

#include "mpc/problem.h"

namespace robomorph::mpc {

// What holds at one motion.
struct Point {
  double cost = 0.0;
  double soft = 0.0;            // the price of soft bounds, as their multipliers have it
  double logs = 0.0;            // sum of log s
  double residual = 0.0;        // sum of |s + g - L / r|, scaled
  double worst_residual = 0.0;  // largest of them
  double violation = 0.0;       // largest of hard bounds, scaled
  double product = 0.0;         // sum of s L

  bool finite() const { return std::isfinite(cost) && std::isfinite(soft + logs + residual + product); }
  double merit(double mu, double penalty) const { return cost + soft - mu * logs + penalty * residual; }
};

enum class Phase {
  kWarm,     // from the last plan
  kCold,     // from braking and standing still
  kElastic,  // all bounds soft, harder and harder
  kAgain,    // hard once more, from where the elastic bounds led
};

// What a phase begins with.
enum class Begin {
  kNothing,  // it has begun
  kAsItIs,   // the motion there is, its slacks and multipliers moved away from zero
  kBraking,  // braking and standing still, with slacks and multipliers made anew
  kSoftest,  // the same with the motion that breaks bounds least
};

inline constexpr int kRemembered = 5;  // points that a new one is compared with

struct Progress {
  bool active = false;
  Phase phase = Phase::kCold;
  Code code = Code::kIterations;
  Origin origin = Origin::kFresh;
  bool tick = false;     // a few iterations with a mu that stays
  bool gap = false;      // is the motion's first state another than the one measured?
  bool braking = false;  // did it begin anew with braking to a stand, rather than with the last plan?
  bool elastic = false;  // are all bounds soft?
  bool centring = false;  // does it only go back into bounds?
  bool optimal = false;  // is this step the last one of the phase?
  Begin begin_with = Begin::kBraking;
  int limit = 0;         // of iterations
  int iterations = 0, elastic_iterations = 0, trials = 0, relaxed = 0;
  int in_phase = 0;  // iterations of this phase
  int within = 0;    // the last of them whose motion was within all hard bounds, or came noticeably nearer
  int refused = 0;   // steps in a row that were
  double unit = 0.0;      // of costs
  double hardness = 0.0;  // of elastic bounds: price of a scaled unit
  double mu = 0.0;
  double penalty = 0.0;  // of residuals in the merit
  double regularisation = 0.0;
  double stiffness = 0.0;  // a small regularisation
  double curve = 0.0;      // of the model along the direction
  double primal = 0.0, dual = 0.0;  // shares of the direction that are taken
  double slope = 0.0;               // of the merit along the direction
  double decrease = 0.0;            // half of the model's slope: what it promises
  double last_decrease = 0.0;
  double last_rate = 0.0;  // of decreases, one iteration before
  double begun_violation = INFINITY;  // of the motion that the step began with
  bool begun_warm = false;            // was it the last plan?
  double least_residual = INFINITY;  // of this phase, when it last fell noticeably
  double best_cost = INFINITY;  // of motions within all hard bounds
  double settled_cost = INFINITY;  // the cost when it last changed noticeably
  int settled_at = 0;              // and the iteration
  double softest_violation = INFINITY;  // of motions that elastic bounds led to
  int tried_again = 0;                  // how often one of them was a start for hard bounds
  Point now, next;
  Point before[kRemembered];
  int remembered = 0;

  void remember(const Point& point) {
    before[remembered % kRemembered] = point;
    ++remembered;
  }
  void begin(Phase next_phase, Begin with) {
    phase = next_phase;
    begin_with = with;
    least_residual = INFINITY;
    in_phase = within = refused = remembered = 0;
    penalty = regularisation = decrease = last_decrease = last_rate = 0.0;
  }
  void end(Code why) {
    active = false;
    code = why;
  }
};

}  // namespace robomorph::mpc
