#include "planning/dense.h"

#include "planning/dense_versions.h"

namespace robomorph::planning {

const Dense& dense() {
#if defined(__x86_64__)
  static const Dense& best = __builtin_cpu_supports("avx512f")                                ? dense_avx512()
                             : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? dense_avx2()
                                                                                               : dense_plain();
  return best;
#else
  return dense_plain();
#endif
}

}  // namespace robomorph::planning
