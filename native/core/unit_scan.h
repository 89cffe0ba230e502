// Looks for vectors that should have length one and have not: quaternions, (cos, sin) pairs.
#pragma once

#include <cstddef>

namespace robomorph {

// Consecutive entries of every row of one input.
struct UnitPart {
  std::size_t input;
  std::size_t first;
  std::size_t count;
};

// What a kernel expects of its inputs; the squared length of every part lies between the bounds.
struct UnitParts {
  UnitPart* parts;
  std::size_t count;
  double low;
  double high;
};

// Is `part` of unit length in each of `rows` rows of `row_size` values?
bool all_unit_floats(const void* values, std::size_t row_size, std::size_t rows, const UnitPart& part,
                     const UnitParts& bounds);
bool all_unit_doubles(const void* values, std::size_t row_size, std::size_t rows, const UnitPart& part,
                      const UnitParts& bounds);

}  // namespace robomorph
