// Torques are the controls; motions come from forward dynamics and an integrator, node after node (DDP).
#pragma once

#include "mpc/ddp_dynamics.h"
#include "mpc/ddp_sweep.h"
#include "mpc/form.h"
#include "mpc/memory.h"
#include "mpc/task_rows.h"
#include "mpc/work.h"

namespace robomorph::mpc {

// Of bundles of one problem, without jerk.
class ForwardForm final : public Form {
 public:
  ForwardForm(Work& work, Integrator integrator);

  void trial(const double* share) override;
  void settle() override;
  void begin_at_state() override { settle(); }
  bool settles_at_state() const override { return true; }
  void shift(double nodes) override;
  void accept() override;
  void direction(const double* dq0, const double* dv0, const double* regularisation, double* gains,
                 StepFacts& facts) override;
  void torque_gains(int problem, const double* gains, double* out) const override;
  double square(int problem) const override;
  double stiffness(int problem) const override;
  Seconds spent() override;

 private:
  bool roll(double share);
  bool follow(bool policy);
  void correct(int node, bool policy, const double* q, const double* v, double* torque);
  void guess_torques();
  bool at_state() const;
  void read(int quantity, int node, double* out) const;           // of `value`
  void write(int quantity, int node, const double* from) const;   // into `trial`
  void spoil() const;
  void end() const;
  DdpModel model() const;
  void add_slopes(int quantity, StepFacts& facts) const;
  void acceleration_gains(double* out) const;

  Work& w_;
  DdpSizes sizes_;
  DdpDynamics dynamics_;
  DdpSweep sweep_;
  TaskRows rows_;
  Doubles zeros_, start_, node_, torques_, workspace_;
  bool same_ = false;      // is the last trial the value itself?
  bool policy_ = false;    // is there feedback from a sweep?
  double shifted_ = 0.0;   // nodes by which the motion has moved on since
  Seconds spent_;
};

}  // namespace robomorph::mpc
