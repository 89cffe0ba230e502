// Exact rows of the joints' splines: a few control points of one joint each, cheap and many.
#pragma once

#include "planning/motion_layout.h"

namespace robomorph::planning {

class SplineWork {
 public:
  explicit SplineWork(const MotionLayout& layout);

  // One strip each; strips know nothing of each other. Control points are (points, nv).
  void values(int strip, const double* control, double sigma, double* rows) const;
  void times(int strip, const double* control, double sigma, const double* direction, double sigma_direction,
             double* rows) const;
  void transposed_times(int strip, const double* control, double sigma, const double* multipliers);
  void condense(int strip, const double* control, double sigma, const double* multipliers, const double* weights,
                bool exact);

  // What transposed_times and condense left: per slot.
  const double* gradient(int slot) const { return gradients_.data() + slot * (l_.width + 1); }  // points, then sigma
  const double* squares(int slot) const { return squares_.data() + slot * pairs_; }             // (w, v), v <= w
  const double* border(int slot) const { return borders_.data() + slot * (l_.width + 1); }

 private:
  // `fixed`: the width where it is known, so that loops over it are unrolled; 0: whatever the layout says.
  template <int fixed>
  void rows_of(int strip, const double* control, double sigma, double* rows) const;
  template <int fixed>
  void add_transposed(int strip, const double* control, double sigma, const double* multipliers);

  void add_border(const SplineEntry& entry, const double* control, double sigma, const double* multipliers,
                  const double* weights, bool exact, double* out) const;

  const MotionLayout& l_;
  const int pairs_;
  Doubles gradients_, squares_, borders_;
};

}  // namespace robomorph::planning
