// A piece's part of the condensed matrix: second derivatives of its functions, at w.multipliers.
#include <algorithm>

#include "planning/piece_work.h"

namespace robomorph::planning {
namespace {

// The kernel's results.
enum { kQQ, kQV, kVV, kQA };

}  // namespace

// Every square P_ab (points a, b) gathers sum over nodes of the joints' second derivatives times products of basis
// functions, the symmetric ones halved; the matrix is P_ab + P_ba'.
void PieceWork::add_hessians() {
  const int pairs = whole_lanes(piece_.width() * piece_.width());
  bool some = false;
  for (int b = 0; b < l_.lane_blocks; ++b) {
    const int count = call_hessians(b);
    if (count > 0) expand(b, count, pairs, some);
    some = some || count > 0;
    if (l_.border != 0) add_border(b, count == 4);
  }
  if (some) fold(pairs);
  if (l_.border != 0) s_.matrix.data()[(s_.columns - 1) * (s_.stride + 1)] += w_.corner;
}

// To w.hessians; returns how many of the four matrices there are. A kernel that is missing counts as zero.
int PieceWork::call_hessians(int b) {
  const int square = l_.nv * l_.nv * kLanes;
  double* out = w_.hessians.data();
  for (int f = 0; f < l_.functions(); ++f) {
    std::copy_n(w_.multipliers.data() + f * l_.padded + b * kLanes, kLanes, w_.arguments.data() + f * kLanes);
  }
  const bool torques = piece_.torques && k_.has_torque_hessian();
  if (torques) call_torque_hessian(b, out);
  if (!piece_.channels || !k_.has_channel_hessian()) return torques ? 4 : 0;
  call_channel_hessian(b, torques ? w_.channel_hessian.data() : out);
  if (!torques) return 1;
  for (int i = 0; i < square; ++i) out[i] += w_.channel_hessian.data()[i];
  return 4;
}

// Of w.arguments, to (4, nv, nv, lanes).
void PieceWork::call_torque_hessian(int b, double* out) {
  const int size = l_.nv * kLanes, square = l_.nv * size;
  if (k_.device != nullptr) {
    for (int m = kQQ; m <= kQA; ++m) fetch(static_cast<NodeTable>(kNodeQQ + m), l_.nv * l_.nv, b, out + m * square);
    return;
  }
  const double* state = s_.state.data() + b * 3 * size;
  const void* in[] = {state, state + size, state + 2 * size, w_.arguments.data() + l_.channels * kLanes};
  void* results[] = {out + kQQ * square, out + kQV * square, out + kVV * square, out + kQA * square};
  k_.torque_hessian.fn(in, results, w_.workspace.data());
}

void PieceWork::call_channel_hessian(int b, double* out) {
  if (k_.device != nullptr) return fetch(kNodeChannelHessian, l_.nv * l_.nv, b, out);
  const void* in[] = {s_.state.data() + b * 3 * l_.nv * kLanes, l_.references.data(), w_.arguments.data()};
  void* results[] = {out};
  k_.channel_hessian.fn(in, results, w_.workspace.data());
}

void PieceWork::expand(int b, int count, int pairs, bool more) {
  const int points = piece_.width(), square = l_.nv * l_.nv * kLanes;
  const double* basis = s_.basis.data() + b * 3 * points * kLanes;
  const double* of[] = {basis, basis + points * kLanes, basis + 2 * points * kLanes};
  static constexpr int kRow[] = {0, 0, 1, 0}, kColumn[] = {0, 1, 1, 2};
  for (int m = 0; m < count; ++m) {
    const double half = kRow[m] == kColumn[m] ? 0.5 : 1.0;
    for (int l = 0; l < kLanes; ++l) {
      double* out = w_.coefficients.data() + (m * kLanes + l) * pairs;
      for (int i = 0; i < points; ++i) {
        for (int j = 0; j < points; ++j) {
          *out++ = half * of[kRow[m]][i * kLanes + l] * of[kColumn[m]][j * kLanes + l];
        }
      }
    }
  }
  const double* matrices[4];
  for (int m = 0; m < 4; ++m) matrices[m] = w_.hessians.data() + m * square;
  d_.expand(matrices, count, w_.coefficients.data(), piece_.bent.data(), static_cast<int>(piece_.bent.size()), pairs,
            more, w_.squares.data());
}

void PieceWork::fold(int pairs) {
  const int points = piece_.width(), nv = l_.nv;
  for (const Fold& f : piece_.folds) {
    const double* here = w_.squares.data() + f.here * pairs;
    const double* there = w_.squares.data() + f.there * pairs;
    for (int c = 0; c < points; ++c) {
      double* column = s_.matrix.data() + (c * nv + f.column) * s_.stride + f.row;
      for (int r = c; r < points; ++r) column[r * nv] += here[r * points + c] + there[c * points + r];
    }
  }
}

// Mixed and second derivatives by sigma, where qd = V / sigma and qdd = A / sigma^2.
void PieceWork::add_border(int b, bool torques) {
  const int size = l_.nv * kLanes, square = l_.nv * size, last = s_.columns - 1;
  const double inverse = 1.0 / s_.sigma;
  double* mixed = w_.rated_adjoint.data();
  adjoint_at_nodes(w_.rated.data(), b, mixed);
  if (piece_.torques) {
    adjoint_at_nodes(w_.multipliers.data(), b, w_.adjoint.data());
    const double *v = s_.state.data() + (b * 3 + 1) * size, *a = v + size;
    const double *by_v = w_.adjoint.data() + size, *by_a = by_v + size;
    double* bent = w_.adjoint.data();  // its first part, by q, is not needed
    std::fill_n(bent, size, 0.0);
    if (torques) {
      d_.multiply(w_.hessians.data() + kQV * square, v, l_.nv, -inverse, mixed);
      d_.multiply(w_.hessians.data() + kQA * square, a, l_.nv, -2.0 * inverse, mixed);
      d_.multiply(w_.hessians.data() + kVV * square, v, l_.nv, -inverse, bent);
    }
    for (int i = 0; i < size; ++i) {
      mixed[size + i] += bent[i] - inverse * by_v[i];
      mixed[2 * size + i] -= 2.0 * inverse * by_a[i];
      w_.corner += inverse * (inverse * (2.0 * v[i] * by_v[i] + 6.0 * a[i] * by_a[i]) - v[i] * bent[i]);
    }
    w_.corner += 2.0 * sigma_slope(b, w_.rated.data());
  }
  w_.border.clear();
  spread(b, mixed, w_.border.data());
  for (int i = 0; i < last; ++i) s_.matrix.data()[i * s_.stride + last] += w_.border.data()[i];
}

}  // namespace robomorph::planning
