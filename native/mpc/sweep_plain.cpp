#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "mpc/sweep_versions.h"

namespace robomorph::mpc {
namespace plain {
namespace {

#define WIDTH 2
constexpr int kTileVectors = 3, kTileRows = 3, kTileColumns = 3;

#include "mpc/sweep_body.h"

}  // namespace
}  // namespace plain

const SweepVersions& sweep_plain() { return plain::kSweeps; }

}  // namespace robomorph::mpc
