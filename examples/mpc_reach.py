"""Predictive control in a closed loop: a reach with a push, a delay and a payload that nobody told of.

`simulate` is the short way. `by_hand` is the same loop spelled out, as it would run beside a real robot: each
step starts from the last plan, and a viewer is told where the robot is.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import robomorph
from robomorph import Robot, mpc
from robomorph.tasks import Posture

Array = npt.NDArray[np.float64]
START = np.array([0.0, 0.6, 0.0, -1.2, 0.0, 0.8, 0.0])
GOAL = np.array([0.5, 0.9, 0.2, -0.8, 0.3, 0.4, 0.5])
PERIOD = 1e-3  # s


def make_controller(robot: Robot) -> mpc.Controller:
    problem = mpc.Problem(robot, horizon=50, dt=0.01)
    posture = Posture.of(robot.model)
    problem.cost(posture, 10.0, name="goal").terminal(posture, 1000.0, name="goal")
    problem.cost(mpc.Velocity(), 0.1, name="speed").terminal(mpc.Velocity(), 10.0, name="speed")
    problem.cost(mpc.Effort(), 1e-3, "gravity")
    problem.limits(torque=True, velocity=True, position=True)
    return mpc.Controller(problem, iterations=1, period=PERIOD)  # one iteration a tick, from the last plan


class Viewer:
    """Stands for a window that draws the robot, sixty times a second; False from it would end the loop."""

    def __init__(self) -> None:
        self.shown, self._next = 0, 0.0

    def __call__(self, time: float, q: Array) -> bool:
        if time >= self._next:
            self.shown, self._next = self.shown + 1, self._next + 1 / 60
        return True


def simulated(robot: Robot) -> mpc.Simulation:
    viewer = Viewer()
    loop = mpc.simulate(
        make_controller(robot),
        mpc.RobotPlant(robot, payload=3.0),  # or mpc.MujocoPlant(robot, payload=3.0)
        seconds=2.5,
        start=START,
        reference=GOAL,
        pushes=[mpc.Push((0.0, 100.0, 0.0), start=1.0, seconds=0.05)],
        delay=mpc.Delay(measurement=0.002),
        viewer=viewer,
    )
    print(loop.reason)
    print(f"peak after the push {loop.peak:.4f} rad, left {loop.left:.1e} rad, {viewer.shown} frames shown")
    for margin in loop.margins:
        print(f"  {margin.what}: {margin.share:.0%} of the limit left ({margin.joint}, {margin.time:.2f} s)")
    assert loop.success and loop.left < 1e-3
    return loop


def by_hand(robot: Robot) -> None:
    controller, plant = make_controller(robot), mpc.RobotPlant(robot, payload=3.0)
    observer = mpc.Observer(robot, PERIOD)
    plant.reset(START, np.zeros(robot.nv))
    observer.reset(plant.q, plant.qd)
    viewer = Viewer()
    for k in range(1500):
        viewer(k * PERIOD, plant.q)
        q, qd = observer.sense(plant.q, plant.qd)  # on a robot: what its encoders say
        plan = controller.step(q, qd, reference=GOAL, offset=observer.offset)
        tau = observer.command(plan.tau, plan.qdd[0])
        plant.advance(tau, PERIOD)  # on a robot: send tau, and wait for the next tick
    print(f"by hand: {np.abs(plant.q - GOAL).max():.1e} rad left, {observer.payload:.2f} kg weighed")
    assert np.abs(plant.q - GOAL).max() < 5e-3


def main() -> mpc.Simulation:
    robot = robomorph.load("iiwa14")
    loop = simulated(robot)
    by_hand(robot)
    return loop


if __name__ == "__main__":
    main()
