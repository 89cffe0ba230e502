// Lanes as an array and plain loops, for compilers without vector extensions. Included by lanes.hpp.
#ifndef ROBOMORPH_LANES_PORTABLE_HPP
#define ROBOMORPH_LANES_PORTABLE_HPP

namespace robomorph {
inline namespace v1 {

template <class T, std::size_t W> struct Lanes {
  static_assert(W > 0, "robomorph: the number of lanes must be positive");

  T v[W];

  Lanes() = default;
  /// The same number in every lane.
  ROBOMORPH_INLINE Lanes(T x) noexcept {
    for (T& lane : v) lane = x;
  }

  ROBOMORPH_INLINE T operator[](std::size_t lane) const noexcept { return v[lane]; }
  ROBOMORPH_INLINE void set(std::size_t lane, T x) noexcept { v[lane] = x; }

  friend ROBOMORPH_INLINE Lanes operator+(const Lanes& a, const Lanes& b) noexcept {
    return each([&](std::size_t i) { return a.v[i] + b.v[i]; });
  }
  friend ROBOMORPH_INLINE Lanes operator-(const Lanes& a, const Lanes& b) noexcept {
    return each([&](std::size_t i) { return a.v[i] - b.v[i]; });
  }
  friend ROBOMORPH_INLINE Lanes operator*(const Lanes& a, const Lanes& b) noexcept {
    return each([&](std::size_t i) { return a.v[i] * b.v[i]; });
  }
  friend ROBOMORPH_INLINE Lanes operator/(const Lanes& a, const Lanes& b) noexcept {
    return each([&](std::size_t i) { return a.v[i] / b.v[i]; });
  }
  friend ROBOMORPH_INLINE Lanes operator-(const Lanes& a) noexcept {
    return each([&](std::size_t i) { return -a.v[i]; });
  }
  friend ROBOMORPH_INLINE Lanes mul_add(const Lanes& a, const Lanes& b, const Lanes& c) noexcept {
    return each([&](std::size_t i) { return robomorph::mul_add(a.v[i], b.v[i], c.v[i]); });
  }
  friend ROBOMORPH_INLINE Lanes mul_sub(const Lanes& a, const Lanes& b, const Lanes& c) noexcept {
    return mul_add(a, b, -c);
  }
  friend ROBOMORPH_INLINE Lanes neg_mul_add(const Lanes& a, const Lanes& b, const Lanes& c) noexcept {
    return mul_add(-a, b, c);
  }

  friend ROBOMORPH_INLINE Lanes square_root(const Lanes& a) noexcept {
    return each([&](std::size_t i) { return robomorph::square_root(a.v[i]); });
  }
  friend ROBOMORPH_INLINE Lanes minimum(const Lanes& a, const Lanes& b) noexcept {
    return each([&](std::size_t i) { return robomorph::minimum(a.v[i], b.v[i]); });
  }
  friend ROBOMORPH_INLINE Lanes maximum(const Lanes& a, const Lanes& b) noexcept {
    return each([&](std::size_t i) { return robomorph::maximum(a.v[i], b.v[i]); });
  }
  friend ROBOMORPH_INLINE Lanes select(const Lanes& x, const Lanes& a, const Lanes& b) noexcept {
    return each([&](std::size_t i) { return robomorph::select(x.v[i], a.v[i], b.v[i]); });
  }

  /// Sine and cosine in every lane, the same bits as of a scalar.
  friend inline void sincos(const Lanes& x, Lanes& s, Lanes& c) noexcept {
    for (std::size_t i = 0; i < W; ++i) robomorph::sincos(x.v[i], s.v[i], c.v[i]);
  }

 private:
  template <class F> static ROBOMORPH_INLINE Lanes each(F f) noexcept {
    Lanes result;
    for (std::size_t i = 0; i < W; ++i) result.v[i] = f(i);
    return result;
  }
};

}  // namespace v1
}  // namespace robomorph

#endif
