#include "mpc/solver.h"

#include <algorithm>
#include <cmath>

namespace robomorph::mpc {

Solver::Solver(const Problem& problem, std::size_t threads) : problem_(problem), threads_(threads) {
  for (int first = 0; first < problem_.problems;) {
    const bool wide = problem_.problems > 1 && may_be_wide(problem_);
    const int count = wide ? std::min(kLanes, problem_.problems - first) : 1;
    bundles_.push_back(std::make_unique<Bundle>(problem_, first, count, wide));
    first += count;
  }
}

void Solver::step(const StepOptions& options) {
  const Clock::time_point now = Clock::now();
  Request request;
  if (std::isfinite(options.deadline)) {
    request.deadline = now + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.deadline));
  }
  request.elapsed = options.elapsed;
  request.iterations = options.iterations;
  request.warm = options.warm;
  for (const std::unique_ptr<Bundle>& bundle : bundles_) bundle->step(request);
}

}  // namespace robomorph::mpc
