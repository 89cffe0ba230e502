#include <cmath>
#include <limits>
#include <memory>

#include "core/unit_scan.h"
#include "tests/check.h"

using namespace robomorph;

namespace {

constexpr double kTolerance = 1e-3;

template <typename T>
bool all_unit(const T* values, std::size_t row_size, std::size_t rows, const UnitPart& part) {
  const double low = 1 - kTolerance, high = 1 + kTolerance;
  const UnitParts bounds{nullptr, 0, low * low, high * high};
  return sizeof(T) == sizeof(double) ? all_unit_doubles(values, row_size, rows, part, bounds)
                                     : all_unit_floats(values, row_size, rows, part, bounds);
}

// Rows of garbage with a unit vector at `part`; the buffer ends with the last row.
template <typename T>
std::unique_ptr<T[]> make_rows(std::size_t row_size, std::size_t rows, const UnitPart& part) {
  std::unique_ptr<T[]> values(new T[row_size * rows]);
  for (std::size_t i = 0; i < row_size * rows; ++i) values[i] = T(100) + T(i);
  for (std::size_t row = 0; row < rows; ++row) {
    double square = 0;
    for (std::size_t i = 0; i < part.count; ++i) square += double(i + row + 1) * double(i + row + 1);
    for (std::size_t i = 0; i < part.count; ++i) {
      const double sign = (i + row) % 2 ? -1 : 1;
      values[row * row_size + part.first + i] = T(sign * double(i + row + 1) / std::sqrt(square));
    }
  }
  return values;
}

template <typename T>
void check_part(std::size_t row_size, std::size_t rows, const UnitPart& part) {
  const auto values = make_rows<T>(row_size, rows, part);
  CHECK(all_unit(values.get(), row_size, rows, part));
  for (std::size_t row = 0; row < rows; ++row) {
    for (const double scale : {1 + 2 * kTolerance, 1 - 2 * kTolerance, 0.0, double(NAN), double(INFINITY)}) {
      auto bad = make_rows<T>(row_size, rows, part);
      for (std::size_t i = 0; i < part.count; ++i) bad[row * row_size + part.first + i] *= T(scale);
      CHECK(!all_unit(bad.get(), row_size, rows, part));
    }
    auto close = make_rows<T>(row_size, rows, part);
    for (std::size_t i = 0; i < part.count; ++i) close[row * row_size + part.first + i] *= T(1 + 0.9 * kTolerance);
    CHECK(all_unit(close.get(), row_size, rows, part));
  }
}

template <typename T>
void check_type() {
  for (const std::size_t count : {1, 2, 4}) {
    for (const std::size_t first : {0, 3}) {
      for (const std::size_t rest : {0, 2}) {
        for (const std::size_t rows : {0, 1, 5, 9}) check_part<T>(first + count + rest, rows, {0, first, count});
      }
    }
  }
}

}  // namespace

TEST_CASE(unit_doubles, "unit_scan: any row of doubles that is too long, too short or no number") {
  check_type<double>();
}

TEST_CASE(unit_floats, "unit_scan: any row of floats that is too long, too short or no number") {
  check_type<float>();
}

TEST_CASE(unit_overflow, "unit_scan: squares of floats do not overflow into what is allowed") {
  const float values[] = {std::numeric_limits<float>::max(), 0, 0, 0};
  CHECK(!all_unit(values, 4, 1, {0, 0, 4}));
}
