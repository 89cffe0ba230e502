// Steps on the manifold of configurations, one structure per kind of joint: coordinates q, tangent steps dq.
//
// A step is a velocity kept for one second: in the axes of the joint's child, linear before angular, and with its
// turn taken along, so that integrate(q0, difference(q0, q1)) is q1. Nothing here allocates, throws, locks or keeps
// state. Results must not overlap arguments.
#ifndef ROBOMORPH_MANIFOLD_HPP
#define ROBOMORPH_MANIFOLD_HPP

#include <cmath>

namespace robomorph {
inline namespace v1 {

/// One angle or distance.
struct Line {
  template <class T> static void integrate(const T* q, const T* dq, T* result) noexcept { *result = *q + *dq; }
  template <class T> static void difference(const T* q0, const T* q1, T* dq) noexcept { *dq = *q1 - *q0; }
};

namespace detail {

/// sin(a) / a.
template <class T> T sinc(T a) noexcept {
  return std::fabs(a) < T(1e-4) ? T(1) - a * a / T(6) : std::sin(a) / a;
}

/// (1 - cos a) / a, without loss near zero.
template <class T> T versine_over(T a) noexcept { return std::sin(a / T(2)) * sinc(a / T(2)); }

/// (a - sin a) / a^3, by its series near zero.
template <class T> T bend(T a) noexcept {
  const T z = a * a;
  if (z < T(0.25)) {
    return T(1) / T(6) -
           z * (T(1) / T(120) -
                z * (T(1) / T(5040) - z * (T(1) / T(362880) - z * (T(1) / T(39916800) - z / T(6227020800)))));
  }
  return (a - std::sin(a)) / (a * z);
}

/// (1 - (a/2) cot(a/2)) / a^2, by its series near zero.
template <class T> T inverse_bend(T a) noexcept {
  const T z = a * a;
  if (z < T(0.25)) {
    return T(1) / T(12) +
           z * (T(1) / T(720) +
                z * (T(1) / T(30240) + z * (T(1) / T(1209600) + z * (T(1) / T(47900160) + z * T(5.284190138687493e-10)))));
  }
  return (T(1) - T(0.5) * a * std::cos(a / T(2)) / std::sin(a / T(2))) / z;
}

template <class T> void cross(const T* a, const T* b, T* result) noexcept {
  result[0] = a[1] * b[2] - a[2] * b[1];
  result[1] = a[2] * b[0] - a[0] * b[2];
  result[2] = a[0] * b[1] - a[1] * b[0];
}

template <class T> T length(const T* a) noexcept { return std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

/// v turned by the quaternion (x, y, z, w).
template <class T> void rotate(const T* quaternion, const T* v, T* result) noexcept {
  T t[3], u[3];
  cross(quaternion, v, t);
  for (int k = 0; k < 3; ++k) t[k] *= T(2);
  cross(quaternion, t, u);
  for (int k = 0; k < 3; ++k) result[k] = v[k] + quaternion[3] * t[k] + u[k];
}

template <class T> void multiply(const T* a, const T* b, T* result) noexcept {
  cross(a, b, result);
  for (int k = 0; k < 3; ++k) result[k] += a[3] * b[k] + b[3] * a[k];
  result[3] = a[3] * b[3] - (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
}

}  // namespace detail

/// A turn in space: q = [qx qy qz qw] of length one, dq in the child's axes.
struct Ball {
  template <class T> static void integrate(const T* q, const T* dq, T* result) noexcept {
    const T angle = detail::length(dq), half = detail::sinc(angle / T(2)) / T(2);
    const T step[4] = {half * dq[0], half * dq[1], half * dq[2], std::cos(angle / T(2))};
    detail::multiply(q, step, result);
    T norm = T(0);
    for (int k = 0; k < 4; ++k) norm += result[k] * result[k];
    norm = std::sqrt(norm);
    for (int k = 0; k < 4; ++k) result[k] /= norm;
  }

  /// The shorter way round.
  template <class T> static void difference(const T* q0, const T* q1, T* dq) noexcept {
    const T inverse[4] = {-q0[0], -q0[1], -q0[2], q0[3]};
    T turn[4];
    detail::multiply(inverse, q1, turn);
    const T sign = turn[3] < T(0) ? T(-1) : T(1), sine = detail::length(turn), cosine = sign * turn[3];
    // The angle over the sine of its half; sine / cosine is the tangent of the half where that is small.
    const T scale = sine < T(1e-6) * cosine ? T(2) / cosine : T(2) * std::atan2(sine, cosine) / sine;
    for (int k = 0; k < 3; ++k) dq[k] = sign * scale * turn[k];
  }
};

/// Free motion: q = [x y z qx qy qz qw], dq = [linear, angular] in the child's axes.
struct Free {
  template <class T> static void integrate(const T* q, const T* dq, T* result) noexcept {
    const T *v = dq, *w = dq + 3;
    const T angle = detail::length(w), half = detail::sinc(angle / T(2));
    T wv[3], wwv[3], travel[3], way[3];
    detail::cross(w, v, wv);
    detail::cross(w, wv, wwv);
    for (int k = 0; k < 3; ++k) travel[k] = v[k] + half * half / T(2) * wv[k] + detail::bend(angle) * wwv[k];
    detail::rotate(q + 3, travel, way);
    for (int k = 0; k < 3; ++k) result[k] = q[k] + way[k];
    Ball::integrate(q + 3, w, result + 3);
  }

  template <class T> static void difference(const T* q0, const T* q1, T* dq) noexcept {
    T* w = dq + 3;
    Ball::difference(q0 + 3, q1 + 3, w);
    const T inverse[4] = {-q0[3], -q0[4], -q0[5], q0[6]};
    const T way[3] = {q1[0] - q0[0], q1[1] - q0[1], q1[2] - q0[2]};
    T p[3], wp[3], wwp[3];
    detail::rotate(inverse, way, p);
    detail::cross(w, p, wp);
    detail::cross(w, wp, wwp);
    const T bend = detail::inverse_bend(detail::length(w));
    for (int k = 0; k < 3; ++k) dq[k] = p[k] - wp[k] / T(2) + bend * wwp[k];
  }
};

/// Motion in the plane normal to z: q = [x y cos sin], dq = [vx vy wz] in the child's axes.
struct Plane {
  template <class T> static void integrate(const T* q, const T* dq, T* result) noexcept {
    const T c = q[2], s = q[3], a = dq[2];
    const T along = detail::sinc(a), across = detail::versine_over(a);
    const T dx = along * dq[0] - across * dq[1], dy = across * dq[0] + along * dq[1];
    const T ca = std::cos(a), sa = std::sin(a);
    const T cosine = c * ca - s * sa, sine = s * ca + c * sa, norm = std::sqrt(cosine * cosine + sine * sine);
    result[0] = q[0] + c * dx - s * dy;
    result[1] = q[1] + s * dx + c * dy;
    result[2] = cosine / norm;
    result[3] = sine / norm;
  }

  template <class T> static void difference(const T* q0, const T* q1, T* dq) noexcept {
    const T c = q0[2], s = q0[3], dx = q1[0] - q0[0], dy = q1[1] - q0[1];
    const T a = std::atan2(c * q1[3] - s * q1[2], c * q1[2] + s * q1[3]);
    const T px = c * dx + s * dy, py = c * dy - s * dx;
    const T along = detail::sinc(a), across = detail::versine_over(a), det = along * along + across * across;
    dq[0] = (along * px + across * py) / det;
    dq[1] = (along * py - across * px) / det;
    dq[2] = a;
  }
};

}  // namespace v1
}  // namespace robomorph

#endif
