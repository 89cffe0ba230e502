// The condensed matrix: pieces and strips compute their parts, then every block column is summed in a fixed order.
#include <algorithm>
#include <cmath>

#include "planning/motion_problem.h"

namespace robomorph::planning {

void MotionProblem::condensed(double cost_scale, const double* multipliers, const double* weights, bool exact,
                              Banded& out) {
  if (exact && kernels_.device != nullptr) second_derivatives_on_device(cost_scale * data_.cost.energy, multipliers);
  on_all(kCondensing,
         [&](PieceWork& work, std::size_t) {
           work.condense(cost_scale * data_.cost.energy, multipliers, weights, exact);
         },
         [&](int strip) { splines_.condense(strip, control_.data(), sigma_, multipliers, weights, exact); });
  const auto fill = [&](std::size_t, std::size_t column) { fill_column(static_cast<int>(column), cost_scale, out); };
  for_each_item(static_cast<std::size_t>(blocks), threads_for(kCondensing), fill);
  if (border != 0) fill_border(cost_scale, weights, out);
}

// All pieces hand over their multipliers, then the device is asked once. Where it fails, what its tables happen to hold
// is used: the next values are refused, and so is the answer.
void MotionProblem::second_derivatives_on_device(double energy, const double* multipliers) {
  on_all(kProducts, [&](PieceWork& work, std::size_t) { work.hand_multipliers(energy, multipliers); }, [](int) {});
  on_device(NodeJob::kHessians, control_, sigma_);
}

void MotionProblem::fill_column(int column, double cost_scale, Banded& out) const {
  const int nv = layout_.nv;
  double* const first = out.data.data() + static_cast<std::size_t>(column) * nv * out.stride;
  std::fill_n(first, static_cast<std::size_t>(nv) * out.stride, 0.0);
  const BlockColumn& terms = layout_.columns[column];
  for (const BlockTerm& term : terms.pieces) add_square(term, first, out.stride);
  for (const BlockTerm& term : terms.strips) add_strip(term, first, out.stride);
  const double scale = cost_scale * jerk_.weight() * std::pow(sigma_, -5);
  for (const JerkTerm& term : terms.jerk) {
    for (int j = 0; j < nv; ++j) {
      first[static_cast<std::size_t>(j) * out.stride + term.down * nv] +=
          scale * term.factor * data_.cost.joint_weight[j];
    }
  }
}

// Entry (i, j) of a square `down` blocks below the diagonal lies at column[j * stride + down * nv + i - j].
void MotionProblem::add_square(const BlockTerm& term, double* column, int stride) const {
  const int nv = layout_.nv;
  const PieceState& s = states_[term.source];
  const double* from = s.matrix.data() + static_cast<std::size_t>(term.column) * nv * s.stride + term.row * nv;
  for (int j = 0; j < nv; ++j) {
    double* to = column + static_cast<std::size_t>(j) * stride + term.down * nv - j;
    const double* along = from + static_cast<std::size_t>(j) * s.stride;
    const double* across = from + j;
    switch (term.kind) {
      case BlockTerm::kPlain:
        dense_.add(along, nv, to);
        break;
      case BlockTerm::kTransposed:
        for (int i = 0; i < nv; ++i) to[i] += across[static_cast<std::size_t>(i) * s.stride];
        break;
      case BlockTerm::kDiagonal:
        dense_.add(along + j, nv - j, to + j);
        break;
      case BlockTerm::kFolded:
        for (int i = j; i < nv; ++i) to[i] += along[i] + across[static_cast<std::size_t>(i) * s.stride];
        break;
    }
  }
}

void MotionProblem::add_strip(const BlockTerm& term, double* column, int stride) const {
  const SplineStrip& strip = layout_.strips[term.source];
  const int pair = term.row * (term.row + 1) / 2 + term.column;
  const double factor = term.kind == BlockTerm::kFolded ? 2.0 : 1.0;
  for (int slot = strip.first; slot < strip.end; ++slot) {
    const int j = layout_.slots[slot].joint;
    column[static_cast<std::size_t>(j) * stride + term.down * layout_.nv] += factor * splines_.squares(slot)[pair];
  }
}

void MotionProblem::fill_border(double cost_scale, const double* weights, Banded& out) const {
  const int nv = layout_.nv;
  std::fill(out.arrow.begin(), out.arrow.end(), 0.0);
  out.corner = weights[layout_.duration_row];
  for (std::size_t e = 0; e < states_.size(); ++e) {
    const PieceState& s = states_[e];
    if (layout_.pieces[e].groups.empty()) continue;
    const double* row = s.matrix.data() + s.columns - 1;
    for (int block : layout_.pieces[e].blocks) {
      for (int j = 0; j < nv; ++j, row += s.stride) out.arrow[block * nv + j] += *row;
    }
    out.corner += *row;
  }
  for (const SplineStrip& strip : layout_.strips) {
    for (int slot = strip.first; slot < strip.end; ++slot) {
      for (int w = 0; w < layout_.width; ++w) {
        const int at = data_.block_of[strip.point + w];
        if (at >= 0) out.arrow[at * nv + layout_.slots[slot].joint] += splines_.border(slot)[w];
      }
      out.corner += splines_.border(slot)[layout_.width];
    }
  }
  if (!jerk_.present()) return;
  const double scale = cost_scale * std::pow(sigma_, -6);
  for (int c = 0; c < layout_.points; ++c) {
    const int at = data_.block_of[c];
    for (int j = 0; at >= 0 && j < nv; ++j) out.arrow[at * nv + j] -= 5.0 * scale * slopes_[c * nv + j];
  }
  out.corner += 30.0 * scale / sigma_ * jerk_cost_;
}

}  // namespace robomorph::planning
