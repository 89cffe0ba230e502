#if defined(__x86_64__)
#include "planning/dense_versions.h"

namespace robomorph::planning {
namespace avx2 {

// What fits into the vector registers.
constexpr int kTilePanels = 1, kTileColumns = 4, kExpandTile = 4;

#include "planning/dense_body.h"

}  // namespace avx2

const Dense& dense_avx2() { return avx2::kDense; }

}  // namespace robomorph::planning
#endif
