#include "tests/allocations.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> total{0};

void* take(std::size_t size, std::size_t alignment) {
  ++total;
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, size == 0 ? 1 : size) != 0) throw std::bad_alloc();
  return memory;
}

constexpr std::size_t kLeast = alignof(std::max_align_t);

void* take_or_null(std::size_t size) noexcept {
  ++total;
  return std::malloc(size == 0 ? 1 : size);
}

}  // namespace

// Every other form of new and delete comes down to these; those that do not throw are named because sanitizers have
// their own.
void* operator new(std::size_t size) { return take(size, kLeast); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return take_or_null(size); }
void* operator new[](std::size_t size) { return take(size, kLeast); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return take_or_null(size); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return take(size, static_cast<std::size_t>(alignment)); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void* operator new(std::size_t size, std::align_val_t alignment) { return take(size, static_cast<std::size_t>(alignment)); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace robomorph::tests {

AllocationCount::AllocationCount() : before_(total) {}

long AllocationCount::taken() const { return total - before_; }

}  // namespace robomorph::tests
