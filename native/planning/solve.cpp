#include "planning/solve.h"

#include <algorithm>
#include <cmath>

#include "planning/interior.h"
#include "planning/session.h"

namespace robomorph::planning {
namespace {

constexpr double kFirstMu = 0.01;      // at most; the interior point method takes less for small costs
constexpr double kElasticShare = 0.1;  // mu of the elastic mode, of the largest violation
constexpr double kElasticGain = 0.3;   // violations that are left, for the other mode to go on
constexpr int kMostRestorations = 5;
constexpr double kLeastWidth = 1e-10;      // of an interval that slacks can live in
constexpr double kLeastTolerance = 1e-12, kMostTolerance = 0.1, kMostMu = 1e6, kMostScale = 1e100;

// Both modes and what passes between them.
class Solver {
 public:
  Solver(Nlp& problem, const Options& options, Result& result)
      : options_(options), session_(problem, options, result), interior_(session_) {}

  Status run(double* x, const double* multipliers);
  Session& session() { return session_; }

 private:
  bool smooth(double* x);
  Status start(double* x);
  InteriorEnd restore(double* x, bool first);

  const Options& options_;
  Session session_;
  Interior interior_;
};

// One step of Newton's method on the cost, x held by a weight: takes noise out of a guess.
bool Solver::smooth(double* x) {
  std::vector<double> step(session_.n), nothing(session_.m, 0.0);
  if (!session_.linearise(x, step.data())) return false;
  session_.condense(1.0, nothing.data(), nothing.data(), false);
  if (!session_.factorise(options_.smoothing)) return false;
  session_.solve(step.data());
  for (int i = 0; i < session_.n; ++i) x[i] -= step[i];
  return true;
}

// Looks at the guess: numbers, and rows that no variable can mend. kSolved if there is work to do.
Status Solver::start(double* x) {
  Result& result = session_.result;
  std::vector<double> gradient(session_.n);
  if (!session_.bounds_make_sense()) return Status::kBadNumbers;
  if (options_.smoothing > 0.0 && !smooth(x)) return Status::kBadNumbers;
  if (!session_.values(x, &result.cost, result.rows.data()) || !session_.linearise(x, gradient.data())) {
    return Status::kBadNumbers;
  }
  const int broken = session_.drop_constant_rows(x, result.rows.data());
  if (broken < 0) return Status::kSolved;
  result.multipliers[broken] = result.rows[broken] > session_.problem.upper()[broken] ? 1.0 : -1.0;
  return Status::kInfeasible;
}

// The elastic mode. At first it need not go all the way: the other mode often ends what is left sooner.
InteriorEnd Solver::restore(double* x, bool first) {
  double cost;
  Result& result = session_.result;
  if (!session_.values(x, &cost, result.rows.data())) return InteriorEnd::kBadNumbers;
  const double violation = session_.violation(result.rows.data());
  Interior::Aim aim;
  aim.elastic = true;
  aim.mu = std::max(options_.tolerance, kElasticShare * violation);
  aim.margin = options_.margin;
  aim.enough = first ? kElasticGain * violation : 0.0;
  aim.most = first ? options_.elastic_iterations : 0;
  return interior_.run(x, aim);
}

Status Solver::run(double* x, const double* multipliers) {
  Result& result = session_.result;
  const Status begin = start(x);
  if (begin != Status::kSolved) return begin;
  Interior::Aim aim;
  aim.mu = options_.mu0 > 0.0 ? options_.mu0 : kFirstMu;
  aim.feasible = options_.feasible_only;
  aim.margin = options_.margin;
  aim.multipliers = multipliers;
  bool first = options_.elastic_first;
  InteriorEnd end = first ? InteriorEnd::kRestore : interior_.run(x, aim);
  while (end == InteriorEnd::kRestore && result.restorations < kMostRestorations) {
    if (!first) ++result.restorations;
    end = restore(x, first);
    if (end != InteriorEnd::kFeasible && end != InteriorEnd::kCapped) break;
    first = false;
    aim.multipliers = nullptr;
    end = interior_.run(x, aim);
  }
  interior_.multipliers(result.multipliers);
  result.dual = interior_.error();
  result.mu = interior_.mu();
  switch (end) {
    case InteriorEnd::kSolved:
    case InteriorEnd::kFeasible: return session_.contradictory ? Status::kInfeasible : Status::kSolved;
    case InteriorEnd::kInfeasible: return Status::kInfeasible;
    case InteriorEnd::kStopped: return session_.status();
    case InteriorEnd::kBadNumbers: return Status::kBadNumbers;
    default: return Status::kStalled;
  }
}

// With the limit first std::max takes it for NaN, too.
Options sane(Options options) {
  options.iterations = std::max(1, options.iterations);
  options.tolerance = std::min(kMostTolerance, std::max(kLeastTolerance, options.tolerance));
  options.feasibility = std::max(0.0, options.feasibility);
  options.margin = std::max(0.0, options.margin);
  options.least_width = std::max(kLeastWidth, options.least_width);
  options.mu0 = std::min(kMostMu, options.mu0);
  options.cost_scale = std::min(kMostScale, std::max(1.0 / kMostScale, options.cost_scale));
  return options;
}

}  // namespace

Result solve(Nlp& problem, const Options& given, double* x, const double* multipliers) {
  const Options options = sane(given);
  Result result;
  result.multipliers.assign(problem.rows, 0.0);
  result.rows.assign(problem.rows, 0.0);
  Solver solver(problem, options, result);
  result.status = solver.run(x, multipliers);
  solver.session().finish(x);
  // Whatever led to it: an answer that misses the problem's own bounds is none.
  const double most = 2.0 * (options.feasibility + options.least_width);
  if (result.status == Status::kSolved && !(result.infeasibility <= most)) result.status = Status::kStalled;
  return result;
}

const char* status_name(Status status) {
  switch (status) {
    case Status::kSolved: return "solved";
    case Status::kInfeasible: return "infeasible";
    case Status::kStalled: return "stalled";
    case Status::kStopped: return "stopped";
    case Status::kIterations: return "iterations";
    case Status::kDeadline: return "deadline";
    case Status::kBadNumbers: return "bad numbers";
  }
  return "unknown";
}

}  // namespace robomorph::planning
