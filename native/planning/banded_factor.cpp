#include "planning/banded_factor.h"

#include <algorithm>
#include <cmath>

namespace robomorph::planning {
namespace {

constexpr int kPanel = 32;          // columns whose rows are updated together; a multiple of every tile's
constexpr double kRounding = 1e-14; // of a pivot, relative to the diagonal it came from

int round_up(int count, int unit) { return (count + unit - 1) / unit * unit; }

}  // namespace

// Columns are padded to whole tiles with an identity, so that no tile is a special case.
BandedFactor::BandedFactor(int size, int half, int border, const BandedKernels& kernels)
    : kernels_(kernels),
      size_(size),
      half_(std::max(std::min(half, size - 1), kernels.tile_columns - 1)),
      border_(border),
      padded_(round_up(size, kernels.tile_columns)),
      stride_(round_up(half_ + 1 + kMostTileRows, 8)),
      data_(static_cast<std::size_t>(padded_) * stride_ + kMostTileRows),
      inverse_(padded_, 1.0),
      least_(padded_),
      arrow_(size * border) {}

bool BandedFactor::factor(const Banded& matrix, double shift) {
  copy(matrix, shift);
  for (int begin = 0; begin < padded_; begin += kPanel) {
    if (!factor_panel(begin, std::min(kPanel, padded_ - begin))) return false;
  }
  return border_ == 0 || factor_border(matrix, shift);
}

void BandedFactor::copy(const Banded& matrix, double shift) {
  for (int j = 0; j < padded_; ++j) {
    double* to = column(j);
    std::fill(to, to + stride_, 0.0);
    to[0] = 1.0;
    least_[j] = 0.0;
    if (j >= size_) continue;
    const double* from = matrix.data.data() + static_cast<std::size_t>(j) * matrix.stride;
    std::copy(from, from + std::min(matrix.half, size_ - 1 - j) + 1, to);
    least_[j] = kRounding * std::abs(to[0]);
    to[0] += shift;
  }
}

// First the triangle at the top, then the rows below it: each tile of rows meets all tiles of columns while it is in
// the nearest cache.
bool BandedFactor::factor_panel(int begin, int width) {
  const int end = begin + width, last_row = std::min(padded_ - 1, end - 1 + half_);
  for (int j = begin; j < end; j += kernels_.tile_columns) {
    if (!factor_tile(j, end - 1)) return false;
  }
  for (int row = end; row <= last_row; row += kernels_.tile_rows) update_rows(row, begin, end, last_row);
  return true;
}

// The columns from `begin` of one tile down to `last_row`, the diagonal's triangle included.
bool BandedFactor::factor_tile(int begin, int last_row) {
  const int columns = kernels_.tile_columns, ld = stride_ - 1;
  double sums[kMostTileRows * kMostTileColumns];
  const int first = std::max(0, begin - half_);
  kernels_.product(entry(begin, first), entry(begin, first), ld, begin - first, sums);
  for (int c = 0; c < columns; ++c) {
    double* to = column(begin + c);
    for (int r = c; r < columns; ++r) {
      double value = to[r - c] - sums[c * kernels_.tile_rows + r];
      for (int d = 0; d < c; ++d) value -= *entry(begin + r, begin + d) * *entry(begin + c, begin + d);
      if (r > c) {
        to[r - c] = value * inverse_[begin + c];
        continue;
      }
      if (!(value > least_[begin + c]) || !std::isfinite(value)) return false;
      to[0] = std::sqrt(value);
      inverse_[begin + c] = 1.0 / to[0];
    }
  }
  for (int row = begin + columns; row <= last_row; row += kernels_.tile_rows) {
    update_rows(row, begin, begin + columns, last_row);
  }
  return true;
}

// The tile of rows from `row` in the columns [begin, end), tile by tile.
void BandedFactor::update_rows(int row, int begin, int end, int last_row) {
  const int ld = stride_ - 1, rows = std::min(kernels_.tile_rows, last_row + 1 - row);
  const int first = std::max(0, row - half_);
  double tile[kMostTileRows * kMostTileColumns];
  for (int j = begin; j < end; j += kernels_.tile_columns) {
    const int inside = std::min(rows, j + kernels_.tile_columns - 1 + half_ + 1 - row);  // rows the band reaches
    if (inside <= 0) continue;
    const int from = std::min(first, j);
    kernels_.product(entry(row, from), entry(j, from), ld, j - from, tile);
    kernels_.finish(tile, entry(row, j), inside, entry(j, j), inverse_.data() + j, ld);
  }
}

bool BandedFactor::factor_border(const Banded& matrix, double shift) {
  std::copy(matrix.arrow.begin(), matrix.arrow.begin() + size_, arrow_.begin());
  solve_band(arrow_.data());
  const double pivot = matrix.corner + shift - kernels_.dot(arrow_.data(), matrix.arrow.data(), size_);
  if (!(pivot > kRounding * std::abs(matrix.corner)) || !std::isfinite(pivot)) return false;
  corner_ = 1.0 / pivot;
  return true;
}

void BandedFactor::solve_band(double* right) const {
  for (int j = 0; j < size_; ++j) {
    right[j] *= inverse_[j];
    kernels_.subtract(right + j + 1, column(j) + 1, right[j], std::min(half_, size_ - 1 - j));
  }
  for (int j = size_ - 1; j >= 0; --j) {
    const double sum = kernels_.dot(column(j) + 1, right + j + 1, std::min(half_, size_ - 1 - j));
    right[j] = (right[j] - sum) * inverse_[j];
  }
}

// [B a; a' c]: with w = B^-1 a and s = c - a'w, the last unknown is (r - w'b) / s, for w'b = a' B^-1 b.
void BandedFactor::solve(double* right) const {
  if (border_ == 0) return solve_band(right);
  const double last = (right[size_] - kernels_.dot(arrow_.data(), right, size_)) * corner_;
  right[size_] = last;
  solve_band(right);
  kernels_.subtract(right, arrow_.data(), last, size_);
}

}  // namespace robomorph::planning
