// Kernels that compiled XLA programs call, by name. Entries are never taken away: nobody knows which program still
// holds a name. Knows nothing of Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/execute.h"

namespace robomorph::xla {

inline constexpr int kMostDims = 6;

struct RowDims {
  int rank;
  std::int64_t dims[kMostDims];
};

// All that a call needs; constant once it is added.
struct Callee {
  std::string name;
  Layout layout;
  RowDims in[kMaxArrays];
  RowDims out[kMaxArrays];
  bool doubles;
  KernelFn lane_fn;
  KernelFn single_fn;
  KernelFn blocks_fn;
  std::size_t blocks;
  std::size_t workspace;
  std::size_t threads;  // 0: the default of the process
  std::size_t single_limit;
  std::size_t min_blocks_per_thread;
  UnitParts units;  // rows that violate them give NaN; no parts: not looked at
  const Callee* next = nullptr;
};

// Takes the callee, which hides an older one of the same name. Any thread may look for names meanwhile.
void add_callee(Callee* callee);

// The callee added last under that name; nullptr if there is none.
const Callee* find_callee(const char* name, std::size_t size);

}  // namespace robomorph::xla
