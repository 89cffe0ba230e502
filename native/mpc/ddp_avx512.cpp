#if defined(__x86_64__)
#include "mpc/ddp_versions.h"

namespace robomorph::mpc {
namespace avx512 {

// What fits into the vector registers.
constexpr int kWide = 8, kTileRows = 8, kTileColumns = 3, kLaneTile = 4;

#include "mpc/ddp_gram.h"

#include "mpc/ddp_body.h"

}  // namespace avx512

const DdpLoops& ddp_avx512() { return avx512::kLoops; }

}  // namespace robomorph::mpc
#endif
