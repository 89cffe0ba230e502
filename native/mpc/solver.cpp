#include "mpc/solver.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/threadpool.h"

namespace robomorph::mpc {
namespace {

// So many problems that are left over share a bundle whose other lanes repeat the last of them; fewer have a bundle each.
constexpr int kWorthBundling = 4;

Clock::time_point after(Clock::time_point now, double seconds) {
  return now + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

Solver::Solver(const Problem& problem, std::size_t threads) : problem_(problem), threads_(std::max<std::size_t>(threads, 1)) {
  for (int first = 0; first < problem_.problems;) {
    const int left = problem_.problems - first;
    const bool wide = left >= kWorthBundling && may_be_wide(problem_);
    const int count = wide ? std::min(kLanes, left) : 1;
    bundles_.push_back(std::make_unique<Bundle>(problem_, first, count, wide));
    first += count;
  }
  // Threads are started now, so that no step has to.
  const auto nothing = [](void*, std::size_t, std::size_t) {};
  if (threads_ > 1 && bundles_.size() > 1) global_pool().run(std::min(threads_, bundles_.size()), nothing, nullptr);
}

struct Solver::Job {
  Solver& solver;
  const StepOptions& options;
  Clock::time_point deadline;
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
};

// Bundles are taken as threads come free; each gets its share of the time that is left.
void Solver::work(void* context, std::size_t part, std::size_t parts) {
  Job& job = *static_cast<Job*>(context);
  Solver& self = job.solver;
  for (std::size_t i; (i = job.next.fetch_add(1, std::memory_order_relaxed)) < self.bundles_.size();) {
    Request request;
    request.deadline = job.deadline;
    if (job.deadline != Clock::time_point::max()) {
      const Clock::time_point now = Clock::now();
      const double rounds = std::ceil(static_cast<double>(self.bundles_.size() - i) / static_cast<double>(parts));
      request.deadline = std::min(job.deadline, after(now, seconds_between(now, job.deadline) / rounds));
    }
    request.elapsed = job.options.elapsed;
    request.iterations = job.options.iterations;
    request.warm = job.options.warm;
    request.stop = &job.stop;
    if (part == 0) request.go_on = job.options.go_on, request.context = job.options.context;
    self.bundles_[i]->step(request);
  }
}

void Solver::step(const StepOptions& options) {
  Job job{*this, options, Clock::time_point::max()};
  // Further away than a day is none.
  if (options.deadline < 86400.0) job.deadline = after(Clock::now(), std::max(options.deadline, 0.0));
  const std::size_t parts = std::min(threads_, bundles_.size());
  if (parts <= 1) work(&job, 0, 1);
  else global_pool().run(parts, work, &job);
}

}  // namespace robomorph::mpc
