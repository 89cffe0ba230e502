#include "ik/rows.h"

#include <cmath>
#include <limits>

#include "ik/random.h"
#include "tests/check.h"

using namespace robomorph;

namespace {

constexpr std::size_t kLanes = 4;

// Rodrigues: the rotation by `angle` about a unit axis, row-major.
void rotation(const double* axis, double angle, double* m) {
  const double c = std::cos(angle), s = std::sin(angle);
  const double skew[9] = {0, -axis[2], axis[1], axis[2], 0, -axis[0], -axis[1], axis[0], 0};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      m[3 * i + j] = (i == j ? c : 0.0) + (1.0 - c) * axis[i] * axis[j] + s * skew[3 * i + j];
    }
  }
}

void unit_axis(std::uint64_t seed, double* axis) {
  double square = 0.0;
  for (std::uint64_t i = 0; i < 3; ++i) {
    axis[i] = ik_uniform(7, seed, i) - 0.5;
    square += axis[i] * axis[i];
  }
  for (int i = 0; i < 3; ++i) axis[i] /= std::sqrt(square);
}

void multiply(const double* a, const double* b, double* out) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      out[3 * i + j] = 0.0;
      for (int k = 0; k < 3; ++k) out[3 * i + j] += a[3 * i + k] * b[3 * k + j];
    }
  }
}

}  // namespace

TEST_CASE(random_numbers, "ik_rows: random numbers are SplitMix's, uniform, and of their place alone") {
  CHECK_EQUAL(ik_mix(0), std::uint64_t{0xE220A8397B1DCDAFull});  // its first output for seed 0
  double sum = 0.0, square = 0.0;
  constexpr int kMany = 20000;
  for (int i = 0; i < kMany; ++i) {
    const double u = ik_uniform(3, static_cast<std::uint64_t>(i % 100), static_cast<std::uint64_t>(i / 100));
    CHECK(u >= 0.0 && u < 1.0);
    CHECK_EQUAL(u, ik_uniform(3, static_cast<std::uint64_t>(i % 100), static_cast<std::uint64_t>(i / 100)));
    sum += u;
    square += u * u;
  }
  CHECK_NEAR(sum / kMany, 0.5, 0.01);
  CHECK_NEAR(square / kMany, 1.0 / 3.0, 0.01);
  CHECK(ik_uniform(3, 1, 2) != ik_uniform(3, 2, 1));
  CHECK(ik_uniform(3, 1, 2) != ik_uniform(4, 1, 2));
}

TEST_CASE(rows_atan, "ik_rows: the arc tangent without branches, over the range that is used") {
  for (int i = 0; i <= 24000; ++i) {
    const double x = 1e-4 * i;
    CHECK_NEAR(ik_atan(x), std::atan(x), 2e-11);
  }
}

TEST_CASE(rows_rotation, "ik_rows: rotation vectors of every angle up to half a turn, in every lane") {
  const double angles[] = {0.0, 1e-12, 1e-8, 1e-4, 0.3, 1.0, 2.0, 2.3, 2.36, 2.4, 3.0, 3.14, 3.1415926, kPi - 1e-10};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    for (const double angle : angles) {
      double raw[9 * kLanes], err[3 * kLanes], axis[kLanes][3];
      for (std::size_t l = 0; l < kLanes; ++l) {
        double m[9];
        unit_axis(seed * kLanes + l, axis[l]);
        rotation(axis[l], angle, m);
        for (std::size_t i = 0; i < 9; ++i) raw[i * kLanes + l] = m[i];
      }
      ik_rotation_rows<kLanes>(raw, err, nullptr);
      for (std::size_t l = 0; l < kLanes; ++l) {
        for (std::size_t i = 0; i < 3; ++i) CHECK_NEAR(err[i * kLanes + l], angle * axis[l][i], 2e-8);
      }
    }
  }
}

TEST_CASE(rows_half_turn, "ik_rows: half a turn is given as half a turn, about either end of its axis") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    double axis[3], m[9], err[3];
    unit_axis(seed, axis);
    rotation(axis, kPi, m);
    ik_rotation_rows<1>(m, err, nullptr);
    CHECK_NEAR(std::sqrt(err[0] * err[0] + err[1] * err[1] + err[2] * err[2]), kPi, 1e-7);
    CHECK_NEAR(std::fabs(err[0] * axis[0] + err[1] * axis[1] + err[2] * axis[2]), kPi, 1e-7);
  }
}

TEST_CASE(rows_bend, "ik_rows: the bend gives the rotation vector's derivative, by finite differences") {
  constexpr double kStep = 1e-5;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    double axis[3], m[9], e[3], k;
    unit_axis(seed, axis);
    rotation(axis, 0.02 + 0.05 * static_cast<double>(seed % 40), m);
    ik_rotation_rows<1>(m, e, &k);
    for (int i = 0; i < 3; ++i) {
      const double direction[3] = {i == 0 ? 1.0 : 0.0, i == 1 ? 1.0 : 0.0, i == 2 ? 1.0 : 0.0};
      double small[9], turned[9], after[3], before[3];
      rotation(direction, kStep, small);
      multiply(small, m, turned);
      ik_rotation_rows<1>(turned, after, nullptr);
      rotation(direction, -kStep, small);
      multiply(small, m, turned);
      ik_rotation_rows<1>(turned, before, nullptr);
      const auto cross = [&e](const double* v, double* out) {
        out[0] = e[1] * v[2] - e[2] * v[1];
        out[1] = e[2] * v[0] - e[0] * v[2];
        out[2] = e[0] * v[1] - e[1] * v[0];
      };
      double once[3], twice[3];
      cross(direction, once);
      cross(once, twice);
      for (int j = 0; j < 3; ++j) {
        const double expected = (after[j] - before[j]) / (2.0 * kStep);
        CHECK_NEAR(direction[j] - 0.5 * once[j] + k * twice[j], expected, 1e-5);
      }
    }
  }
}

TEST_CASE(rows_axis, "ik_rows: the angle between axes, along the plane in which they differ") {
  for (const double angle : {0.0, 1e-13, 1e-6, 0.5, 1.5, 2.5, 3.1, 3.14159}) {
    for (const double turn : {0.0, 1.0, 4.0}) {
      const double raw[3] = {std::cos(angle), std::sin(angle) * std::cos(turn), std::sin(angle) * std::sin(turn)};
      double err[2];
      ik_axis_rows<1>(raw, err);
      CHECK_NEAR(err[0], angle * std::cos(turn), 1e-9);
      CHECK_NEAR(err[1], angle * std::sin(turn), 1e-9);
    }
  }
  const double opposite[3] = {-1.0, 0.0, 0.0};
  double err[2];
  ik_axis_rows<1>(opposite, err);
  CHECK_NEAR(std::hypot(err[0], err[1]), kPi, 1e-12);
}

TEST_CASE(rows_sizes, "ik_rows: a block reads and writes as much as ik_block_size says, and no more") {
  constexpr std::size_t kTwo = 2;
  const IkBlockKind kinds[] = {IkBlockKind::kLinear, IkBlockKind::kLinear, IkBlockKind::kRotation, IkBlockKind::kAxis};
  const int asked[] = {1, 7, 3, 2};
  for (int k = 0; k < 4; ++k) {
    const IkBlockSize size = ik_block_size(kinds[k], asked[k]);
    CHECK_EQUAL(size.rows, asked[k]);
    IkPlan plan;
    plan.blocks = {{kinds[k], 0, 0, size.rows, -1}};
    const std::vector<double> raw(size.raws * kTwo, 0.25);  // on the heap, where a read beyond is seen
    std::vector<double> err((size.rows + 1) * kTwo, -7.0);
    ik_rows<kTwo>(plan, raw.data(), err.data(), nullptr);
    CHECK_EQUAL(err[size.rows * kTwo], -7.0);
    CHECK_EQUAL(err[size.rows * kTwo + 1], -7.0);
    CHECK(err[(size.rows - 1) * kTwo] != -7.0);
  }
}

TEST_CASE(rows_blocks, "ik_rows: every block reads its own raw errors and writes its own rows") {
  IkPlan plan;
  plan.blocks = {{IkBlockKind::kAxis, 3, 3, 2, -1}, {IkBlockKind::kLinear, 0, 0, 3, -1},
                 {IkBlockKind::kRotation, 6, 5, 3, 1}};
  plan.weights = {1, 0, 1, 1, 1, 1, 1, 1};
  constexpr std::size_t kTwo = 2;
  double raw[15 * kTwo], err[8 * kTwo], bend[2 * kTwo] = {-1, -1, -1, -1};
  const double z[3] = {0, 0, 1};
  double turn[9];
  rotation(z, 0.4, turn);
  const double values[6] = {0.3, -40.0, 0.4, std::cos(0.2), 0.0, std::sin(0.2)};
  for (std::size_t i = 0; i < 15; ++i) {
    raw[i * kTwo] = i < 6 ? values[i] : turn[i - 6];
    raw[i * kTwo + 1] = i < 3 ? 0.0 : i == 3 || i == 6 || i == 10 || i == 14 ? 1.0 : 0.0;
  }
  ik_rows<kTwo>(plan, raw, err, bend);
  const double expected[8] = {0.3, -40.0, 0.4, 0.0, 0.2, 0.0, 0.0, 0.4};
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK_NEAR(err[i * kTwo], expected[i], 1e-10);
    CHECK_NEAR(err[i * kTwo + 1], 0.0, 1e-12);
  }
  CHECK_EQUAL(bend[0], -1.0);  // the place of a block without one
  CHECK_NEAR(bend[kTwo + 1], 1.0 / 12.0, 1e-12);
  double position = -1, angle = -1;
  ik_largest_errors<kTwo>(plan, err, 0, position, angle);
  CHECK_NEAR(position, 0.5, 1e-10);  // the row of weight zero is not asked for
  CHECK_NEAR(angle, 0.4, 1e-10);
}
