// Rows of tasks along a motion: values and derivatives by their kernel.
#pragma once

#include "mpc/memory.h"
#include "mpc/rows.h"
#include "mpc/work.h"

namespace robomorph::mpc {

class TaskRows {
 public:
  explicit TaskRows(Work& work);

  // Fills `trial` of the rows from those of q and v, and the derivatives below.
  void evaluate();
  // Fills `change` of the rows from those of q and v.
  void change() const;

  const double* by_q() const { return by_q_.data(); }
  const double* by_v() const { return w_.shape.row_velocity ? by_v_.data() : nullptr; }

 private:
  Work& w_;
  const RowLoops& loops_;
  Doubles by_q_, by_v_, workspace_;
};

}  // namespace robomorph::mpc
