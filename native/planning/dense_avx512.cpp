#if defined(__x86_64__)
#include "planning/dense_versions.h"

namespace robomorph::planning {
namespace avx512 {

// What fits into the vector registers.
constexpr int kTilePanels = 2, kTileColumns = 8, kExpandTile = 8;

#include "planning/dense_body.h"

}  // namespace avx512

const Dense& dense_avx512() { return avx512::kDense; }

}  // namespace robomorph::planning
#endif
