#include "planning/dense_versions.h"

namespace robomorph::planning {
namespace plain {

// What fits into the vector registers.
constexpr int kTilePanels = 1, kTileColumns = 2, kExpandTile = 2;

#include "planning/dense_body.h"

}  // namespace plain

const Dense& dense_plain() { return plain::kDense; }

}  // namespace robomorph::planning
