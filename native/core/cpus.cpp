#include "core/cpus.h"

#include <atomic>
#include <fstream>
#include <string>
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

int some_cpu() {
#if defined(__linux__)
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &mask)) return cpu;
    }
  }
#endif
  return 0;
}

// "32768K" and the like; 0 for anything else.
std::size_t read_size(const std::string& path) {
  std::ifstream file(path);
  std::size_t number = 0;
  std::string unit;
  if (!(file >> number) || number > (std::size_t{1} << 40)) return 0;
  file >> unit;
  if (unit.empty()) return number;
  if (unit == "K") return number << 10;
  return unit == "M" ? number << 20 : 0;
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

std::size_t last_level_cache_in(const char* folder) {
  int highest = 0;
  std::size_t size = 0;
  for (int index = 0; index < 16; ++index) {
    const std::string cache = std::string(folder) + "/index" + std::to_string(index);
    int level = 0;
    std::string type;
    if (!(std::ifstream(cache + "/level") >> level) || !(std::ifstream(cache + "/type") >> type)) continue;
    if (level <= highest || type == "Instruction") continue;
    highest = level;
    size = read_size(cache + "/size");
  }
  return size;
}

std::size_t last_level_cache() {
  static const std::size_t size =
      last_level_cache_in(("/sys/devices/system/cpu/cpu" + std::to_string(some_cpu()) + "/cache").c_str());
  return size;
}

}  // namespace robomorph
