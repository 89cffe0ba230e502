#if defined(__x86_64__)
#include "mpc/ddp_versions.h"

namespace robomorph::mpc {
namespace avx2 {

// What fits into the vector registers.
constexpr int kWide = 4, kTileRows = 4, kTileColumns = 3, kLaneTile = 3;

#include "mpc/ddp_gram.h"

#include "mpc/ddp_body.h"

}  // namespace avx2

const DdpLoops& ddp_avx2() { return avx2::kLoops; }

}  // namespace robomorph::mpc
#endif
