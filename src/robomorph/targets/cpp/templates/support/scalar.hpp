// Scalars of the kernels: fused multiply-adds and sine with cosine, for float and double.
//
// The same operations in the same order make the lane versions (lanes.hpp), so one state gives the same bits
// alone or in any lane, as long as the compiler fuses nothing by itself: compile with -ffp-contract=off, as
// the CMake target does. Nothing here allocates, throws, locks or keeps state.
#ifndef ROBOMORPH_SCALAR_HPP
#define ROBOMORPH_SCALAR_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__FAST_MATH__)
#error "robomorph: -ffast-math breaks the reduction of angles; compile without it"
#endif

#if defined(__GNUC__)
#define ROBOMORPH_INLINE inline __attribute__((always_inline))
#define ROBOMORPH_NOINLINE __attribute__((noinline))
#define ROBOMORPH_RESTRICT __restrict__
#if defined(__clang__)
#define ROBOMORPH_BLOCK __attribute__((noinline))
#else
// GCC packs neighbouring scalars of these long blocks into vectors at a loss: a tenth of the time.
#define ROBOMORPH_BLOCK __attribute__((noinline, optimize("no-tree-slp-vectorize")))
#endif
#elif defined(_MSC_VER)
#define ROBOMORPH_INLINE __forceinline
#define ROBOMORPH_NOINLINE __declspec(noinline)
#define ROBOMORPH_BLOCK __declspec(noinline)
#define ROBOMORPH_RESTRICT __restrict
#else
#define ROBOMORPH_INLINE inline
#define ROBOMORPH_NOINLINE
#define ROBOMORPH_BLOCK
#define ROBOMORPH_RESTRICT
#endif

// Without the instruction std::fma is a slow library call: the same nodes are then two operations.
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__FP_FAST_FMA)
#define ROBOMORPH_HAS_FMA 1
#else
#define ROBOMORPH_HAS_FMA 0
#endif

namespace robomorph {
inline namespace v1 {

/// The number type of a value: T for T, and T for Lanes<T, W>.
template <class S> struct ScalarOf { using type = S; };
template <class S> using scalar_of = typename ScalarOf<S>::type;

/// Zero in `size` values.
template <class S> ROBOMORPH_INLINE void clear(S* values, std::size_t size) noexcept {
  for (std::size_t k = 0; k < size; ++k) values[k] = S(scalar_of<S>(0));
}

namespace detail {

template <class T> struct Format;  // the constants of a number format
// On [-pi/4, pi/4], z = r r: sin r = r + r z sine(z), cos r = 1 - z/2 + z z cosine(z), cut below half an ulp.

template <> struct Format<double> {
  using Bits = std::uint64_t;
  static constexpr int sign_shift = 62;                    // from bit 1 to the sign
  static constexpr double rounder = 6755399441055744.0;    // 1.5 * 2^52: adding it rounds to a whole number
  static constexpr double largest = 1048576.0;             // 2^20: beyond, the C library's functions answer
  static constexpr double half_pi[3] = {1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21};
  static constexpr int terms = 7;
  static constexpr double sine[terms] = {
      -1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362880.0, -1.0 / 39916800.0,
      1.0 / 6227020800.0, -1.0 / 1307674368000.0};
  static constexpr double cosine[terms] = {
      1.0 / 24.0, -1.0 / 720.0, 1.0 / 40320.0, -1.0 / 3628800.0, 1.0 / 479001600.0,
      -1.0 / 87178291200.0, 1.0 / 20922789888000.0};
};

template <> struct Format<float> {
  using Bits = std::uint32_t;
  static constexpr int sign_shift = 30;
  static constexpr float rounder = 12582912.0f;            // 1.5 * 2^23
  static constexpr float largest = 4096.0f;
  static constexpr float half_pi[3] = {1.5703125f, 0.0004837512969970703f, 7.549790126404332e-08f};
  static constexpr int terms = 4;
  static constexpr float sine[terms] = {
      -1.0f / 6.0f, 1.0f / 120.0f, -1.0f / 5040.0f, 1.0f / 362880.0f};
  static constexpr float cosine[terms] = {
      1.0f / 24.0f, -1.0f / 720.0f, 1.0f / 40320.0f, -1.0f / 3628800.0f};
};

}  // namespace detail

/// a b + c, rounded once where the CPU can.
ROBOMORPH_INLINE double mul_add(double a, double b, double c) noexcept {
#if ROBOMORPH_HAS_FMA
  return std::fma(a, b, c);
#else
  return a * b + c;
#endif
}

ROBOMORPH_INLINE float mul_add(float a, float b, float c) noexcept {
#if ROBOMORPH_HAS_FMA
  return std::fma(a, b, c);
#else
  return a * b + c;
#endif
}

/// a b - c.
ROBOMORPH_INLINE double mul_sub(double a, double b, double c) noexcept { return mul_add(a, b, -c); }
ROBOMORPH_INLINE float mul_sub(float a, float b, float c) noexcept { return mul_add(a, b, -c); }

/// c - a b.
ROBOMORPH_INLINE double neg_mul_add(double a, double b, double c) noexcept { return mul_add(-a, b, c); }
ROBOMORPH_INLINE float neg_mul_add(float a, float b, float c) noexcept { return mul_add(-a, b, c); }

/// NaN below zero.
ROBOMORPH_INLINE double square_root(double a) noexcept { return std::sqrt(a); }
ROBOMORPH_INLINE float square_root(float a) noexcept { return std::sqrt(a); }

/// The smaller and the larger of two; NaN if either is.
ROBOMORPH_INLINE double minimum(double a, double b) noexcept { return (a <= b || a != a) ? a : b; }
ROBOMORPH_INLINE float minimum(float a, float b) noexcept { return (a <= b || a != a) ? a : b; }
ROBOMORPH_INLINE double maximum(double a, double b) noexcept { return (a >= b || a != a) ? a : b; }
ROBOMORPH_INLINE float maximum(float a, float b) noexcept { return (a >= b || a != a) ? a : b; }

/// a where x >= 0, else b.
ROBOMORPH_INLINE double select(double x, double a, double b) noexcept { return x >= 0 ? a : b; }
ROBOMORPH_INLINE float select(float x, float a, float b) noexcept { return x >= 0 ? a : b; }

namespace detail {

/// Horner's rule from the highest coefficient.
template <class S, class T, std::size_t N> ROBOMORPH_INLINE S polynomial(const T (&c)[N], S z) noexcept {
  S value = S(c[N - 1]);
  for (std::size_t i = N - 1; i-- > 0;) value = mul_add(z, value, S(c[i]));
  return value;
}

/// x = k pi/2 + r: sine and cosine of r, and a number whose low bits are those of the whole number k.
/// pi/2 is held in three parts; products of k with the first two are exact.
template <class S> ROBOMORPH_INLINE void sincos_reduced(S x, S& sine, S& cosine, S& shifted) noexcept {
  using T = scalar_of<S>;
  using F = Format<T>;
  shifted = mul_add(x, S(T(0.6366197723675814)), S(F::rounder));
  const S k = shifted - S(F::rounder);
  S r = neg_mul_add(k, S(F::half_pi[0]), x);
  r = neg_mul_add(k, S(F::half_pi[1]), r);
  r = neg_mul_add(k, S(F::half_pi[2]), r);
  const S z = r * r;
  sine = mul_add(r * z, polynomial(F::sine, z), r);
  cosine = mul_add(z * z, polynomial(F::cosine, z), mul_add(S(T(-0.5)), z, S(T(1))));
}

/// Angles of more than Format::largest, infinities and NaN.
template <class T> ROBOMORPH_NOINLINE void sincos_far(T x, T& s, T& c) noexcept {
  s = std::sin(x);
  c = std::cos(x);
}

template <class T> ROBOMORPH_INLINE T with_sign_of_bit_one(T x, typename Format<T>::Bits bits) noexcept {
  typename Format<T>::Bits pattern;
  std::memcpy(&pattern, &x, sizeof x);
  pattern ^= (bits & 2u) << Format<T>::sign_shift;
  std::memcpy(&x, &pattern, sizeof x);
  return x;
}

template <class T> ROBOMORPH_INLINE void sincos_scalar(T x, T& s, T& c) noexcept {
  if (!(std::fabs(x) <= Format<T>::largest)) {
    sincos_far(x, s, c);
    return;
  }
  T sine, cosine, shifted;
  sincos_reduced(x, sine, cosine, shifted);
  typename Format<T>::Bits k;
  std::memcpy(&k, &shifted, sizeof k);
  const bool odd = (k & 1u) != 0;
  s = with_sign_of_bit_one(odd ? cosine : sine, k);
  c = with_sign_of_bit_one(odd ? sine : cosine, k + 1u);
}

}  // namespace detail

/// Sine and cosine of x (rad), both within two units in the last place of 1.
inline void sincos(double x, double& s, double& c) noexcept { detail::sincos_scalar(x, s, c); }
inline void sincos(float x, float& s, float& c) noexcept { detail::sincos_scalar(x, s, c); }

}  // namespace v1
}  // namespace robomorph

#endif
