// Looks for NaN and infinities in a buffer.
#pragma once

#include <cstddef>

namespace robomorph {

bool all_finite(const float* values, std::size_t count);
bool all_finite(const double* values, std::size_t count);

}  // namespace robomorph
