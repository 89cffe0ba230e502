#include "ik/speculate.h"

#include <limits>

#include "ik/lanes.h"

namespace robomorph {

std::size_t IkSpeculation::place(const IkPlan& plan, char* memory) {
  if (plan.speculations == 0) return 0;
  std::size_t at = 0;
  const auto take = [&](double*& array, std::size_t size) {
    array = memory == nullptr ? nullptr : reinterpret_cast<double*>(memory + at);
    at += round_up(size * plan.wide_lanes * sizeof(double) + sizeof(double));
  };
  take(q_, plan.nq);
  take(target_, plan.targets);
  take(raw_, plan.raws);
  take(err_, plan.rows);
  take(bend_, plan.bends);
  workspace_ = memory == nullptr ? nullptr : memory + at;
  return at + round_up(plan.workspace);
}

IkShare IkSpeculation::best_share(const IkPlan& plan, const double* q, const double* step, const double* target) {
  switch (plan.wide_lanes) {
    case 1: return search<1>(plan, q, step, target);
    case 2: return search<2>(plan, q, step, target);
    case 4: return search<4>(plan, q, step, target);
    default: return search<8>(plan, q, step, target);
  }
}

template <std::size_t L>
IkShare IkSpeculation::search(const IkPlan& plan, const double* q, const double* step, const double* target) {
  for (std::size_t i = 0; i < plan.targets; ++i) std::fill_n(target_ + i * L, L, target[i]);
  double best = std::numeric_limits<double>::infinity();
  IkShare chosen{1.0, false};
  for (int first = 1; first <= plan.speculations; first += static_cast<int>(L)) {
    double share[L], cost[L] = {};
    for (std::size_t l = 0; l < L; ++l) {
      const double part = static_cast<double>(first + static_cast<int>(l)) / plan.speculations;
      share[l] = plan.longest_share * std::min(1.0, part);
    }
    for (const IkScalar& joint : plan.scalars) {
      for (std::size_t l = 0; l < L; ++l) q_[joint.q * L + l] = q[joint.q] + share[l] * step[joint.v];
    }
    // The whole step keeps the limits; more than the whole may not, and is judged by where it stops.
    if (plan.longest_share > 1.0) {
      for (const IkScalar& joint : plan.limited) {
        for (std::size_t l = 0; l < L; ++l) q_[joint.q * L + l] = ik_inside(joint, q_[joint.q * L + l]);
      }
    }
    for (const IkJoint& joint : plan.others) {
      for (std::size_t l = 0; l < L; ++l) {
        double part[kMostFreedoms], moved[kMostCoordinates];
        const IkJointSize size = ik_joint_size(joint.kind);
        for (int i = 0; i < size.nv; ++i) part[i] = share[l] * step[joint.v + i];
        ik_move(joint.kind, q + joint.q, part, moved, 1);
        for (int i = 0; i < size.nq; ++i) q_[(joint.q + i) * L + l] = moved[i];
      }
    }
    const void* in[] = {q_, target_};
    void* out[] = {raw_};
    plan.errors(in, out, workspace_);
    ik_rows<L>(plan, raw_, err_, bend_);
    for (std::size_t i = 0; i < plan.rows; ++i) {
      const double w = plan.weights[i];
      for (std::size_t l = 0; l < L; ++l) cost[l] += (w * err_[i * L + l]) * (w * err_[i * L + l]);
    }
    double worst[L] = {};
    if (plan.relaxation > 0.0) ik_worst_group<L>(plan, err_, worst);
    for (std::size_t l = 0; l < L; ++l) {
      if (cost[l] < best) {
        best = cost[l];
        chosen = {share[l], worst[l] <= 1.0};
      }
    }
  }
  return chosen;
}

}  // namespace robomorph
