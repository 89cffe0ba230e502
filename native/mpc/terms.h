// What costs and what is bounded along a horizon: torques, q, v, a, rows of tasks, and differences of accelerations.
#pragma once

#include "mpc/shape.h"

namespace robomorph::mpc {

enum Quantity : int { kTorque, kPosition, kVelocity, kAcceleration, kRow, kJerk, kQuantities };
// Those that a caller may bound: all but the last.
inline constexpr int kBoundable = kJerk;

// Stands for 'no bound' in groups of lanes: infinities would make NaN of differences.
inline constexpr double kNoBound = 1e100;
inline constexpr double kHasBound = 1e99;  // bounds below have one

// One side of the bounds g <= 0 of a quantity: slack s > 0 and multiplier L >= 0, and their directions. Where there is no
// bound s = 1 and L = 0 for ever.
struct Side {
  double* slack = nullptr;
  double* multiplier = nullptr;
  double* slack_change = nullptr;
  double* multiplier_change = nullptr;
};

// A quantity of a bundle, in groups of lanes of `entries` numbers; the last five are of `entries` numbers a lane, the
// same for all groups.
struct Terms {
  int entries = 0;
  bool costs = false;    // does it have a cost anywhere?
  bool bounded = false;  // and a bound?
  double* value = nullptr;
  double* trial = nullptr;
  double* change = nullptr;     // along the direction
  double* reference = nullptr;  // of the cost 1/2 cost (value - reference)^2; with costs or bounded, as all below
  double* cost = nullptr;
  double* weight = nullptr;  // what the sweep is given
  double* gradient = nullptr;
  double* lower = nullptr;  // with bounds, as all below
  double* upper = nullptr;
  Side below, above;
  double* inverse_soft = nullptr;   // 1 / weight of the squared violation; 0: the bound is hard
  double* scale = nullptr;          // one scaled unit
  double* inverse_scale = nullptr;
  double* hard_scale = nullptr;     // the inverse, 0 where the caller allows a violation
  bool* limited = nullptr;          // (entries,): has the entry any bound, at any node?

  std::size_t numbers(const Shape& shape) const { return shape.numbers(entries); }
};

// Does a quantity belong to node k? Torques, a and jerk are not at the last one; q and v at the first are given.
inline bool costs_at(int quantity, int node, const Shape& shape) {
  const bool controls = quantity == kTorque || quantity == kAcceleration || quantity == kJerk;
  return node < shape.horizon || !controls;
}
inline bool bounded_at(int quantity, int node, const Shape& shape) {
  const bool controls = quantity == kTorque || quantity == kAcceleration;
  return controls ? node < shape.horizon : node > 0 && quantity != kJerk;
}

}  // namespace robomorph::mpc
