#include "mpc/forward_form.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace robomorph::mpc {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

constexpr int kMoving[] = {kPosition, kVelocity, kAcceleration, kTorque};
constexpr double kTracking = 0.2;  // how much of a guess's error a step makes up for

}  // namespace

ForwardForm::ForwardForm(Work& work, Integrator integrator)
    : w_(work),
      sizes_(ddp_sizes(work.shape, integrator)),
      dynamics_(work.shape, sizes_, work.problem.acceleration, work.problem.acceleration_gradient),
      sweep_(sizes_),
      rows_(work),
      zeros_(work.shape.numbers(std::max(work.shape.nv, work.shape.rows))),
      start_(2 * work.shape.nv),
      node_(8 * sizes_.width),
      torques_(4 * static_cast<std::size_t>(work.shape.nv) * kLanes),
      workspace_(work.problem.torque_values.workspace / sizeof(double) + kLanes) {}

void ForwardForm::read(int quantity, int node, double* out) const {
  const double* from = w_.terms[quantity].value;
  for (int i = 0; i < w_.shape.nv; ++i) out[i] = from[w_.at(w_.shape.nv, node, i, 0)];
}

void ForwardForm::write(int quantity, int node, const double* from) const {
  double* to = w_.terms[quantity].trial;
  for (int i = 0; i < w_.shape.nv; ++i) to[w_.at(w_.shape.nv, node, i, 0)] = from[i];
}

// What lies behind the last node repeats it; torques there are those before, and accelerations none.
void ForwardForm::end() const {
  const Shape& s = w_.shape;
  for (const int x : kMoving) {
    const int last = costs_at(x, s.horizon, s) ? s.horizon : s.horizon - 1;
    for (int i = 0; i < s.nv; ++i) {
      const double number = x == kAcceleration ? 0.0 : w_.terms[x].trial[w_.at(s.nv, last, i, 0)];
      for (int k = last + 1; k < s.groups() * kLanes; ++k) w_.terms[x].trial[w_.at(s.nv, k, i, 0)] = number;
    }
  }
}

// The loop is told by a number that is none.
void ForwardForm::spoil() const {
  w_.terms[kTorque].trial[0] = w_.terms[kPosition].trial[0] = std::numeric_limits<double>::quiet_NaN();
}

// From the value, by so much of the direction; feedback keeps to the value what the model did not foresee.
bool ForwardForm::roll(double share) {
  const int nv = w_.shape.nv, width = sizes_.width;
  double *q = node_.data(), *v = q + width, *torque = v + width, *a = torque + width, *off = a + width,
         *old = off + 2 * width;
  read(kPosition, 0, q);
  read(kVelocity, 0, v);
  for (int i = 0; i < nv; ++i) {
    q[i] += share * start_.data()[i];
    v[i] += share * start_.data()[nv + i];
  }
  for (int k = 0; k < w_.shape.horizon; ++k) {
    write(kPosition, k, q);
    write(kVelocity, k, v);
    read(kPosition, k, old);
    for (int i = 0; i < nv; ++i) off[i] = q[i] - old[i];
    read(kVelocity, k, old);
    for (int i = 0; i < nv; ++i) off[nv + i] = v[i] - old[i];
    read(kTorque, k, torque);
    sweep_.add_feedback(k, off, share, torque);
    write(kTorque, k, torque);
    if (!dynamics_.step(k, torque, q, v, a)) return false;
    write(kAcceleration, k, a);
  }
  write(kPosition, w_.shape.horizon, q);
  write(kVelocity, w_.shape.horizon, v);
  end();
  return true;
}

void ForwardForm::trial(const double* share) {
  const Clock::time_point begin = Clock::now();
  same_ = share[0] == 0.0;
  const std::size_t numbers = w_.shape.numbers(w_.shape.nv);
  if (same_) {
    for (const int x : kMoving) std::copy_n(w_.terms[x].value, numbers, w_.terms[x].trial);
  }
  if (same_ || roll(share[0])) rows_.evaluate();
  else spoil();
  spent_.kernels += seconds_since(begin);
}

void ForwardForm::shift(double nodes) { shifted_ += nodes; }

// Those of inverse dynamics along the guess, all nodes at once.
void ForwardForm::guess_torques() {
  const std::size_t numbers = w_.shape.numbers(w_.shape.nv), apart = static_cast<std::size_t>(w_.shape.nv) * kLanes;
  for (const int x : {kPosition, kVelocity, kAcceleration}) std::copy_n(w_.terms[x].value, numbers, w_.terms[x].trial);
  for (int g = 0; g < w_.shape.groups(); ++g) {
    const void* in[] = {w_.terms[kPosition].trial + g * apart, w_.terms[kVelocity].trial + g * apart,
                        w_.terms[kAcceleration].trial + g * apart};
    void* out[] = {w_.terms[kTorque].trial + g * apart};
    w_.problem.torque_values.fn(in, out, workspace_.data());
  }
  end();
}

bool ForwardForm::at_state() const {
  const Problem& p = w_.problem;
  const std::size_t first = static_cast<std::size_t>(w_.caller(0)) * w_.shape.nv;
  for (int i = 0; i < w_.shape.nv; ++i) {
    const std::size_t at = w_.at(w_.shape.nv, 0, i, 0);
    if (w_.terms[kPosition].value[at] != p.state_q[first + i]) return false;
    if (w_.terms[kVelocity].value[at] != p.state_v[first + i]) return false;
  }
  return true;
}

// What is added to the guess's torque in a state off the guess: the last sweep's feedback, or without one what makes
// up for the difference in a few steps.
void ForwardForm::correct(int k, bool policy, const double* q, const double* v, double* torque) {
  const int nv = w_.shape.nv, width = sizes_.width;
  double *off = node_.data() + 4 * width, *old = off + 2 * width;
  read(kPosition, k, old);
  for (int i = 0; i < nv; ++i) off[i] = q[i] - old[i];
  read(kVelocity, k, old);
  for (int i = 0; i < nv; ++i) off[nv + i] = v[i] - old[i];
  if (policy) {
    const int then = std::min(w_.shape.horizon - 1, k + static_cast<int>(shifted_));
    return sweep_.add_feedback(then, off, 0.0, torque);
  }
  const double rate = kTracking / w_.shape.dt;
  const std::size_t apart = static_cast<std::size_t>(nv) * kLanes;
  double* lanes = torques_.data();
  read(kAcceleration, k, old);
  for (int i = 0; i < nv; ++i) {
    std::fill_n(lanes + i * kLanes, kLanes, q[i]);
    std::fill_n(lanes + apart + i * kLanes, kLanes, v[i]);
    std::fill_n(lanes + 2 * apart + i * kLanes, kLanes, old[i] - rate * rate * off[i] - 2.0 * rate * off[nv + i]);
  }
  const void* in[] = {lanes, lanes + apart, lanes + 2 * apart};
  void* out[] = {lanes + 3 * apart};
  w_.problem.torque_values.fn(in, out, workspace_.data());
  for (int i = 0; i < nv; ++i) torque[i] = lanes[3 * apart + i * kLanes];
}

// From the measured state, near the guess, whose torques are the trial's.
bool ForwardForm::follow(bool policy) {
  const int nv = w_.shape.nv, width = sizes_.width;
  const std::size_t first = static_cast<std::size_t>(w_.caller(0)) * nv;
  double *q = node_.data(), *v = q + width, *torque = v + width, *a = torque + width;
  std::copy_n(w_.problem.state_q + first, nv, q);
  std::copy_n(w_.problem.state_v + first, nv, v);
  for (int k = 0; k < w_.shape.horizon; ++k) {
    for (int i = 0; i < nv; ++i) torque[i] = w_.terms[kTorque].trial[w_.at(nv, k, i, 0)];
    correct(k, policy, q, v, torque);
    write(kPosition, k, q);
    write(kVelocity, k, v);
    write(kTorque, k, torque);
    if (!dynamics_.step(k, torque, q, v, a)) return false;
    write(kAcceleration, k, a);
  }
  write(kPosition, w_.shape.horizon, q);
  write(kVelocity, w_.shape.horizon, v);
  end();
  return true;
}

void ForwardForm::settle() {
  const Clock::time_point begin = Clock::now();
  same_ = false;
  guess_torques();
  const bool there = at_state(), policy = policy_ && !there;
  bool fine = (sizes_.euler && there) || follow(policy);
  if (!fine && policy) {  // feedback of another time, or far away, may do harm
    guess_torques();
    fine = follow(false);
  }
  if (fine) rows_.evaluate();
  else spoil();
  spent_.kernels += seconds_since(begin);
}

void ForwardForm::accept() {
  if (same_) return;  // linearised there already
  const Clock::time_point begin = Clock::now();
  dynamics_.linearise(w_.terms[kPosition].value, w_.terms[kVelocity].value, w_.terms[kTorque].value);
  spent_.kernels += seconds_since(begin);
}

DdpModel ForwardForm::model() const {
  DdpModel model;
  for (int i = 0; i < sizes_.table.stages; ++i) model.stages[i] = dynamics_.stage(i);
  const auto given = [&](const double* numbers) { return numbers == nullptr ? zeros_.data() : numbers; };
  const Terms* t = w_.terms;
  Quadratic& m = model.cost;
  m.row_dq = rows_.by_q(), m.row_dv = rows_.by_v();
  m.torque_weight = given(t[kTorque].weight), m.torque_gradient = given(t[kTorque].gradient);
  m.row_weight = given(t[kRow].weight), m.row_gradient = given(t[kRow].gradient);
  m.q_weight = given(t[kPosition].weight), m.q_gradient = given(t[kPosition].gradient);
  m.v_weight = given(t[kVelocity].weight), m.v_gradient = given(t[kVelocity].gradient);
  m.a_weight = given(t[kAcceleration].weight), m.a_gradient = given(t[kAcceleration].gradient);
  return model;
}

// A quantity's share of the model's slope and curve; lanes behind the last node do not count.
void ForwardForm::add_slopes(int quantity, StepFacts& facts) const {
  const Terms& t = w_.terms[quantity];
  if (t.entries == 0 || t.weight == nullptr) return;
  const Shape& s = w_.shape;
  double slope[kLanes] = {}, curve[kLanes] = {};
  for (int g = 0; g < s.groups(); ++g) {
    const int lanes = std::min(kLanes, s.nodes() - g * kLanes);
    for (int e = 0; e < t.entries; ++e) {
      const std::size_t at = (static_cast<std::size_t>(g) * t.entries + e) * kLanes;
      for (int l = 0; l < lanes; ++l) {
        const double c = t.change[at + l];
        slope[l] += t.gradient[at + l] * c;
        curve[l] += t.weight[at + l] * c * c;
      }
    }
  }
  for (int l = 0; l < kLanes; ++l) {
    facts.slope[0] += slope[l];
    facts.curve[0] += curve[l];
  }
}

void ForwardForm::direction(const double* dq0, const double* dv0, const double* regularisation, double* gains,
                            StepFacts& facts) {
  const Clock::time_point begin = Clock::now();
  const int nv = w_.shape.nv;
  Terms* t = w_.terms;
  facts.ok[0] = facts.ok[0] && sweep_.backward(model(), regularisation[0]);
  policy_ = facts.ok[0];
  shifted_ = 0.0;
  if (facts.ok[0]) {
    std::copy_n(dq0, nv, start_.data());
    std::copy_n(dv0, nv, start_.data() + nv);
    sweep_.forward(dq0, dv0,
                   {t[kPosition].change, t[kVelocity].change, t[kAcceleration].change, t[kTorque].change});
    rows_.change();
    facts.slope[0] = facts.curve[0] = 0.0;
    for (const int x : {kTorque, kPosition, kVelocity, kAcceleration, kRow}) add_slopes(x, facts);
    facts.ok[0] = facts.slope[0] * 0.0 == 0.0 && facts.curve[0] * 0.0 == 0.0;
    acceleration_gains(gains);
  }
  std::fill_n(facts.slope + 1, kLanes - 1, facts.slope[0]);
  std::fill_n(facts.curve + 1, kLanes - 1, facts.curve[0]);
  std::fill_n(facts.ok + 1, kLanes - 1, facts.ok[0]);
  spent_.sweep += seconds_since(begin);
}

// d a[0] / d (q, v) = by (q, v) + M^-1 d torque[0] / d (q, v).
void ForwardForm::acceleration_gains(double* out) const {
  const int nv = w_.shape.nv, width = sizes_.width;
  const Accelerations by = dynamics_.stage(0);
  const double* policy = sweep_.policy(0);
  for (int i = 0; i < nv; ++i) {
    for (int c = 0; c < 2 * nv; ++c) {
      double sum = (c < nv ? by.dq : by.dv)[(i * nv + c % nv) * kLanes];
      for (int j = 0; j < nv; ++j) sum += by.dtau[(i * nv + j) * kLanes] * policy[c * width + j];
      out[i * 2 * nv + c] = sum;
    }
  }
}

void ForwardForm::torque_gains(int, const double*, double* out) const {
  const int nv = w_.shape.nv, width = sizes_.width;
  for (int i = 0; i < nv; ++i) {
    for (int c = 0; c < 2 * nv; ++c) out[i * 2 * nv + c] = sweep_.policy(0)[c * width + i];
  }
}

double ForwardForm::square(int) const {
  const Terms& t = w_.terms[kAcceleration];
  double sum = 0.0;
  for (std::size_t at = 0; at < t.numbers(w_.shape); ++at) sum += t.change[at] * t.change[at];
  return sum;
}

// In accelerations, as regularisation is: a torque's weight counts with the square of its inertia.
double ForwardForm::stiffness(int) const {
  const Shape& s = w_.shape;
  const Quadratic cost = model().cost;
  const double* inverse = dynamics_.stage(0).dtau;
  const double square = s.dt * s.dt;
  double most = 0.0;
  for (int k = 0; k <= s.horizon; ++k) {
    for (int e = 0; e < s.nv; ++e) {
      const std::size_t at = w_.at(s.nv, k, e, 0);
      double sum = square * (cost.v_weight[at] + square * cost.q_weight[at]);
      if (k < s.horizon) {
        const double light = inverse[w_.at(s.nv * s.nv, k, e * s.nv + e, 0)];
        sum += cost.a_weight[at] + cost.torque_weight[at] / (light * light);
      }
      most = std::max(most, sum);
    }
    for (int e = 0; e < s.rows; ++e) most = std::max(most, square * square * cost.row_weight[w_.at(s.rows, k, e, 0)]);
  }
  return most > 0.0 && most < 1e300 ? most : 1.0;
}

Seconds ForwardForm::spent() {
  const Seconds spent = spent_;
  spent_ = {};
  return spent;
}

}  // namespace robomorph::mpc
