#include "mpc/bundle.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace robomorph::mpc {
namespace {

constexpr double kForgetting = 0.8;

// What the next one will take: the longest of late, but one that the machine held up counts double at most.
void expect(double& seconds, double seen) {
  seconds = seconds == 0.0 ? seen : std::max(kForgetting * seconds, std::min(seen, 2.0 * seconds));
}

}  // namespace

Bundle::Bundle(const Problem& problem, int first, int count, bool wide)
    : problem_(problem),
      w_(problem, first, count, wide),
      form_(make_form(w_)),
      loops_(row_loops()),
      gains_(static_cast<std::size_t>(w_.shape.problems) * problem.nv * 2 * problem.nv),
      last_gains_(gains_.size()),
      gap_q_(w_.shape.problems * problem.nv),
      gap_v_(w_.shape.problems * problem.nv),
      series_((w_.shape.groups() + 2) * kLanes) {
  const std::size_t size = w_.shape.numbers(problem.nv);
  for (Motion* motion : {&best_, &begun_, &softest_}) *motion = {Doubles(size), Doubles(size), Doubles(size)};
}

void Bundle::step(const Request& request) {
  begin_ = Clock::now();
  request_ = request;
  row_seconds_ = 0.0;
  form_->spent();
  w_.read();
  start();
  while (!time_is_up()) iterate();
  const Clock::time_point done = Clock::now();
  finish();
  expect(finish_seconds_, seconds_between(done, Clock::now()));
}

bool Bundle::time_is_up() {
  const auto working = [](const Progress& p) { return p.active; };
  if (std::none_of(p_, p_ + problems(), working)) return true;
  bool over = request_.stop != nullptr && request_.stop->load(std::memory_order_relaxed);
  if (request_.go_on != nullptr && !over && !request_.go_on(request_.context)) {
    over = true;
    if (request_.stop != nullptr) request_.stop->store(true, std::memory_order_relaxed);
  }
  if (request_.deadline != Clock::time_point::max() &&
      seconds_between(Clock::now(), request_.deadline) < iteration_seconds_ + finish_seconds_) {
    over = true;
    // What kept one iteration for long must not keep all others from being tried.
    iteration_seconds_ *= kForgetting;
    finish_seconds_ *= kForgetting;
  }
  for (int p = 0; over && p < problems(); ++p) {
    if (p_[p].active) p_[p].end(Code::kDeadline);
  }
  return over;
}

// One problem's numbers are the same in all lanes.
void Bundle::share_out() {
  for (int l = 0; l < kLanes; ++l) {
    const Progress& p = p_[problems() == 1 ? 0 : l];
    mu_[l] = p.mu;
    primal_[l] = p.primal;
    dual_[l] = p.dual;
    regularisation_[l] = p.regularisation;
  }
}

double Bundle::sum_of(const double* lanes, int p) const {
  if (problems() > 1) return lanes[p];
  double sum = 0.0;
  for (int l = 0; l < kLanes; ++l) sum += lanes[l];
  return sum;
}

double Bundle::most_of(const double* lanes, int p) const {
  return problems() > 1 ? lanes[p] : *std::max_element(lanes, lanes + kLanes);
}

void Bundle::measure(const double* primal, const double* dual) {
  const Clock::time_point begin = Clock::now();
  clear(measure_);
  for (const Terms& t : w_.terms) {
    if (t.costs || t.bounded) loops_.measure(t, groups(), primal, dual, measure_);
  }
  row_seconds_ += seconds_between(begin, Clock::now());
}

Point Bundle::point_of(int p) const {
  constexpr double kLog2 = 0.69314718055994530942;
  Point point;
  point.cost = sum_of(measure_.cost, p);
  if (w_.bounds[p] == 0) return point;
  double mantissas = std::log(measure_.mantissa[p]);
  for (int l = 1; problems() == 1 && l < kLanes; ++l) mantissas += std::log(measure_.mantissa[l]);
  point.soft = sum_of(measure_.soft, p);
  point.logs = mantissas + kLog2 * sum_of(measure_.exponent, p);
  point.residual = sum_of(measure_.residual, p);
  point.worst_residual = most_of(measure_.worst_residual, p);
  point.violation = most_of(measure_.violation, p);
  point.product = sum_of(measure_.product, p);
  return point;
}

void Bundle::swap_trial() {
  for (Terms& t : w_.terms) std::swap(t.value, t.trial);
}

void Bundle::keep(Motion& motion, int p) const {
  alignas(64) double mask[kLanes] = {};
  for (int l = 0; l < kLanes; ++l) mask[l] = problems() == 1 || l == p ? 1.0 : 0.0;
  const Terms* t = w_.terms;
  const std::size_t size = w_.shape.numbers(problem_.nv);
  loops_.keep(t[kPosition].value, mask, size, motion.q.data());
  loops_.keep(t[kVelocity].value, mask, size, motion.v.data());
  loops_.keep(t[kAcceleration].value, mask, size, motion.a.data());
}

void Bundle::recall(const Motion& motion, int p) const {
  alignas(64) double mask[kLanes] = {};
  for (int l = 0; l < kLanes; ++l) mask[l] = problems() == 1 || l == p ? 1.0 : 0.0;
  const Terms* t = w_.terms;
  const std::size_t size = w_.shape.numbers(problem_.nv);
  loops_.keep(motion.q.data(), mask, size, t[kPosition].value);
  loops_.keep(motion.v.data(), mask, size, t[kVelocity].value);
  loops_.keep(motion.a.data(), mask, size, t[kAcceleration].value);
}

// False where no problem has work left.
bool Bundle::find_directions() {
  const Clock::time_point begin = Clock::now();
  share_out();
  for (const Terms& t : w_.terms) {
    if (t.costs || t.bounded) loops_.assemble(t, groups(), mu_);
  }
  for (int p = 0; p < problems(); ++p) facts_.ok[p] = p_[p].active;
  row_seconds_ += seconds_between(begin, Clock::now());
  form_->direction(gap_q_.data(), gap_v_.data(), regularisation_, last_gains_.data(), facts_);
  for (int p = 0; p < problems(); ++p) {
    // Those of problems that are done stay.
    const std::size_t size = 2 * static_cast<std::size_t>(problem_.nv) * problem_.nv;
    if (p_[p].active && facts_.ok[p]) std::copy_n(last_gains_.data() + p * size, size, gains_.data() + p * size);
  }
  const Clock::time_point directed = Clock::now();
  clear(reach_);
  for (const Terms& t : w_.terms) {
    if (t.bounded) loops_.direct(t, groups(), mu_, reach_);
  }
  row_seconds_ += seconds_between(directed, Clock::now());
  for (int p = 0; p < problems(); ++p) aim(p);
  return std::any_of(p_, p_ + problems(), [](const Progress& p) { return p.active; });
}

void Bundle::iterate() {
  const Clock::time_point begin = Clock::now();
  if (!find_directions()) return;
  search();
  for (const Terms& t : w_.terms) {
    if (t.bounded) loops_.commit(t, groups(), primal_, dual_);
  }
  swap_trial();
  form_->accept();
  for (int p = 0; p < problems(); ++p) {
    if (p_[p].active && p_[p].begin_with == Begin::kNothing) end_iteration(p);
  }
  keep_best();
  begin_phases();
  expect(iteration_seconds_, seconds_between(begin, Clock::now()));
}

}  // namespace robomorph::mpc
