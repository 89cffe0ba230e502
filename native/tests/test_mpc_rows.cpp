// The loops over rows in every version that this processor has, against the formulas, number by number.
#include <cmath>
#include <random>
#include <vector>

#include "mpc/memory.h"
#include "mpc/rows.h"
#include "tests/check.h"

namespace robomorph::tests {
namespace {

using mpc::Doubles;
using mpc::kLanes;
using mpc::RowLoops;
using mpc::Terms;

std::vector<const RowLoops*> versions() {
  std::vector<const RowLoops*> all = {&mpc::row_loops_plain()};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) all.push_back(&mpc::row_loops_avx2());
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) all.push_back(&mpc::row_loops_avx512());
#endif
  return all;
}

// A quantity with bounds of all kinds.
struct Sample {
  static constexpr int kEntries = 5, kGroups = 3, kSize = kEntries * kGroups * kLanes, kFew = kEntries * kLanes;

  explicit Sample(unsigned seed) : random(seed) {
    for (double** array : {&t.value, &t.trial, &t.change, &t.reference, &t.cost, &t.weight, &t.gradient, &t.lower, &t.upper}) {
      *array = take(kSize, -2.0, 2.0);
    }
    for (mpc::Side* side : {&t.below, &t.above}) {
      side->slack = take(kSize, 0.1, 2.0);
      side->multiplier = take(kSize, 0.1, 2.0);
      side->slack_change = take(kSize, -0.1, 1.0);
      side->multiplier_change = take(kSize, -1.0, 1.0);
    }
    for (double** array : {&t.inverse_soft, &t.scale, &t.inverse_scale, &t.hard_scale}) *array = take(kFew, 0.5, 1.5);
    limited.assign(kEntries, 1);
    limited[2] = 0;
    t.limited = reinterpret_cast<bool*>(limited.data());
    t.entries = kEntries;
    t.costs = t.bounded = true;
    for (int i = 0; i < kSize; ++i) {
      if (i % 3 == 0) no_bound(t.upper[i], mpc::kNoBound, t.above, i);
      if (i % 7 == 0) no_bound(t.lower[i], -mpc::kNoBound, t.below, i);
    }
    for (int i = 0; i < kFew; ++i) {
      if (i % 2 == 0) t.inverse_soft[i] = 0.0;
      if (i % 5 == 0) t.hard_scale[i] = 0.0;
      t.inverse_scale[i] = 1.0 / t.scale[i];
    }
    for (int i : {0, 1, 2}) lanes[i] = take(kLanes, 0.1, 0.9);
    lanes[1][3] = lanes[2][3] = 0.0;
  }

  double* take(int size, double least, double most) {
    memory.emplace_back(size);
    std::uniform_real_distribution<double> draw(least, most);
    for (int i = 0; i < size; ++i) memory.back().data()[i] = draw(random);
    return memory.back().data();
  }

  static void no_bound(double& bound, double none, mpc::Side& side, int i) {
    bound = none;
    side.slack[i] = 1.0;
    side.multiplier[i] = side.slack_change[i] = side.multiplier_change[i] = 0.0;
  }

  static int entry(int i) { return i / kLanes % kEntries; }
  static int few(int i) { return i % kFew; }
  bool has(int i, bool above) const { return above ? t.upper[i] < mpc::kHasBound : t.lower[i] > -mpc::kHasBound; }
  double g(const double* x, int i, bool above) const { return above ? x[i] - t.upper[i] : t.lower[i] - x[i]; }
  const mpc::Side& side(bool above) const { return above ? t.above : t.below; }

  std::mt19937 random;
  std::vector<Doubles> memory;
  std::vector<char> limited;
  double* lanes[3];  // mu, and shares
  Terms t;
};

TEST_CASE(assembled, "mpc_rows: weights and gradients") {
  for (const RowLoops* loops : versions()) {
    Sample s(1);
    loops->assemble(s.t, Sample::kGroups, s.lanes[0]);
    for (int i = 0; i < Sample::kSize; ++i) {
      double weight = s.t.cost[i], gradient = s.t.cost[i] * (s.t.value[i] - s.t.reference[i]);
      for (bool above : {false, true}) {
        if (!s.limited[Sample::entry(i)] || !s.has(i, above)) continue;
        const double slack = s.side(above).slack[i], multiplier = s.side(above).multiplier[i];
        const double d = slack / multiplier + s.t.inverse_soft[Sample::few(i)], mu = s.lanes[0][i % kLanes];
        weight += 1.0 / d;
        const double violation = s.g(s.t.value, i, above) - multiplier * s.t.inverse_soft[Sample::few(i)];
        gradient += (above ? 1.0 : -1.0) * (multiplier + (violation + mu / multiplier) / d);
      }
      CHECK_NEAR(s.t.weight[i], weight, 1e-12 * (1.0 + std::fabs(weight)));
      CHECK_NEAR(s.t.gradient[i], gradient, 1e-11 * (1.0 + std::fabs(weight)));
    }
  }
}

// Newton's equations hold of the directions: of slacks, and of products.
TEST_CASE(directed, "mpc_rows: directions of slacks and multipliers") {
  for (const RowLoops* loops : versions()) {
    Sample s(2);
    mpc::Reach reach;
    mpc::clear(reach);
    loops->direct(s.t, Sample::kGroups, s.lanes[0], reach);
    double primal[kLanes] = {}, dual[kLanes] = {}, logs[kLanes] = {};
    for (int i = 0; i < Sample::kSize; ++i) {
      for (bool above : {false, true}) {
        if (!s.limited[Sample::entry(i)]) continue;
        const mpc::Side& side = s.side(above);
        const double ds = side.slack_change[i], dl = side.multiplier_change[i], soft = s.t.inverse_soft[Sample::few(i)];
        if (!s.has(i, above)) {
          CHECK_EQUAL(ds, 0.0);
          CHECK_EQUAL(dl, 0.0);
          continue;
        }
        const double change = above ? s.t.change[i] : -s.t.change[i];
        const double after = s.g(s.t.value, i, above) + change + side.slack[i] + ds - soft * (side.multiplier[i] + dl);
        CHECK_NEAR(after, 0.0, 1e-11);
        const double product = side.slack[i] * side.multiplier[i] + side.slack[i] * dl + side.multiplier[i] * ds;
        CHECK_NEAR(product, s.lanes[0][i % kLanes], 1e-11);
        primal[i % kLanes] = std::max(primal[i % kLanes], -ds / side.slack[i]);
        dual[i % kLanes] = std::max(dual[i % kLanes], -dl / side.multiplier[i]);
        logs[i % kLanes] += ds / side.slack[i];
      }
    }
    for (int l = 0; l < kLanes; ++l) {
      CHECK_NEAR(reach.primal[l], primal[l], 1e-11 * (1.0 + primal[l]));
      CHECK_NEAR(reach.dual[l], dual[l], 1e-11 * (1.0 + dual[l]));
      CHECK_NEAR(reach.logs[l], logs[l], 1e-10 * (1.0 + std::fabs(logs[l])));
    }
  }
}

TEST_CASE(measured, "mpc_rows: costs, residuals, violations and logarithms at the trial") {
  for (const RowLoops* loops : versions()) {
    Sample s(3);
    s.t.above.slack[11] = 1e-9;  // logarithms of what is small
    s.t.above.slack_change[11] = 0.0;
    mpc::Measure found;
    mpc::clear(found);
    loops->measure(s.t, Sample::kGroups, s.lanes[1], s.lanes[2], found);
    double cost[kLanes] = {}, soft[kLanes] = {}, residual[kLanes] = {}, violation[kLanes] = {}, product[kLanes] = {},
           logs[kLanes] = {};
    for (int i = 0; i < Sample::kSize; ++i) {
      const int l = i % kLanes, f = Sample::few(i);
      cost[l] += 0.5 * s.t.cost[i] * std::pow(s.t.trial[i] - s.t.reference[i], 2);
      for (bool above : {false, true}) {
        if (!s.limited[Sample::entry(i)] || !s.has(i, above)) continue;
        const mpc::Side& side = s.side(above);
        const double slack = side.slack[i] + s.lanes[1][l] * side.slack_change[i];
        const double multiplier = side.multiplier[i] + s.lanes[2][l] * side.multiplier_change[i];
        const double g = s.g(s.t.trial, i, above), allowed = multiplier * s.t.inverse_soft[f];
        soft[l] += 0.5 * multiplier * allowed;
        residual[l] += std::fabs(slack + g - allowed) * s.t.inverse_scale[f];
        violation[l] = std::max(violation[l], g * s.t.hard_scale[f]);
        product[l] += slack * multiplier;
        logs[l] += std::log(slack);
      }
    }
    for (int l = 0; l < kLanes; ++l) {
      CHECK_NEAR(found.cost[l], cost[l], 1e-12 * (1.0 + std::fabs(cost[l])));
      CHECK_NEAR(found.soft[l], soft[l], 1e-12 * (1.0 + std::fabs(soft[l])));
      CHECK_NEAR(found.residual[l], residual[l], 1e-11 * (1.0 + residual[l]));
      CHECK_NEAR(found.violation[l], violation[l], 1e-12 * (1.0 + violation[l]));
      CHECK_NEAR(found.product[l], product[l], 1e-11 * (1.0 + std::fabs(product[l])));
      CHECK_NEAR(std::log(found.mantissa[l]) + std::log(2.0) * found.exponent[l], logs[l], 1e-10 * (1.0 + std::fabs(logs[l])));
    }
  }
}

TEST_CASE(moved, "mpc_rows: lanes without a share stay as they are, whatever their direction") {
  for (const RowLoops* loops : versions()) {
    Sample s(4);
    for (int i = 3; i < Sample::kSize; i += kLanes) {  // lane 3 has no share
      s.t.change[i] = s.t.above.slack_change[i] = s.t.below.multiplier_change[i] = NAN;
    }
    const std::vector<double> slack(s.t.above.slack, s.t.above.slack + Sample::kSize);
    loops->commit(s.t, Sample::kGroups, s.lanes[1], s.lanes[2]);
    loops->advance(s.t.value, s.t.change, s.lanes[1], Sample::kSize, s.t.trial);
    mpc::Measure found;
    mpc::clear(found);
    loops->measure(s.t, Sample::kGroups, s.lanes[1], s.lanes[2], found);
    CHECK(std::isfinite(found.residual[3]) && std::isfinite(found.cost[3]));
    for (int i = 0; i < Sample::kSize; ++i) {
      const double share = s.lanes[1][i % kLanes];
      const double moved = share == 0.0 ? slack[i] : slack[i] + share * s.t.above.slack_change[i];
      const double there = share == 0.0 ? s.t.value[i] : s.t.value[i] + share * s.t.change[i];
      CHECK_NEAR(s.t.above.slack[i], moved, 1e-14 * (1.0 + std::fabs(moved)));
      CHECK_NEAR(s.t.trial[i], there, 1e-14 * (1.0 + std::fabs(there)));
    }
    loops->keep(s.t.lower, s.lanes[1], Sample::kSize, s.t.upper);
    for (int i = 0; i < Sample::kSize; ++i) CHECK(i % kLanes == 3 || s.t.upper[i] == s.t.lower[i]);
  }
}

TEST_CASE(multiplied, "mpc_rows: matrices times vectors in every lane") {
  for (const RowLoops* loops : versions()) {
    Sample s(5);
    constexpr int kRows = 4, kColumns = 5, kGroups = Sample::kGroups;
    const double* matrix = s.take(kGroups * kRows * kColumns * kLanes, -1.0, 1.0);
    double* out = s.take(kGroups * kRows * kLanes, -1.0, 1.0);
    const std::vector<double> before(out, out + kGroups * kRows * kLanes);
    for (bool add : {true, false}) {
      std::copy(before.begin(), before.end(), out);
      loops->multiply(matrix, s.t.value, kRows, kColumns, kGroups, add, out);
      for (int i = 0; i < kGroups * kRows * kLanes; ++i) {
        const int l = i % kLanes, row = i / kLanes, group = row / kRows;
        double sum = add ? before[i] : 0.0;
        for (int j = 0; j < kColumns; ++j) sum += matrix[(row * kColumns + j) * kLanes + l] * s.t.value[(group * kColumns + j) * kLanes + l];
        CHECK_NEAR(out[i], sum, 1e-13);
      }
    }
  }
}

}  // namespace
}  // namespace robomorph::tests
