// A piece's part of the condensed matrix: weighted squares of its rows' derivatives.
#include <algorithm>

#include "planning/piece_work.h"

namespace robomorph::planning {

void PieceWork::condense(double energy, const double* multipliers, const double* weights, bool exact) {
  clear_lower(s_.matrix.data(), s_.stride);
  for (const Group& group : piece_.groups) add_group(group, energy, weights);
  if (!exact) return;
  node_multipliers(energy, multipliers, 1.0);
  add_hessians();
}

// What gram adds to: all at or below the diagonal, in whole panels.
void PieceWork::clear_lower(double* matrix, int stride) {
  for (int j = 0; j < stride; ++j) {
    const int first = j / kLanes * kLanes;
    std::fill(matrix + j * stride + first, matrix + (j + 1) * stride, 0.0);
  }
}

// All rows of a group in panels, then their weighted Gram matrix; on the group's own joints first if these are fewer.
void PieceWork::add_group(const Group& group, double energy, const double* weights) {
  const int joints = static_cast<int>(group.joints.size());
  const int columns = piece_.width() * joints + l_.border;
  Panels panels;
  panels.count = whole_lanes(columns) / kLanes;
  const bool whole = joints == l_.nv;
  panels.out = whole ? s_.matrix.data() : w_.gram.data();
  panels.stride = whole ? s_.stride : panels.count * kLanes;
  if (!whole) clear_lower(panels.out, panels.stride);
  const Rates rates(s_.sigma);
  for (const Use& use : group.uses) {
    derive(group, use.function, panels.count);
    for (int e = use.first; e < use.end; ++e) {
      const Entry& entry = l_.entries[e];
      const double scale = entry.inverse_scale * rates.power[entry.rate];
      for (int i = 0; i < entry.rows; ++i) w_.weights.data()[i] = weights[entry.row + i] * scale * scale;
      if (l_.border != 0) derive_by_sigma(group, use.function, rates.first(entry.rate), panels.count);
      add_rows(l_.matrices[entry.matrix], panels);
    }
    if (group.torque && energy != 0.0) add_energy_rows(group, use.function, energy, panels);
  }
  flush(panels);
  if (!whole) scatter(group, panels.stride);
}

// A function's derivatives by the control points at every node: (nodes, panels * 8 + 8), joints of a point together.
void PieceWork::derive(const Group& group, int function, int panels) {
  const int joints = static_cast<int>(group.joints.size()), width = whole_lanes(joints);
  const int stride = (panels + 1) * kLanes, points = piece_.width(), depth = group.torque ? 3 : 1;
  for (int b = 0; b < l_.lane_blocks; ++b) {
    for (int d = 0; d < depth; ++d) {
      d_.pack(gradient_of(function, b, d), group.joints.data(), joints, width,
              w_.packed.data() + (d * l_.padded + b * kLanes) * width);
    }
  }
  for (int k = 0; k < l_.nodes; ++k) {
    const double* at = w_.packed.data() + k * width;
    const double* packed[] = {at, depth == 3 ? at + l_.padded * width : nullptr, at + 2 * l_.padded * width};
    double* out = w_.derivatives.data() + k * stride;
    d_.combine(s_.basis.data() + k / kLanes * 3 * points * kLanes + k % kLanes, points, points * kLanes, packed, joints,
               out);
    std::fill(out + points * joints, out + panels * kLanes, 0.0);
  }
}

// The border's column: of the function itself, and of sigma ^ -rate in front of it.
void PieceWork::derive_by_sigma(const Group& group, int function, double rate, int panels) {
  const int column = piece_.width() * static_cast<int>(group.joints.size()), stride = (panels + 1) * kLanes;
  for (int k = 0; k < l_.nodes; ++k) {
    const int b = k / kLanes, l = k % kLanes;
    double slope = rate * value_of(function, b)[l];
    if (group.torque) slope += s_.by_sigma.data()[(b * l_.nv + function - l_.channels) * kLanes + l];
    w_.derivatives.data()[k * stride + column] = slope;
  }
}

// Weights are in w.weights.
void PieceWork::add_rows(const RowMatrix& matrix, Panels& panels) {
  if (panels.rows > kRowsAtOnce) flush(panels);
  const int at = panels.rows * kLanes;
  d_.rows_of(matrix.transposed.data(), matrix.rows, matrix.padded, w_.derivatives.data(), l_.nodes,
             (panels.count + 1) * kLanes, panels.count, w_.weights.data(), w_.capacity, w_.right.data() + at,
             w_.left.data() + at);
  panels.rows += matrix.rows;
}

// The energy's Gauss-Newton part: a row for every node.
void PieceWork::add_energy_rows(const Group& group, int function, double energy, Panels& panels) {
  const double scale = data_.cost.torque_scale[function - l_.channels];
  const double* quadrature = data_.pieces.quadrature.data() + static_cast<std::size_t>(index_) * l_.nodes;
  for (int k = 0; k < l_.nodes; ++k) {
    w_.weights.data()[k] = 2.0 * energy * s_.sigma * quadrature[k] / (scale * scale);
  }
  if (l_.border != 0) derive_by_sigma(group, function, 0.0, panels.count);
  add_rows(l_.identity, panels);
}

void PieceWork::flush(Panels& panels) {
  if (panels.rows > 0) {
    d_.gram(w_.right.data(), w_.left.data(), panels.rows, panels.count, w_.capacity, panels.out, panels.stride);
  }
  panels.rows = 0;
}

// From the group's joints to all.
void PieceWork::scatter(const Group& group, int stride) {
  const int joints = static_cast<int>(group.joints.size()), points = piece_.width();
  const int* at = group.joints.data();
  for (int c = 0; c < points; ++c) {
    for (int j = 0; j < joints; ++j) {
      const double* from = w_.gram.data() + (c * joints + j) * stride;
      double* to = s_.matrix.data() + (c * l_.nv + at[j]) * s_.stride;
      for (int r = c; r < points; ++r) {
        for (int i = r == c ? j : 0; i < joints; ++i) to[r * l_.nv + at[i]] += from[r * joints + i];
      }
      if (l_.border != 0) to[points * l_.nv] += from[points * joints];
    }
  }
  if (l_.border == 0) return;
  const int last = points * l_.nv;
  s_.matrix.data()[last * s_.stride + last] += w_.gram.data()[points * joints * (stride + 1)];
}

}  // namespace robomorph::planning
