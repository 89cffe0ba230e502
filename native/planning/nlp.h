// What the solver asks of a problem: minimise f(x) with lower <= c(x) <= upper, all rows scaled.
//
// Variables come in `blocks` blocks of `block` numbers and, with a border, one more that couples with all
// (the duration). Rows touch blocks that are at most `reach` blocks apart, so that the condensed matrix is
// block-banded with an arrow. Evaluation is the problem's affair: it may use threads, but its answers must
// not depend on their number. Nothing allocates after construction.
#pragma once

#include "planning/banded.h"

namespace robomorph::planning {

class Nlp {
 public:
  virtual ~Nlp() = default;

  int variables = 0;  // blocks * block + border
  int rows = 0;
  int block = 0, blocks = 0, reach = 0;  // reach: largest difference of blocks in one row (0: block diagonal)
  int border = 0;                        // 0 or 1

  // Bounds of the scaled rows (rows,), possibly infinite; already drawn in by the margins.
  virtual const double* lower() const = 0;
  virtual const double* upper() const = 0;

  // Estimates anew by how much interpolation may err at x, and draws the bounds in; true if they changed.
  virtual bool refresh_margins(const double* x) = 0;

  // The cost and the rows (rows,) at x. False if a number is not finite there.
  virtual bool values(const double* x, double* cost, double* rows) = 0;

  // Derivatives at x, kept until the next call: what follows is about this x. Also the cost's gradient (variables,).
  virtual bool linearise(const double* x, double* cost_gradient) = 0;
  virtual void jacobian_times(const double* direction, double* rows) = 0;
  virtual void jacobian_transposed_times(const double* multipliers, double* variables) = 0;

  // out = cost_scale * (Hessian of the cost) + [exact: sum_i multipliers_i * Hessian of row i] + J' diag(weights) J.
  // If not exact, a cost that is a sum of squares counts with its Gauss-Newton part.
  virtual void condensed(double cost_scale, const double* multipliers, const double* weights, bool exact,
                         Banded& out) = 0;
};

}  // namespace robomorph::planning
