// Buffers end where the values end, so that AddressSanitizer sees a read too far.
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "core/finite_scan.h"
#include "tests/check.h"

using namespace robomorph;

namespace {

template <typename T>
bool all_finite(const T* values, std::size_t count) {
  return sizeof(T) == sizeof(double) ? all_finite_doubles(values, count) : all_finite_floats(values, count);
}

// Values that a scan by arithmetic could take for something else: extremes, denormals, both zeros.
template <typename T>
T harmless(std::size_t i) {
  using Limits = std::numeric_limits<T>;
  const T values[] = {T{1.5}, Limits::max(), Limits::lowest(), Limits::denorm_min(), T{0}, -T{0}, Limits::min()};
  return values[i % 7];
}

template <typename T>
void check_every_position(std::size_t count, std::size_t offset) {
  using Limits = std::numeric_limits<T>;
  const std::unique_ptr<T[]> buffer(new T[offset + count]);
  T* values = buffer.get() + offset;  // vectors of the scan start at any element
  // What lies before the values is not looked at.
  for (std::size_t i = 0; i < offset; ++i) buffer[i] = Limits::quiet_NaN();
  for (std::size_t i = 0; i < count; ++i) values[i] = harmless<T>(i);
  CHECK(all_finite(values, count));
  const T bad[] = {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()};
  for (std::size_t i = 0; i < count; ++i) {
    const T kept = values[i];
    values[i] = bad[(i + count) % 3];
    if (all_finite(values, count)) {
      tests::report_failure(__FILE__, __LINE__,
                            "overlooked at " + std::to_string(i) + " of " + std::to_string(count));
    }
    values[i] = kept;
  }
}

template <typename T>
void check_type() {
  for (std::size_t count = 0; count <= 300; ++count) check_every_position<T>(count, count % 5);
  check_every_position<T>(1000, 1);
}

}  // namespace

TEST_CASE(finite_doubles, "finite_scan: NaN and infinities at every place of doubles of every number") {
  check_type<double>();
}

TEST_CASE(finite_floats, "finite_scan: NaN and infinities at every place of floats of every number") {
  check_type<float>();
}

TEST_CASE(finite_cancel, "finite_scan: infinities of both signs do not cancel") {
  for (std::size_t apart = 1; apart < 70; ++apart) {
    const std::unique_ptr<double[]> values(new double[80]());
    values[3] = HUGE_VAL;
    values[3 + apart] = -HUGE_VAL;
    CHECK(!all_finite_doubles(values.get(), 80));
  }
}
