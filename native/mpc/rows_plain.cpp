#include "mpc/rows.h"

namespace robomorph::mpc {
namespace rows_plain {

constexpr int kWidth = 2;

#include "mpc/rows_body.h"

}  // namespace rows_plain

const RowLoops& row_loops_plain() { return rows_plain::kLoops; }

}  // namespace robomorph::mpc
