// A motion problem as numbers, as planning/problem.py has it, and the kernels that evaluate its functions.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "core/execute.h"
#include "planning/node_device.h"

namespace robomorph::planning {

// Code for kLanes states at once, arrays in lane order.
struct MotionKernel {
  KernelFn fn = nullptr;
  std::size_t workspace = 0;  // bytes
};

struct MotionKernels {
  MotionKernel channel_values;   // (q, references) -> values (C,)
  MotionKernel channels;         // (q, references) -> values (C,), gradients (C, nv)
  MotionKernel channel_hessian;  // (q, references, multipliers (C,)) -> (nv, nv)
  MotionKernel torque_values;    // (q, qd, qdd) -> tau (nv,)
  MotionKernel torques;          // (q, qd, qdd) -> tau (nv,), dtau_dq, dtau_dqd, mass (nv, nv)
  MotionKernel torque_hessian;   // (q, qd, qdd, multipliers (nv,)) -> qq, q_qd, qd_qd, q_qdd (nv, nv)
  // Second derivatives may be missing: what they would add is then left out.

  NodeDevice* device = nullptr;  // evaluates in place of all the others, if there is one

  bool has_channel_hessian() const { return device ? device->tables[kNodeChannelHessian] != nullptr : channel_hessian.fn != nullptr; }
  bool has_torque_hessian() const { return device ? device->tables[kNodeQQ] != nullptr : torque_hessian.fn != nullptr; }
};

struct MotionMatrix {
  int rows = 0;
  std::vector<double> entries;  // row-major
};

struct MotionPieces {
  int count = 0, nodes = 0;
  std::vector<int> first;           // (count,)
  std::vector<double> basis;        // (count, 3, nodes, width)
  std::vector<double> between;      // (count, 3, nodes - 1, width)
  std::vector<double> quadrature;   // (count, nodes)
};

struct MotionRows {
  std::vector<int> piece, function, matrix, rate;
  std::vector<double> lower, upper, scale;
  std::vector<double> noise;  // part of an entry's margin, scaled: by how much rounding may falsify it; empty: zero
};

struct MotionSplineRows {
  std::vector<int> first, joint, matrix, rate;
  std::vector<double> lower, upper, scale;
};

struct MotionCost {
  double jerk = 0.0, energy = 0.0, time = 0.0;
  std::vector<double> smoothness;    // (any, points), or empty without jerk
  std::vector<double> joint_weight;  // (nv,), or empty without jerk
  std::vector<double> torque_scale;  // (nv,), or empty without energy
};

struct MotionData {
  int nv = 0, width = 0, channels = 0, points = 0;
  bool torque = false;
  double seconds = 0.0;
  bool free_duration = false;
  double shortest = 1.0, longest = 1.0;  // bounds of sigma
  std::vector<double> references;
  std::vector<double> control;  // (points, nv)
  std::vector<int> block_of;    // (points,)
  MotionPieces pieces;
  std::vector<MotionMatrix> matrices;  // (m, nodes)
  std::vector<MotionMatrix> coarse;    // (m', nodes)
  std::vector<MotionMatrix> fine;      // (m'', 2 nodes - 1), the nodes, then those between
  MotionRows rows;
  std::vector<MotionMatrix> spline_matrices;  // (m, width)
  MotionSplineRows spline_rows;
  MotionCost cost;
  std::vector<unsigned char> pattern;  // (functions, nv): can this joint change this function? empty: all can
};

// What is wrong with the numbers or amiss among the kernels, or an empty text.
std::string motion_fault(const MotionData& data, const MotionKernels& kernels);

}  // namespace robomorph::planning
