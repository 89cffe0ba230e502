// The versions of a sweep that this machine may have: for each set of vector instructions one with lanes = nodes and one
// with lanes = problems. They work in memory that is given to them, and share no code.
#pragma once

#include <cstddef>

#include "mpc/sweep.h"

namespace robomorph::mpc {

struct SweepVersion {
  std::size_t (*numbers)(const Shape& shape);  // doubles wanted; aligned to 64 bytes, zero before `prepare`
  void (*prepare)(const Shape& shape, double* memory);

  // From the last node to the first. Without `matrices` those of the last call stay, and only gradients are read.
  void (*back)(const Shape& shape, const Quadratic& model, const double* regularisation, bool matrices, double* memory,
               bool* ok);

  // From the first node to the last. Gains are written where `matrices` were new.
  void (*forth)(const Shape& shape, const double* dq0, const double* dv0, const double* regularisation, bool matrices,
                const Direction& direction, double* memory, bool* ok);
};

// For a shape with lanes of nodes, and of problems.
struct SweepVersions {
  const SweepVersion* (*nodes)(const Shape& shape);
  const SweepVersion* (*problems)(const Shape& shape);
};

const SweepVersions& sweep_plain();
#if defined(__x86_64__)
const SweepVersions& sweep_avx2();    // needs AVX2 and FMA
const SweepVersions& sweep_avx512();  // needs AVX-512 F
#endif
const SweepVersions& sweep_best();  // for this processor

std::unique_ptr<Sweep> make_sweep(const Shape& shape, const SweepVersions& versions);

}  // namespace robomorph::mpc
