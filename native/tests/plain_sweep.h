// A sweep along the horizon written plainly: dense stages, one number at a time.
#pragma once

#include <memory>

#include "mpc/sweep.h"

namespace robomorph::tests {

std::unique_ptr<mpc::Sweep> make_plain_sweep(const mpc::Shape& shape);

}  // namespace robomorph::tests
