#if defined(__x86_64__)
#include "mpc/rows.h"

namespace robomorph::mpc {
namespace rows_avx512 {

constexpr int kWidth = 8;

#include "mpc/rows_body.h"

}  // namespace rows_avx512

const RowLoops& row_loops_avx512() { return rows_avx512::kLoops; }

}  // namespace robomorph::mpc
#endif
