// The solver of motion problems: an interior point method, with an elastic mode (interior.h) that goes ahead of it to
// where rows are nearly met, helps it on where it is stuck, and finds out when no motion will do.
//
// Lagrangian: f(x) + sum_i multipliers_i c_i(x); a multiplier is positive at an upper bound that holds the motion
// back, negative at a lower one. Rows narrower than `Options::least_width` (equalities among them) are widened to it
// evenly; rows that no variable touches are judged once and then left out. The solver itself runs on one thread; the
// problem may use more.
#pragma once

#include <vector>

#include "planning/nlp.h"

namespace robomorph::planning {

enum class Status {
  kSolved,      // optimal; without cost: feasible
  kInfeasible,  // x has the least violation (sum over rows) nearby; multipliers in [-1, 1] say which rows are at odds
  kStalled,     // no acceptable step
  kStopped,     // by the callback
  kIterations,  // limit reached
  kDeadline,    // time is over
  kBadNumbers,  // NaN or infinity at the start, or in derivatives
};

enum class Phase { kElastic = 1, kInterior = 2 };

struct Iteration {
  Phase phase;
  double mu;              // barrier parameter
  double cost;            // f(x), unscaled
  double infeasibility;   // the largest violation of a row
  double dual;            // scaled dual residual (elastic mode: of its own problem)
  double alpha;           // step length taken
  double regularisation;  // added to the diagonal
};

// Seconds of wall time, and how often.
struct Times {
  double values = 0, derivatives = 0, condensing = 0, factor = 0, rest = 0, total = 0;
  int values_calls = 0, derivatives_calls = 0, condensing_calls = 0, factor_calls = 0;
};

struct Options {
  double tolerance = 1e-6;     // of the optimality conditions, relative to the cost and to large multipliers
  double feasibility = 1e-8;   // by which rows of an answer may miss their bounds
  double cost_scale = 1;       // what the cost is multiplied by at first, so that it is of a usual size
  double mu0 = 0;              // of the barrier, to begin with; 0: chosen. Never above 1e-4 of the cost
  double least_width = 2e-7;   // of a row's interval
  double deadline = 0;         // seconds from the start, looked at after each iteration; 0: none
  double smoothing = 0;        // > 0: first one linear step to lower cost, x held by this weight
  int iterations = 500;        // of both modes together
  int elastic_iterations = 20; // of the elastic mode at first, before the other is tried anyway
  bool elastic_first = true;   // false for warm starts: only where the other mode is stuck
  bool feasible_only = false;  // stop at the first feasible point, `margin` inside where the row is wide enough
  double margin = 1e-6;
  bool exact = true;           // second derivatives of rows
  bool trace = true;
  // Called after every iteration; false stops. May be null.
  bool (*progress)(void* context, const Iteration& iteration, const double* x) = nullptr;
  void* context = nullptr;
};

struct Result {
  Status status = Status::kStalled;
  double cost = 0;
  double infeasibility = 0;  // largest violation of a row
  double dual = 0;           // scaled dual residual
  double mu = 0;
  int iterations = 0;          // in all
  int elastic_iterations = 0;  // of these
  int restorations = 0;        // returns to the elastic mode
  std::vector<double> multipliers;  // (rows,)
  std::vector<double> rows;         // (rows,) c(x)
  std::vector<Iteration> trace;
  Times times;
};

// Solves from the guess x (variables,) and leaves the answer there, whatever the status. `multipliers` (rows,), if
// not null, are those of a problem like this one: together with x and a small mu0 a warm start.
Result solve(Nlp& problem, const Options& options, double* x, const double* multipliers = nullptr);

const char* status_name(Status status);

}  // namespace robomorph::planning
