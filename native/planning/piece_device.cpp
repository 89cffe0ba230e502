// A piece's share of what a device evaluated, from rows of nodes to lanes.
#include <algorithm>

#include "planning/piece_work.h"

namespace robomorph::planning {
namespace {

// Lanes beyond the last node are zero, as the second derivatives for multipliers that are.
template <typename T>
void to_lanes(const T* rows, int size, int count, double* out) {
  for (int l = 0; l < kLanes; ++l) {
    const T* row = rows + static_cast<long long>(l) * size;
    for (int i = 0; i < size; ++i) out[i * kLanes + l] = l < count ? row[i] : 0.0;
  }
}

}  // namespace

// Rows (size,) of the nodes of lane block b, to (size, lanes).
void PieceWork::fetch(NodeTable table, int size, int b, double* out, bool further) const {
  const int nodes = l_.nodes - (further ? 1 : 0), count = std::min(nodes - b * kLanes, kLanes);
  const long long start = (static_cast<long long>(index_) * nodes + b * kLanes) * size;
  const void* rows = k_.device->tables[table];
  if (k_.device->single) {
    to_lanes(static_cast<const float*>(rows) + start, size, count, out);
  } else {
    to_lanes(static_cast<const double*>(rows) + start, size, count, out);
  }
}

void PieceWork::fetch_derivatives(int b) {
  const int channels = l_.channels * kLanes, nv = l_.nv * kLanes;
  if (piece_.channels) {
    fetch(kNodeValues, l_.channels, b, s_.values.data() + b * channels);
    fetch(kNodeGradients, l_.channels * l_.nv, b, s_.gradients.data() + b * channels * l_.nv);
  }
  if (!piece_.torques) return;
  fetch(kNodeTorques, l_.nv, b, s_.torques.data() + b * nv);
  for (int d = 0; d < 3; ++d) {
    fetch(static_cast<NodeTable>(kNodeByQ + d), l_.nv * l_.nv, b, s_.by[d].data() + b * nv * l_.nv);
  }
}

void PieceWork::hand_multipliers(double energy, const double* multipliers) {
  node_multipliers(energy, multipliers, 1.0);
  const int functions = l_.functions();
  double* out = k_.device->multipliers + static_cast<long long>(index_) * l_.nodes * functions;
  for (int k = 0; k < l_.nodes; ++k) {
    for (int f = 0; f < functions; ++f) *out++ = w_.multipliers.data()[f * l_.padded + k];
  }
}

}  // namespace robomorph::planning
