// Motion problems whose functions a device evaluates, against the same with kernels.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "planning/motion_problem.h"
#include "tests/check.h"
#include "tests/wave_motion.h"

namespace robomorph::tests {
namespace {

using planning::Banded;
using planning::kLanes;
using planning::MotionData;
using planning::MotionKernel;
using planning::MotionProblem;
using planning::NodeJob;
using Vector = std::vector<double>;

constexpr int kN = kWaveJoints, kC = kWaveChannels, kSquare = kN * kN;

// Rows of nodes from kernels, a state at a time. Tables end where their last number ends.
template <typename T>
class WaveDevice : public planning::NodeDevice {
 public:
  explicit WaveDevice(const MotionData& data) : d_(data), kernels_(wave_kernels()) {
    const int nodes = d_.pieces.count * d_.pieces.nodes;
    single = sizeof(T) == sizeof(float);
    const int sizes[] = {kC, kN, kC, kN, kC * kN, kSquare, kSquare, kSquare, kSquare, kSquare, kSquare, kSquare, kSquare};
    for (int t = 0; t < planning::kNodeTables; ++t) {
      const bool further = t == planning::kNodeFurtherValues || t == planning::kNodeFurtherTorques;
      rows_[t].resize(static_cast<std::size_t>(nodes - (further ? d_.pieces.count : 0)) * sizes[t]);
      rows_[t].shrink_to_fit();
      tables[t] = rows_[t].data();
    }
    given_.resize(static_cast<std::size_t>(nodes) * (kC + kN));
    multipliers = given_.data();
  }

  bool run(NodeJob job, const double* control, double sigma) override {
    ++jobs;
    for (std::vector<T>& table : rows_) std::fill(table.begin(), table.end(), static_cast<T>(NAN));
    if (fails) return false;
    for (int e = 0; e < d_.pieces.count; ++e) {
      const int nodes = d_.pieces.nodes;
      for (int k = 0; k < nodes; ++k) {
        at_node(job, e * nodes + k, state(d_.pieces.basis, e, nodes, k, control, sigma));
      }
      for (int k = 0; job == NodeJob::kMargins && k + 1 < nodes; ++k) {
        const Vector s = state(d_.pieces.between, e, nodes - 1, k, control, sigma);
        const int row = e * (nodes - 1) + k;
        call(kernels_.channel_values, {s.data(), d_.references.data()}, {kN, 2}, row, {planning::kNodeFurtherValues}, {kC});
        call(kernels_.torque_values, {s.data(), s.data() + kN, s.data() + 2 * kN}, {kN, kN, kN}, row,
             {planning::kNodeFurtherTorques}, {kN});
      }
    }
    return true;
  }

  int jobs = 0;
  bool fails = false;

 private:
  Vector state(const Vector& basis, int e, int nodes, int k, const double* control, double sigma) const {
    Vector out(3 * kN, 0.0);
    for (int d = 0; d < 3; ++d) {
      for (int w = 0; w < d_.width; ++w) {
        const double share = basis[((e * 3 + d) * nodes + k) * d_.width + w] / std::pow(sigma, d);
        for (int j = 0; j < kN; ++j) out[d * kN + j] += share * control[(d_.pieces.first[e] + w) * kN + j];
      }
    }
    return out;
  }

  void at_node(NodeJob job, int row, const Vector& s) {
    using namespace planning;
    const std::vector<const double*> pose = {s.data(), d_.references.data()};
    const std::vector<const double*> motion = {s.data(), s.data() + kN, s.data() + 2 * kN};
    if (job == NodeJob::kDerivatives) {
      call(kernels_.channels, pose, {kN, 2}, row, {kNodeValues, kNodeGradients}, {kC, kC * kN});
      call(kernels_.torques, motion, {kN, kN, kN}, row, {kNodeTorques, kNodeByQ, kNodeByV, kNodeByA},
           {kN, kSquare, kSquare, kSquare});
    } else if (job == NodeJob::kHessians) {
      const double* own = multipliers + static_cast<std::size_t>(row) * (kC + kN);
      call(kernels_.channel_hessian, {pose[0], pose[1], own}, {kN, 2, kC}, row, {kNodeChannelHessian}, {kSquare});
      call(kernels_.torque_hessian, {motion[0], motion[1], motion[2], own + kC}, {kN, kN, kN, kN}, row,
           {kNodeQQ, kNodeQV, kNodeVV, kNodeQA}, {kSquare, kSquare, kSquare, kSquare});
    } else {
      call(kernels_.channel_values, pose, {kN, 2}, row, {kNodeValues}, {kC});
      call(kernels_.torque_values, motion, {kN, kN, kN}, row, {kNodeTorques}, {kN});
    }
  }

  void call(const MotionKernel& kernel, const std::vector<const double*>& in, const std::vector<int>& in_sizes, int row,
            const std::vector<int>& to, const std::vector<int>& sizes) {
    std::vector<Vector> given, found;
    std::vector<const void*> arguments;
    std::vector<void*> results;
    for (std::size_t i = 0; i < in.size(); ++i) {
      given.emplace_back(in_sizes[i] * kLanes);
      for (int k = 0; k < in_sizes[i] * kLanes; ++k) given[i][k] = in[i][k / kLanes];
    }
    for (const Vector& g : given) arguments.push_back(g.data());
    for (int size : sizes) found.emplace_back(size * kLanes);
    for (Vector& f : found) results.push_back(f.data());
    kernel.fn(arguments.data(), results.data(), nullptr);
    for (std::size_t t = 0; t < to.size(); ++t) {
      T* out = rows_[to[t]].data() + static_cast<std::size_t>(row) * sizes[t];
      for (int i = 0; i < sizes[t]; ++i) out[i] = static_cast<T>(found[t][i * kLanes]);
    }
  }

  const MotionData& d_;
  const planning::MotionKernels kernels_;
  std::vector<T> rows_[planning::kNodeTables];
  Vector given_;
};

// All that a solver asks for, one after the other.
Vector findings(MotionProblem& p, bool border) {
  WaveRandom random(7);
  Vector x(p.variables), out, rows(p.rows), gradient(p.variables), m(p.rows), w(p.rows);
  p.initial(x.data());
  if (border) x.back() = 1.2;
  for (double& value : m) value = random();
  for (double& value : w) value = 1.5 + random();
  p.refresh_margins(x.data());
  out.insert(out.end(), p.margins(), p.margins() + p.rows);
  double cost = 0.0;
  CHECK(p.values(x.data(), &cost, rows.data()));
  out.push_back(cost);
  out.insert(out.end(), rows.begin(), rows.end());
  CHECK(p.linearise(x.data(), gradient.data()));
  out.insert(out.end(), gradient.begin(), gradient.end());
  p.jacobian_times(x.data(), rows.data());
  out.insert(out.end(), rows.begin(), rows.end());
  p.jacobian_transposed_times(m.data(), gradient.data());
  out.insert(out.end(), gradient.begin(), gradient.end());
  Banded band;
  band.size = p.blocks * p.block;
  band.half = (p.reach + 1) * p.block - 1;
  band.stride = band.half + 1;
  band.border = p.border;
  band.data.assign(static_cast<std::size_t>(band.size) * band.stride, 0.0);
  band.arrow.assign(band.size, 0.0);
  p.condensed(0.7, m.data(), w.data(), true, band);
  out.insert(out.end(), band.data.begin(), band.data.end());
  out.insert(out.end(), band.arrow.begin(), band.arrow.end());
  out.push_back(band.corner);
  return out;
}

std::vector<WaveSizes> all_sizes() {
  std::vector<WaveSizes> out(4);
  out[1].border = true;
  out[2] = {11, 9, true, true, true, 0.5, 0.7, 2.0};
  out[3] = {1, 7, true, false, true, 0.0, 0.3, 0.0};
  return out;
}

template <typename T>
void compare(const WaveSizes& sizes, double tolerance) {
  const MotionData data = wave_motion(sizes, 3);
  WaveDevice<T> device(data);
  planning::MotionKernels kernels;
  kernels.device = &device;
  CHECK_EQUAL(planning::motion_fault(data, kernels), std::string());
  MotionProblem usual(data, wave_kernels(), 1, 0.0), other(data, kernels, 3, 0.0);
  const Vector expected = findings(usual, sizes.border), found = findings(other, sizes.border);
  CHECK_EQUAL(device.jobs, 4);
  double size = 1.0;
  for (double value : expected) size = std::max(size, std::fabs(value));
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK_NEAR(found[i], expected[i], tolerance * size);
}

TEST_CASE(planning_device_same, "planning_device: a device gives what kernels give") {
  for (const WaveSizes& sizes : all_sizes()) compare<double>(sizes, 1e-13);
}

TEST_CASE(planning_device_single, "planning_device: tables of floats") {
  for (const WaveSizes& sizes : all_sizes()) compare<float>(sizes, 1e-6);
}

TEST_CASE(planning_device_failure, "planning_device: where a device fails there are no values") {
  const MotionData data = wave_motion(all_sizes()[1], 3);
  WaveDevice<double> device(data);
  planning::MotionKernels kernels;
  kernels.device = &device;
  MotionProblem problem(data, kernels, 1, 0.0);
  Vector x(problem.variables), rows(problem.rows);
  problem.initial(x.data());
  double cost = 0.0;
  CHECK(problem.values(x.data(), &cost, rows.data()));
  device.fails = true;
  CHECK(!problem.values(x.data(), &cost, rows.data()));
  CHECK(!problem.linearise(x.data(), x.data()));
  CHECK(!problem.refresh_margins(x.data()));
}

TEST_CASE(planning_device_faults, "planning_device: tables that are missing are told") {
  const MotionData data = wave_motion(all_sizes()[0], 3);
  for (int t : {planning::kNodeValues, planning::kNodeFurtherTorques, planning::kNodeByV, planning::kNodeQA}) {
    WaveDevice<double> device(data);
    device.tables[t] = nullptr;
    planning::MotionKernels kernels;
    kernels.device = &device;
    CHECK(planning::motion_fault(data, kernels).rfind("device: ", 0) == 0);
  }
}

}  // namespace
}  // namespace robomorph::tests
