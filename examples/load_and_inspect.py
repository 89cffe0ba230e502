"""Robots loaded by name: what they are made of, what is in q, and whether their kernels are right."""

import numpy as np

import robomorph

robots = {
    "iiwa14": robomorph.load("iiwa14"),
    "hyq": robomorph.load("hyq", floating_base=True),
    "atlas": robomorph.load("atlas", floating_base=True),
}
for name, robot in robots.items():
    mass = sum(body.inertia.mass for body in robot.model.bodies)
    print(f"{name}: nq={robot.nq}, nv={robot.nv}, {len(robot.link_names)} links, {mass:.1f} kg that move")

arm = robots["iiwa14"]
limits = arm.limits
for k, joint in enumerate(arm.coordinate_names):
    print(
        f"  q[{k}] {joint}: {limits.lower[k]:+.2f} to {limits.upper[k]:+.2f} rad,"
        f" {limits.velocity[k]:.2f} rad/s, {limits.effort[k]:.0f} N m"
    )
print("a floating base comes first:", ", ".join(robots["hyq"].coordinate_names[:7]))

tool = arm.link_names[-1]
print(
    f"{tool} is at", np.round(arm.forward_kinematics(arm.neutral, tool)[:3, 3], 3), "m when all joints are 0"
)

# Compiled code against the interpreter, textbook formulas and finite differences, at random states.
for row in arm.verify(["inverse_dynamics", "forward_dynamics_gradient", "jacobian"]).checked:
    print(f"{row.algorithm}: {row.kernel.stats.flops} operations, {'agrees' if row.passed else 'DIFFERS'}")
    assert row.passed
