// The arrays of one worker, in lane order, one block a thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "ik/joints.h"
#include "ik/plan.h"
#include "ik/random.h"
#include "ik/rows.h"
#include "core/scratch.h"

namespace robomorph {

// Every array is (size, lanes); two of `jac`, `err` and `bend`: the accepted configuration's and the trial's.
struct IkArrays {
  double *q, *trial, *best, *target, *raw, *weights, *mask, *base, *lam, *step, *last, *model;
  double *sine, *cosine;  // of the trial, with one lane; padded to whole vectors
  double *jac[2], *err[2], *bend[2];
  char* workspace;

  // Places the arrays in one block from `memory`; with nullptr only counts. Returns the bytes.
  std::size_t place(const IkPlan& plan, char* memory) {
    std::size_t at = 0;
    const auto take = [&](double*& array, std::size_t size) {
      array = memory == nullptr ? nullptr : reinterpret_cast<double*>(memory + at);
      at += round_up(size * plan.lanes * sizeof(double) + sizeof(double));
    };
    const std::size_t padding = plan.trig == nullptr ? 0 : plan.wide_lanes;
    for (double** array : {&q, &trial, &best}) take(*array, plan.nq + padding);
    for (double** array : {&sine, &cosine}) take(*array, plan.trig == nullptr ? 0 : plan.nq + padding);
    for (double** array : {&mask, &base, &step, &last}) take(*array, plan.nv);
    take(target, plan.targets);
    take(raw, plan.raws);
    take(weights, plan.rows);
    take(lam, 1);
    take(model, 1);
    for (int i = 0; i < 2; ++i) {
      take(jac[i], plan.jacs);
      take(err[i], plan.rows);
      take(bend[i], plan.bends);
    }
    workspace = memory == nullptr ? nullptr : memory + at;
    return at + round_up(plan.workspace);
  }
};

inline double ik_wrapped(double angle) { return std::remainder(angle, 2.0 * kPi); }

}  // namespace robomorph
