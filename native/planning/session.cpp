#include "planning/session.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/finite_scan.h"

namespace robomorph::planning {
namespace {

constexpr int kUsualTrace = 1000;  // iterations: more make the trace grow
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The identity's share where the matrix is not positive definite: first try, growth, and what is kept for next time.
constexpr double kFirstShift = 1e-4, kLeastShift = 1e-12, kMostShift = 1e20;
constexpr double kFirstGrowth = 100.0, kGrowth = 4.0, kDecay = 0.1;

class Stopwatch {
 public:
  Stopwatch(double& seconds, int& calls) : seconds_(seconds), begin_(std::chrono::steady_clock::now()) { ++calls; }
  ~Stopwatch() {
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& seconds_;
  std::chrono::steady_clock::time_point begin_;
};

Banded matrix_for(const Nlp& problem) {
  Banded out;
  out.size = problem.blocks * problem.block;
  out.half = (problem.reach + 1) * problem.block - 1;
  out.stride = out.half + 1;
  out.border = problem.border;
  out.data.assign(static_cast<std::size_t>(out.size) * out.stride, 0.0);
  out.arrow.assign(static_cast<std::size_t>(out.size) * out.border, 0.0);
  return out;
}

// A number in [0, 1) that has nothing to do with those of other i (SplitMix64).
double scattered(std::uint64_t i) {
  std::uint64_t z = (i + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

}  // namespace

Session::Session(Nlp& problem, const Options& options, Result& result)
    : problem(problem),
      options(options),
      result(result),
      n(problem.variables),
      m(problem.rows),
      lower(m),
      upper(m),
      matrix_(matrix_for(problem)),
      factor_(matrix_.size, matrix_.half, matrix_.border),
      dropped_(m, 0),
      probe_(n),
      probed_(m),
      begin_(Clock::now()) {
  if (options.trace) result.trace.reserve(std::min(options.iterations, kUsualTrace));
  read_bounds();
}

bool Session::bounds_make_sense() const {
  for (int i = 0; i < m; ++i) {
    if (!(problem.lower()[i] < kInfinity) || !(problem.upper()[i] > -kInfinity)) return false;  // or not a number
  }
  return true;
}

void Session::read_bounds() {
  contradictory = false;
  const double* low = problem.lower();
  const double* high = problem.upper();
  for (int i = 0; i < m; ++i) {
    lower[i] = dropped_[i] ? -kInfinity : low[i];
    upper[i] = dropped_[i] ? kInfinity : high[i];
    const double width = upper[i] - lower[i];
    if (width >= options.least_width) continue;
    contradictory = contradictory || !(width >= -options.least_width);
    const double middle = 0.5 * (lower[i] + upper[i]);
    lower[i] = middle - 0.5 * options.least_width;
    upper[i] = middle + 0.5 * options.least_width;
  }
}

bool Session::refresh_bounds(const double* x) {
  const Stopwatch watch(result.times.values, result.times.values_calls);
  if (!problem.refresh_margins(x)) return false;
  read_bounds();
  return true;
}

// The direction has no pattern that a row could be blind to (rows of accelerations are blind to whatever grows evenly
// from point to point), and is the same every time.
int Session::drop_constant_rows(const double* x, const double* rows) {
  for (int i = 0; i < n; ++i) probe_[i] = 0.5 + scattered(static_cast<std::uint64_t>(i));
  problem.jacobian_times(probe_.data(), probed_.data());
  bool any = false;
  for (int i = 0; i < m; ++i) any = any || probed_[i] == 0.0;
  if (!any) return -1;
  for (int i = 0; i < m; ++i) dropped_[i] = probed_[i] == 0.0;
  for (int i = 0; i < n; ++i) probe_[i] = x[i] + 1e-3 * probe_[i];
  double cost;
  if (!values(probe_.data(), &cost, probed_.data())) std::fill(dropped_.begin(), dropped_.end(), 0);
  int broken = -1;
  double worst = std::max(options.feasibility, 0.5 * options.least_width);
  for (int i = 0; i < m; ++i) {
    dropped_[i] = dropped_[i] && probed_[i] == rows[i];
    const double beyond = std::max(rows[i] - upper[i], lower[i] - rows[i]);
    if (!dropped_[i] || beyond <= worst) continue;
    worst = beyond;
    broken = i;
  }
  read_bounds();
  return broken;
}

bool Session::values(const double* x, double* cost, double* rows) {
  const Stopwatch watch(result.times.values, result.times.values_calls);
  return problem.values(x, cost, rows) && std::isfinite(*cost) && all_finite_doubles(rows, m);
}

bool Session::linearise(const double* x, double* gradient) {
  const Stopwatch watch(result.times.derivatives, result.times.derivatives_calls);
  return problem.linearise(x, gradient) && all_finite_doubles(gradient, n);
}

void Session::condense(double cost_scale, const double* multipliers, const double* weights, bool exact) {
  const Stopwatch watch(result.times.condensing, result.times.condensing_calls);
  problem.condensed(cost_scale, multipliers, weights, exact, matrix_);
}

bool Session::factorise(double least) {
  const Stopwatch watch(result.times.factor, result.times.factor_calls);
  shift_ = least;
  if (factor_.factor(matrix_, shift_)) return true;
  const bool first = last_shift_ == 0.0;
  shift_ = std::max(least, first ? kFirstShift : std::max(kLeastShift, kDecay * last_shift_));
  for (; shift_ < kMostShift; shift_ *= first ? kFirstGrowth : kGrowth) {
    if (!factor_.factor(matrix_, shift_)) continue;
    last_shift_ = shift_;
    return true;
  }
  return false;
}

double Session::violation(const double* rows) const {
  double worst = 0.0;
  for (int i = 0; i < m; ++i) {
    const double beyond = std::max(rows[i] - upper[i], lower[i] - rows[i]);
    worst = beyond > worst ? beyond : worst;
  }
  return worst;
}

double Session::total_violation(const double* rows) const {
  double sum = 0.0;
  for (int i = 0; i < m; ++i) sum += std::max(0.0, std::max(rows[i] - upper[i], lower[i] - rows[i]));
  return sum;
}

double Session::seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

bool Session::proceed(const Iteration& iteration, const double* x) {
  ++result.iterations;
  if (iteration.phase == Phase::kElastic) ++result.elastic_iterations;
  if (options.trace) result.trace.push_back(iteration);
  if (options.progress != nullptr && !options.progress(options.context, iteration, x)) {
    status_ = Status::kStopped;
  } else if (result.iterations >= options.iterations) {
    status_ = Status::kIterations;
  } else if (options.deadline > 0.0 && seconds() > options.deadline) {
    status_ = Status::kDeadline;
  } else {
    return true;
  }
  return false;
}

void Session::finish(const double* x) {
  double cost;
  if (values(x, &cost, result.rows.data())) {
    result.cost = cost;
    result.infeasibility = 0.0;
    for (int i = 0; i < m; ++i) {  // of the problem's own bounds
      const double beyond = std::max(result.rows[i] - problem.upper()[i], problem.lower()[i] - result.rows[i]);
      result.infeasibility = std::max(result.infeasibility, beyond);
    }
  }
  Times& times = result.times;
  times.total = seconds();
  times.rest = times.total - times.values - times.derivatives - times.condensing - times.factor;
}

}  // namespace robomorph::planning
