// States, values and derivatives at a piece's nodes.
#include <algorithm>
#include <limits>

#include "core/finite_scan.h"
#include "planning/piece_work.h"

namespace robomorph::planning {

Scratch::Scratch(const MotionLayout& l, const MotionKernels& k) {
  const int states = 3 * l.nv * kLanes, square = l.nv * l.nv * kLanes, functions = std::max(l.functions(), 1);
  const int panels = whole_lanes(l.width * l.nv + l.border), all = whole_lanes(2 * l.nodes - 1);
  int longest = l.padded, most = 0;
  for (const RowMatrix& m : l.matrices) longest = std::max(longest, m.padded);
  for (const RowMatrix& m : l.estimates) most = std::max(most, m.padded);
  state = Doubles(std::max(l.lane_blocks, l.further_blocks) * states);
  values = Doubles(l.lane_blocks * l.channels * kLanes);
  torques = Doubles(l.lane_blocks * l.nv * kLanes);
  nodes = Doubles(l.padded);
  changed = Doubles(l.padded);
  multipliers = Doubles(functions * l.padded);
  rated = Doubles(functions * l.padded);
  adjoint = Doubles(states);
  rated_adjoint = Doubles(states);
  border = Doubles(panels);
  arguments = Doubles(functions * kLanes);
  channel_hessian = Doubles(square);
  hessians = Doubles(4 * square);
  coefficients = Doubles(4 * kLanes * whole_lanes(l.width * l.width));
  squares = Doubles(l.nv * l.nv * whole_lanes(l.width * l.width));
  packed = Doubles(3 * l.padded * whole_lanes(l.nv));
  derivatives = Doubles(l.padded * (panels + kLanes));
  capacity = kRowsAtOnce + longest;
  right = Doubles(capacity * panels);
  left = Doubles(capacity * panels);
  weights = Doubles(longest);
  gram = Doubles(panels * panels);
  all_values = Doubles(functions * all);
  estimate = Doubles(most);
  std::size_t bytes = 0;
  for (const MotionKernel& kernel : {k.channel_values, k.channels, k.channel_hessian, k.torque_values, k.torques, k.torque_hessian}) {
    bytes = std::max(bytes, kernel.workspace);
  }
  workspace = Doubles(bytes / sizeof(double) + kLanes);
}

PieceState::PieceState(const MotionLayout& l, const Piece& piece)
    : columns(piece.width() * l.nv + l.border), stride(whole_lanes(columns)) {
  if (piece.groups.empty()) return;
  const int states = l.lane_blocks * l.nv * kLanes;
  basis = Doubles(piece.moving.size());
  state = Doubles(3 * states);
  gradient = Doubles(stride);
  matrix = Doubles(stride * stride);
  if (piece.channels) {
    values = Doubles(l.lane_blocks * l.channels * kLanes);
    gradients = Doubles(values.size() * l.nv);
  }
  if (piece.torques) {
    torques = Doubles(states);
    by_sigma = Doubles(states);
    for (Doubles& d : by) d = Doubles(states * l.nv);
  }
}

void PieceWork::place_states(const Doubles& basis, int lane_blocks, const double* control, double sigma, double* out) {
  const Rates rates(sigma);
  const int degrees = piece_.torques ? 3 : 1;
  for (int b = 0; b < lane_blocks; ++b) {
    for (int d = 0; d < degrees; ++d) {
      const int at = b * 3 + d;
      d_.states(basis.data() + at * l_.width * kLanes, control + piece_.first * l_.nv, l_.width, l_.nv, rates.power[d],
                out + at * l_.nv * kLanes);
    }
  }
}

// With gradients, or values alone if there is no place for gradients.
void PieceWork::call_channels(const double* state, double* values, double* gradients) {
  const MotionKernel& kernel = gradients == nullptr ? k_.channel_values : k_.channels;
  const void* in[] = {state, l_.references.data()};
  void* out[] = {values, gradients};
  kernel.fn(in, out, w_.workspace.data());
}

void PieceWork::call_torques(const double* state, double* torques, double* const* by) {
  const MotionKernel& kernel = by == nullptr ? k_.torque_values : k_.torques;
  const int size = l_.nv * kLanes;
  const void* in[] = {state, state + size, state + 2 * size};
  void* out[] = {torques, nullptr, nullptr, nullptr};
  if (by != nullptr) std::copy(by, by + 3, out + 1);
  kernel.fn(in, out, w_.workspace.data());
}

void PieceWork::evaluate(const double* state, bool further, double* values, double* torques) {
  for (int b = 0; b < (further ? l_.further_blocks : l_.lane_blocks); ++b) {
    if (k_.device != nullptr) {
      const int channels = l_.channels * kLanes, nv = l_.nv * kLanes;
      if (piece_.channels) fetch(further ? kNodeFurtherValues : kNodeValues, l_.channels, b, values + b * channels, further);
      if (piece_.torques) fetch(further ? kNodeFurtherTorques : kNodeTorques, l_.nv, b, torques + b * nv, further);
      continue;
    }
    const double* at = state + b * 3 * l_.nv * kLanes;
    if (piece_.channels) call_channels(at, values + b * l_.channels * kLanes, nullptr);
    if (piece_.torques) call_torques(at, torques + b * l_.nv * kLanes, nullptr);
  }
}

double PieceWork::values(const double* control, double sigma, double* rows) {
  place_states(piece_.basis, l_.lane_blocks, control, sigma, w_.state.data());
  evaluate(w_.state.data(), false, w_.values.data(), w_.torques.data());
  const Rates rates(sigma);
  for (const Group& group : piece_.groups) {
    for (const Use& use : group.uses) {
      const double* from = group.torque ? w_.torques.data() + (use.function - l_.channels) * kLanes
                                        : w_.values.data() + use.function * kLanes;
      const int stride = (group.torque ? l_.nv : l_.channels) * kLanes;
      for (int b = 0; b < l_.lane_blocks; ++b) std::copy_n(from + b * stride, kLanes, w_.nodes.data() + b * kLanes);
      for (int e = use.first; e < use.end; ++e) {
        const Entry& entry = l_.entries[e];
        const RowMatrix& matrix = l_.matrices[entry.matrix];
        d_.to_rows(matrix.transposed.data(), matrix.rows, matrix.padded, w_.nodes.data(), l_.nodes,
                   entry.inverse_scale * rates.power[entry.rate], rows + entry.row);
      }
    }
  }
  return l_.energy ? energy_of(w_.torques.data()) : 0.0;
}

// The integral of sum_j (tau_j / scale_j)^2 over the piece at sigma = 1, by quadrature.
double PieceWork::energy_of(const double* torques) const {
  const double* quadrature = data_.pieces.quadrature.data() + static_cast<std::size_t>(index_) * l_.nodes;
  double total = 0.0;
  for (int k = 0; k < l_.nodes; ++k) {
    double sum = 0.0;
    for (int j = 0; j < l_.nv; ++j) {
      const double share = torques[(k / kLanes * l_.nv + j) * kLanes + k % kLanes] / data_.cost.torque_scale[j];
      sum += share * share;
    }
    total += quadrature[k] * sum;
  }
  return total;
}

double PieceWork::linearise(const double* control, double sigma) {
  s_.sigma = sigma;
  place_states(piece_.basis, l_.lane_blocks, control, sigma, s_.state.data());
  const Rates rates(sigma);
  const int share = piece_.width() * kLanes;
  for (int i = 0; i < static_cast<int>(piece_.moving.size()); ++i) {
    s_.basis.data()[i] = piece_.moving.data()[i] * rates.power[i / share % 3];
  }
  for (int b = 0; b < l_.lane_blocks; ++b) k_.device != nullptr ? fetch_derivatives(b) : linearise_block(b);
  if (!derivatives_finite()) return std::numeric_limits<double>::quiet_NaN();
  if (l_.border != 0 && piece_.torques) differentiate_by_sigma();
  std::fill_n(s_.gradient.data(), s_.stride, 0.0);
  if (!l_.energy) return 0.0;
  node_multipliers(data_.cost.energy, nullptr, 0.5);
  add_adjoints();
  return energy_of(s_.torques.data());
}

void PieceWork::linearise_block(int b) {
  const double* state = s_.state.data() + b * 3 * l_.nv * kLanes;
  if (piece_.channels) {
    const int at = b * l_.channels * kLanes;
    call_channels(state, s_.values.data() + at, s_.gradients.data() + at * l_.nv);
  }
  if (!piece_.torques) return;
  const int square = l_.nv * l_.nv * kLanes;
  double* by[] = {s_.by[0].data() + b * square, s_.by[1].data() + b * square, s_.by[2].data() + b * square};
  call_torques(state, s_.torques.data() + b * l_.nv * kLanes, by);
}

bool PieceWork::derivatives_finite() const {
  const auto fine = [](const Doubles& d) { return all_finite_doubles(d.data(), d.size()); };
  return fine(s_.gradients) && fine(s_.by[0]) && fine(s_.by[1]) && fine(s_.by[2]);
}

// A torque's derivative: -(dtau/dqd . qd + 2 dtau/dqdd . qdd) / sigma.
void PieceWork::differentiate_by_sigma() {
  const int size = l_.nv * kLanes;
  for (int b = 0; b < l_.lane_blocks; ++b) {
    const double* state = s_.state.data() + b * 3 * size;
    double* out = s_.by_sigma.data() + b * size;
    std::fill_n(out, size, 0.0);
    d_.multiply(s_.by[1].data() + b * size * l_.nv, state + size, l_.nv, -1.0 / s_.sigma, out);
    d_.multiply(s_.by[2].data() + b * size * l_.nv, state + 2 * size, l_.nv, -2.0 / s_.sigma, out);
  }
}

const double* PieceWork::value_of(int function, int b) const {
  if (function < l_.channels) return s_.values.data() + (b * l_.channels + function) * kLanes;
  return s_.torques.data() + (b * l_.nv + function - l_.channels) * kLanes;
}

const double* PieceWork::gradient_of(int function, int b, int d) const {
  if (function < l_.channels) return s_.gradients.data() + (b * l_.channels + function) * l_.nv * kLanes;
  return s_.by[d].data() + (b * l_.nv + function - l_.channels) * l_.nv * kLanes;
}

}  // namespace robomorph::planning
