// The sweep back along the horizon for torques as controls, and the linear one forth.
#pragma once

#include "mpc/ddp_model.h"
#include "mpc/memory.h"

namespace robomorph::mpc {

// A linear step, in groups of lanes, nv entries each; what the last node has no use for is zero.
struct DdpDirection {
  double* dq = nullptr;
  double* dv = nullptr;
  double* da = nullptr;
  double* dtau = nullptr;
};

struct DdpLoops;
const DdpLoops& ddp_loops();

class DdpSweep {
 public:
  explicit DdpSweep(const DdpSizes& sizes, const DdpLoops& loops = ddp_loops());

  // Feedback for every node:  dtau = alpha * feedforward + gains (dq, dv).  `regularisation` weighs accelerations, as
  // in the inverse-dynamics form. False where a pivot is not positive or a number not finite.
  bool backward(const DdpModel& model, double regularisation);

  // What the model expects the whole step from the same state to gain: sum of 1/2 k' Q_tau_tau k.
  double expected() const { return expected_; }

  // The step that the model would take from a state off by dq0, dv0 (nv,).
  void forward(const double* dq0, const double* dv0, const DdpDirection& direction);

  // Node k's feedback: 2 nv + 1 rows of `sizes.width` numbers: what dq_j, dv_j and alpha add to the torques.
  double* policy(int node) { return policy_.data() + static_cast<std::size_t>(node) * sizes_.policy; }
  const double* policy(int node) const { return policy_.data() + static_cast<std::size_t>(node) * sizes_.policy; }

  // out (sizes.width numbers, aligned) += what node k's feedback says to a state off by dx (2 nv,), and to alpha.
  void add_feedback(int node, const double* dx, double alpha, double* out) const;

  const DdpSizes& sizes() const { return sizes_; }

 private:
  DdpSizes sizes_;
  const DdpLoops& loops_;
  Doubles policy_, kept_, scratch_;
  double expected_ = 0.0;
};

}  // namespace robomorph::mpc
