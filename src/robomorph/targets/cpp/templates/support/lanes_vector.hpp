// Lanes in vector registers, by the vector extensions of GCC and clang. Included by lanes.hpp.
#ifndef ROBOMORPH_LANES_VECTOR_HPP
#define ROBOMORPH_LANES_VECTOR_HPP

#if defined(__AVX__) && defined(__FMA__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include <type_traits>

namespace robomorph {
inline namespace v1 {

namespace detail {

template <class T, std::size_t W> struct VectorOf {
  typedef T type __attribute__((vector_size(W * sizeof(T))));
};

/// a b + c in every lane, rounded once where the CPU can. GCC has no generic vector spelling of it.
template <class T, class V> ROBOMORPH_INLINE V vector_mul_add(V a, V b, V c) noexcept {
#if !ROBOMORPH_HAS_FMA
  return a * b + c;
#else
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64 && std::is_same_v<T, double>) return (V)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
  if constexpr (sizeof(V) == 64 && std::is_same_v<T, float>) return (V)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#endif
#if defined(__AVX__) && defined(__FMA__)
  if constexpr (sizeof(V) == 32 && std::is_same_v<T, double>) return (V)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
  if constexpr (sizeof(V) == 32 && std::is_same_v<T, float>) return (V)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
  if constexpr (sizeof(V) == 16 && std::is_same_v<T, double>) return (V)_mm_fmadd_pd((__m128d)a, (__m128d)b, (__m128d)c);
  if constexpr (sizeof(V) == 16 && std::is_same_v<T, float>) return (V)_mm_fmadd_ps((__m128)a, (__m128)b, (__m128)c);
#elif defined(__aarch64__)
  if constexpr (sizeof(V) == 16 && std::is_same_v<T, double>) return (V)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
  if constexpr (sizeof(V) == 16 && std::is_same_v<T, float>) return (V)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#endif
  V result;  // any other width: lane by lane
  for (std::size_t i = 0; i < sizeof(V) / sizeof(T); ++i) result[i] = mul_add(T(a[i]), T(b[i]), T(c[i]));
  return result;
#endif
}

}  // namespace detail

template <class T, std::size_t W> struct Lanes {
  static_assert(W > 0 && (W & (W - 1)) == 0, "robomorph: the number of lanes must be a power of two");
  using Vector = typename detail::VectorOf<T, W>::type;
  using Bits = typename detail::VectorOf<typename detail::Format<T>::Bits, W>::type;

  Vector v;

  Lanes() = default;
  ROBOMORPH_INLINE explicit Lanes(Vector x) noexcept : v(x) {}
  /// The same number in every lane.
  ROBOMORPH_INLINE Lanes(T x) noexcept : v(x - Vector{}) {}

  ROBOMORPH_INLINE T operator[](std::size_t lane) const noexcept { return v[lane]; }
  ROBOMORPH_INLINE void set(std::size_t lane, T x) noexcept { v[lane] = x; }

  friend ROBOMORPH_INLINE Lanes operator+(Lanes a, Lanes b) noexcept { return Lanes(a.v + b.v); }
  friend ROBOMORPH_INLINE Lanes operator-(Lanes a, Lanes b) noexcept { return Lanes(a.v - b.v); }
  friend ROBOMORPH_INLINE Lanes operator*(Lanes a, Lanes b) noexcept { return Lanes(a.v * b.v); }
  friend ROBOMORPH_INLINE Lanes operator/(Lanes a, Lanes b) noexcept { return Lanes(a.v / b.v); }
  friend ROBOMORPH_INLINE Lanes operator-(Lanes a) noexcept { return Lanes(-a.v); }
  friend ROBOMORPH_INLINE Lanes mul_add(Lanes a, Lanes b, Lanes c) noexcept {
    return Lanes(detail::vector_mul_add<T>(a.v, b.v, c.v));
  }
  friend ROBOMORPH_INLINE Lanes mul_sub(Lanes a, Lanes b, Lanes c) noexcept { return mul_add(a, b, -c); }
  friend ROBOMORPH_INLINE Lanes neg_mul_add(Lanes a, Lanes b, Lanes c) noexcept { return mul_add(-a, b, c); }

  friend ROBOMORPH_INLINE Lanes square_root(Lanes a) noexcept {
    Lanes result;
    for (std::size_t i = 0; i < W; ++i) result.v[i] = robomorph::square_root(T(a.v[i]));
    return result;
  }
  friend ROBOMORPH_INLINE Lanes minimum(Lanes a, Lanes b) noexcept {
    return Lanes(((a.v <= b.v) | (a.v != a.v)) ? a.v : b.v);
  }
  friend ROBOMORPH_INLINE Lanes maximum(Lanes a, Lanes b) noexcept {
    return Lanes(((a.v >= b.v) | (a.v != a.v)) ? a.v : b.v);
  }
  friend ROBOMORPH_INLINE Lanes select(Lanes x, Lanes a, Lanes b) noexcept {
    return Lanes(x.v >= Vector{} ? a.v : b.v);
  }

  /// Sine and cosine in every lane, the same bits as of a scalar.
  friend inline void sincos(Lanes x, Lanes& s, Lanes& c) noexcept {
    Lanes sine, cosine, shifted;
    detail::sincos_reduced(x, sine, cosine, shifted);
    const Bits k = (Bits)shifted.v;
    const Bits odd = Bits{} - (k & 1u);  // all ones where k is odd
    const Bits a = (Bits)sine.v, b = (Bits)cosine.v;
    const int shift = detail::Format<T>::sign_shift;
    s.v = (Vector)((a ^ ((a ^ b) & odd)) ^ ((k & 2u) << shift));
    c.v = (Vector)((b ^ ((a ^ b) & odd)) ^ (((k + 1u) & 2u) << shift));
    bool far = false;
    for (std::size_t i = 0; i < W; ++i) far |= !(std::fabs(T(x.v[i])) <= detail::Format<T>::largest);
    if (far) sincos_far_lanes(x, s, c);
  }

 private:
  static ROBOMORPH_NOINLINE void sincos_far_lanes(const Lanes& x, Lanes& s, Lanes& c) noexcept {
    for (std::size_t i = 0; i < W; ++i) {
      if (std::fabs(T(x.v[i])) <= detail::Format<T>::largest) continue;
      T sine, cosine;
      detail::sincos_far(T(x.v[i]), sine, cosine);
      s.v[i] = sine;
      c.v[i] = cosine;
    }
  }
};

}  // namespace v1
}  // namespace robomorph

#endif
