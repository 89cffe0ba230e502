// Quick-IK's speculation: of many lengths of one step, the one that ends closest to the target, all tried in lanes.
#pragma once

#include <cstddef>

#include "ik/plan.h"

namespace robomorph {

class IkSpeculation {
 public:
  // Places its arrays from `memory`; with nullptr only counts. Returns the bytes.
  std::size_t place(const IkPlan& plan, char* memory);

  // Of the shares k / speculations, k = 1, 2, ..., the one of `step` that leaves the smallest error; the first of
  // equals. All arrays have one lane.
  double best_share(const IkPlan& plan, const double* q, const double* step, const double* target);

 private:
  template <std::size_t L>
  double search(const IkPlan& plan, const double* q, const double* step, const double* target);

  double *q_ = nullptr, *target_ = nullptr, *raw_ = nullptr, *err_ = nullptr, *bend_ = nullptr;
  char* workspace_ = nullptr;
};

}  // namespace robomorph
