#include "core/cpus.h"

#include <atomic>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

namespace robomorph {
namespace {

std::size_t count_cpus() {
#if defined(__linux__)
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) {
    const int count = CPU_COUNT(&mask);
    if (count > 0) return static_cast<std::size_t>(count);
  }
#endif
  const unsigned count = std::thread::hardware_concurrency();
  return count > 0 ? count : 1;
}

std::atomic<std::size_t>& default_threads_cell() {
  static std::atomic<std::size_t> cell{available_cpus() < kMaxThreads ? available_cpus() : kMaxThreads};
  return cell;
}

}  // namespace

std::size_t available_cpus() {
  static const std::size_t count = count_cpus();
  return count;
}

std::size_t default_threads() { return default_threads_cell().load(std::memory_order_relaxed); }

void set_default_threads(std::size_t threads) {
  default_threads_cell().store(threads, std::memory_order_relaxed);
}

}  // namespace robomorph
