// A motion problem small enough to write out: a planar chain that moves along cubic splines, with rows that hold at all
// times as Bernstein coefficients of interpolated positions. Variables are control points, and with `free_duration`
// the duration's factor as border.
#pragma once

#include <vector>

#include "planning/nlp.h"

namespace robomorph::tests {

class SplineMotion : public planning::Nlp {
 public:
  static constexpr int kNodes = 8;

  enum class Kind { kX, kY, kAngle };
  struct Channel {
    Kind kind;
    int link;  // the end of which
  };

  SplineMotion(int joints, int intervals, std::vector<double> start, std::vector<double> end, bool free_duration = false);

  int add_channel(Kind kind, int link);
  // Value of a channel, or its speed, within bounds on intervals [first, last); units of 1 / scale.
  void keep(int channel, bool speed, int first, int last, double low, double high, double scale);
  void limit_joints(double position, double speed);
  void ready();  // after the last row

  std::vector<double> guess() const;  // straight from start to end
  double channel_value(const double* x, int channel, double time) const;  // time in intervals
  double channel_value_at(const double* q, int channel) const;

  const double* lower() const override { return low_.data(); }
  const double* upper() const override { return high_.data(); }
  bool refresh_margins(const double*) override { return false; }
  bool values(const double* x, double* cost, double* rows) override;
  bool linearise(const double* x, double* cost_gradient) override;
  void jacobian_times(const double* direction, double* rows) override;
  void jacobian_transposed_times(const double* multipliers, double* variables) override;
  void condensed(double cost_scale, const double* multipliers, const double* weights, bool exact,
                 planning::Banded& out) override;

  double time_weight = 1.0, jerk_weight = 1.0;

 private:
  static constexpr int kDuration = -2;  // as a row's channel

  struct Row {
    int interval, channel, joint;  // channel -1: of a joint
    bool speed;
    double node[kNodes];   // of node values, scaled
    double control[4];     // of control points, scaled
  };

  double control(const double* x, int index, int joint) const;
  void joints_at(const double* x, int interval, double local, double* q) const;
  void nodes_of(const double* x, std::vector<double>& values) const;
  double row_value(const Row& row, const double* x, const std::vector<double>& values) const;
  void row_gradient(const Row& row, double* local) const;
  void add_local(int interval, const double* local, double weight, planning::Banded& out) const;
  void add_entry(int interval, int a, int i, int b, int j, double value, planning::Banded& out) const;
  void add_cost(double scale, planning::Banded& out) const;
  void add_curvature(const double* multipliers, planning::Banded& out) const;
  void node_hessian(const double* q, const double* lambda, double* out) const;

  int joints_, intervals_, fixed_ = 3;
  std::vector<double> start_, end_;
  std::vector<Channel> channels_;
  std::vector<Row> table_;
  std::vector<double> low_, high_;
  double basis_[kNodes][4];
  std::vector<double> at_, node_values_, gradients_, scratch_;
};

}  // namespace robomorph::tests
