// One piece of a motion: values and derivatives at its nodes, and from there to rows and back. Pieces know nothing of
// each other, so that threads may take one each.
#pragma once

#include "planning/motion_layout.h"

namespace robomorph::planning {

inline constexpr int kRowsAtOnce = 96;  // of the panels of a Gram matrix: what stays in a core's cache

// What a thread needs while it works on a piece.
struct Scratch {
  Scratch(const MotionLayout& layout, const MotionKernels& kernels);

  int capacity;                      // rows of the panels
  double corner = 0.0;               // second derivative by sigma
  Doubles state;                     // (lane blocks, 3, nv, lanes)
  Doubles values, torques;           // (lane blocks, channels | nv, lanes), of a trial
  Doubles nodes, changed;            // (padded,): one function
  Doubles multipliers, rated;        // (functions, padded)
  Doubles adjoint, rated_adjoint;    // (3, nv, lanes)
  Doubles border;                    // (columns,)
  Doubles arguments;                 // (functions, lanes): multipliers of one lane block
  Doubles channel_hessian;           // (nv, nv, lanes)
  Doubles hessians;                  // (4, nv, nv, lanes)
  Doubles coefficients, squares;     // (4, lanes, pairs), (nv, nv, pairs)
  Doubles packed, derivatives;       // of one function: (3, padded, joints), (padded, columns)
  Doubles right, left, weights;      // panels of rows
  Doubles gram;                      // (columns, columns) of a group
  Doubles all_values, estimate;      // (functions, nodes of twice the degree), rows of one estimate
  Doubles workspace;
};

// What stays of a piece from one linearisation to the next.
struct PieceState {
  PieceState(const MotionLayout& layout, const Piece& piece);

  double sigma = 1.0;
  Doubles basis;      // (lane blocks, 3, points, lanes), d-th derivatives divided by sigma^d
  Doubles state;      // (lane blocks, 3, nv, lanes)
  Doubles values;     // (lane blocks, channels, lanes)
  Doubles gradients;  // (lane blocks, channels, nv, lanes)
  Doubles torques;    // (lane blocks, nv, lanes)
  Doubles by[3];      // (lane blocks, nv, nv, lanes): dtau_dq, dtau_dqd, mass
  Doubles by_sigma;   // (lane blocks, nv, lanes): of torques
  Doubles gradient;   // (points * nv + border): a sum of rows' derivatives
  Doubles matrix;     // (columns, stride), lower half: its part of the condensed matrix
  int columns, stride;
};

// How rows and their derivatives depend on sigma ^ -rate.
struct Rates {
  explicit Rates(double sigma) : inverse(1.0 / sigma), power{1.0, inverse, inverse * inverse, inverse * inverse * inverse} {}
  double inverse;
  double power[4];
  double first(int rate) const { return -rate * inverse; }
  double second(int rate) const { return rate * (rate + 1) * inverse * inverse; }
};

class PieceWork {
 public:
  PieceWork(const MotionLayout& layout, const MotionData& data, const MotionKernels& kernels, int index,
            PieceState& state, Scratch& scratch)
      : l_(layout), data_(data), k_(kernels), index_(index), piece_(layout.pieces[index]), s_(state), w_(scratch) {}

  // The piece's rows and its part of the energy (at sigma = 1) for control points (points, nv).
  double values(const double* control, double sigma, double* rows);

  // Values and derivatives at the nodes, kept. s.gradient is that of the energy; returns the energy (at sigma = 1), NaN
  // if a derivative is not finite.
  double linearise(const double* control, double sigma);

  void times(const double* direction, double sigma_direction, double* rows);
  void transposed_times(const double* multipliers);  // to s.gradient
  // To s.matrix: energy * (Hessian of the energy) + J' diag(weights) J, and rows' second derivatives if `exact`;
  // otherwise the energy counts with its Gauss-Newton part.
  void condense(double energy, const double* multipliers, const double* weights, bool exact);

  // By how much the rows of each entry may err, scaled: margins (entries,).
  void margins(const double* control, double sigma, double* margins);

  // What condense will ask second derivatives of, to the device that evaluates them for all pieces at once.
  void hand_multipliers(double energy, const double* multipliers);

 private:
  // Rows of a group on their way to a Gram matrix.
  struct Panels {
    int count = 0, rows = 0, stride = 0;
    double* out = nullptr;
  };

  void place_states(const Doubles& basis, int lane_blocks, const double* control, double sigma, double* out);
  void call_channels(const double* state, double* values, double* gradients);
  void call_torques(const double* state, double* torques, double* const* by);
  void evaluate(const double* state, bool further, double* values, double* torques);
  void linearise_block(int b);
  void fetch(NodeTable table, int size, int b, double* out, bool further = false) const;
  void fetch_derivatives(int b);
  double energy_of(const double* torques) const;
  void differentiate_by_sigma();
  bool derivatives_finite() const;
  const double* value_of(int function, int b) const;
  const double* gradient_of(int function, int b, int d) const;

  void change_at_nodes(const Group& group, int function, int b, double sigma_direction);
  void rows_from_changes(const Use& use, double sigma_direction, double* rows);
  void node_multipliers(double energy, const double* multipliers, double energy_share);
  void add_row_multipliers(const Use& use, const double* multipliers);
  void add_energy_multipliers(int function, double energy, double share);
  void adjoint_at_nodes(const double* multipliers, int b, double* out);
  void spread(int b, const double* nodes, double* out);
  void add_adjoints();
  double sigma_slope(int b, const double* multipliers) const;
  double rated_sum(int b) const;

  void add_group(const Group& group, double energy, const double* weights);
  void derive(const Group& group, int function, int panels);
  void derive_by_sigma(const Group& group, int function, double rate, int panels);
  void add_rows(const RowMatrix& matrix, Panels& panels);
  void add_energy_rows(const Group& group, int function, double energy, Panels& panels);
  void flush(Panels& panels);
  void scatter(const Group& group, int stride);
  static void clear_lower(double* matrix, int stride);

  void add_hessians();
  int call_hessians(int b);
  void call_torque_hessian(int b, double* out);
  void call_channel_hessian(int b, double* out);
  void expand(int b, int count, int pairs, bool more);
  void fold(int pairs);
  void add_border(int b, bool torques);

  const MotionLayout& l_;
  const MotionData& data_;
  const MotionKernels& k_;
  const Dense& d_ = dense();
  const int index_;
  const Piece& piece_;
  PieceState& s_;
  Scratch& w_;
};

}  // namespace robomorph::planning
