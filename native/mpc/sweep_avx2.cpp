#if defined(__x86_64__)
#include <immintrin.h>

#include "mpc/sweep_versions.h"

namespace robomorph::mpc {
namespace avx2 {
namespace {

#define WIDTH 4
constexpr int kTileVectors = 3, kTileRows = 4, kTileColumns = 3;

#include "mpc/sweep_body.h"

}  // namespace
}  // namespace avx2

const SweepVersions& sweep_avx2() { return avx2::kSweeps; }

}  // namespace robomorph::mpc
#endif
