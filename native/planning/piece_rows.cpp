// Products with a piece's Jacobian, and how its rows may err.
#include <algorithm>
#include <cmath>

#include "planning/piece_work.h"

namespace robomorph::planning {
namespace {

double dot(const double* a, const double* b, int count) {
  double total = 0.0;
  for (int i = 0; i < count; ++i) total += a[i] * b[i];
  return total;
}

}  // namespace

void PieceWork::times(const double* direction, double sigma_direction, double* rows) {
  place_states(piece_.basis, l_.lane_blocks, direction, s_.sigma, w_.state.data());
  for (const Group& group : piece_.groups) {
    for (const Use& use : group.uses) {
      for (int b = 0; b < l_.lane_blocks; ++b) change_at_nodes(group, use.function, b, sigma_direction);
      rows_from_changes(use, sigma_direction, rows);
    }
  }
}

// How a function changes at the nodes of a lane block, to w.nodes.
void PieceWork::change_at_nodes(const Group& group, int function, int b, double sigma_direction) {
  double* out = w_.nodes.data() + b * kLanes;
  std::fill_n(out, kLanes, 0.0);
  for (int d = 0; d < (group.torque ? 3 : 1); ++d) {
    d_.tangent(gradient_of(function, b, d), w_.state.data() + (b * 3 + d) * l_.nv * kLanes, group.joints.data(),
               static_cast<int>(group.joints.size()), out);
  }
  if (!group.torque || l_.border == 0) return;
  const double* by_sigma = s_.by_sigma.data() + (b * l_.nv + function - l_.channels) * kLanes;
  for (int l = 0; l < kLanes; ++l) out[l] += by_sigma[l] * sigma_direction;
}

void PieceWork::rows_from_changes(const Use& use, double sigma_direction, double* rows) {
  const Rates rates(s_.sigma);
  for (int e = use.first; e < use.end; ++e) {
    const Entry& entry = l_.entries[e];
    const RowMatrix& matrix = l_.matrices[entry.matrix];
    const double* nodes = w_.nodes.data();
    if (l_.border != 0 && entry.rate != 0) {
      const double share = rates.first(entry.rate) * sigma_direction;
      for (int k = 0; k < l_.padded; ++k) {
        w_.changed.data()[k] = nodes[k] + share * value_of(use.function, k / kLanes)[k % kLanes];
      }
      nodes = w_.changed.data();
    }
    d_.to_rows(matrix.transposed.data(), matrix.rows, matrix.padded, nodes, l_.nodes,
               entry.inverse_scale * rates.power[entry.rate], rows + entry.row);
  }
}

void PieceWork::transposed_times(const double* multipliers) {
  std::fill_n(s_.gradient.data(), s_.stride, 0.0);
  node_multipliers(0.0, multipliers, 0.0);
  add_adjoints();
}

// From multipliers of rows (none: null) and the energy's weight to those of the functions at the nodes. With a free
// duration also `rated`: multipliers of what depends on sigma in front of the functions, and the second derivative of
// that. The energy is sigma times a square; its own part in `rated` is taken `energy_share` times.
void PieceWork::node_multipliers(double energy, const double* multipliers, double energy_share) {
  w_.multipliers.clear();
  w_.rated.clear();
  w_.corner = 0.0;
  for (const Group& group : piece_.groups) {
    for (const Use& use : group.uses) {
      if (multipliers != nullptr) add_row_multipliers(use, multipliers);
      if (group.torque && energy != 0.0) add_energy_multipliers(use.function, energy, energy_share);
    }
  }
}

void PieceWork::add_row_multipliers(const Use& use, const double* multipliers) {
  const Rates rates(s_.sigma);
  double* out = w_.multipliers.data() + use.function * l_.padded;
  double* rated = w_.rated.data() + use.function * l_.padded;
  for (int e = use.first; e < use.end; ++e) {
    const Entry& entry = l_.entries[e];
    const double* matrix = l_.matrices[entry.matrix].plain.data();
    const double scale = entry.inverse_scale * rates.power[entry.rate];
    d_.to_nodes(matrix, multipliers + entry.row, entry.rows, l_.padded, scale, out);
    if (l_.border == 0 || entry.rate == 0) continue;
    w_.changed.clear();
    d_.to_nodes(matrix, multipliers + entry.row, entry.rows, l_.padded, scale, w_.changed.data());
    for (int k = 0; k < l_.padded; ++k) rated[k] += rates.first(entry.rate) * w_.changed.data()[k];
    for (int b = 0; b < l_.lane_blocks; ++b) {
      w_.corner += rates.second(entry.rate) * dot(w_.changed.data() + b * kLanes, value_of(use.function, b), kLanes);
    }
  }
}

void PieceWork::add_energy_multipliers(int function, double energy, double share) {
  const double scale = data_.cost.torque_scale[function - l_.channels];
  const double* quadrature = data_.pieces.quadrature.data() + static_cast<std::size_t>(index_) * l_.nodes;
  for (int k = 0; k < l_.nodes; ++k) {
    const double torque = value_of(function, k / kLanes)[k % kLanes];
    const double slope = 2.0 * energy * quadrature[k] * torque / (scale * scale);
    w_.multipliers.data()[function * l_.padded + k] += s_.sigma * slope;
    w_.rated.data()[function * l_.padded + k] += share * slope;
  }
}

// Derivatives of the functions times multipliers (functions, padded) at the nodes of a lane block: (3, nv, lanes).
void PieceWork::adjoint_at_nodes(const double* multipliers, int b, double* out) {
  const int size = l_.nv * kLanes;
  std::fill_n(out, 3 * size, 0.0);
  for (const Group& group : piece_.groups) {
    for (const Use& use : group.uses) {
      for (int d = 0; d < (group.torque ? 3 : 1); ++d) {
        d_.adjoint(gradient_of(use.function, b, d), multipliers + use.function * l_.padded + b * kLanes,
                   group.joints.data(), static_cast<int>(group.joints.size()), out + d * size);
      }
    }
  }
}

void PieceWork::spread(int b, const double* nodes, double* out) {
  const int size = l_.nv * kLanes, points = piece_.width();
  const double* all[] = {nodes, piece_.torques ? nodes + size : nullptr, nodes + 2 * size};
  d_.spread(s_.basis.data() + b * 3 * points * kLanes, points, points * kLanes, all, l_.nv, out);
}

// From w.multipliers and w.rated to s.gradient.
void PieceWork::add_adjoints() {
  double slope = 0.0;
  for (int b = 0; b < l_.lane_blocks; ++b) {
    adjoint_at_nodes(w_.multipliers.data(), b, w_.adjoint.data());
    spread(b, w_.adjoint.data(), s_.gradient.data());
    if (l_.border != 0) slope += sigma_slope(b, w_.multipliers.data()) + rated_sum(b);
  }
  if (l_.border != 0) s_.gradient.data()[s_.columns - 1] += slope;
}

// The multipliers' sum of the torques' derivatives by sigma.
double PieceWork::sigma_slope(int b, const double* multipliers) const {
  double total = 0.0;
  for (int j = 0; piece_.torques && j < l_.nv; ++j) {
    total += dot(multipliers + (l_.channels + j) * l_.padded + b * kLanes,
                 s_.by_sigma.data() + (b * l_.nv + j) * kLanes, kLanes);
  }
  return total;
}

double PieceWork::rated_sum(int b) const {
  double total = 0.0;
  for (const Group& group : piece_.groups) {
    for (const Use& use : group.uses) {
      total += dot(w_.rated.data() + use.function * l_.padded + b * kLanes, value_of(use.function, b), kLanes);
    }
  }
  return total;
}

// Twice the sum of |Chebyshev coefficients| of the difference between interpolants of the simple and the double degree.
void PieceWork::margins(const double* control, double sigma, double* margins) {
  const int all = whole_lanes(2 * l_.nodes - 1);
  for (int further = 0; further < 2; ++further) {
    const int nodes = l_.nodes - further, lane_blocks = further == 0 ? l_.lane_blocks : l_.further_blocks;
    if (nodes == 0) continue;
    place_states(further == 0 ? piece_.basis : piece_.between, lane_blocks, control, sigma, w_.state.data());
    evaluate(w_.state.data(), further == 1, w_.values.data(), w_.torques.data());
    for (int f = 0; f < l_.functions(); ++f) {
      const bool channel = f < l_.channels;
      const double* from = channel ? w_.values.data() + f * kLanes : w_.torques.data() + (f - l_.channels) * kLanes;
      const int stride = (channel ? l_.channels : l_.nv) * kLanes;
      for (int k = 0; k < nodes; ++k) {
        w_.all_values.data()[f * all + further * l_.nodes + k] = from[k / kLanes * stride + k % kLanes];
      }
    }
  }
  const Rates rates(sigma);
  for (const Group& group : piece_.groups) {
    for (const Use& use : group.uses) {
      for (int e = use.first; e < use.end; ++e) {
        const Entry& entry = l_.entries[e];
        const RowMatrix& matrix = l_.estimates[entry.matrix];
        d_.to_rows(matrix.transposed.data(), matrix.rows, matrix.padded, w_.all_values.data() + use.function * all,
                   2 * l_.nodes - 1, entry.inverse_scale * rates.power[entry.rate], w_.estimate.data());
        double total = 0.0;
        for (int i = 0; i < matrix.rows; ++i) total += std::fabs(w_.estimate.data()[i]);
        margins[e] = 2.0 * total;
      }
    }
  }
}

}  // namespace robomorph::planning
