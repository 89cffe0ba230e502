// Pinocchio's second derivatives of inverse dynamics, called from Python (second_order.py): its wheel has the
// headers, but no binding of this function. Joints are axes of their frames.
#include <pinocchio/algorithm/rnea-second-order-derivatives.hpp>
#include <pinocchio/multibody/joint.hpp>

#include <algorithm>
#include <string>

namespace pin = pinocchio;

namespace {
struct Robot {
  pin::Model model;
  pin::Data data;
};

pin::JointModel joint(int kind) {
  switch (kind) {
    case 0: return pin::JointModelRX();
    case 1: return pin::JointModelRY();
    case 2: return pin::JointModelRZ();
    case 3: return pin::JointModelPX();
    case 4: return pin::JointModelPY();
    default: return pin::JointModelPZ();
  }
}
}  // namespace

extern "C" {
// Per joint: its parent, its kind, a rotation by rows with a translation (12), dynamic parameters (10).
void *make(int joints, const int *parents, const int *kinds, const double *places, const double *inertias) {
  auto *robot = new Robot;
  for (int i = 0; i < joints; ++i, places += 12, inertias += 10) {
    const Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> turn(places);
    const Eigen::Map<const Eigen::Vector3d> shift(places + 9);
    const auto id = robot->model.addJoint(parents[i], joint(kinds[i]), pin::SE3(turn, shift), std::to_string(i));
    const Eigen::Map<const Eigen::Matrix<double, 10, 1>> inertia(inertias);
    robot->model.appendBodyToJoint(id, pin::Inertia::FromDynamicParameters(inertia), pin::SE3::Identity());
  }
  robot->data = pin::Data(robot->model);
  return robot;
}

// For every state the tensors by (q, q), (qd, qd), (q, qd), (qdd, q) into out, if there is one; each (k, j, i).
void second(void *handle, long states, const double *q, const double *qd, const double *qdd, double *out) {
  auto *robot = static_cast<Robot *>(handle);
  const long n = robot->model.nv;
  for (long s = 0; s < states; ++s, q += n, qd += n, qdd += n) {
    const Eigen::Map<const Eigen::VectorXd> a(q, n), b(qd, n), c(qdd, n);
    pin::ComputeRNEASecondOrderDerivatives(robot->model, robot->data, a, b, c);
    if (out == nullptr) continue;
    for (const double *from : {robot->data.d2tau_dqdq.data(), robot->data.d2tau_dvdv.data(),
                               robot->data.d2tau_dqdv.data(), robot->data.d2tau_dadq.data()})
      out = std::copy(from, from + n * n * n, out);
  }
}
}
