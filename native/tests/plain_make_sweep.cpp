// Until there is a better one.
#include "tests/plain_sweep.h"

namespace robomorph::mpc {
std::unique_ptr<Sweep> make_sweep(const Shape& shape) { return tests::make_plain_sweep(shape); }
}  // namespace robomorph::mpc
