// The banded factorisation against a dense one written out, on every vector width that the processor has.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "planning/banded_factor.h"
#include "tests/check.h"

namespace {

using robomorph::planning::Banded;
using robomorph::planning::BandedFactor;
using robomorph::planning::banded_kernels;

// Diagonally dominant, with a border if wanted; columns end in numbers that must not be read.
Banded random_matrix(int size, int half, int border, std::mt19937& random) {
  std::uniform_real_distribution<double> number(-1.0, 1.0);
  Banded out;
  out.size = size;
  out.half = half;
  out.stride = half + 3;
  out.border = border;
  out.data.assign(static_cast<size_t>(size) * out.stride, std::nan(""));
  for (int j = 0; j < size; ++j) {
    for (int i = j; i < size && i <= j + half; ++i) out.at(i, j) = number(random);
    out.at(j, j) = 2.0 * half + 3.0 + number(random);
  }
  out.arrow.resize(border * size);
  for (double& value : out.arrow) value = number(random);
  out.corner = border ? size : 0.0;
  return out;
}

std::vector<double> dense(Banded& matrix) {
  const int n = matrix.size + matrix.border;
  std::vector<double> out(static_cast<size_t>(n) * n, 0.0);
  for (int j = 0; j < matrix.size; ++j) {
    for (int i = j; i < matrix.size && i <= j + matrix.half; ++i) out[i * n + j] = out[j * n + i] = matrix.at(i, j);
    if (matrix.border) out[matrix.size * n + j] = out[j * n + matrix.size] = matrix.arrow[j];
  }
  if (matrix.border) out[n * n - 1] = matrix.corner;
  return out;
}

// Gaussian elimination: shares nothing with the factorisation.
std::vector<double> dense_solution(std::vector<double> a, std::vector<double> b) {
  const int n = static_cast<int>(b.size());
  for (int k = 0; k < n; ++k) {
    for (int i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / a[k * n + k];
      if (factor == 0.0) continue;
      for (int j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
      b[i] -= factor * b[k];
    }
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int j = i + 1; j < n; ++j) b[i] -= a[i * n + j] * b[j];
    b[i] /= a[i * n + i];
  }
  return b;
}

void check_one(int size, int half, int border, int lanes, std::mt19937& random) {
  Banded matrix = random_matrix(size, half, border, random);
  const int n = size + border;
  std::vector<double> right(n);
  std::uniform_real_distribution<double> number(-1.0, 1.0);
  for (double& value : right) value = number(random);
  BandedFactor factor(size, half, border, banded_kernels(lanes));
  CHECK(factor.factor(matrix, 0.0));
  std::vector<double> found = right;
  factor.solve(found.data());
  const std::vector<double> expected = dense_solution(dense(matrix), right);
  double worst = 0.0;
  for (int i = 0; i < n; ++i) worst = std::fmax(worst, std::abs(found[i] - expected[i]));
  CHECK_NEAR(worst, 0.0, 1e-13);
}

}  // namespace

TEST_CASE(solutions, "planning_banded: solutions are those of elimination, every width and shape") {
  std::mt19937 random(1);
  for (int lanes : {2, 4}) {
    for (int border : {0, 1}) {
      for (int size : {1, 2, 3, 7, 8, 9, 31, 32, 33, 63, 100}) {
        for (int half : {0, 1, 3, 6, 7, 8, 11, 24, 40, 99}) {
          check_one(size, std::min(half, size - 1), border, lanes, random);
        }
      }
      check_one(336, 111, border, lanes, random);
    }
  }
}

TEST_CASE(indefinite, "planning_banded: a matrix that is not positive definite is refused, and a shift mends it") {
  std::mt19937 random(2);
  for (int lanes : {2, 4}) {
    for (int where : {0, 5, 40, 69}) {
      Banded matrix = random_matrix(70, 20, 0, random);
      matrix.at(where, where) = -1.0;
      BandedFactor factor(70, 20, 0, banded_kernels(lanes));
      CHECK(!factor.factor(matrix, 0.0));
      CHECK(factor.factor(matrix, 100.0));
      matrix.at(where, where) = std::nan("");
      CHECK(!factor.factor(matrix, 100.0));
    }
  }
}

TEST_CASE(bad_border, "planning_banded: a border with a negative Schur complement is refused") {
  std::mt19937 random(3);
  Banded matrix = random_matrix(50, 10, 1, random);
  matrix.corner = -1.0;
  BandedFactor factor(50, 10, 1);
  CHECK(!factor.factor(matrix, 0.0));
  CHECK(factor.factor(matrix, 2.0 + 50.0));
}

TEST_CASE(singular, "planning_banded: pivots that are rounding errors are refused") {
  for (double size : {1.0, 1e-9, 1e9}) {  // rank one, up to rounding: of entries that binary numbers cannot hold
    const double v[] = {1.0 / 3.0, 1.0 / 7.0, 1.0 / 9.0, 1.0 / 11.0, 0.7, 0.9};
    Banded matrix;
    matrix.size = 6;
    matrix.half = 5;
    matrix.stride = 6;
    matrix.data.assign(36, 0.0);
    for (int j = 0; j < 6; ++j) {
      for (int i = j; i < 6; ++i) matrix.at(i, j) = size * v[i] * v[j] * (i == j ? 1.0 + 1e-15 : 1.0);
    }
    for (int lanes : {2, 4}) {
      BandedFactor factor(6, 5, 0, banded_kernels(lanes));
      CHECK(!factor.factor(matrix, 0.0));
      CHECK(factor.factor(matrix, 1e-6 * size));
    }
  }
}
