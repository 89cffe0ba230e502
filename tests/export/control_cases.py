"""Controllers that are exported by tests, and a way to drive them beside Python's."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import robomorph
from robomorph.export import export
from robomorph.mpc import Acceleration, Effort, Jerk, Problem, Velocity
from robomorph.tasks import Pose, Position, Posture
from tests.export.tools import need, output_of

Array = npt.NDArray[Any]
FLAGS = ("-std=c++17", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fno-exceptions", "-fno-rtti")
_UNIT = """#include "arm/mpc/controller.hpp"
const arm::Plan& other_unit(arm::Controller& controller, const double* q, const double* qd);
const arm::Plan& other_unit(arm::Controller& controller, const double* q, const double* qd) {
  return controller.step(q, qd);
}
"""


def joints_problem(horizon: int = 13) -> Problem:
    """Numbers of joints alone: limits, a bound that moves, what holds the posture against
    gravity and a spring, several costs on one."""
    robot = robomorph.load(
        "chain:3", passive=True, armature=0.02, damping=0.1, stiffness={"joint_2": (4.0, 0.3)}
    )
    problem, posture = Problem(robot, horizon, 0.02), Posture.of(robot.model)
    problem.cost(posture, 10.0, [0.5, -0.3, 0.2]).terminal(posture, 100.0)
    problem.cost(Posture.of(robot.model, ("joint_2",)), 3.0, [0.1], name="second")
    problem.cost(Velocity(), 0.1).cost(Effort(), 1e-3, "gravity").cost(Acceleration(), 1e-4)
    problem.limits(torque=[30.0, 20.0, 10.0], velocity=[1.0, 1.0, 1.0])
    problem.bound(posture, [-2.0] * 3, [0.4, 2.0, 2.0], reference=[0.0, 0.0, 0.0], name="corridor")
    return problem


def rows_problem(horizon: int = 10) -> Problem:
    """Rows of tasks: a pose without a reference, a speed, hard and soft bounds; jerk; gravity where the robot
    is."""
    robot = robomorph.load("chain:3")
    tip = robot.model.bodies[-1].name
    problem = Problem(robot, horizon, 0.02)
    problem.cost(Pose(tip), 5.0, name="pose").cost(Position(tip), 0.1, rate=1, name="speed")
    problem.cost(Velocity(), 0.2).terminal(Velocity(), 2.0)
    problem.cost(Effort(), 1e-3, "gravity").cost(Jerk(), 1e-6)
    problem.limits(velocity=[0.8, 0.8, 0.8])
    problem.bound(Position(tip), [-9.0] * 3, [9.0] * 3, name="room")
    problem.bound(Position(tip), [-0.5] * 3, [0.5] * 3, soft=50.0, name="soft room")
    return problem


class Found(NamedTuple):
    """A plan of C++; heap: what the step took from the heap."""

    heap: int
    iterations: int
    code: int
    converged: bool
    success: bool
    origin: int
    numbers: Array  # cost, soft_cost, violation, tau, q, qd, qdd, torques, gains


class Driver:
    """An exported controller, compiled with a driver."""

    def __init__(
        self, folder: Path, problem: Problem, setters: dict[str, int], compiler: str, *flags: str
    ) -> None:
        export(problem.robot, folder, mpc=problem, name="arm")
        self.nv, self.lines = problem.robot.nv, [""]
        (folder / "unit.cpp").write_text(_UNIT)
        named = " ".join(f"SETTER({name}, {count})" for name, count in setters.items())
        (folder / "driver.cpp").write_text(
            f"#define DRIVER_SETTERS {named}\n{(Path(__file__).parent / 'controller_driver.cpp').read_text()}"
        )
        self.program = folder / "driver"
        sources = (folder / "driver.cpp", folder / "unit.cpp")
        output_of(need(compiler), *FLAGS, *flags, f"-I{folder / 'include'}", *sources, "-o", self.program)

    def begin(self) -> None:
        self.lines = []

    def set(self, setter: str, numbers: Any) -> None:
        self.lines.append(f"set {setter} {_text(numbers)}")

    def step(
        self, q: Array, qd: Array, *, offset: Any = None, iterations: int = 1, elapsed: float = 0.02
    ) -> None:
        beyond = np.zeros(self.nv) if offset is None else offset
        self.lines.append(f"step {_text(q)} {_text(qd)} {_text(beyond)} {iterations} {elapsed!r}")

    def run(self) -> tuple[list[str], list[Found]]:
        """What it said, and the plans."""
        text = "\n".join([*self.lines, ""])
        done = subprocess.run(
            [str(self.program)], input=text, capture_output=True, text=True, check=True, timeout=60
        )
        lines = done.stdout.splitlines()
        return lines, [_plan(line) for line in lines if line.startswith("plan")]


def numbers_of(result: Any) -> Array:
    """Of Python's result, in the order of Found.numbers."""
    parts = (result.tau, result.q, result.qd, result.qdd, result.torques, result.gains)
    head = [float(result.cost), float(result.soft_cost), float(result.violation)]
    return np.concatenate([head, *(np.ravel(part) for part in parts)])


def _plan(line: str) -> Found:
    words = line.split()[1:]
    heap, iterations, code, converged, success, origin = map(int, words[:6])
    return Found(heap, iterations, code, bool(converged), bool(success), origin, np.array(words[6:], float))


def _text(numbers: Any) -> str:
    return " ".join(repr(float(x)) for x in np.ravel(numbers))
