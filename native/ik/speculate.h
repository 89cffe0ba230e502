// Speculation as in Quick-IK: of many lengths of one step, the one that ends closest to the target, all tried in lanes.
#pragma once

#include <cstddef>

#include "ik/plan.h"

namespace robomorph {

struct IkShare {
  double share;  // of the step
  bool within;   // does it meet the tolerances? True where nobody asks: without relaxation
};

class IkSpeculation {
 public:
  // Places its arrays from `memory`; with nullptr only counts. Returns the bytes.
  std::size_t place(const IkPlan& plan, char* memory);

  // Of the shares longest_share k / speculations, k = 1, 2, ..., the one of `step` that leaves the smallest error; the
  // first of equals. A joint that a share would take beyond a limit stops there. All arrays have one lane.
  IkShare best_share(const IkPlan& plan, const double* q, const double* step, const double* target);

 private:
  template <std::size_t L>
  IkShare search(const IkPlan& plan, const double* q, const double* step, const double* target);

  double *q_ = nullptr, *target_ = nullptr, *raw_ = nullptr, *err_ = nullptr, *bend_ = nullptr;
  char* workspace_ = nullptr;
};

}  // namespace robomorph
