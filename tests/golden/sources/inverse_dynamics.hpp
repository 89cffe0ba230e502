// Joint forces for given accelerations (recursive Newton-Euler).
//
// Made by robomorph 0.2.0 for the robot "chain_2". Export again instead of editing.
// 40 arithmetic operations per state (a fused multiply-add counts two). No allocation, no exceptions,
// no branches but for angles beyond the range of the fast sine and cosine, no state.
//
// The work is cut into blocks that compilers digest. Comments in them name the step of the algorithm, and the link,
// that most of the lines below belong to: steps are interleaved so that values live briefly.
#ifndef CHAIN_2_INVERSE_DYNAMICS_HPP
#define CHAIN_2_INVERSE_DYNAMICS_HPP

#include "support/lanes.hpp"

namespace chain_2 {

/// Arguments of inverse_dynamics. S is float, double, or robomorph::Lanes of either: one state per lane.
template <class S> struct InverseDynamicsInputs {
  S q[2];  ///< coordinates, rad or m
  S qd[2];  ///< velocities, rad/s or m/s
  S qdd[2];  ///< accelerations, rad/s^2 or m/s^2
};

/// Results of inverse_dynamics.
template <class S> struct InverseDynamicsOutputs {
  S tau[2];  ///< joint forces, N m or N
};

namespace inverse_dynamics_blocks {

using robomorph::maximum;
using robomorph::minimum;
using robomorph::mul_add;
using robomorph::mul_sub;
using robomorph::neg_mul_add;
using robomorph::select;
using robomorph::sincos;
using robomorph::square_root;

// Block 0: 2 operations.
// Sines and cosines of the joint angles, kept in `work`.
// Reads q[1].
template <class S, class T = robomorph::scalar_of<S>>
ROBOMORPH_BLOCK inline void block0(
    const S *ROBOMORPH_RESTRICT q,
    S *ROBOMORPH_RESTRICT work) noexcept {
  // joint transforms
  S sin_q1, cos_q1;
  sincos(q[1], sin_q1, cos_q1);
  work[0] = cos_q1;
  work[1] = sin_q1;
}

// Block 1: 38 operations.
// Reads qd, qdd.
// Completes tau.
template <class S, class T = robomorph::scalar_of<S>>
ROBOMORPH_BLOCK inline void block1(
    const S *ROBOMORPH_RESTRICT qd,
    const S *ROBOMORPH_RESTRICT qdd,
    S *ROBOMORPH_RESTRICT tau,
    S *ROBOMORPH_RESTRICT work) noexcept {
  // velocities: link_2
  const S v8 = qd[0] * T(0.5);
  const S cos_q1 = work[0];
  const S v9 = qd[0] * cos_q1;
  const S sin_q1 = work[1];
  const S v10 = qd[0] * sin_q1;

  // momenta: link_2
  const S v13 = v9 * T(0.04158854166666667);
  const S v15 = qd[1] * T(0.04174479166666667);
  const S v17 = mul_add(v8, T(0.125), v13);
  const S v18 = qd[1] * T(0.125);
  const S v19 = qd[1] * v17;
  const S v20 = neg_mul_add(v9, v15, v19);
  const S v21 = neg_mul_add(v8, v18, v20);

  // accelerations: link_2
  const S v22 = qdd[0] * T(0.5);
  const S v23 = qdd[0] * cos_q1;
  const S v25 = cos_q1 * T(9.81);
  const S v26 = neg_mul_add(qd[1], v10, v23);

  // forces: link_2
  const S v27 = T(0.04158854166666667) * v26;
  const S v28 = qdd[1] * T(0.04174479166666667);
  const S v29 = mul_add(T(0.125), v22, v27);
  const S v30 = neg_mul_add(T(0.125), v25, v28);
  const S v31 = T(0.125) * v26;
  const S v32 = neg_mul_add(v10, v15, v29);
  const S v33 = mul_add(v10, v17, v30);
  tau[1] = v33;

  const S v34 = neg_mul_add(v10, v18, v31);

  // torques: link_2
  const S v35 = cos_q1 * v32;
  const S v36 = neg_mul_add(sin_q1, v21, v35);
  const S v37 = mul_add(T(0.5), v34, v36);
  const S v38 = mul_add(qdd[0], T(0.16690104166666667), v37);
  tau[0] = v38;
}

}  // namespace inverse_dynamics_blocks

/// Joint forces for given accelerations (recursive Newton-Euler).
/// Arrays as in the structures above; results must not overlap arguments or each other.
template <class S>
inline void inverse_dynamics(
    const S *ROBOMORPH_RESTRICT q,
    const S *ROBOMORPH_RESTRICT qd,
    const S *ROBOMORPH_RESTRICT qdd,
    S *ROBOMORPH_RESTRICT tau) noexcept {
  S work[2];
  inverse_dynamics_blocks::block0(q, work);
  inverse_dynamics_blocks::block1(qd, qdd, tau, work);
}

/// The same with arguments and results in structures.
template <class S>
inline void inverse_dynamics(
    const InverseDynamicsInputs<S>& in,
    InverseDynamicsOutputs<S>& out) noexcept {
  inverse_dynamics(in.q, in.qd, in.qdd, out.tau);
}

/// The same for `count` states in row-major arrays (count, ...), W at a time. A state gives the same bits
/// at every place in a batch, and as alone.
template <class T, std::size_t W = robomorph::native_lanes<T>>
inline void inverse_dynamics_batch(
    std::size_t count,
    const T* ROBOMORPH_RESTRICT q,
    const T* ROBOMORPH_RESTRICT qd,
    const T* ROBOMORPH_RESTRICT qdd,
    T* ROBOMORPH_RESTRICT tau) noexcept {
  InverseDynamicsInputs<robomorph::Lanes<T, W>> in;
  InverseDynamicsOutputs<robomorph::Lanes<T, W>> out;
  for (std::size_t row = 0; row < count; row += W) {
    const std::size_t rows = count - row < W ? count - row : W;
    robomorph::load_rows(q + row * 2, 2, rows, &in.q[0]);
    robomorph::load_rows(qd + row * 2, 2, rows, &in.qd[0]);
    robomorph::load_rows(qdd + row * 2, 2, rows, &in.qdd[0]);
    inverse_dynamics(in, out);
    robomorph::store_rows(&out.tau[0], 2, rows, tau + row * 2);
  }
}

}  // namespace chain_2

#endif
