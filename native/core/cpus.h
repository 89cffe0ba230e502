// How many CPUs this process may run on, how many threads a call uses unless told otherwise, and how large the cache is.
#pragma once

#include <cstddef>

namespace robomorph {

inline constexpr std::size_t kMaxThreads = 1024;

// CPUs in the process's affinity mask at the first call; at least 1.
std::size_t available_cpus();

std::size_t default_threads();
void set_default_threads(std::size_t threads);

// Bytes of the last-level cache, as the system's files tell it for a CPU of this process; 0 where they do not. (The C
// library's own figure was found to be ten times too large.)
std::size_t last_level_cache();

// The same from a folder such as /sys/devices/system/cpu/cpu0/cache, for tests.
std::size_t last_level_cache_in(const char* folder);

}  // namespace robomorph
