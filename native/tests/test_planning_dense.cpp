// Every version of the inner loops that this processor runs, against plain loops.
#include <vector>

#include "planning/dense_versions.h"
#include "planning/memory.h"
#include "tests/check.h"
#include "tests/wave_motion.h"

namespace robomorph::tests {
namespace {

using planning::Dense;
using planning::Doubles;
using planning::kLanes;
using planning::whole_lanes;

std::vector<const Dense*> versions() {
  std::vector<const Dense*> out = {&planning::dense_plain(), &planning::dense()};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) out.push_back(&planning::dense_avx2());
  if (__builtin_cpu_supports("avx512f")) out.push_back(&planning::dense_avx512());
#endif
  return out;
}

Doubles filled(std::size_t size, unsigned seed) {
  WaveRandom random(seed);
  Doubles out(size);
  for (std::size_t i = 0; i < size; ++i) out.data()[i] = random();
  return out;
}

TEST_CASE(planning_dense_gram, "planning_dense: Gram matrices") {
  for (const Dense* d : versions()) {
    for (int panels = 1; panels <= 5; ++panels) {
      const int rows = 3 + 4 * panels, capacity = rows + 2, stride = panels * kLanes + kLanes;
      const Doubles right = filled(capacity * panels * kLanes, 1), left = filled(capacity * panels * kLanes, 2);
      Doubles out = filled(panels * kLanes * stride, 3);
      const Doubles before = filled(panels * kLanes * stride, 3);
      d->gram(right.data(), left.data(), rows, panels, capacity, out.data(), stride);
      const auto at = [&](const Doubles& m, int r, int c) {
        return m.data()[(c / kLanes * capacity + r) * kLanes + c % kLanes];
      };
      for (int j = 0; j < panels * kLanes; ++j) {
        for (int i = 0; i < panels * kLanes; ++i) {
          double sum = before.data()[j * stride + i];
          for (int r = 0; r < rows && i / kLanes >= j / kLanes; ++r) sum += at(left, r, j) * at(right, r, i);
          CHECK_NEAR(out.data()[j * stride + i], sum, 1e-13 * rows);
        }
      }
    }
  }
}

TEST_CASE(planning_dense_rows, "planning_dense: from nodes to rows, panels and back") {
  for (const Dense* d : versions()) {
    for (int rows : {1, 7, 8, 19}) {
      const int nodes = 11, padded = whole_lanes(nodes), wide = whole_lanes(rows), panels = 3, stride = 4 * kLanes;
      Doubles transposed(padded * wide), plain(rows * padded);
      const Doubles entries = filled(rows * nodes, 4), values = filled(padded, 5), a = filled(nodes * stride, 6);
      for (int i = 0; i < rows; ++i) {
        for (int k = 0; k < nodes; ++k) {
          transposed.data()[k * wide + i] = plain.data()[i * padded + k] = entries.data()[i * nodes + k];
        }
      }
      Doubles out = filled(rows + 1, 7), back = filled(padded, 8);
      const double guard = out.data()[rows];
      d->to_rows(transposed.data(), rows, wide, values.data(), nodes, 0.5, out.data());
      CHECK_EQUAL(out.data()[rows], guard);
      const Doubles weights = filled(rows, 9), kept = filled(padded, 8);
      Doubles right(rows * panels * kLanes), left(rows * panels * kLanes);
      d->rows_of(transposed.data(), rows, wide, a.data(), nodes, stride, panels, weights.data(), rows, right.data(),
                 left.data());
      d->to_nodes(plain.data(), weights.data(), rows, padded, 2.0, back.data());
      for (int i = 0; i < rows; ++i) {
        double sum = 0.0;
        for (int k = 0; k < nodes; ++k) sum += 0.5 * entries.data()[i * nodes + k] * values.data()[k];
        CHECK_NEAR(out.data()[i], sum, 1e-13);
        for (int c = 0; c < panels * kLanes; ++c) {
          double entry = 0.0;
          for (int k = 0; k < nodes; ++k) entry += entries.data()[i * nodes + k] * a.data()[k * stride + c];
          const int at = (c / kLanes * rows + i) * kLanes + c % kLanes;
          CHECK_NEAR(right.data()[at], entry, 1e-13);
          CHECK_NEAR(left.data()[at], entry * weights.data()[i], 1e-13);
        }
      }
      for (int k = 0; k < nodes; ++k) {
        double sum = kept.data()[k];
        for (int i = 0; i < rows; ++i) sum += 2.0 * entries.data()[i * nodes + k] * weights.data()[i];
        CHECK_NEAR(back.data()[k], sum, 1e-13);
      }
    }
  }
}

TEST_CASE(planning_dense_expand, "planning_dense: second derivatives expand to pairs") {
  for (const Dense* d : versions()) {
    for (int size : {1, 9, 25}) {
      const int pairs = 16, count = 4, entries = 2 * size;
      const Doubles matrices = filled(count * entries * kLanes, 1), factors = filled(count * kLanes * pairs, 2);
      const double* of[4];
      for (int m = 0; m < count; ++m) of[m] = matrices.data() + m * entries * kLanes;
      std::vector<int> chosen;
      for (int t = 0; t < size; ++t) chosen.push_back(entries - 1 - 2 * t);
      const Doubles before = filled(size * pairs, 3);
      for (bool more : {false, true}) {
        Doubles out = filled(size * pairs, 3);
        d->expand(of, count, factors.data(), chosen.data(), size, pairs, more, out.data());
        for (int t = 0; t < size; ++t) {
          for (int p = 0; p < pairs; ++p) {
            double sum = more ? before.data()[t * pairs + p] : 0.0;
            for (int m = 0; m < count; ++m) {
              for (int l = 0; l < kLanes; ++l) {
                sum += factors.data()[(m * kLanes + l) * pairs + p] * of[m][chosen[t] * kLanes + l];
              }
            }
            CHECK_NEAR(out.data()[t * pairs + p], sum, 1e-13);
          }
        }
      }
    }
  }
}

TEST_CASE(planning_dense_add, "planning_dense: sums of arrays of any length and place") {
  for (const Dense* d : versions()) {
    for (int count : {0, 1, 8, 27}) {
      const Doubles from = filled(count + 1, 1), before = filled(count + 3, 2);
      Doubles out = filled(count + 3, 2);
      d->add(from.data() + 1, count, out.data() + 2);
      for (int i = 0; i < count + 2; ++i) {  // from[1 ..] on out[2 ..]
        const double more = i < 2 ? 0.0 : from.data()[i - 1];
        CHECK_EQUAL(out.data()[i], before.data()[i] + more);
      }
      CHECK_EQUAL(out.data()[count + 2], before.data()[count + 2]);
    }
  }
}

TEST_CASE(planning_dense_nodes, "planning_dense: between control points and nodes") {
  const int points = 3, nv = 5, joints[] = {0, 2, 4};
  for (const Dense* d : versions()) {
    const Doubles basis = filled(3 * points * kLanes, 1), control = filled(points * nv, 2);
    const Doubles nodes = filled(3 * nv * kLanes, 3), gradient = filled(nv * nv * kLanes, 4), m = filled(kLanes, 5);
    Doubles state(nv * kLanes), back(points * nv), along(kLanes), adjoint(nv * kLanes), product(nv * kLanes);
    d->states(basis.data(), control.data(), points, nv, 0.5, state.data());
    const double* all[] = {nodes.data(), nodes.data() + nv * kLanes, nodes.data() + 2 * nv * kLanes};
    d->spread(basis.data(), points, points * kLanes, all, nv, back.data());
    d->tangent(gradient.data(), nodes.data(), joints, 3, along.data());
    d->adjoint(gradient.data(), m.data(), joints, 3, adjoint.data());
    d->multiply(gradient.data(), nodes.data(), nv, 2.0, product.data());
    for (int l = 0; l < kLanes; ++l) {
      double sum = 0.0;
      for (int j : joints) sum += gradient.data()[j * kLanes + l] * nodes.data()[j * kLanes + l];
      CHECK_NEAR(along.data()[l], sum, 1e-14);
      for (int j = 0; j < nv; ++j) {
        double value = 0.0, times = 0.0;
        for (int c = 0; c < points; ++c) value += 0.5 * basis.data()[c * kLanes + l] * control.data()[c * nv + j];
        for (int i = 0; i < nv; ++i) {
          times += 2.0 * gradient.data()[(j * nv + i) * kLanes + l] * nodes.data()[i * kLanes + l];
        }
        const double slope = j % 2 == 0 ? gradient.data()[j * kLanes + l] * m.data()[l] : 0.0;
        CHECK_NEAR(state.data()[j * kLanes + l], value, 1e-14);
        CHECK_NEAR(adjoint.data()[j * kLanes + l], slope, 1e-14);
        CHECK_NEAR(product.data()[j * kLanes + l], times, 1e-14);
      }
    }
    for (int c = 0; c < points; ++c) {
      for (int j = 0; j < nv; ++j) {
        double sum = 0.0;
        for (int r = 0; r < 3; ++r) {
          for (int l = 0; l < kLanes; ++l) sum += basis.data()[(r * points + c) * kLanes + l] * all[r][j * kLanes + l];
        }
        CHECK_NEAR(back.data()[c * nv + j], sum, 1e-13);
      }
    }
  }
}

TEST_CASE(planning_dense_columns, "planning_dense: gradients side by side") {
  const int points = 2, count = 3, stride = kLanes, joints[] = {4, 0, 2};
  for (const Dense* d : versions()) {
    const Doubles gradient = filled(5 * kLanes, 1), basis = filled(3 * points * kLanes, 2);
    Doubles packed(3 * kLanes * stride), out(points * count + kLanes);
    for (int r = 0; r < 3; ++r) {
      d->pack(gradient.data(), joints, count, stride, packed.data() + r * kLanes * stride);
    }
    const int l = 5;
    const double* at[] = {packed.data() + l * stride, packed.data() + (kLanes + l) * stride,
                          packed.data() + (2 * kLanes + l) * stride};
    d->combine(basis.data() + l, points, points * kLanes, at, count, out.data());
    for (int c = 0; c < points; ++c) {
      for (int i = 0; i < count; ++i) {
        double factor = 0.0;
        for (int r = 0; r < 3; ++r) factor += basis.data()[(r * points + c) * kLanes + l];
        CHECK_NEAR(out.data()[c * count + i], factor * gradient.data()[joints[i] * kLanes + l], 1e-14);
      }
    }
  }
}

}  // namespace
}  // namespace robomorph::tests
