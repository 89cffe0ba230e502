// Cholesky factorisation of a banded matrix with a border of at most one row, and solutions with it.
//
// Left-looking over panels of columns, in tiles that stay in registers; the border by its Schur complement. A matrix
// that is not positive definite is refused, which is how the solver learns about negative curvature.
#pragma once

#include <cstddef>
#include <vector>

#include "planning/banded.h"
#include "planning/banded_kernels.h"

namespace robomorph::planning {

class BandedFactor {
 public:
  BandedFactor(int size, int half, int border, const BandedKernels& kernels = banded_kernels());

  // Factors matrix + shift * identity. False if a pivot is not positive, or lost in rounding errors.
  bool factor(const Banded& matrix, double shift);

  // Solves in place; right (size + border,). Only after factor() was true.
  void solve(double* right) const;

 private:
  double* column(int j) { return data_.data() + static_cast<std::size_t>(j) * stride_; }
  const double* column(int j) const { return data_.data() + static_cast<std::size_t>(j) * stride_; }
  // Of entry (i, j), where i - j may run into the zeros behind a column.
  double* entry(int i, int j) { return column(j) + (i - j); }

  void copy(const Banded& matrix, double shift);
  bool factor_panel(int begin, int width);
  bool factor_tile(int begin, int last_row);
  void update_rows(int row, int begin, int columns, int last_row);
  bool factor_border(const Banded& matrix, double shift);
  void solve_band(double* right) const;

  const BandedKernels& kernels_;
  int size_, half_, border_, padded_, stride_;
  std::vector<double> data_;     // columns of the factor, zeros behind each
  std::vector<double> inverse_;  // of the factor's diagonal
  std::vector<double> least_;    // pivots below are taken for rounding errors
  std::vector<double> arrow_;    // band^-1 times the border
  double corner_ = 0.0;          // inverse of the Schur complement
};

}  // namespace robomorph::planning
