#include "core/finite_scan.h"

// One version per vector width, chosen when the module is loaded, where the loader can do that. Features rather than
// arch=x86-64-v4: compilers before GCC 12 refuse that name here. ThreadSanitizer instruments the choosing itself, which
// happens before it is ready.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define ROBOMORPH_WIDEST __attribute__((target_clones("default", "fma", "avx512f")))
#else
#define ROBOMORPH_WIDEST
#endif

namespace robomorph {
namespace {

// 0 x is 0 for every finite x and NaN otherwise, and NaN survives additions: one fused multiply-add a vector.
// Independent accumulators let the compiler use vector registers without being allowed to reorder a sum.
template <typename T>
[[gnu::always_inline]] inline bool scan(const T* values, std::size_t count) {
  constexpr std::size_t kLanes = 256 / sizeof(T);
  T sums[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += values[i + lane] * T{0};
  }
  T total = 0;
  for (; i < count; ++i) total += values[i] * T{0};
  if (count >= kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) total += sums[lane];
  }
  return total == 0;
}

}  // namespace

ROBOMORPH_WIDEST bool all_finite_floats(const void* values, std::size_t count) {
  return scan(static_cast<const float*>(values), count);
}

ROBOMORPH_WIDEST bool all_finite_doubles(const void* values, std::size_t count) {
  return scan(static_cast<const double*>(values), count);
}

}  // namespace robomorph
