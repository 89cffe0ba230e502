// Control problems of a chain of pendulums, whose kernels are plain C++ functions, and what is true of their answers,
// worked out apart in long doubles: nothing here knows how the solver works.
//
// Angles are from the vertical, so that with c_ij = l^2 (masses beyond i and j)
//   tau_i = armature a_i + sum_j c_ij (cos(q_i - q_j) a_j + sin(q_i - q_j) v_j^2) + g_i sin q_i.
// The rows of the task are the tip's position, and with velocity the tip's velocity, each less its reference.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "mpc/solver.h"

namespace robomorph::tests {

using Real = long double;
using Reals = std::vector<Real>;

// (problems, nodes, entries) of a caller's array.
struct ControlTable {
  int problems = 1, nodes = 1, entries = 0;
  std::vector<double> numbers;

  ControlTable() = default;
  ControlTable(int problems, int nodes, int entries, double value)
      : problems(problems), nodes(nodes), entries(entries), numbers(problems * nodes * entries, value) {}
  mpc::Table view() const { return {numbers.empty() ? nullptr : numbers.data(), problems, nodes}; }
  // As the solver is to read it: one problem for all, one node for all, two for all and the last.
  double at(int problem, int node, int entry, int horizon, int all_nodes) const;
};

struct ControlWishes {
  ControlTable reference, weight, lower, upper;
  std::vector<double> soft, scale;
};

class PendulumControl {
 public:
  // 1, 2, 3 or 7 joints.
  PendulumControl(int nv, int horizon, double dt, int problems = 1);

  // Costs of a swing from the state to `goal`, all the same for every problem.
  void swing_to(const std::vector<double>& goal, double q, double v, double torque, double last_q, double last_v);
  void use_rows(bool velocity);  // before anything is given for rows
  // The same at all nodes and of all problems; infinite where there is none.
  void bound(int quantity, double lower, double upper);

  mpc::Problem problem();  // arrays stay here

  // What the answer should be. Costs without soft bounds, then their price.
  Real cost(int problem, const Reals& accelerations, Real* price = nullptr) const;
  Reals plan(int problem) const;  // accelerations
  // Largest derivative of cost + price + multipliers . values by an acceleration, over the largest of the cost's at
  // standing still.
  double unrest(int problem) const;
  double violation(int problem) const;       // of hard bounds, scaled
  double complementarity(int problem) const; // largest |multiplier| * distance to its bound
  bool signs_fit(int problem) const;  // are multipliers at upper bounds positive, at lower ones negative?
  // Largest misfit of the plan: the state at the start, the integrator, torques.
  double misfit(int problem) const;
  int active(int quantity, int problem) const;  // bounds that are met to 1e-4 of their scale

  int nv, horizon, problems, rows = 0, references = 0;
  double dt;
  bool row_velocity = false, jerk = false;
  double tolerance = 1e-6, optimal = 1e-12;
  int cap = 100;
  bool relax_start = true;
  std::vector<double> state_q, state_v, last_a, jerk_weight;
  ControlTable row_reference;
  ControlWishes wishes[mpc::kBoundable];

  std::vector<double> q, v, a, torque, gains, torque_gains, cost_found, soft_cost, violation_found, worst, times;
  std::vector<double> multiplier[mpc::kBoundable];
  std::vector<std::int64_t> counts;

  std::int64_t count(int problem, mpc::Count what) const { return counts[problem * mpc::kCounts + what]; }
  mpc::Code code(int problem) const { return static_cast<mpc::Code>(count(problem, mpc::kCode)); }
  mpc::Origin origin(int problem) const { return static_cast<mpc::Origin>(count(problem, mpc::kOrigin)); }

 private:
  struct Motion;  // values of all quantities at all nodes
  Motion roll_out(int problem, const Reals& accelerations) const;
  Real value(const Motion& motion, int quantity, int node, int entry) const;
  double bound_at(const ControlTable& table, int quantity, int problem, int node, int entry, double none) const;
  template <typename Use>
  void each_bound(int problem, Use use) const;  // use(quantity, node, entry, multiplier's place)
};

// Torques (nv,) by the formula above.
void pendulum_torques(int nv, const Real* q, const Real* v, const Real* a, Real* torques);

inline constexpr double kNone = std::numeric_limits<double>::infinity();

}  // namespace robomorph::tests
