#if defined(__x86_64__)
#include <immintrin.h>

#include "mpc/sweep_versions.h"

namespace robomorph::mpc {
namespace avx512 {
namespace {

#define WIDTH 8
constexpr int kTileVectors = 3, kTileRows = 4, kTileColumns = 4;

#include "mpc/sweep_body.h"

}  // namespace
}  // namespace avx512

const SweepVersions& sweep_avx512() { return avx512::kSweeps; }

}  // namespace robomorph::mpc
#endif
