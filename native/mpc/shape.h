// How control problems lie in memory.
//
// A problem has nodes 0 .. horizon; node k has q, v (nv,) and, but for the last, a (nv,). Numbers lie in groups of
// kLanes lanes: entry e of group g in lane l at (g * entries + e) * kLanes + l, aligned to 64 bytes, as kernels have
// them. A bundle is either one problem, whose lanes are kLanes nodes in a row, or kLanes problems, whose lanes are
// these problems at one node. What is done group by group is written once for both; sweeps along the horizon
// are not (sweep.h).
#pragma once

#include <cstddef>

namespace robomorph::mpc {

inline constexpr int kLanes = 8;

struct Shape {
  int nv = 0;
  int horizon = 0;            // steps; nodes are one more
  int rows = 0;               // of tasks, at every node
  bool row_velocity = false;  // do they depend on v?
  bool jerk = false;          // does a difference between neighbouring accelerations cost?
  int problems = 1;           // of a bundle: 1 or kLanes
  double dt = 0.0;            // s

  int nodes() const { return horizon + 1; }
  int groups() const { return problems == 1 ? (nodes() + kLanes - 1) / kLanes : nodes(); }
  // Where node k of problem p is. Lanes beyond the last node are copies of it.
  int group(int node) const { return problems == 1 ? node / kLanes : node; }
  int lane(int node, int problem) const { return problems == 1 ? node % kLanes : problem; }
  std::size_t numbers(int entries) const { return static_cast<std::size_t>(groups()) * entries * kLanes; }
};

}  // namespace robomorph::mpc
