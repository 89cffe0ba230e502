"""Closed loops for any robot: a reach and a moving target, with a push, chosen within its limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.mpc.disturbances import Push
from robomorph.mpc.plants.payload import tool_frame
from robomorph.mpc.problem import Problem
from robomorph.mpc.quantities import Effort, Velocity
from robomorph.robot import Robot
from robomorph.tasks import Position, Posture

Array = npt.NDArray[np.float64]

SECONDS = 3.5
PUSHED = 1.4  # s at which a push begins, and
PUSH_SECONDS = 0.05
FORCE = 100.0  # N, unless the robot is too weak for it
_SHARE = 0.3  # of every joint's range, about its middle, in which starts and goals lie
_WIDE = np.pi  # rad, half the range of a joint without limits
_REACH_SECONDS = 0.5  # that a reach takes at least at the speed limits
_HELD = 0.7  # of the torque limits, that may be needed to hold the robot still
_PUSHED_SHARE = 0.5  # of the torque limits, that a push may need
_FASTER = 50.0  # times its speed limit
_TRIES = 200
_SWING = 0.2  # rad or m, at most, of a joint while the target moves
_TURN = np.pi  # rad/s of the moving target: once around in two seconds


@dataclass(frozen=True, eq=False)
class LoopCase:
    """A loop to simulate: reference is what `simulate` takes."""

    name: str
    about: str
    problem: Problem
    start: Array
    reference: Any
    pushes: tuple[Push, ...]
    unit: str
    speed: Array | None = None  # (nv,) at the start; None: at rest
    seconds: float = SECONDS


def reach_case(
    robot: Robot, horizon: int, dt: float, *, force: float | None = None, seconds: float | None = None
) -> LoopCase:
    """From one posture to another: posture 10, velocity 0.1, effort beyond gravity 1e-3; at the end posture
    1000, velocity 10; all limits that the robot has."""
    problem, posture = Problem(robot, horizon, dt), Posture.of(robot.model)  # which robots it takes, it says
    start, goal = draw_reach(robot)
    problem.cost(posture, 10.0, name="posture").terminal(posture, 1000.0, name="posture")
    problem.cost(Velocity(), 0.1, name="velocity").terminal(Velocity(), 10.0, name="velocity")
    problem.cost(Effort(), 1e-3, "gravity")
    _limit(problem)
    made = LoopCase("reach", "a posture", problem, start, goal, pushes(robot, goal, force), "rad, m")
    return made if seconds is None else replace(made, seconds=seconds)


def target_case(
    robot: Robot, horizon: int, dt: float, *, force: float | None = None, seconds: float | None = None
) -> LoopCase:
    """The tool follows a target that goes around once in two seconds: its position 2000, the posture that
    the target was made from 1, velocity 0.1; at the end 2e4, 10 and 1."""
    problem, posture = Problem(robot, horizon, dt), Posture.of(robot.model)
    _, middle = draw_reach(robot)
    path = _Path(robot, middle, horizon, dt)
    target = Position(tool_frame(robot))
    problem.cost(target, 2000.0, name="target").terminal(target, 2e4, name="target")
    problem.cost(posture, 1.0, name="posture").terminal(posture, 10.0, name="posture")
    problem.cost(Velocity(), 0.1, name="velocity").terminal(Velocity(), 1.0, name="velocity")
    _limit(problem)
    start, about = path.postures(np.zeros(1))[0], f"the origin of {tool_frame(robot)!r}"
    made = LoopCase("moving target", about, problem, start, path, pushes(robot, middle, force), "m")
    return made if seconds is None else replace(made, seconds=seconds)


class _Path:
    """Postures that swing about a middle one, and where the tool is then: a target that can be followed."""

    def __init__(self, robot: Robot, middle: Array, horizon: int, dt: float) -> None:
        lower, upper = _range(robot)
        room = np.minimum(upper - middle, middle - lower)
        speed = np.where(robot.limits.velocity > 0.0, robot.limits.velocity, np.inf)
        slow = 0.3 * speed / _TURN
        self._middle, self._size = middle, np.minimum(np.minimum(0.5 * room, slow), _SWING)
        self._phase = np.linspace(0.0, np.pi, robot.nv)
        self._times: Array = dt * np.arange(horizon + 1, dtype=np.float64)
        self._tool: Callable[..., Array] = robot.compile(
            "forward_kinematics", frame=tool_frame(robot), threads=1, check_finite=False
        )

    def postures(self, times: Array) -> Array:
        """(T, nv)"""
        return np.asarray(self._middle + self._size * np.sin(_TURN * times[:, None] + self._phase))

    def __call__(self, time: float) -> dict[str, Array]:
        times = np.asarray(time + self._times)
        postures = self.postures(times)
        speeds = _TURN * self._size * np.cos(_TURN * times[:, None] + self._phase)
        return {"target": self._tool(postures)[:, :3, 3], "posture": postures, "velocity": speeds}


def draw_reach(robot: Robot, seed: int = 0) -> tuple[Array, Array]:
    """Two postures (nv,) about the middle of the ranges that the drives can hold, with half a second at the
    speed limits between them at most."""
    rng = np.random.default_rng(seed)
    lower, upper = _range(robot)
    middle, half = 0.5 * (lower + upper), 0.5 * _SHARE * (upper - lower)
    effort, speed = robot.limits.effort, robot.limits.velocity
    found: list[Array] = []
    worst = np.inf
    for _ in range(_TRIES):
        q = middle + half * rng.uniform(-1.0, 1.0, robot.nv)
        if found:
            q = found[0] + np.clip(q - found[0], -_REACH_SECONDS * speed, _REACH_SECONDS * speed)
        with np.errstate(divide="ignore", invalid="ignore"):
            held = float(np.nanmax(np.abs(robot.bias_torque(q, np.zeros(robot.nv))) / effort))
        worst = min(worst, held)
        if held <= _HELD:
            found.append(q)
        if len(found) == 2:
            return found[0], found[1]
    raise ArgumentError(
        f"robot {robot.name!r}: expected postures that {_HELD:.0%} of the torque limits can hold, found "
        f"none in {_TRIES} tries (the easiest needs {worst:.0%}): give its joints the efforts that they have"
    )


def pushes(robot: Robot, q: Array, force: float | None = None) -> tuple[Push, ...]:
    """A push at the tool along the axis of the world that moves it best, for 50 ms: 100 N, or less if that
    needed more than half of a torque limit, or could alone bring a light joint to 50 times its speed limit.
    0 N: none."""
    rows = robot.jacobian(q, tool_frame(robot))[:3]
    axis = int(np.argmax(np.abs(rows).sum(axis=1)))
    if force is None:
        torque, speed = np.abs(rows[axis]), robot.limits.velocity
        gained = PUSH_SECONDS * np.abs(robot.mass_matrix_inverse(q) @ rows[axis])
        fastest = _FASTER * np.where(np.isfinite(speed) & (speed > 0.0), speed, 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            most = np.nanmin([_PUSHED_SHARE * robot.limits.effort / torque, fastest / gained])
        force = float(min(FORCE, most))
    return (Push(force * np.eye(3)[axis], PUSHED, PUSH_SECONDS),) if force else ()


def _limit(problem: Problem) -> None:
    """Every limit that the description has."""
    own = problem.robot.limits
    known = {
        "torque": np.isfinite(own.effort).any(),
        "velocity": np.isfinite(own.velocity).any(),
        "position": np.isfinite([own.lower, own.upper]).any(),
    }
    values: dict[str, Any] = {
        "torque": own.effort,
        "velocity": own.velocity,
        "position": (own.lower, own.upper),
    }
    given = {name: values[name] for name, there in known.items() if there}
    if given:
        problem.limits(**given)


def _range(robot: Robot) -> tuple[Array, Array]:
    lower, upper = np.array(robot.limits.lower), np.array(robot.limits.upper)
    both = np.isfinite(lower) & np.isfinite(upper)
    lower[~both & ~np.isfinite(lower)] = -_WIDE
    upper[~both & ~np.isfinite(upper)] = _WIDE
    return np.minimum(lower, upper), np.maximum(lower, upper)
