// The interior point's work on rows, and other loops over groups of lanes.
//
// A bound is a row g(z) <= 0 with slack s and multiplier L: g + s - L / r = 0 and s L = mu, where r is the weight of a
// squared violation L / r, infinite for hard bounds. With c = J dz, Newton's step is
//   d = 1 / (s + L / r),   t = d (L (s + g) + mu),   weight += L d,   gradient += t,
//   dL = L d c + t - L,    ds = (L + dL) / r - (s + g) - c.
#pragma once

#include <cstddef>

#include "mpc/terms.h"

namespace robomorph::mpc {

// Lane by lane, over all quantities. Arrays of kLanes.
struct alignas(64) Reach {
  double primal[kLanes];  // largest -ds / s
  double dual[kLanes];    // largest -dL / L
  double slope[kLanes];   // sum of t c: the part of bounds in the model's slope
  double logs[kLanes];    // sum of ds / s
  double soft[kLanes];    // sum of L dL / r
  double price[kLanes];   // largest L + dL, of scaled units
};

struct alignas(64) Measure {
  double cost[kLanes];
  double soft[kLanes];      // sum of 1/2 L^2 / r
  double residual[kLanes];  // sum of |s + g - L / r|, scaled
  double worst_residual[kLanes];
  double violation[kLanes];  // largest g of hard bounds, scaled; at least 0
  double product[kLanes];    // sum of s L
  double mantissa[kLanes];   // sum of log s = log(mantissa) + log(2) exponent
  double exponent[kLanes];
};

struct RowLoops {
  // Weights and gradients for the sweep; mu, as all single numbers of lanes below: (kLanes,).
  void (*assemble)(const Terms& terms, int groups, const double* mu);
  // Directions of slacks and multipliers; adds to `reach`. With bounds only.
  void (*direct)(const Terms& terms, int groups, const double* mu, Reach& reach);
  // Adds what holds at the trial, with slacks and multipliers moved by so much of their directions.
  void (*measure)(const Terms& terms, int groups, const double* primal, const double* dual, Measure& out);
  // Moves slacks and multipliers. Here and in `advance`, 0 leaves a lane as it is whatever its direction.
  void (*commit)(const Terms& terms, int groups, const double* primal, const double* dual);
  // to = from + share * change.
  void (*advance)(const double* from, const double* change, const double* share, std::size_t numbers, double* to);
  // to = from in the lanes where mask is not 0.
  void (*keep)(const double* from, const double* mask, std::size_t numbers, double* to);
  // out (+)= matrix (rows, columns) vector in every lane of every group.
  void (*multiply)(const double* matrix, const double* vector, int rows, int columns, int groups, bool add,
                   double* out);
};

void clear(Reach& reach);
void clear(Measure& measure);

const RowLoops& row_loops();  // the best for this processor
const RowLoops& row_loops_plain();
#if defined(__x86_64__)
const RowLoops& row_loops_avx2();    // needs AVX2 and FMA
const RowLoops& row_loops_avx512();  // needs AVX-512 F and DQ
#endif

}  // namespace robomorph::mpc
