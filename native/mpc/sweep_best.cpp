#include "mpc/sweep_versions.h"

namespace robomorph::mpc {

const SweepVersions& sweep_best() {
#if defined(__x86_64__)
  static const SweepVersions& best = __builtin_cpu_supports("avx512f")                                ? sweep_avx512()
                                     : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? sweep_avx2()
                                                                                                       : sweep_plain();
  return best;
#else
  return sweep_plain();
#endif
}

}  // namespace robomorph::mpc
