// Random steps of the forward-dynamics form, and their answer by one dense system over all torques.
#pragma once

#include <vector>

#include "mpc/ddp_sweep.h"

namespace robomorph::tests {

// Numbers of a model; `model()` points into them.
struct RandomStep {
  mpc::Shape shape;
  mpc::Integrator integrator;
  std::vector<mpc::Doubles> numbers;  // 3 for each stage, then rows (dq, dv), then weight and gradient of each quantity

  RandomStep(const mpc::Shape& shape, mpc::Integrator integrator, unsigned seed);
  mpc::DdpModel model() const;

  // Torques (horizon, nv) of the least cost from a state off by dx0 (2 nv), accelerations weighed by `extra` more.
  std::vector<double> dense(const double* dx0, double extra) const;
  // The model's cost of such torques, relative to none; what changes is written to z (horizon + 1, 4 nv: dq, dv, da,
  // dtau).
  double cost(const double* dx0, const std::vector<double>& torques, double extra, std::vector<double>* z) const;

 private:
  double term(int quantity, int node, int i, double r, double extra) const;
  double row(int node, int r, const std::vector<double>& x) const;
  void step(int node, const double* torque, std::vector<double>& x, std::vector<double>& first) const;
};

}  // namespace robomorph::tests
