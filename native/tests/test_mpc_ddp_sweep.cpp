// The sweep of the forward-dynamics form, every version that this processor runs, against one dense system.
#include <cmath>
#include <limits>
#include <vector>

#include "mpc/ddp_sweep.h"
#include "mpc/ddp_versions.h"
#include "tests/check.h"
#include "tests/ddp_random.h"
#include "tests/wave_motion.h"

namespace robomorph::tests {
namespace {

using mpc::DdpDirection;
using mpc::DdpLoops;
using mpc::DdpSweep;
using mpc::Doubles;
using mpc::Integrator;
using mpc::kLanes;
using mpc::Shape;

std::vector<const DdpLoops*> versions() {
  std::vector<const DdpLoops*> out = {&mpc::ddp_plain(), &mpc::ddp_loops()};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) out.push_back(&mpc::ddp_avx2());
  if (__builtin_cpu_supports("avx512f")) out.push_back(&mpc::ddp_avx512());
#endif
  return out;
}

Shape shape_of(int nv, int horizon, int rows, bool row_velocity, double dt) {
  Shape shape;
  shape.nv = nv;
  shape.horizon = horizon;
  shape.rows = rows;
  shape.row_velocity = row_velocity;
  shape.dt = dt;
  return shape;
}

struct Step {
  Doubles dq, dv, da, dtau;
  explicit Step(const Shape& shape)
      : dq(shape.numbers(shape.nv)), dv(dq.size()), da(dq.size()), dtau(dq.size()) {}
  DdpDirection out() { return {dq.data(), dv.data(), da.data(), dtau.data()}; }
};

double entry(const Doubles& grouped, int nv, int node, int i) {
  return grouped.data()[(static_cast<std::size_t>(node / kLanes) * nv + i) * kLanes + node % kLanes];
}

void compare(const RandomStep& problem, const DdpLoops& loops, double extra) {
  const Shape& shape = problem.shape;
  const int nv = shape.nv;
  std::vector<double> dx0(2 * nv);
  WaveRandom random(7);
  for (double& x : dx0) x = random();
  DdpSweep sweep(mpc::ddp_sizes(shape, problem.integrator), loops);
  CHECK(sweep.backward(problem.model(), extra));
  Step step(shape);
  sweep.forward(dx0.data(), dx0.data() + nv, step.out());
  const std::vector<double> torques = problem.dense(dx0.data(), extra);
  std::vector<double> z;
  problem.cost(dx0.data(), torques, extra, &z);
  for (int k = 0; k <= shape.horizon; ++k) {
    for (int i = 0; i < nv; ++i) {
      const double* expected = z.data() + k * 4 * nv + i;
      CHECK_NEAR(entry(step.dq, nv, k, i), expected[0], 1e-8);
      CHECK_NEAR(entry(step.dv, nv, k, i), expected[nv], 1e-7);
      CHECK_NEAR(entry(step.da, nv, k, i), expected[2 * nv], 1e-6);
      CHECK_NEAR(entry(step.dtau, nv, k, i), expected[3 * nv], 1e-7);
    }
  }
}

TEST_CASE(mpc_ddp_sweep_dense, "mpc_ddp_sweep: steps are those of the dense system") {
  const Integrator all[] = {Integrator::kEuler, Integrator::kMidpoint, Integrator::kRk4};
  for (const DdpLoops* loops : versions()) {
    unsigned seed = 1;
    for (const Integrator integrator : all) {
      for (int nv : {1, 2, 5, 7, 8, 12}) {
        const int horizon = nv > 7 ? 5 : 9;
        compare(RandomStep(shape_of(nv, horizon, 0, false, 0.05), integrator, ++seed), *loops, 0.0);
        compare(RandomStep(shape_of(nv, horizon, 3, false, 0.05), integrator, ++seed), *loops, 0.4);
        compare(RandomStep(shape_of(nv, 1, 17, true, 0.05), integrator, ++seed), *loops, 0.0);
      }
    }
  }
}

TEST_CASE(mpc_ddp_sweep_expected, "mpc_ddp_sweep: the expected gain is what the dense cost loses") {
  for (const Integrator integrator : {Integrator::kEuler, Integrator::kRk4}) {
    const RandomStep problem(shape_of(3, 8, 2, true, 0.1), integrator, 5);
    DdpSweep sweep(mpc::ddp_sizes(problem.shape, integrator));
    CHECK(sweep.backward(problem.model(), 0.0));
    const std::vector<double> still(6), torques = problem.dense(still.data(), 0.0);
    std::vector<double> z;
    CHECK_NEAR(sweep.expected(), -problem.cost(still.data(), torques, 0.0, &z), 1e-9);
  }
}

TEST_CASE(mpc_ddp_sweep_policy, "mpc_ddp_sweep: feedback of the first node says what the dense system does") {
  const RandomStep problem(shape_of(3, 6, 0, false, 0.1), Integrator::kRk4, 6);
  DdpSweep sweep(mpc::ddp_sizes(problem.shape, problem.integrator));
  CHECK(sweep.backward(problem.model(), 0.0));
  const std::vector<double> dx0 = {0.3, -0.2, 0.9, 0.1, 0.5, -0.7};
  Doubles torque(sweep.sizes().width);
  sweep.add_feedback(0, dx0.data(), 1.0, torque.data());
  const std::vector<double> torques = problem.dense(dx0.data(), 0.0);
  for (int i = 0; i < 3; ++i) CHECK_NEAR(torque.data()[i], torques[i], 1e-9);
}

TEST_CASE(mpc_ddp_sweep_bad, "mpc_ddp_sweep: pivots that are not positive, and numbers that are none, are told") {
  for (const DdpLoops* loops : versions()) {
    const Shape shape = shape_of(3, 10, 0, false, 0.1);
    for (const double bad : {-1e9, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      for (const int which : {0, 1, 2, 5, 6, 7}) {  // derivatives, weights of torque, its gradient, weight of q
        RandomStep problem(shape, Integrator::kEuler, 9);
        problem.numbers[which].data()[1] = bad;
        DdpSweep sweep(mpc::ddp_sizes(shape, problem.integrator), *loops);
        const bool harmless = bad == -1e9 && (which < 3 || which == 6);
        CHECK_EQUAL(sweep.backward(problem.model(), 0.0), harmless);
      }
    }
  }
}

}  // namespace
}  // namespace robomorph::tests
