// Lanes<T, W>: W numbers that go through a kernel together, one state per lane.
//
// With GCC and clang a Lanes is a vector register (vector extensions); elsewhere, or with
// ROBOMORPH_PORTABLE_LANES defined, an array and plain loops.
#ifndef ROBOMORPH_LANES_HPP
#define ROBOMORPH_LANES_HPP

#include "scalar.hpp"

namespace robomorph {
inline namespace v1 {

// Lanes that fill one vector register of the CPU compiled for.
#if defined(__AVX512F__)
template <class T> constexpr std::size_t native_lanes = 64 / sizeof(T);
#elif defined(__AVX__)
template <class T> constexpr std::size_t native_lanes = 32 / sizeof(T);
#else
template <class T> constexpr std::size_t native_lanes = 16 / sizeof(T);
#endif

template <class T, std::size_t W = native_lanes<T>> struct Lanes;
template <class T, std::size_t W> struct ScalarOf<Lanes<T, W>> { using type = T; };

}  // namespace v1
}  // namespace robomorph

#if defined(__GNUC__) && !defined(ROBOMORPH_PORTABLE_LANES)
#include "lanes_vector.hpp"
#else
#include "lanes_portable.hpp"
#endif

namespace robomorph {
inline namespace v1 {

/// Rows 0 to count - 1 of a row-major array (count, size) into `size` lanes; lanes beyond repeat the last row.
template <class T, std::size_t W>
ROBOMORPH_INLINE void load_rows(const T* rows, std::size_t size, std::size_t count, Lanes<T, W>* lanes) noexcept {
  for (std::size_t lane = 0; lane < W; ++lane) {
    const T* row = rows + (lane < count ? lane : count - 1) * size;
    for (std::size_t k = 0; k < size; ++k) lanes[k].v[lane] = row[k];
  }
}

/// The first `count` lanes back into rows.
template <class T, std::size_t W>
ROBOMORPH_INLINE void store_rows(const Lanes<T, W>* lanes, std::size_t size, std::size_t count, T* rows) noexcept {
  for (std::size_t lane = 0; lane < count; ++lane) {
    for (std::size_t k = 0; k < size; ++k) rows[lane * size + k] = lanes[k].v[lane];
  }
}

}  // namespace v1
}  // namespace robomorph

#endif
