// Control problems as a caller describes them: numbers, kernels, and arrays that stay the caller's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpc/shape.h"
#include "mpc/terms.h"

namespace robomorph::mpc {

// A kernel in lane order with kLanes lanes of doubles; `workspace` in bytes.
struct Kernel {
  void (*fn)(const void* const* in, void* const* out, void* workspace) = nullptr;
  std::size_t workspace = 0;
};

// A caller's array (problems, nodes, entries), row-major, read anew at every step. One problem stands for all, one node
// for all; two nodes are all but the last, and the last.
struct Table {
  const double* data = nullptr;  // null: none
  int problems = 1;
  int nodes = 1;
};

struct Wishes {
  Table reference;                // zero if null
  Table weight;                   // zero if null; the time step is already in it
  Table lower, upper;             // infinite if null, or where they are
  const double* soft = nullptr;   // (entries,): weight of 1/2 violation^2; infinite, or null: hard
  const double* scale = nullptr;  // (entries,): one scaled unit of a violation; 1 if null
};

// What is written; all arrays but those named are (problems, ...), any may be null.
struct Results {
  double* q = nullptr;  // (horizon + 1, nv)
  double* v = nullptr;
  double* a = nullptr;  // (horizon, nv)
  double* torque = nullptr;
  double* gains = nullptr;         // (nv, 2 nv): d a[0] / d (q, v)
  double* torque_gains = nullptr;  // the same of torques
  double* cost = nullptr;          // without the price of soft bounds
  double* soft_cost = nullptr;     // that price
  double* violation = nullptr;     // largest of hard bounds, in scaled units
  double* worst = nullptr;         // (4,): quantity, node, entry, signed amount; quantity -1 if none is broken
  double* multiplier[kBoundable] = {};  // (nodes, entries): > 0 at upper bounds, < 0 at lower ones
  std::int64_t* counts = nullptr;       // (counts_width,): see Count
  int counts_width = 0;
  double* trace = nullptr;  // (trace_width,): cost at the start and after every iteration
  int trace_width = 0;
  double* times = nullptr;  // (4,): kernels, sweep, rows, all else, in s
};

enum Count : int { kIterations, kCode, kConverged, kOrigin, kElasticIterations, kTrials, kRelaxed, kCounts };

enum class Code : int {
  kConverged = 0,   // optimal, and within all hard bounds
  kIterations = 1,  // as many as allowed were done
  kDeadline = 2,    // no time for another iteration
  kInfeasible = 3,  // no motion within all hard bounds was found: the plan breaks them as softly as could be found
  kFailed = 4,      // numbers that are not finite, or no step could be computed: the plan is the one before
  kStalled = 5,     // no step led further
};

enum class Origin : int {
  kFresh = 0,    // the last iteration's
  kBest = 1,     // the best within all hard bounds that an iteration found
  kShifted = 2,  // the last step's plan, moved on in time
  kHold = 3,     // braking and standing still
};

// What the controls are: accelerations, torques being those of inverse dynamics, or torques, motions coming from forward
// dynamics and an integrator (ddp_model.h).
enum class Method : int { kInverse = 0, kEuler = 1, kMidpoint = 2, kRk4 = 3 };

struct Problem {
  Method method = Method::kInverse;
  int nv = 0;
  int horizon = 0;
  double dt = 0.0;  // s
  int rows = 0;
  bool row_velocity = false;
  int references = 0;  // numbers that the row kernel takes beside q and v
  bool jerk = false;
  int problems = 1;
  double tolerance = 1e-6;   // of hard bounds, scaled
  double optimal = 1e-7;     // relative decrease of the cost below which a plan is optimal
  int cap = 100;             // iterations at most
  bool relax_start = true;   // widen bounds that the state at the start breaks already

  Kernel torque;      // (q, v, a) -> torques, by q, by v, by a; inverse dynamics only
  Kernel torque_values;          // (q, v, a) -> torques; the next three for forward dynamics only
  Kernel acceleration;           // one lane: (q, v, torques) -> a
  Kernel acceleration_gradient;  // (q, v, torques) -> a, by q, by v, by torques
  Kernel row_kernel;  // (q, [v,] references) -> values, by q, [by v]

  const double* state_q = nullptr;  // (problems, nv)
  const double* state_v = nullptr;
  const double* last_a = nullptr;  // the acceleration before node 0, for jerk; zero if null
  Table row_reference;             // (problems, nodes, references)
  Wishes wishes[kBoundable];
  const double* jerk_weight = nullptr;  // (nv,): of 1/2 (a[k] - a[k-1])^2
  Results out;

  int entries(int quantity) const { return quantity == kRow ? rows : nv; }
  int nodes(int quantity) const {
    return quantity == kTorque || quantity == kAcceleration || quantity == kJerk ? horizon : horizon + 1;
  }
};

}  // namespace robomorph::mpc
