"""Gradients of the dynamics for a whole batch of states in one call."""

import numpy as np

import robomorph

robot = robomorph.load("hyq", floating_base=True)
q, qd = robot.random_state(rng=0, batch=256)
tau = np.zeros((256, robot.nv))

g = robot.forward_dynamics_gradient(q, qd, tau)
print("accelerations      ", g.qdd.shape)
print("d(qdd)/dq          ", g.dqdd_dq.shape, "in the tangent space, so nv x nv although nq =", robot.nq)
print("inverse mass matrix", g.minv.shape)

# Arguments broadcast: one velocity for all configurations.
torques = robot.inverse_dynamics(q, np.zeros(robot.nv), np.zeros(robot.nv))
print("torques that hold the robot still:", torques.shape)

# A small step along the gradient's prediction agrees with the dynamics themselves.
dq = 1e-6 * np.ones(robot.nv)
predicted = g.dqdd_dq @ dq
moved = robot.forward_dynamics(robot.integrate(q, dq), qd, tau) - g.qdd
print("prediction error   ", f"{np.abs(predicted - moved).max() / np.abs(moved).max():.0e}")
