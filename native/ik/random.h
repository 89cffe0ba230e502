// Random numbers that depend on nothing but their place: the same for every thread, lane and batch position.
#pragma once

#include <cstdint>

namespace robomorph {

inline std::uint64_t ik_mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// Uniform in [0, 1) for coordinate `k` of start `start`.
inline double ik_uniform(std::uint64_t seed, std::uint64_t start, std::uint64_t k) {
  const std::uint64_t bits = ik_mix(ik_mix(ik_mix(seed) ^ start) ^ (k * 0xD1342543DE82EF95ull));
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

}  // namespace robomorph
