// One solution of one problem: what both phases share. Bounds as the solver sees them, evaluations with their times,
// the condensed matrix and its factor, limits on iterations and time, the trace.
#pragma once

#include <chrono>
#include <vector>

#include "planning/banded_factor.h"
#include "planning/solve.h"

namespace robomorph::planning {

class Session {
 public:
  using Vector = std::vector<double>;

  Session(Nlp& problem, const Options& options, Result& result);

  bool bounds_make_sense() const;  // numbers, and no lower bound at infinity

  // Reads the bounds anew, after the problem has drawn them in by margins for x; true if they changed.
  bool refresh_bounds(const double* x);

  // Leaves out the rows that no variable touches near x. Needs derivatives at x, and rows there. Returns the row among
  // them that breaks its bounds most, or -1.
  int drop_constant_rows(const double* x, const double* rows);

  bool values(const double* x, double* cost, double* rows);
  bool linearise(const double* x, double* gradient);
  void condense(double cost_scale, const double* multipliers, const double* weights, bool exact);

  // Factors the condensed matrix with as much of the identity added as it needs, `least` or more; false if none is
  // enough, which only numbers that are not finite can bring about.
  bool factorise(double least);
  void solve(double* right) const { factor_.solve(right); }
  double regularisation() const { return shift_; }

  double violation(const double* rows) const;        // largest, of the bounds as the solver sees them
  double total_violation(const double* rows) const;  // summed

  // Keeps an iteration; false if it is the last: a limit, or the callback. Then status() says which.
  bool proceed(const Iteration& iteration, const double* x);
  Status status() const { return status_; }
  double seconds() const;
  void finish(const double* x);

  Nlp& problem;
  const Options& options;
  Result& result;
  const int n, m;
  Vector lower, upper;    // of rows; infinite where a row was left out
  bool contradictory = false;  // an interval is empty by more than `least_width`

 private:
  using Clock = std::chrono::steady_clock;

  void read_bounds();

  Banded matrix_;
  BandedFactor factor_;
  std::vector<char> dropped_;
  Vector probe_, probed_;
  double shift_ = 0.0, last_shift_ = 0.0;
  Clock::time_point begin_;
  Status status_ = Status::kStalled;
};

}  // namespace robomorph::planning
