// Looks at every number that later serves as an index or a divisor, so that nothing behind needs to.
#include <algorithm>
#include <cmath>

#include "planning/motion_data.h"

namespace robomorph::planning {
namespace {

using Text = std::string;

bool sized(const std::vector<double>& values, long long size) { return static_cast<long long>(values.size()) == size; }

bool finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

bool positive(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x) && x > 0.0; });
}

bool within(const std::vector<int>& values, long long low, long long end) {
  return std::all_of(values.begin(), values.end(), [=](int x) { return x >= low && x < end; });
}

Text sizes_fault(const MotionData& d) {
  if (d.nv < 1 || d.width < 1 || d.channels < 0) return "nv, width, channels: expected at least 1, 1, 0";
  if (d.points < d.width) return "control: fewer points than decide a piece";
  if (!sized(d.control, 1LL * d.points * d.nv)) return "control: expected (points, nv)";
  if (d.block_of.size() != static_cast<std::size_t>(d.points)) return "block_of: expected one number a control point";
  if (!within(d.block_of, -1, d.points)) return "block_of: expected -1 or a block, fewer blocks than points";
  if (!finite(d.control) || !finite(d.references)) return "control, references: a number is not finite";
  const std::size_t functions = d.channels + (d.torque ? d.nv : 0);
  if (!d.pattern.empty() && d.pattern.size() != functions * d.nv) return "pattern: expected (functions, nv)";
  const bool bounds = std::isfinite(d.shortest) && d.shortest > 0.0 && d.longest >= d.shortest;
  if (d.free_duration && !bounds) return "duration: expected 0 < shortest <= longest";
  return std::isfinite(d.seconds) ? "" : "seconds: not finite";
}

// Every block has a control point: a variable that nothing depends on would make the matrix singular.
Text blocks_fault(const MotionData& d) {
  std::vector<bool> seen(d.points, false);
  for (int block : d.block_of) {
    if (block >= 0) seen[block] = true;
  }
  const auto gap = std::find(seen.begin(), seen.end(), false);
  return std::find(gap, seen.end(), true) == seen.end() ? "" : "block_of: a block has no control point";
}

Text pieces_fault(const MotionData& d) {
  const MotionPieces& p = d.pieces;
  if (p.count < 0 || p.nodes < 1) return "pieces: expected at least one node";
  if (p.first.size() != static_cast<std::size_t>(p.count)) return "pieces.first: expected one number a piece";
  if (!within(p.first, 0, d.points - d.width + 1)) return "pieces.first: outside the control points";
  if (!sized(p.basis, 3LL * p.count * p.nodes * d.width)) return "pieces.basis: expected (pieces, 3, nodes, width)";
  if (!sized(p.between, 3LL * p.count * (p.nodes - 1) * d.width)) {
    return "pieces.between: expected (pieces, 3, nodes - 1, width)";
  }
  if (!sized(p.quadrature, 1LL * p.count * p.nodes)) return "pieces.quadrature: expected (pieces, nodes)";
  const bool fine = finite(p.basis) && finite(p.between) && finite(p.quadrature);
  return fine ? "" : "pieces: a number is not finite";
}

Text matrices_fault(const std::vector<MotionMatrix>& matrices, int columns, const char* name) {
  for (const MotionMatrix& m : matrices) {
    if (m.rows < 0 || !sized(m.entries, 1LL * m.rows * columns)) return Text(name) + ": a matrix has a wrong shape";
    if (!finite(m.entries)) return Text(name) + ": a number is not finite";
  }
  return "";
}

template <typename Rows>
Text bounds_fault(const Rows& r, std::size_t count, const char* name) {
  const bool sizes = r.matrix.size() == count && r.rate.size() == count && r.lower.size() == count &&
                     r.upper.size() == count && r.scale.size() == count;
  if (!sizes) return Text(name) + ": the lists have different lengths";
  if (!within(r.rate, 0, 4)) return Text(name) + ".rate: expected 0, 1, 2 or 3";
  if (!positive(r.scale)) return Text(name) + ".scale: expected positive numbers";
  for (std::size_t i = 0; i < count; ++i) {
    if (!(r.lower[i] <= r.upper[i])) return Text(name) + ": a lower bound is above the upper one";
  }
  return "";
}

Text rows_fault(const MotionData& d) {
  const MotionRows& r = d.rows;
  const std::size_t count = r.piece.size();
  if (r.function.size() != count) return "rows: the lists have different lengths";
  if (!r.noise.empty() && r.noise.size() != count) return "rows.noise: expected one number an entry, or none";
  if (std::any_of(r.noise.begin(), r.noise.end(), [](double x) { return !std::isfinite(x) || x < 0.0; })) {
    return "rows.noise: expected 0 or more";
  }
  if (!within(r.piece, 0, d.pieces.count)) return "rows.piece: no such piece";
  if (!within(r.function, 0, d.channels + (d.torque ? d.nv : 0))) return "rows.function: no such function";
  if (!within(r.matrix, 0, static_cast<long long>(d.matrices.size()))) return "rows.matrix: no such matrix";
  if (d.coarse.size() != d.matrices.size() || d.fine.size() != d.matrices.size()) {
    return "coarse, fine: expected one of each for every matrix";
  }
  for (std::size_t i = 0; i < d.coarse.size(); ++i) {
    if (d.coarse[i].rows > d.fine[i].rows) return "fine: has fewer rows than coarse";
  }
  return bounds_fault(r, count, "rows");
}

Text spline_fault(const MotionData& d) {
  const MotionSplineRows& s = d.spline_rows;
  if (s.joint.size() != s.first.size()) return "spline_rows: the lists have different lengths";
  if (!within(s.first, 0, d.points - d.width + 1)) return "spline_rows.first: outside the control points";
  if (!within(s.joint, 0, d.nv)) return "spline_rows.joint: no such joint";
  if (!within(s.matrix, 0, static_cast<long long>(d.spline_matrices.size()))) return "spline_rows.matrix: no such matrix";
  return bounds_fault(s, s.first.size(), "spline_rows");
}

Text cost_fault(const MotionData& d) {
  const MotionCost& c = d.cost;
  if (!std::isfinite(c.jerk) || !std::isfinite(c.energy) || !std::isfinite(c.time)) return "cost: a weight is not finite";
  if (c.jerk != 0.0) {
    if (c.smoothness.empty() || c.smoothness.size() % d.points != 0 || !finite(c.smoothness)) {
      return "cost.smoothness: expected (any, points) finite numbers";
    }
    if (!sized(c.joint_weight, d.nv) || !finite(c.joint_weight)) return "cost.joint_weight: expected (nv,) finite numbers";
  }
  if (c.energy == 0.0) return "";
  if (!d.torque) return "cost.energy: there are no torques";
  return sized(c.torque_scale, d.nv) && positive(c.torque_scale) ? "" : "cost.torque_scale: expected (nv,) positive numbers";
}

Text device_fault(const MotionData& d, const NodeDevice& device) {
  const auto there = [&](int table) { return device.tables[table] != nullptr; };
  const bool further = d.pieces.nodes > 1;
  if (device.multipliers == nullptr) return "device: no place for multipliers";
  if (d.channels > 0 && !(there(kNodeValues) && there(kNodeGradients) && (!further || there(kNodeFurtherValues)))) {
    return "device: tables of the channels are missing";
  }
  const bool torques = there(kNodeTorques) && there(kNodeByQ) && there(kNodeByV) && there(kNodeByA);
  if (d.torque && !(torques && (!further || there(kNodeFurtherTorques)))) {
    return "device: tables of the torques are missing";
  }
  const int bent = there(kNodeQQ) + there(kNodeQV) + there(kNodeVV) + there(kNodeQA);
  return bent == 0 || bent == 4 ? "" : "device: expected all second derivatives of the torques or none";
}

Text kernels_fault(const MotionData& d, const MotionKernels& k) {
  if (k.device != nullptr) return device_fault(d, *k.device);
  if (d.channels > 0 && (!k.channel_values.fn || !k.channels.fn)) return "kernels: those of the channels are missing";
  if (d.torque && (!k.torque_values.fn || !k.torques.fn)) return "kernels: those of the torques are missing";
  return "";
}

}  // namespace

std::string motion_fault(const MotionData& d, const MotionKernels& kernels) {
  if (const Text text = sizes_fault(d); !text.empty()) return text;
  const int nodes = d.pieces.nodes;
  for (const Text& text :
       {blocks_fault(d), pieces_fault(d), matrices_fault(d.matrices, nodes, "matrices"),
        matrices_fault(d.coarse, nodes, "coarse"), matrices_fault(d.fine, 2 * nodes - 1, "fine"),
        matrices_fault(d.spline_matrices, d.width, "spline_matrices"), rows_fault(d), spline_fault(d), cost_fault(d),
        kernels_fault(d, kernels)}) {
    if (!text.empty()) return text;
  }
  return "";
}

}  // namespace robomorph::planning
