#include "mpc/ddp_versions.h"

namespace robomorph::mpc {
namespace plain {

// What fits into the vector registers.
constexpr int kWide = 2, kTileRows = 4, kTileColumns = 3, kLaneTile = 3;

#include "mpc/ddp_gram.h"

#include "mpc/ddp_body.h"

}  // namespace plain

const DdpLoops& ddp_plain() { return plain::kLoops; }

}  // namespace robomorph::mpc
