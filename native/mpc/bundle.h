// Solves the problems of one bundle: a Gauss-Newton method whose bounds an interior point keeps.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include "mpc/form.h"
#include "mpc/memory.h"
#include "mpc/progress.h"
#include "mpc/rows.h"
#include "mpc/work.h"

namespace robomorph::mpc {

using Clock = std::chrono::steady_clock;

struct Request {
  Clock::time_point deadline = Clock::time_point::max();
  double elapsed = 0.0;  // s since the last step
  int iterations = 0;    // of a warm step, mu staying where it is; 0: to convergence
  bool warm = false;     // begin at the last step's plan
  const std::atomic<bool>* stop = nullptr;  // ends the step when it becomes true
};

class Bundle {
 public:
  Bundle(const Problem& problem, int first, int count, bool wide);

  void step(const Request& request);

 private:
  // bundle_start.cpp
  void start(const Request& request);
  void start_cold(int p);
  void start_slacks(int p);

  // bundle.cpp
  void evaluate();
  void iterate();
  bool time_is_up(const Request& request);

  // bundle_search.cpp
  void search();
  bool acceptable(const Progress& p) const;
  void aim(int p);
  double square_of_accelerations(int p) const;

  // bundle_judge.cpp
  void end_iteration(int p);
  bool is_optimal(const Progress& p) const;
  bool will_be_optimal(const Progress& p) const;
  bool bounds_hold(const Progress& p) const;
  void lower_mu(Progress& p);
  void raise_regularisation(Progress& p, double by);
  void adapt_regularisation(Progress& p);

  // bundle_finish.cpp
  void finish();
  void write_plan(int p);
  void write_facts(int p);
  void find_worst(int p);

  void measure(const double* primal, const double* dual);
  Point point_of(int p) const;
  void share_out();  // per-problem numbers to lanes
  void swap_trial();
  int problems() const { return w_.shape.problems; }
  int groups() const { return w_.shape.groups(); }

  const Problem& problem_;
  Work w_;
  std::unique_ptr<Form> form_;
  const RowLoops& loops_;
  Progress p_[kLanes];
  Request request_;
  Reach reach_;
  Measure measure_;
  StepFacts facts_;
  Doubles gains_, gap_q_, gap_v_;
  alignas(64) double mu_[kLanes] = {}, primal_[kLanes] = {}, dual_[kLanes] = {}, regularisation_[kLanes] = {};
  Seconds seconds_;
  double row_seconds_ = 0.0;
  double iteration_seconds_ = 0.0;  // what one takes, as seen
  Clock::time_point begin_;
};

}  // namespace robomorph::mpc
