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

enum class Phase { kHard, kElastic };

inline constexpr int kRemembered = 5;  // points that a new one is compared with

struct Progress {
  bool active = false;
  Phase phase = Phase::kHard;
  Code code = Code::kIterations;
  bool falling = true;  // does mu fall? (else it stays)
  bool gap = false;     // is the motion's first state another than the one measured?
  int iterations = 0, elastic_iterations = 0, trials = 0, relaxed = 0;
  int refused = 0;  // steps in a row that were
  int short_steps = 0;
  double unit = 0.0;  // of costs
  double mu = 0.0;
  double penalty = 0.0;  // of residuals in the merit
  double regularisation = 0.0;
  double stiffness = 0.0;  // a small one
  double curve = 0.0;      // of the model along the direction
  double primal = 0.0, dual = 0.0;  // shares of the direction that are taken
  double slope = 0.0;               // of the merit along the direction
  double decrease = 0.0;            // half of the model's slope: what it promises
  double last_decrease = 0.0;
  Point now, next;
  Point before[kRemembered];
  int remembered = 0;

  void remember(const Point& point) {
    before[remembered % kRemembered] = point;
    ++remembered;
  }
  void forget() { remembered = 0; }
};

}  // namespace robomorph::mpc
