// Accelerations are the controls; torques are those of inverse dynamics.
#pragma once

#include <memory>

#include "mpc/form.h"
#include "mpc/memory.h"
#include "mpc/rows.h"
#include "mpc/sweep.h"
#include "mpc/work.h"

namespace robomorph::mpc {

class InverseForm final : public Form {
 public:
  explicit InverseForm(Work& work);

  void trial(const double* share) override;
  void settle() override;
  void begin_at_state() override;
  void accept() override {}  // a trial's derivatives are those of the value to be
  void direction(const double* dq0, const double* dv0, const double* regularisation, double* gains,
                 StepFacts& facts) override;
  void torque_gains(int problem, const double* gains, double* out) const override;
  double square(int problem) const override;
  double stiffness(int problem) const override;
  Seconds spent() override;

 private:
  void evaluate();
  void call_torques(int group);
  void call_rows(int group);
  void differ(const double* a, double* jerk) const;

  Work& w_;
  const RowLoops& loops_;
  std::unique_ptr<Sweep> sweep_;
  Doubles mass_, by_q_, by_v_, row_by_q_, row_by_v_, workspace_;
  Seconds spent_;
};

}  // namespace robomorph::mpc
