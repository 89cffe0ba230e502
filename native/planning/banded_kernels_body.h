// Included by banded_kernels.cpp once for every vector width, with LANES, TILE_VECTORS, TILE_COLUMNS and TARGET set.
// No #pragma once, and macros instead of templates: a template's vectors would be split for the narrowest processor
// before they are inlined into code for a wider one.

typedef double Vector __attribute__((vector_size(LANES * 8)));
typedef double Unaligned __attribute__((vector_size(LANES * 8), aligned(8), may_alias));

constexpr int kRows = TILE_VECTORS * LANES, kColumns = TILE_COLUMNS;

TARGET void product(const double* a, const double* b, int ld, int count, double* out) {
  Vector sums[kColumns][TILE_VECTORS] = {};
  for (int k = 0; k < count; ++k, a += ld, b += ld) {
    Vector rows[TILE_VECTORS];
#pragma GCC unroll 8
    for (int v = 0; v < TILE_VECTORS; ++v) rows[v] = *reinterpret_cast<const Unaligned*>(a + v * LANES);
#pragma GCC unroll 8
    for (int c = 0; c < kColumns; ++c) {
#pragma GCC unroll 8
      for (int v = 0; v < TILE_VECTORS; ++v) sums[c][v] += rows[v] * b[c];
    }
  }
  for (int c = 0; c < kColumns; ++c) {
    for (int v = 0; v < TILE_VECTORS; ++v) *reinterpret_cast<Unaligned*>(out + c * kRows + v * LANES) = sums[c][v];
  }
}

TARGET void finish(double* tile, double* source, int rows, const double* lower, const double* inverse, int ld) {
  for (int c = 0; c < kColumns; ++c) {
    double* column = tile + c * kRows;
    double* origin = source + c * ld;
    for (int r = 0; r < rows; ++r) column[r] = origin[r] - column[r];
    for (int d = 0; d < c; ++d) {
      const double* before = tile + d * kRows;
      const double factor = lower[d * ld + c];
      for (int r = 0; r < kRows; ++r) column[r] -= factor * before[r];
    }
    for (int r = 0; r < kRows; ++r) column[r] *= inverse[c];
    for (int r = 0; r < rows; ++r) origin[r] = column[r];
  }
}

TARGET void subtract(double* y, const double* x, double factor, int count) {
  for (int i = 0; i < count; ++i) y[i] -= factor * x[i];
}

// Four vectors of sums, so that additions do not wait for each other.
TARGET double dot(const double* x, const double* y, int count) {
  Vector sums[4] = {};
  int i = 0;
  for (; i + 4 * LANES <= count; i += 4 * LANES) {
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) {
      sums[v] += *reinterpret_cast<const Unaligned*>(x + i + v * LANES) *
                 *reinterpret_cast<const Unaligned*>(y + i + v * LANES);
    }
  }
  const Vector sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  double total = 0.0;
  for (int l = 0; l < LANES; ++l) total += sum[l];
  for (; i < count; ++i) total += x[i] * y[i];
  return total;
}

constexpr BandedKernels kKernels{kRows, kColumns, product, finish, subtract, dot};
