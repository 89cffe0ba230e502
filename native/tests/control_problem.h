// Random problems of a sweep (mpc/sweep.h), one at a time and number by number, and what is true of their answers.
#pragma once

#include <cstddef>
#include <memory>
#include <random>
#include <vector>

#include "mpc/sweep.h"

namespace robomorph::tests {

using Numbers = std::vector<double>;

// One row at one node: weight, gradient, and its entries over [a | q | v | previous a].
struct ControlRow {
  double weight, gradient;
  Numbers entries;
};

struct ControlProblem {
  mpc::Shape shape;  // problems == 1
  double regularisation = 0.0;
  Numbers dq0, dv0;
  // (nodes, entries) each, in the order of Quadratic
  Numbers mass, torque_dq, torque_dv, torque_weight, torque_gradient, row_dq, row_dv, row_weight, row_gradient, q_weight,
      q_gradient, v_weight, v_gradient, a_weight, a_gradient, jerk_weight, jerk_gradient;

  // Every row of a node that counts there.
  std::vector<ControlRow> rows(int node) const;
};

ControlProblem random_problem(const mpc::Shape& shape, std::mt19937& random);

// Trajectories (nodes, nv); da of the last node is zero.
struct ControlStep {
  Numbers dq, dv, da;
};

ControlStep roll_out(const ControlProblem& problem, const Numbers& da);

// The minimum, from the dense matrix of optimality with a multiplier for every equation of the dynamics.
ControlStep dense_minimum(const ControlProblem& problem);

// Slope and curve by direct sums.
void direct_sums(const ControlProblem& problem, const ControlStep& step, double* slope, double* curve);

// How far the step is from a minimum: the derivatives of the model by accelerations over the sum of the absolute
// values they are made of, the largest.
double unrest(const ControlProblem& problem, const ControlStep& step);

// Problems in lanes, and room for an answer. Lanes beyond the last node are copies of it; where `poison`, numbers
// that do not count are NaN.
class ControlBundle {
 public:
  ControlBundle(const std::vector<ControlProblem>& problems, bool poison = true);

  const mpc::Shape& shape() const { return shape_; }
  ControlStep step(int problem) const;
  double gain(int problem, int i, int j) const;
  // Every lane beyond the last node repeats it.
  bool lanes_repeat() const;

  mpc::Quadratic model;
  mpc::Direction direction;
  Numbers dq0, dv0, regularisation;
  std::unique_ptr<bool[]> ok;

 private:
  double* take(std::size_t count);
  const double* pack(const std::vector<ControlProblem>& problems, Numbers ControlProblem::*from, int entries,
                     bool at_last, bool poison);

  mpc::Shape shape_;
  struct Free {
    void operator()(double* p) const;
  };
  std::vector<std::unique_ptr<double[], Free>> memory_;
};

}  // namespace robomorph::tests
