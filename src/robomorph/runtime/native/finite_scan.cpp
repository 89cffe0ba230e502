#include "finite_scan.h"

namespace robomorph {
namespace {

// x - x is 0 for every finite x and NaN otherwise, and NaN survives additions. Independent accumulators let the
// compiler use vector registers without being allowed to reorder a sum.
template <typename T>
bool scan(const T* values, std::size_t count) {
  constexpr std::size_t kLanes = 64 / sizeof(T);
  T sums[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += values[i + lane] - values[i + lane];
  }
  T total = 0;
  for (; i < count; ++i) total += values[i] - values[i];
  if (count >= kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) total += sums[lane];
  }
  return total == 0;
}

}  // namespace

bool all_finite(const float* values, std::size_t count) { return scan(values, count); }
bool all_finite(const double* values, std::size_t count) { return scan(values, count); }

}  // namespace robomorph
