#if defined(__x86_64__)
#include "mpc/rows.h"

namespace robomorph::mpc {
namespace rows_avx2 {

constexpr int kWidth = 4;

#include "mpc/rows_body.h"

}  // namespace rows_avx2

const RowLoops& row_loops_avx2() { return rows_avx2::kLoops; }

}  // namespace robomorph::mpc
#endif
