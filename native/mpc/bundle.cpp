#include "mpc/bundle.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace robomorph::mpc {
namespace {

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

// Of one problem whose lanes are nodes.
double total(const double* lanes) {
  double sum = 0.0;
  for (int l = 0; l < kLanes; ++l) sum += lanes[l];
  return sum;
}
double largest(const double* lanes) {
  double most = lanes[0];
  for (int l = 1; l < kLanes; ++l) most = std::max(most, lanes[l]);
  return most;
}

}  // namespace

Bundle::Bundle(const Problem& problem, int first, int count, bool wide)
    : problem_(problem),
      w_(problem, first, count, wide),
      form_(make_form(w_)),
      loops_(row_loops()),
      gains_(static_cast<std::size_t>(w_.shape.problems) * problem.nv * 2 * problem.nv),
      gap_q_(w_.shape.problems * problem.nv),
      gap_v_(w_.shape.problems * problem.nv) {}

void Bundle::step(const Request& request) {
  begin_ = Clock::now();
  request_ = request;
  row_seconds_ = 0.0;
  form_->spent();
  w_.read();
  start(request);
  while (!time_is_up(request)) iterate();
  seconds_ = form_->spent();
  finish();
}

bool Bundle::time_is_up(const Request& request) {
  bool any = false;
  for (int p = 0; p < problems(); ++p) any |= p_[p].active;
  if (!any) return true;
  const bool stop = request.stop != nullptr && request.stop->load(std::memory_order_relaxed);
  bool late = false;
  if (request.deadline != Clock::time_point::max()) {
    late = seconds_between(Clock::now(), request.deadline) < iteration_seconds_;
  }
  for (int p = 0; (stop || late) && p < problems(); ++p) {
    if (!p_[p].active) continue;
    p_[p].active = false;
    p_[p].code = Code::kDeadline;
  }
  return stop || late;
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
  const auto sum = [&](const double* lanes) { return problems() == 1 ? total(lanes) : lanes[p]; };
  const auto most = [&](const double* lanes) { return problems() == 1 ? largest(lanes) : lanes[p]; };
  double mantissas = std::log(measure_.mantissa[p]);
  for (int l = 1; problems() == 1 && l < kLanes; ++l) mantissas += std::log(measure_.mantissa[l]);
  Point point;
  point.cost = sum(measure_.cost);
  point.soft = sum(measure_.soft);
  point.logs = mantissas + kLog2 * sum(measure_.exponent);
  point.residual = sum(measure_.residual);
  point.worst_residual = most(measure_.worst_residual);
  point.violation = most(measure_.violation);
  point.product = sum(measure_.product);
  return point;
}

// The motion as it is, with its derivatives.
void Bundle::evaluate() {
  for (int p = 0; p < kLanes; ++p) p_[p].primal = p_[p].dual = 0.0;
  share_out();
  form_->settle();
  swap_trial();
  form_->accept();
}

void Bundle::swap_trial() {
  for (Terms& t : w_.terms) std::swap(t.value, t.trial);
}

void Bundle::iterate() {
  const Clock::time_point begin = Clock::now();
  share_out();
  for (const Terms& t : w_.terms) {
    if (t.costs || t.bounded) loops_.assemble(t, groups(), mu_);
  }
  for (int p = 0; p < problems(); ++p) facts_.ok[p] = p_[p].active;
  row_seconds_ += seconds_between(begin, Clock::now());
  form_->direction(gap_q_.data(), gap_v_.data(), regularisation_, gains_.data(), facts_);
  const Clock::time_point directed = Clock::now();
  clear(reach_);
  for (const Terms& t : w_.terms) {
    if (t.bounded) loops_.direct(t, groups(), mu_, reach_);
  }
  row_seconds_ += seconds_between(directed, Clock::now());
  for (int p = 0; p < problems(); ++p) aim(p);
  bool any = false;
  for (int p = 0; p < problems(); ++p) any |= p_[p].active;
  if (!any) return;  // the motion is as it was
  search();
  for (const Terms& t : w_.terms) {
    if (t.bounded) loops_.commit(t, groups(), primal_, dual_);
  }
  swap_trial();
  form_->accept();
  for (int p = 0; p < problems(); ++p) {
    if (p_[p].active) end_iteration(p);
  }
  iteration_seconds_ = std::max(0.9 * iteration_seconds_, seconds_between(begin, Clock::now()));
}

}  // namespace robomorph::mpc
