#include "planning/motion_problem.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/finite_scan.h"

namespace robomorph::planning {

MotionProblem::MotionProblem(MotionData data, const MotionKernels& kernels, std::size_t threads, double worth_threads)
    : data_(std::move(data)), kernels_(kernels),
      threads_(std::clamp<std::size_t>(threads, 1, std::max(data_.pieces.count, 1))),  // each costs a megabyte
      worth_threads_(worth_threads), layout_(data_),
      jerk_(data_), splines_(layout_), control_(data_.control), direction_(data_.control.size(), 0.0),
      trial_(data_.control), energies_(layout_.pieces.size(), 0.0), lower_(layout_.row_count),
      upper_(layout_.row_count), margins_(layout_.row_count, 0.0), entry_margins_(layout_.entries.size(), 0.0),
      slopes_(control_.size(), 0.0), trial_slopes_(control_.size(), 0.0) {
  variables = layout_.variables;
  rows = layout_.row_count;
  block = layout_.nv;
  blocks = layout_.blocks;
  reach = layout_.reach;
  border = layout_.border;
  for (const Piece& piece : layout_.pieces) {
    states_.emplace_back(layout_, piece);
    const PieceState& s = states_.back();
    gradient_entries_ += static_cast<double>(s.gradients.size() + 3 * s.by[0].size());
  }
  for (std::size_t i = 0; i < threads_; ++i) scratch_.push_back(std::make_unique<Scratch>(layout_, kernels_));
  for (const Entry& e : layout_.entries) draw_in(e.row, e.rows, e.lower, e.upper, 0.0);
  for (const SplineEntry& e : layout_.spline_entries) draw_in(e.row, e.rows, e.lower, e.upper, 0.0);
  if (border != 0) draw_in(layout_.duration_row, 1, data_.shortest, data_.longest, 0.0);
}

PieceWork MotionProblem::piece(std::size_t index, std::size_t part) {
  return PieceWork(layout_, data_, kernels_, static_cast<int>(index), states_[index], *scratch_[part]);
}

// From variables to control points; false if the duration is not positive.
bool MotionProblem::place(const double* x, std::vector<double>& control, double& sigma) const {
  const int nv = layout_.nv;
  for (int c = 0; c < layout_.points; ++c) {
    const int at = data_.block_of[c];
    if (at >= 0) std::copy_n(x + at * nv, nv, control.data() + c * nv);
  }
  sigma = border != 0 ? x[variables - 1] : 1.0;
  return std::isfinite(sigma) && sigma > 0.0;
}

void MotionProblem::initial(double* x) const {
  for (int c = 0; c < layout_.points; ++c) {
    const int at = data_.block_of[c];
    if (at >= 0) std::copy_n(data_.control.data() + c * layout_.nv, layout_.nv, x + at * layout_.nv);
  }
  if (border != 0) x[variables - 1] = std::clamp(1.0, data_.shortest, data_.longest);
}

double MotionProblem::cost_of(double jerk, double energy, double sigma) const {
  return jerk / std::pow(sigma, 5) + data_.cost.energy * sigma * energy + data_.cost.time * data_.seconds * sigma;
}

bool MotionProblem::values(const double* x, double* cost, double* out) {
  double sigma = 1.0;
  if (!place(x, trial_, sigma) || !on_device(NodeJob::kValues, trial_, sigma)) return false;
  on_all(kValues, [&](PieceWork& work, std::size_t e) { energies_[e] = work.values(trial_.data(), sigma, out); },
         [&](int strip) { splines_.values(strip, trial_.data(), sigma, out); });
  if (border != 0) out[layout_.duration_row] = sigma;
  double energy = 0.0;
  for (double part : energies_) energy += part;
  *cost = cost_of(jerk_.evaluate(trial_, trial_slopes_), energy, sigma);
  return std::isfinite(*cost) && all_finite_doubles(out, static_cast<std::size_t>(rows));
}

bool MotionProblem::linearise(const double* x, double* cost_gradient) {
  if (!place(x, control_, sigma_) || !on_device(NodeJob::kDerivatives, control_, sigma_)) return false;
  on_all(kDerivatives, [&](PieceWork& work, std::size_t e) { energies_[e] = work.linearise(control_.data(), sigma_); },
         [](int) {});
  std::fill_n(cost_gradient, variables, 0.0);
  if (layout_.energy) add_piece_gradients(cost_gradient);
  jerk_cost_ = jerk_.evaluate(control_, slopes_);
  const double scale = std::pow(sigma_, -5);
  for (int c = 0; jerk_.present() && c < layout_.points; ++c) {
    const int at = data_.block_of[c];
    for (int j = 0; at >= 0 && j < layout_.nv; ++j) {
      cost_gradient[at * layout_.nv + j] += scale * slopes_[c * layout_.nv + j];
    }
  }
  if (border != 0) cost_gradient[variables - 1] += data_.cost.time * data_.seconds - 5.0 * jerk_cost_ * scale / sigma_;
  return all_finite_doubles(cost_gradient, static_cast<std::size_t>(variables)) &&
         all_finite_doubles(energies_.data(), energies_.size());
}

// In the order of the pieces, whatever thread computed them.
void MotionProblem::add_piece_gradients(double* out) const {
  for (std::size_t e = 0; e < states_.size(); ++e) {
    const Piece& piece = layout_.pieces[e];
    if (piece.groups.empty()) continue;
    const double* from = states_[e].gradient.data();
    for (int block : piece.blocks) {
      for (int j = 0; j < layout_.nv; ++j) out[block * layout_.nv + j] += *from++;
    }
    if (border != 0) out[variables - 1] += *from;
  }
}

void MotionProblem::jacobian_times(const double* direction, double* out) {
  double sigma_direction = 0.0;
  place(direction, direction_, sigma_direction);
  if (border == 0) sigma_direction = 0.0;
  on_all(kProducts, [&](PieceWork& work, std::size_t) { work.times(direction_.data(), sigma_direction, out); },
         [&](int strip) {
           splines_.times(strip, control_.data(), sigma_, direction_.data(), sigma_direction, out);
         });
  if (border != 0) out[layout_.duration_row] = sigma_direction;
}

void MotionProblem::jacobian_transposed_times(const double* multipliers, double* out) {
  on_all(kProducts, [&](PieceWork& work, std::size_t) { work.transposed_times(multipliers); },
         [&](int strip) { splines_.transposed_times(strip, control_.data(), sigma_, multipliers); });
  std::fill_n(out, variables, 0.0);
  add_piece_gradients(out);
  for (const SplineStrip& strip : layout_.strips) {
    for (int slot = strip.first; slot < strip.end; ++slot) {
      const double* from = splines_.gradient(slot);
      for (int w = 0; w < layout_.width; ++w) {
        const int at = data_.block_of[strip.point + w];
        if (at >= 0) out[at * layout_.nv + layout_.slots[slot].joint] += from[w];
      }
      if (border != 0) out[variables - 1] += from[layout_.width];
    }
  }
  if (border != 0) out[variables - 1] += multipliers[layout_.duration_row];
}

// Bounds, drawn in by a margin but never past each other: three quarters of a band stay.
void MotionProblem::draw_in(int row, int count, double low, double high, double margin) {
  const double most = std::isfinite(low) && std::isfinite(high) ? (high - low) / 8.0 : margin;
  const double drawn = std::min(margin, most);
  std::fill_n(lower_.begin() + row, count, low + drawn);
  std::fill_n(upper_.begin() + row, count, high - drawn);
  std::fill_n(margins_.begin() + row, count, margin);
}

bool MotionProblem::refresh_margins(const double* x) {
  double sigma = 1.0;
  if (!place(x, trial_, sigma) || !on_device(NodeJob::kMargins, trial_, sigma)) return false;
  const auto work = [&](std::size_t part, std::size_t item) {
    if (layout_.pieces[item].estimated) piece(item, part).margins(trial_.data(), sigma, entry_margins_.data());
  };
  for_each_item(layout_.pieces.size(), threads_for(2.0 * kValues), work);
  if (!all_finite_doubles(entry_margins_.data(), entry_margins_.size())) return false;
  bool changed = false;
  for (std::size_t e = 0; e < layout_.entries.size(); ++e) {
    const Entry& entry = layout_.entries[e];
    const double margin = entry_margins_[e] + entry.noise;
    changed = changed || (entry.rows > 0 && margins_[entry.row] != margin);
    draw_in(entry.row, entry.rows, entry.lower, entry.upper, margin);
  }
  return changed;
}

}  // namespace robomorph::planning
