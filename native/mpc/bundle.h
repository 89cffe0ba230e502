// Solves the problems of one bundle: a Gauss-Newton method whose bounds an interior point keeps.
//
// Every iteration: weights and gradients (rows.h), a direction (form.h), how far it may go, a motion tried there, which
// is also where the next iteration begins. All decisions are each problem's own, so that the problems of a bundle know
// nothing of each other. Nothing is allocated after construction.
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

inline double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

struct Request {
  Clock::time_point deadline = Clock::time_point::max();
  double elapsed = 0.0;  // s since the last step
  int iterations = 0;    // of a warm step, mu staying where it is; 0: to convergence
  bool warm = false;     // begin at the last step's plan
  std::atomic<bool>* stop = nullptr;       // ends the step when it becomes true
  bool (*go_on)(void* context) = nullptr;  // asked before every iteration; false makes `stop` true
  void* context = nullptr;
};

// Prices of elastic bounds, in units of the cost at the start: of one scaled unit.
inline constexpr double kSoftest = 1.0, kHardest = 1e4;

class Bundle {
 public:
  Bundle(const Problem& problem, int first, int count, bool wide);

  void step(const Request& request);

 private:
  // What stays from step to step.
  struct Kept {
    bool plan = false;     // is there one?
    bool elastic = false;  // did it break bounds that are hard?
    double unit = 0.0;
    double hardness = 0.0;
  };
  // q, v, a of all lanes.
  struct Motion {
    Doubles q, v, a;
  };

  // bundle_start.cpp
  void start();
  void start_progress(int p, bool shifted);
  void start_cold(int p);
  void start_slacks(int p);
  void open_gap(int p);
  void begin_phases();
  static void begin_anew(Progress& p);

  // bundle_shift.cpp
  void shift(double elapsed);
  void shift_series(double* array, int entries, int last, int whole, double part);
  void recentre(int p, double mu);

  // bundle_relax.cpp
  void relax(int p);
  bool first_step_possible(int p) const;

  // bundle.cpp
  void iterate();
  bool find_directions();
  bool time_is_up();
  void measure(const double* primal, const double* dual);
  Point point_of(int p) const;
  void share_out();  // per-problem numbers to lanes
  void swap_trial();
  void keep(Motion& motion, int p) const;          // of one problem, from `value`
  void recall(const Motion& motion, int p) const;  // and back
  double sum_of(const double* lanes, int p) const;   // over one problem's lanes
  double most_of(const double* lanes, int p) const;

  // bundle_search.cpp
  void aim(int p);
  void search();
  bool acceptable(const Progress& p) const;

  // bundle_judge.cpp
  void end_iteration(int p);
  void end_phase(Progress& p);
  void give_up(Progress& p);
  void use_up(Progress& p);
  bool is_optimal(const Progress& p) const;
  bool will_be_optimal(const Progress& p) const;
  bool bounds_hold(const Progress& p) const;
  void lower_mu(Progress& p);
  void adapt_regularisation(Progress& p);
  void raise_regularisation(Progress& p, double by);
  void keep_best();
  bool has_settled(Progress& p) const;
  int nearest(Progress& p) const;

  // bundle_elastic.cpp
  void soften(Progress& p, double hardness);  // all bounds; infinite: as the caller has them
  void begin_elastic(Progress& p);
  void end_elastic(Progress& p);
  void stop_elastic(Progress& p);
  void keep_softest(Progress& p);
  void resume_elastic(Progress& p);

  // bundle_finish.cpp
  void finish();
  const Motion* choose(int p);
  void write_plan(int p);
  void write_counts(int p);
  void note(int p);

  // bundle_report.cpp
  void report(int p);
  void write_multipliers(int p);

  int index(const Progress& p) const { return static_cast<int>(&p - p_); }
  int problems() const { return w_.shape.problems; }
  int groups() const { return w_.shape.groups(); }

  const Problem& problem_;
  Work w_;
  std::unique_ptr<Form> form_;
  const RowLoops& loops_;
  Progress p_[kLanes];
  Kept kept_[kLanes];
  Request request_;
  Reach reach_;
  Measure measure_;
  StepFacts facts_;
  Doubles gains_, last_gains_, gap_q_, gap_v_, series_;
  Motion best_, begun_, softest_;
  alignas(64) double mu_[kLanes] = {}, primal_[kLanes] = {}, dual_[kLanes] = {}, regularisation_[kLanes] = {};
  Seconds seconds_;
  double row_seconds_ = 0.0;
  double iteration_seconds_ = 0.0, finish_seconds_ = 0.0;  // what they take, as seen
  Clock::time_point begin_;
};

}  // namespace robomorph::mpc
