#include "mpc/inverse_form.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace robomorph::mpc {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

}  // namespace

InverseForm::InverseForm(Work& work) : w_(work), loops_(row_loops()), sweep_(make_sweep(work.shape)) {
  const Shape& s = w_.shape;
  for (Doubles* matrix : {&mass_, &by_q_, &by_v_}) *matrix = Doubles(s.numbers(s.nv * s.nv));
  row_by_q_ = Doubles(s.numbers(s.rows * s.nv));
  if (s.row_velocity) row_by_v_ = Doubles(s.numbers(s.rows * s.nv));
  const std::size_t bytes = std::max(w_.problem.torque.workspace, w_.problem.row_kernel.workspace);
  workspace_ = Doubles(bytes / sizeof(double) + kLanes);
}

void InverseForm::call_torques(int g) {
  const std::size_t at = static_cast<std::size_t>(g) * w_.shape.nv * kLanes, square = at * w_.shape.nv;
  const void* in[] = {w_.terms[kPosition].trial + at, w_.terms[kVelocity].trial + at, w_.terms[kAcceleration].trial + at};
  void* out[] = {w_.terms[kTorque].trial + at, by_q_.data() + square, by_v_.data() + square, mass_.data() + square};
  w_.problem.torque.fn(in, out, workspace_.data());
}

void InverseForm::call_rows(int g) {
  const Shape& s = w_.shape;
  const std::size_t at = static_cast<std::size_t>(g) * s.nv * kLanes;
  const std::size_t row = static_cast<std::size_t>(g) * s.rows * kLanes;
  const double* reference = w_.row_reference + static_cast<std::size_t>(g) * w_.problem.references * kLanes;
  const double *q = w_.terms[kPosition].trial + at, *v = w_.terms[kVelocity].trial + at;
  double *values = w_.terms[kRow].trial + row, *by_q = row_by_q_.data() + row * s.nv;
  if (s.row_velocity) {
    const void* in[] = {q, v, reference};
    void* out[] = {values, by_q, row_by_v_.data() + row * s.nv};
    w_.problem.row_kernel.fn(in, out, workspace_.data());
  } else {
    const void* in[] = {q, reference};
    void* out[] = {values, by_q};
    w_.problem.row_kernel.fn(in, out, workspace_.data());
  }
}

// a[k] - a[k-1], in lanes.
void InverseForm::differ(const double* a, double* jerk) const {
  const Shape& s = w_.shape;
  for (int p = 0; p < s.problems; ++p) {
    for (int e = 0; e < s.nv; ++e) {
      const double* known = w_.problem.last_a;
      double before = known == nullptr ? 0.0 : known[static_cast<std::size_t>(w_.caller(p)) * s.nv + e];
      for (int k = 0; k < s.horizon; ++k) {
        const std::size_t at = w_.at(s.nv, k, e, p);
        jerk[at] = a[at] - before;
        before = a[at];
      }
    }
  }
}

void InverseForm::trial(const double* share) {
  for (int x : {kPosition, kVelocity, kAcceleration}) {
    const Terms& t = w_.terms[x];
    loops_.advance(t.value, t.change, share, t.numbers(w_.shape), t.trial);
  }
  evaluate();
}

void InverseForm::settle() {
  for (int x : {kPosition, kVelocity, kAcceleration}) {
    const Terms& t = w_.terms[x];
    std::copy_n(t.value, t.numbers(w_.shape), t.trial);
  }
  evaluate();
}

// The same accelerations from another state.
void InverseForm::begin_at_state() {
  const Shape& s = w_.shape;
  const Terms *t = w_.terms, &q = t[kPosition], &v = t[kVelocity];
  std::copy_n(t[kAcceleration].value, t[kAcceleration].numbers(s), t[kAcceleration].trial);
  for (int p = 0; p < s.problems; ++p) {
    for (int e = 0; e < s.nv; ++e) {
      const std::size_t from = static_cast<std::size_t>(w_.caller(p)) * s.nv + e, first = w_.at(s.nv, 0, e, p);
      const double off_q = w_.problem.state_q[from] - q.value[first], off_v = w_.problem.state_v[from] - v.value[first];
      for (int k = 0; k <= s.horizon; ++k) {
        const std::size_t at = w_.at(s.nv, k, e, p);
        const int lanes = w_.lane_end(k, p) - s.lane(k, p);
        std::fill_n(q.trial + at, lanes, q.value[at] + (off_q + k * s.dt * off_v));
        std::fill_n(v.trial + at, lanes, v.value[at] + off_v);
      }
    }
  }
  evaluate();
}

void InverseForm::evaluate() {
  const Clock::time_point begin = Clock::now();
  // Of eight problems the last group is the last node, where there is no torque.
  const int groups = w_.shape.groups(), with_torque = w_.shape.problems == 1 ? groups : groups - 1;
  for (int g = 0; g < groups; ++g) {
    if (g < with_torque) call_torques(g);
    if (w_.shape.rows > 0) call_rows(g);
  }
  if (w_.shape.jerk) differ(w_.terms[kAcceleration].trial, w_.terms[kJerk].trial);
  spent_.kernels += seconds_since(begin);
}

void InverseForm::direction(const double* dq0, const double* dv0, const double* regularisation, double* gains,
                            StepFacts& facts) {
  const Shape& s = w_.shape;
  Terms* t = w_.terms;
  Quadratic m;
  m.torque_mass = mass_.data();
  m.torque_dq = by_q_.data();
  m.torque_dv = by_v_.data();
  m.row_dq = row_by_q_.data();
  m.row_dv = s.row_velocity ? row_by_v_.data() : nullptr;
  m.torque_weight = t[kTorque].weight, m.torque_gradient = t[kTorque].gradient;
  m.row_weight = t[kRow].weight, m.row_gradient = t[kRow].gradient;
  m.q_weight = t[kPosition].weight, m.q_gradient = t[kPosition].gradient;
  m.v_weight = t[kVelocity].weight, m.v_gradient = t[kVelocity].gradient;
  m.a_weight = t[kAcceleration].weight, m.a_gradient = t[kAcceleration].gradient;
  if (s.jerk) m.jerk_weight = t[kJerk].weight, m.jerk_gradient = t[kJerk].gradient;
  const Direction d{t[kPosition].change, t[kVelocity].change, t[kAcceleration].change, gains, facts.slope, facts.curve};
  const Clock::time_point begin = Clock::now();
  sweep_->solve(m, dq0, dv0, regularisation, d, facts.ok);
  spent_.sweep += seconds_since(begin);
  if (t[kTorque].bounded) {
    loops_.multiply(mass_.data(), t[kAcceleration].change, s.nv, s.nv, s.groups(), false, t[kTorque].change);
    loops_.multiply(by_q_.data(), t[kPosition].change, s.nv, s.nv, s.groups(), true, t[kTorque].change);
    loops_.multiply(by_v_.data(), t[kVelocity].change, s.nv, s.nv, s.groups(), true, t[kTorque].change);
  }
  if (t[kRow].bounded) {
    loops_.multiply(row_by_q_.data(), t[kPosition].change, s.rows, s.nv, s.groups(), false, t[kRow].change);
    if (s.row_velocity) {
      loops_.multiply(row_by_v_.data(), t[kVelocity].change, s.rows, s.nv, s.groups(), true, t[kRow].change);
    }
  }
}

void InverseForm::torque_gains(int p, const double* gains, double* out) const {
  const int nv = w_.shape.nv;
  for (int i = 0; i < nv; ++i) {
    for (int c = 0; c < 2 * nv; ++c) {
      const Doubles& by = c < nv ? by_q_ : by_v_;
      double sum = by.data()[w_.at(nv * nv, 0, i * nv + c % nv, p)];
      for (int j = 0; j < nv; ++j) sum += mass_.data()[w_.at(nv * nv, 0, i * nv + j, p)] * gains[j * 2 * nv + c];
      out[i * 2 * nv + c] = sum;
    }
  }
}

double InverseForm::square(int p) const {
  const Terms& t = w_.terms[kAcceleration];
  const std::size_t step = w_.shape.problems == 1 ? 1 : kLanes;
  double sum = 0.0;
  for (std::size_t at = w_.shape.problems == 1 ? 0 : p; at < t.numbers(w_.shape); at += step) {
    sum += t.change[at] * t.change[at];
  }
  return sum;
}

double InverseForm::stiffness(int p) const {
  const Shape& s = w_.shape;
  const Terms* t = w_.terms;
  const double square = s.dt * s.dt;
  double most = 0.0;
  for (int k = 0; k <= s.horizon; ++k) {
    for (int e = 0; e < s.nv; ++e) {
      const std::size_t at = w_.at(s.nv, k, e, p);
      double sum = square * (t[kVelocity].weight[at] + square * t[kPosition].weight[at]);
      if (k < s.horizon) {
        const double mass = mass_.data()[w_.at(s.nv * s.nv, k, e * s.nv + e, p)];
        sum += t[kAcceleration].weight[at] + mass * mass * t[kTorque].weight[at];
      }
      most = std::max(most, sum);
    }
    for (int e = 0; e < s.rows; ++e) most = std::max(most, square * square * t[kRow].weight[w_.at(s.rows, k, e, p)]);
  }
  return most > 0.0 && std::isfinite(most) ? most : 1.0;
}

Seconds InverseForm::spent() {
  const Seconds spent = spent_;
  spent_ = {};
  return spent;
}

}  // namespace robomorph::mpc
