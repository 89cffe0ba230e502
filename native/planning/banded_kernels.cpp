#include "planning/banded_kernels.h"

namespace robomorph::planning {
namespace {

namespace narrow {
#define LANES 2
#if defined(__aarch64__)
#define TILE_VECTORS 4  // 32 registers
#else
#define TILE_VECTORS 2
#endif
#define TILE_COLUMNS 4
#define TARGET
#include "planning/banded_kernels_body.h"
#undef LANES
#undef TILE_VECTORS
#undef TARGET
}  // namespace narrow

#if defined(__x86_64__)
// AVX-512 is left out: its tiles waste more on narrow bands than its width gains.
namespace avx2 {
#define LANES 4
#define TILE_VECTORS 3
#define TARGET __attribute__((target("avx2,fma")))
#include "planning/banded_kernels_body.h"
#undef LANES
#undef TILE_VECTORS
#undef TARGET
}  // namespace avx2
#endif
#undef TILE_COLUMNS

int widest() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 4;
#endif
  return 2;
}

}  // namespace

const BandedKernels& banded_kernels(int lanes) {
  static const int most = widest();
  const int chosen = lanes == 0 || lanes > most ? most : lanes;
#if defined(__x86_64__)
  if (chosen == 4) return avx2::kKernels;
#endif
  (void)chosen;
  return narrow::kKernels;
}

}  // namespace robomorph::planning
