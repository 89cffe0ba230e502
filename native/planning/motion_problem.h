// A motion problem for the solver: everything of planning/problem.py over compiled kernels.
#pragma once

#include <memory>
#include <vector>

#include "planning/jerk_cost.h"
#include "planning/motion_data.h"
#include "planning/motion_layout.h"
#include "planning/nlp.h"
#include "planning/parallel.h"
#include "planning/piece_work.h"
#include "planning/spline_work.h"

namespace robomorph::planning {

// One caller at a time. Answers do not depend on the number of threads.
class MotionProblem : public Nlp {
 public:
  // The data must be without fault (motion_fault). Jobs expected to be shorter than `worth_threads` (ns) stay on one
  // thread: waking others takes a while. Throws std::bad_alloc.
  MotionProblem(MotionData data, const MotionKernels& kernels, std::size_t threads, double worth_threads = 1e5);

  const double* lower() const override { return lower_.data(); }
  const double* upper() const override { return upper_.data(); }
  bool refresh_margins(const double* x) override;
  bool values(const double* x, double* cost, double* rows) override;
  bool linearise(const double* x, double* cost_gradient) override;
  void jacobian_times(const double* direction, double* rows) override;
  void jacobian_transposed_times(const double* multipliers, double* variables) override;
  void condensed(double cost_scale, const double* multipliers, const double* weights, bool exact, Banded& out) override;

  // Variables of the control points and the duration that the problem came with.
  void initial(double* x) const;

  // What refresh_margins found last for each row, scaled, and not yet cut to what the bounds leave room for.
  const double* margins() const { return margins_.data(); }

  const MotionData& data() const { return data_; }

 private:
  bool place(const double* x, std::vector<double>& control, double& sigma) const;
  PieceWork piece(std::size_t index, std::size_t part);

  // Threads for a job that takes about so many nanoseconds for each entry of the gradients.
  std::size_t threads_for(double nanoseconds) const {
    return gradient_entries_ * nanoseconds < worth_threads_ ? 1 : threads_;
  }

  // Pieces that evaluate something, and strips of spline rows, all at once.
  template <typename OnPiece, typename OnStrip>
  void on_all(double nanoseconds, OnPiece on_piece, OnStrip on_strip) {
    const std::size_t pieces = layout_.pieces.size();
    const auto work = [&](std::size_t part, std::size_t item) {
      if (item >= pieces) return on_strip(static_cast<int>(item - pieces));
      if (layout_.pieces[item].groups.empty()) return;
      PieceWork one = piece(item, part);
      on_piece(one, item);
    };
    for_each_item(pieces + layout_.strips.size(), threads_for(nanoseconds), work);
  }

  // True if there is nothing to do, or it is done.
  bool on_device(NodeJob job, const std::vector<double>& control, double sigma) {
    return kernels_.device == nullptr || kernels_.device->run(job, control.data(), sigma);
  }

  double cost_of(double jerk, double energy, double sigma) const;
  void add_piece_gradients(double* out) const;
  void draw_in(int row, int rows, double lower, double upper, double margin);

  void second_derivatives_on_device(double energy, const double* multipliers);
  void fill_column(int column, double cost_scale, Banded& out) const;
  void add_square(const BlockTerm& term, double* column, int stride) const;
  void add_strip(const BlockTerm& term, double* column, int stride) const;
  void fill_border(double cost_scale, const double* weights, Banded& out) const;

  // Measured on one core of 2024, kinematics or torques, whichever is less.
  static constexpr double kValues = 0.12, kDerivatives = 0.5, kProducts = 0.18, kCondensing = 4.0;

  const MotionData data_;
  const MotionKernels kernels_;
  const Dense& dense_ = dense();
  const std::size_t threads_;
  const double worth_threads_;
  const MotionLayout layout_;
  JerkCost jerk_;
  SplineWork splines_;
  std::vector<PieceState> states_;
  std::vector<std::unique_ptr<Scratch>> scratch_;  // per thread
  std::vector<double> control_, direction_, trial_;
  std::vector<double> energies_;  // per piece
  std::vector<double> lower_, upper_, margins_, entry_margins_;
  std::vector<double> slopes_, trial_slopes_;  // of the jerk, by control points
  double sigma_ = 1.0, jerk_cost_ = 0.0;
  double gradient_entries_ = 0.0;  // of all functions at all nodes
};

}  // namespace robomorph::planning
