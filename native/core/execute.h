// Runs a kernel over the rows of a batch: full blocks of lanes, a padded tail, and the split over threads.
// Knows nothing of Python.
#pragma once

#include <atomic>
#include <cstddef>

#include "core/unit_scan.h"

namespace robomorph {

inline constexpr std::size_t kMaxArrays = 32;

// Evaluates a fixed number of consecutive rows; in[i] and out[j] are row-major, aligned for their element type.
using KernelFn = void (*)(const void* const* in, void* const* out, void* workspace);

// What stays the same from call to call. Sizes and offsets in bytes; a thread's scratch holds one padded block of
// every input, one stage (core/stream.h) of every output, then the workspace.
struct Layout {
  std::size_t lanes;
  std::size_t n_in;
  std::size_t n_out;
  std::size_t in_row[kMaxArrays];
  std::size_t out_row[kMaxArrays];
  std::size_t in_padded_at[kMaxArrays];
  std::size_t out_padded_at[kMaxArrays];
  std::size_t workspace_at;
};

// Fills in the offsets from lanes and the row sizes.
void plan_scratch(Layout& layout);

// Are all of `count` values finite?
using FiniteFn = bool (*)(const void* values, std::size_t count);

// Is one part of unit length in all rows?
using UnitFn = bool (*)(const void* values, std::size_t row_size, std::size_t rows, const UnitPart& part,
                        const UnitParts& bounds);

struct Work {
  const Layout* layout;
  KernelFn lane_fn;    // evaluates layout->lanes rows; nullptr: every row by single_fn
  KernelFn single_fn;  // evaluates one row
  KernelFn blocks_fn;  // evaluates `blocks` times as many rows as lane_fn; nullptr: there is none
  std::size_t blocks;
  std::size_t rows;
  std::size_t workspace;
  FiniteFn finite;           // asked about the inputs of every part before it is computed; nullptr: no check
  UnitFn unit;               // asked after that about `units`
  const UnitParts* units;
  std::size_t element_size;  // bytes of one value
  bool streaming;            // execute's own note: results go past the cache (core/stream.h)
  std::atomic<bool> out_of_memory{false};
  std::atomic<bool> bad_values{false};
  const char* in[kMaxArrays];
  char* out[kMaxArrays];
};

enum class Launch { kPool, kNewThreads };

enum class Outcome { kDone, kBadValues, kOutOfMemory };

struct Split {
  std::size_t threads;
  std::size_t min_blocks_per_thread;
  Launch launch;
};

// Evaluates all rows. Inputs that are not finite or not of unit length leave the outputs as they were on one
// thread; on several, the parts without such inputs are written.
Outcome execute(Work& work, const Split& split);

}  // namespace robomorph
