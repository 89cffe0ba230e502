// How many CPUs this process may run on, and how many threads a call uses unless told otherwise.
#pragma once

#include <cstddef>

namespace robomorph {

inline constexpr std::size_t kMaxThreads = 1024;

// CPUs in the process's affinity mask at the first call; at least 1.
std::size_t available_cpus();

std::size_t default_threads();
void set_default_threads(std::size_t threads);

}  // namespace robomorph
