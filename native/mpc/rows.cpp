#include "mpc/rows.h"

namespace robomorph::mpc {

void clear(Reach& reach) { reach = {}; }

void clear(Measure& measure) {
  measure = {};
  for (double& mantissa : measure.mantissa) mantissa = 1.0;
}

const RowLoops& row_loops() {
#if defined(__x86_64__)
  static const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
  static const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return avx512 ? row_loops_avx512() : avx2 ? row_loops_avx2() : row_loops_plain();
#else
  return row_loops_plain();
#endif
}

}  // namespace robomorph::mpc
