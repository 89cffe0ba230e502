// Functions of a motion evaluated elsewhere: all nodes of all pieces at once, on a device.
#pragma once

namespace robomorph::planning {

enum class NodeJob { kValues, kMargins, kDerivatives, kHessians };

// What a job leaves: rows of nodes, (pieces * nodes, size). It stays until the next job.
enum NodeTable {
  kNodeValues,          // (C,): of every job but kHessians
  kNodeTorques,         // (nv,): likewise
  kNodeFurtherValues,   // kMargins: the same at the further nodes, (pieces * (nodes - 1), size)
  kNodeFurtherTorques,
  kNodeGradients,       // kDerivatives: (C, nv)
  kNodeByQ,             // kDerivatives: dtau_dq, dtau_dqd, mass (nv, nv)
  kNodeByV,
  kNodeByA,
  kNodeChannelHessian,  // kHessians: (nv, nv)
  kNodeQQ,              // kHessians: those of the torques (nv, nv)
  kNodeQV,
  kNodeVV,
  kNodeQA,
  kNodeTables,
};

class NodeDevice {
 public:
  virtual ~NodeDevice() = default;

  // Does a job for control points (points, nv). kHessians is about the motion of the last kDerivatives and `multipliers`.
  // False if it failed: then it is no more called on, and whoever made it knows why. One caller at a time.
  virtual bool run(NodeJob job, const double* control, double sigma) = 0;

  bool single = false;                      // tables of float, else of double
  const void* tables[kNodeTables] = {};     // null: none
  double* multipliers = nullptr;            // (pieces * nodes, functions), written before kHessians
};

}  // namespace robomorph::planning
