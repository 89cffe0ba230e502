// The loops of the forward-dynamics form, once for every set of vector instructions (ddp_body.h).
#pragma once

#include "mpc/ddp_model.h"

namespace robomorph::mpc {

// Scratch of a sweep: matrices over (dtau, dq, dv, 1), one row after the other.
struct DdpScratch {
  double* hessian = nullptr;     // stage's matrix, upper half; 3 nv rows and some
  double* product = nullptr;     // what multiplies the rows of a gram product; max(2 nv, rows) rows and some
  double* turned = nullptr;      // the cost to go seen from before Euler's step; 2 nv rows
  double* tasks = nullptr;       // rows of tasks
  double* value = nullptr;       // cost to go over (dq, dv), both halves; rows of sizes.half numbers
  double* value_p = nullptr;     // its gradient (2 nv)
  double* spare = nullptr;       // nv
  double* lanes = nullptr;       // derivatives of a step in lane order, for integrators of several stages
};

struct DdpLoops {
  // Fills `kept` (horizon, kept, stride; accelerations times dt) and `policy`; gives the expected gain, or a negative number on failure.
  double (*backward)(const DdpSizes& sizes, const DdpModel& model, double regularisation, const DdpScratch& scratch,
                     double* kept, double* policy);
  // out (rows) = matrix (rows, stride) z (stride), for z padded with zeros.
  void (*multiply)(const double* matrix, int rows, int stride, const double* z, double* out);
  // out (width) += sum_j policy row j * dx_j (count).
  void (*feedback)(const double* policy, int count, int width, const double* dx, double* out);
};

const DdpLoops& ddp_plain();
const DdpLoops& ddp_avx2();    // call only where the processor has AVX2 and FMA
const DdpLoops& ddp_avx512();  // call only where the processor has AVX-512F
const DdpLoops& ddp_loops();   // the best of them

}  // namespace robomorph::mpc
