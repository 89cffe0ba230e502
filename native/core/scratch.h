// One aligned scratch buffer per thread, kept between calls: kernels use it as their workspace.
#pragma once

#include <cstddef>

namespace robomorph {

inline constexpr std::size_t kScratchAlignment = 64;

inline constexpr std::size_t round_up(std::size_t bytes) {
  return (bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
}

// At least `bytes` bytes, 64-byte aligned, valid until this thread's next call; nullptr when memory is out.
// Never nullptr otherwise, even for 0 bytes.
char* thread_scratch(std::size_t bytes);

}  // namespace robomorph
