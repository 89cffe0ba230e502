#include "core/scratch.h"

#include <cstdlib>

namespace robomorph {
namespace {

struct Scratch {
  char* data = nullptr;
  std::size_t size = 0;
  ~Scratch() { std::free(data); }
};

char* grow(Scratch& scratch, std::size_t bytes) {
  std::free(scratch.data);
  scratch.data = nullptr;
  scratch.size = 0;
  void* fresh = nullptr;
  const std::size_t size = round_up(bytes > 4096 ? bytes : 4096);
  if (posix_memalign(&fresh, kScratchAlignment, size) != 0) return nullptr;
  scratch.data = static_cast<char*>(fresh);
  scratch.size = size;
  return scratch.data;
}

}  // namespace

char* thread_scratch(std::size_t bytes) {
  thread_local Scratch scratch;
  if (scratch.data != nullptr && bytes <= scratch.size) return scratch.data;
  return grow(scratch, bytes);
}

}  // namespace robomorph
