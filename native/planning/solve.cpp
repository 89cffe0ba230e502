#include "planning/solve.h"

#include <algorithm>
#include <cmath>

#include "planning/elastic.h"
#include "planning/interior.h"
#include "planning/session.h"

namespace robomorph::planning {
namespace {

constexpr double kFirstMu = 1e-2;
constexpr int kMostRestorations = 5;

// Both phases and what passes between them.
class Solver {
 public:
  Solver(Nlp& problem, const Options& options, Result& result)
      : options_(options), session_(problem, options, result), elastic_(session_), interior_(session_) {}

  Status run(double* x, const double* multipliers);
  Session& session() { return session_; }

 private:
  bool start(double* x);
  bool smooth(double* x);
  Status find_feasible(double* x);
  Status after_elastic(ElasticEnd end);

  const Options& options_;
  Session session_;
  Elastic elastic_;
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

Status Solver::run(double* x, const double* multipliers) {
  Result& result = session_.result;
  double cost;
  std::vector<double> gradient(session_.n);
  if (options_.smoothing > 0.0 && !smooth(x)) return Status::kBadNumbers;
  if (!session_.values(x, &cost, result.rows.data()) || !session_.linearise(x, gradient.data())) {
    return Status::kBadNumbers;
  }
  const int broken = session_.drop_constant_rows(x, result.rows.data());
  if (broken >= 0) {
    result.multipliers[broken] = result.rows[broken] > session_.problem.upper()[broken] ? 1.0 : -1.0;
    return Status::kInfeasible;
  }
  double mu = options_.mu0 > 0.0 ? options_.mu0 : kFirstMu;
  for (bool elastic = options_.elastic_first || options_.feasible_only;; elastic = true) {
    if (elastic) {
      const bool last = options_.feasible_only || result.restorations == kMostRestorations;
      const ElasticEnd end = elastic_.run(x, options_.margin, last ? options_.iterations : options_.elastic_iterations);
      result.multipliers = elastic_.multipliers();
      if (end == ElasticEnd::kStopped) return session_.status();
      if (end == ElasticEnd::kBadNumbers) return Status::kBadNumbers;
      if (end == ElasticEnd::kInfeasible) return Status::kInfeasible;
      if (end == ElasticEnd::kFeasible && options_.feasible_only) return Status::kSolved;
      if (end == ElasticEnd::kGaveUp && last) return Status::kStalled;
    }
    const InteriorEnd end = interior_.run(x, mu, multipliers);
    result.multipliers = interior_.multipliers();
    result.dual = interior_.error();
    result.mu = interior_.mu();
    if (end == InteriorEnd::kSolved) return Status::kSolved;
    if (end == InteriorEnd::kStopped) return session_.status();
    if (end == InteriorEnd::kBadNumbers) return Status::kBadNumbers;
    if (end == InteriorEnd::kStalled || result.restorations == kMostRestorations) return Status::kStalled;
    ++result.restorations;
    multipliers = nullptr;
    mu = std::max(interior_.mu(), 1e-4);
  }
}

}  // namespace

Result solve(Nlp& problem, const Options& options, double* x, const double* multipliers) {
  Result result;
  result.multipliers.assign(problem.rows, 0.0);
  result.rows.assign(problem.rows, 0.0);
  Solver solver(problem, options, result);
  result.status = solver.run(x, multipliers);
  solver.session().finish(x);
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
