"""A small arm and made-up solvers for tests of the sections about control."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from robomorph.bench.mpc.problem import ControlProblem, Limits, Weights, subject
from robomorph.bench.mpc.referee import Referee, Trajectory

# Joint b comes before joint a along the arm; Pinocchio sorts siblings, so there are two of them as well.
ARM = """<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0 0 0.2"/><mass value="2"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="left"><inertial><origin xyz="0 0.02 0.15"/><mass value="1"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.005" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="right"><inertial><origin xyz="0.03 0 0.1"/><mass value="0.5"/>
    <inertia ixx="0.004" iyy="0.004" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="z_root" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" velocity="2" effort="40"/></joint>
  <joint name="y_left" type="revolute"><parent link="upper"/><child link="left"/><axis xyz="1 0 0"/>
    <origin xyz="0 0.05 0.4"/><limit lower="-2" upper="1" velocity="3" effort="15"/></joint>
  <joint name="x_right" type="revolute"><parent link="upper"/><child link="right"/><axis xyz="0 1 0"/>
    <origin xyz="0 -0.05 0.4"/><limit lower="-1.5" upper="1.5" velocity="3" effort="10"/></joint>
</robot>
"""


def write_arm(folder: Path) -> str:
    path = folder / "arm.urdf"
    path.write_text(ARM)
    return str(path)


def small_problem(source: str, horizon: int = 5, *, limits: Limits | None = None) -> ControlProblem:
    """A reach of the small arm."""
    q, goal = np.array([0.3, -0.4, 0.5]), np.array([-0.2, 0.3, 0.1])
    _, arm = subject(source)
    return ControlProblem(
        source,
        q,
        np.zeros(3),
        goal,
        arm.gravity(goal),
        Weights(q=10.0, v=0.1, tau=1e-3),
        Weights(q=100.0, v=1.0),
        horizon,
        0.02,
        Limits.none(3) if limits is None else limits,
    )


@dataclass(eq=False)
class Scripted:
    """A solver whose plans are known: `torque(iterations)` is added to what holds the arm at rest."""

    problems: tuple[ControlProblem, ...]
    torque: Callable[[int], float]
    misreports: float = 0.0
    seconds: float = 1.0
    asked: list[tuple[int, int]] = field(default_factory=list)

    def solve(self, problem: int, iterations: int) -> tuple[Trajectory, float, int]:
        given = self.problems[problem]
        referee = Referee(given)
        plan = referee.drive(given.initial.tau + self.torque(iterations))
        return plan, referee.cost(plan) * (1.0 + self.misreports), iterations

    def time(self, runs: list[tuple[int, int]]) -> tuple[list[float], list[float]]:
        self.asked += runs
        wall = [self.seconds * iterations for _, iterations in runs]
        return wall, [0.5 * w for w in wall]
