// Looks for NaN and infinities in a buffer.
#pragma once

#include <cstddef>

namespace robomorph {

bool all_finite_floats(const void* values, std::size_t count);
bool all_finite_doubles(const void* values, std::size_t count);

}  // namespace robomorph
