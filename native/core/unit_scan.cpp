#include "core/unit_scan.h"

namespace robomorph {
namespace {

// No branch in the loop over rows: a batch without fault is looked at once from end to end.
template <typename T>
bool scan(const T* values, std::size_t row_size, std::size_t rows, const UnitPart& part, const UnitParts& bounds) {
  bool outside = false;
  const T* entries = values + part.first;
  for (std::size_t row = 0; row < rows; ++row, entries += row_size) {
    double square = 0;
    for (std::size_t i = 0; i < part.count; ++i) square += static_cast<double>(entries[i]) * entries[i];
    outside |= !(square >= bounds.low && square <= bounds.high);
  }
  return !outside;
}

}  // namespace

bool all_unit_floats(const void* values, std::size_t row_size, std::size_t rows, const UnitPart& part,
                     const UnitParts& bounds) {
  return scan(static_cast<const float*>(values), row_size, rows, part, bounds);
}

bool all_unit_doubles(const void* values, std::size_t row_size, std::size_t rows, const UnitPart& part,
                      const UnitParts& bounds) {
  return scan(static_cast<const double*>(values), row_size, rows, part, bounds);
}

}  // namespace robomorph
