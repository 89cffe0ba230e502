// Kernels in lane order of the chain of pendulums (pendulum_control.h), with derivatives by hand.
#pragma once

#include "mpc/problem.h"

namespace robomorph::tests {

inline constexpr double kLength = 0.5, kArmature = 0.1, kGravity = 9.81;

mpc::Kernel pendulum_torque_kernel(int nv);
mpc::Kernel pendulum_row_kernel(int nv, bool velocity);

}  // namespace robomorph::tests
