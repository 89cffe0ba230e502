#include "planning/motion_layout.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace robomorph::planning {
namespace {

RowMatrix arranged(const MotionMatrix& from, int columns, int padded) {
  RowMatrix to;
  to.rows = from.rows;
  to.padded = whole_lanes(from.rows);
  to.plain = Doubles(static_cast<std::size_t>(from.rows) * padded);
  to.transposed = Doubles(static_cast<std::size_t>(padded) * to.padded);
  for (int i = 0; i < from.rows; ++i) {
    for (int k = 0; k < columns; ++k) {
      const double entry = from.entries[i * columns + k];
      to.plain.data()[i * padded + k] = to.transposed.data()[k * to.padded + i] = entry;
    }
  }
  return to;
}

std::vector<RowMatrix> arranged(const std::vector<MotionMatrix>& from, int columns, int padded) {
  std::vector<RowMatrix> to;
  for (const MotionMatrix& matrix : from) to.push_back(arranged(matrix, columns, padded));
  return to;
}

// The nodes of twice the degree are the nodes, then those between.
std::vector<MotionMatrix> differences(const MotionData& data) {
  std::vector<MotionMatrix> out = data.fine;
  const int nodes = data.pieces.nodes, all = 2 * nodes - 1;
  for (std::size_t m = 0; m < out.size(); ++m) {
    for (int i = 0; i < data.coarse[m].rows; ++i) {
      for (int k = 0; k < nodes; ++k) out[m].entries[i * all + k] -= data.coarse[m].entries[i * nodes + k];
    }
  }
  return out;
}

// (3, nodes, width) to (lane blocks, 3, points, lanes); lanes behind the last node repeat it, so that no kernel meets
// a state that nobody asked about.
Doubles in_lanes(const double* basis, int nodes, int width, const std::vector<int>& points, int lane_blocks) {
  const int count = static_cast<int>(points.size());
  Doubles out(static_cast<std::size_t>(lane_blocks) * 3 * count * kLanes);
  double* to = out.data();
  for (int b = 0; b < lane_blocks; ++b) {
    for (int d = 0; d < 3; ++d) {
      for (int c = 0; c < count; ++c) {
        for (int l = 0; l < kLanes; ++l) {
          const int k = std::min(b * kLanes + l, nodes - 1);
          *to++ = basis[(d * nodes + k) * width + points[c]];
        }
      }
    }
  }
  return out;
}

SplineMatrix with_products(const MotionMatrix& from, int width) {
  SplineMatrix to;
  to.rows = from.rows;
  to.pairs = whole_lanes(width * (width + 1) / 2);
  to.entries = from.entries;
  to.products = Doubles(static_cast<std::size_t>(to.rows) * to.pairs);
  for (int i = 0; i < to.rows; ++i) {
    double* out = to.products.data() + i * to.pairs;
    for (int w = 0; w < width; ++w) {
      for (int v = 0; v <= w; ++v) *out++ = from.entries[i * width + w] * from.entries[i * width + v];
    }
  }
  return to;
}

// Positions 0 .. count - 1, sorted by a key; equal keys keep their order.
template <typename Key>
std::vector<int> sorted_by(int count, Key key) {
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
  return order;
}

std::vector<std::vector<int>> dependencies(const MotionData& data) {
  std::vector<std::vector<int>> out(data.channels + (data.torque ? data.nv : 0));
  for (std::size_t f = 0; f < out.size(); ++f) {
    for (int j = 0; j < data.nv; ++j) {
      if (data.pattern.empty() || data.pattern[f * data.nv + j] != 0) out[f].push_back(j);
    }
  }
  return out;
}

}  // namespace

MotionLayout::MotionLayout(const MotionData& data)
    : nv(data.nv), width(data.width), channels(data.channels), points(data.points), nodes(data.pieces.nodes),
      lane_blocks(whole_lanes(nodes) / kLanes), padded(whole_lanes(nodes)),
      further_blocks(whole_lanes(nodes - 1) / kLanes), border(data.free_duration ? 1 : 0), torque(data.torque),
      energy(data.cost.energy != 0.0), joints_of(dependencies(data)) {
  for (int block : data.block_of) blocks = std::max(blocks, block + 1);
  variables = blocks * nv + border;
  matrices = arranged(data.matrices, nodes, padded);
  MotionMatrix unit{nodes, std::vector<double>(static_cast<std::size_t>(nodes) * nodes, 0.0)};
  for (int k = 0; k < nodes; ++k) unit.entries[k * (nodes + 1)] = 1.0;
  identity = arranged(unit, nodes, padded);
  estimates = arranged(differences(data), 2 * nodes - 1, whole_lanes(2 * nodes - 1));
  references = Doubles(data.references.size() * kLanes);
  for (std::size_t i = 0; i < references.size(); ++i) references.data()[i] = data.references[i / kLanes];
  place_entries(data);
  place_pieces(data);
  place_groups(data);
  place_splines(data);
  if (border != 0) duration_row = row_count++;
  place_columns(data);
  place_jerk(data);
}

// In the problem's order, which numbers the rows; sorted by piece and function afterwards.
void MotionLayout::place_entries(const MotionData& data) {
  const MotionRows& r = data.rows;
  const int count = static_cast<int>(r.piece.size());
  std::vector<int> first(count);
  for (int i = 0; i < count; ++i) {
    first[i] = row_count;
    row_count += matrices[r.matrix[i]].rows;
  }
  for (int i : sorted_by(count, [&](int e) { return std::make_tuple(r.piece[e], r.function[e]); })) {
    const double inverse = 1.0 / r.scale[i];
    entries.push_back({r.function[i], r.matrix[i], r.rate[i], first[i], matrices[r.matrix[i]].rows, inverse,
                       r.lower[i] * inverse, r.upper[i] * inverse, r.noise.empty() ? 0.0 : r.noise[i]});
  }
}

void MotionLayout::place_pieces(const MotionData& data) {
  const MotionPieces& from = data.pieces;
  std::vector<int> all(width);
  std::iota(all.begin(), all.end(), 0);
  pieces.resize(from.count);
  for (int e = 0; e < from.count; ++e) {
    Piece& piece = pieces[e];
    piece.first = from.first[e];
    for (int c = 0; c < width; ++c) {
      const int block = data.block_of[piece.first + c];
      if (block < 0) continue;
      piece.points.push_back(c);
      piece.blocks.push_back(block);
    }
    const double* basis = from.basis.data() + static_cast<std::size_t>(e) * 3 * nodes * width;
    const double* between = from.between.data() + static_cast<std::size_t>(e) * 3 * (nodes - 1) * width;
    piece.basis = in_lanes(basis, nodes, width, all, lane_blocks);
    piece.moving = in_lanes(basis, nodes, width, piece.points, lane_blocks);
    piece.between = in_lanes(between, nodes - 1, width, all, further_blocks);
  }
}

// Which functions each piece evaluates, those that depend on the same joints side by side.
void MotionLayout::place_groups(const MotionData& data) {
  const int count = static_cast<int>(entries.size());
  std::vector<int> piece_of(data.rows.piece);
  std::sort(piece_of.begin(), piece_of.end());
  int at = 0;
  for (std::size_t e = 0; e < pieces.size(); ++e) {
    Piece& piece = pieces[e];
    for (int f = 0; f < functions(); ++f) {
      const int first = at;
      for (; at < count && piece_of[at] == static_cast<int>(e) && entries[at].function == f; ++at) {
        piece.estimated = piece.estimated || estimates[entries[at].matrix].rows > 0;
      }
      const bool is_torque = f >= channels;
      if (at == first && !(is_torque && energy)) continue;
      (is_torque ? piece.torques : piece.channels) = true;
      const auto same = [&](const Group& g) { return g.torque == is_torque && g.joints == joints_of[f]; };
      auto group = std::find_if(piece.groups.begin(), piece.groups.end(), same);
      if (group == piece.groups.end()) group = piece.groups.insert(group, {is_torque, joints_of[f], {}});
      group->uses.push_back({f, first, at});
    }
    place_bent(piece);
  }
}

void MotionLayout::place_bent(Piece& piece) const {
  std::vector<int> place(static_cast<std::size_t>(nv) * nv, -1);
  for (const Group& group : piece.groups) {
    for (int i : group.joints) {
      for (int j : group.joints) place[i * nv + j] = 0;
    }
  }
  for (int i = 0; i < nv; ++i) {
    for (int j = 0; j < nv; ++j) {
      if (place[i * nv + j] < 0) continue;
      const bool mirrored = !piece.torques && i < j;
      if (!mirrored) place[i * nv + j] = static_cast<int>(piece.bent.size());
      if (!mirrored) piece.bent.push_back(i * nv + j);
    }
  }
  const auto found = [&](int i, int j) { return place[piece.torques ? i * nv + j : std::max(i, j) * nv + std::min(i, j)]; };
  for (int j = 0; j < nv; ++j) {
    for (int i = 0; i < nv; ++i) {
      if (place[i * nv + j] >= 0) piece.folds.push_back({i, j, found(i, j), found(j, i)});
    }
  }
}

void MotionLayout::place_splines(const MotionData& data) {
  const MotionSplineRows& s = data.spline_rows;
  for (const MotionMatrix& m : data.spline_matrices) spline_matrices.push_back(with_products(m, width));
  const int count = static_cast<int>(s.first.size());
  std::vector<int> row(count);
  for (int i = 0; i < count; ++i) {
    row[i] = row_count;
    row_count += spline_matrices[s.matrix[i]].rows;
  }
  int point = -1, joint = -1;
  for (int i : sorted_by(count, [&](int e) { return std::make_tuple(s.first[e], s.joint[e]); })) {
    const int entry = static_cast<int>(spline_entries.size());
    if (s.first[i] != point) strips.push_back({s.first[i], static_cast<int>(slots.size()), 0});
    if (s.first[i] != point || s.joint[i] != joint) slots.push_back({s.joint[i], entry, 0});
    point = s.first[i];
    joint = s.joint[i];
    const double inverse = 1.0 / s.scale[i];
    spline_entries.push_back({s.matrix[i], s.rate[i], row[i], spline_matrices[s.matrix[i]].rows, inverse,
                              s.lower[i] * inverse, s.upper[i] * inverse});
    slots.back().end = entry + 1;
    strips.back().end = static_cast<int>(slots.size());
  }
}

// Where the squares of a small matrix over some control points go.
void MotionLayout::couple(const std::vector<int>& at, const std::vector<int>& to, int source, bool strip) {
  for (std::size_t i = 0; i < at.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const int down = std::abs(to[i] - to[j]);
      const BlockTerm::Kind kind = i == j        ? BlockTerm::kDiagonal
                                   : down == 0   ? BlockTerm::kFolded
                                   : to[i] > to[j] ? BlockTerm::kPlain
                                                   : BlockTerm::kTransposed;
      BlockColumn& column = columns[std::min(to[i], to[j])];
      (strip ? column.strips : column.pieces).push_back({source, at[i], at[j], down, kind});
      reach = std::max(reach, down);
    }
  }
}

void MotionLayout::place_columns(const MotionData& data) {
  columns.resize(blocks);
  for (std::size_t e = 0; e < pieces.size(); ++e) {
    if (pieces[e].groups.empty()) continue;
    std::vector<int> local(pieces[e].points.size());
    std::iota(local.begin(), local.end(), 0);
    couple(local, pieces[e].blocks, static_cast<int>(e), false);
  }
  for (std::size_t s = 0; s < strips.size(); ++s) {
    std::vector<int> at, to;
    for (int c = 0; c < width; ++c) {
      const int block = data.block_of[strips[s].point + c];
      if (block < 0) continue;
      at.push_back(c);
      to.push_back(block);
    }
    couple(at, to, static_cast<int>(s), true);
  }
}

// The Hessian of |R p|^2, by pairs of blocks.
void MotionLayout::place_jerk(const MotionData& data) {
  if (data.cost.jerk == 0.0) return;
  std::vector<std::vector<double>> sums(blocks, std::vector<double>(blocks, 0.0));
  const std::vector<double>& all = data.cost.smoothness;
  for (std::size_t r = 0; r < all.size(); r += points) {
    for (int c = 0; c < points; ++c) {
      if (all[r + c] == 0.0) continue;
      for (int d = 0; d < points; ++d) {
        const int row = data.block_of[c], column = data.block_of[d];
        if (row >= column && column >= 0) sums[column][row] += 2.0 * all[r + c] * all[r + d];
      }
    }
  }
  for (int column = 0; column < blocks; ++column) {
    for (int row = column; row < blocks; ++row) {
      if (sums[column][row] == 0.0) continue;
      columns[column].jerk.push_back({row - column, sums[column][row]});
      reach = std::max(reach, row - column);
    }
  }
}

}  // namespace robomorph::planning
