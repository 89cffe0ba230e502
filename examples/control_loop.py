"""A kernel in a control loop: compiled once, called with results in place, so nothing is allocated."""

from typing import Any

import numpy as np

import robomorph

robot = robomorph.load("iiwa14")
torque: Any = robot.compile("inverse_dynamics", threads=1)
torque.prepare()  # compile now, not in the loop

goal = np.array([0.3, 0.6, 0.0, -1.2, 0.0, 0.9, 0.0])
q, qd, tau = np.zeros(robot.nv), np.zeros(robot.nv), np.empty(robot.nv)
dt = 0.002
passed = np.empty((1500, robot.nv))  # where the joints were, for a look at it afterwards
for step in range(len(passed)):
    passed[step] = q
    wanted = 40.0 * (goal - q) - 12.0 * qd  # critically damped, nearly
    torque(q, qd, wanted, out=tau)
    # The plant: here the robot's own dynamics, without friction.
    qdd = robot.forward_dynamics(q, qd, np.clip(tau, -robot.limits.effort, robot.limits.effort))
    qd = qd + dt * qdd
    q = robot.integrate(q, dt * qd)

print("operations in the kernel:", torque.stats.flops)
print("distance from the goal after 3 s:", f"{np.abs(goal - q).max():.1e} rad")
assert np.abs(goal - q).max() < 1e-3
