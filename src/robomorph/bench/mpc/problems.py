"""The problems of the sections about model predictive control, each written once for all sides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from robomorph.bench.mpc.problem import ControlProblem, Limits, Target, Weights, subject
from robomorph.robot import Robot

Array = npt.NDArray[np.float64]
HORIZON, DT = 100, 0.01
JOINTS = (Weights(q=10.0, v=0.1, tau=1e-3), Weights(q=1e3, v=10.0))
POSES = (
    Weights(v=0.1, tau=1e-3, position=200.0, rotation=50.0),
    Weights(v=10.0, position=2e4, rotation=5e3),
)
_MIDDLE = 0.3  # of every joint's range: where starts and goals are drawn
_SEED = 14
_BEYOND = 0.05  # rad
_TORQUE_SPARE = 1.1


def reach(source: str, seed: int, horizon: int = HORIZON) -> ControlProblem:
    """From rest to a joint target, both drawn from the middle of the joints' ranges."""
    robot, arm = subject(source)
    rng = np.random.default_rng([_SEED, seed])
    q, goal = (_middle(robot, rng) for _ in range(2))
    running, terminal = JOINTS
    none = Limits.none(robot.nv)
    return ControlProblem(
        source, q, np.zeros(robot.nv), goal, arm.gravity(goal), running, terminal, horizon, DT, none
    )


def pose(source: str, seed: int, horizon: int = HORIZON) -> ControlProblem:
    """The same start, to where the same goal has the last link: position and rotation instead of joints."""
    problem = reach(source, seed, horizon)
    frame = problem.robot.link_names[-1]
    running, terminal = POSES
    target = Target(frame, *problem.arm.pose(problem.goal, frame))
    return replace(problem, running=running, terminal=terminal, target=target)


def limited(
    source: str, seed: int, horizon: int = HORIZON, *, torque: bool = True, states: bool = True
) -> ControlProblem:
    """A reach whose limits bind: two joints want to go beyond their range, the way there is longer than the
    model's speeds allow, and torques are a tenth above what holds the arm on the straight way there. At rest
    where it is the arm holds every limit, so that a motion always exists."""
    robot, arm = subject(source)
    rng = np.random.default_rng([_SEED, seed, 1])
    lower, upper, most = robot.limits.lower, robot.limits.upper, robot.limits.velocity
    q = _middle(robot, rng, 0.6)
    goal = np.clip(q + rng.uniform(-1.0, 1.0, robot.nv), lower, upper)
    for joint in rng.choice(robot.nv, 2, replace=False):
        high = rng.random() < 0.5
        edge, inward = (upper[joint], -1.0) if high else (lower[joint], 1.0)
        q[joint] = edge + inward * rng.uniform(0.2, 0.6)
        goal[joint] = edge - inward * _BEYOND
    way = q + np.linspace(0.0, 1.0, 21)[:, None] * (goal - q)
    hold = np.max(np.abs([arm.gravity(row) for row in way]), axis=0)
    effort = _TORQUE_SPARE * hold + 0.05 * robot.limits.effort
    none = Limits.none(robot.nv)
    limits = Limits(
        (-effort, effort) if torque else none.torque,
        (-most, most) if states else none.velocity,
        (lower, upper) if states else none.position,
    )
    running, terminal = JOINTS
    return ControlProblem(
        source, q, np.zeros(robot.nv), goal, arm.gravity(goal), running, terminal, horizon, DT, limits
    )


def _middle(robot: Robot, rng: np.random.Generator, share: float = _MIDDLE) -> Array:
    lower, upper = robot.limits.lower, robot.limits.upper
    return np.asarray(
        0.5 * (lower + upper) + 0.5 * share * (upper - lower) * rng.uniform(-1.0, 1.0, robot.nv)
    )


def far(source: str, seed: int, horizon: int) -> ControlProblem:
    """A reach across nine tenths of the joints' ranges, which ten iterations do not solve to the end: for
    times of a given number of iterations."""
    problem = reach(source, seed, horizon)
    rng = np.random.default_rng([_SEED, seed, 2])
    q, goal = (_middle(problem.robot, rng, 0.9) for _ in range(2))
    return replace(problem, q=q, goal=goal, effort=problem.arm.gravity(goal))


def limited_pose(source: str, seed: int, horizon: int = HORIZON) -> ControlProblem:
    """The limits, start and goal of `limited`, as the pose that the last link has there within the limits."""
    problem = limited(source, seed, horizon)
    low, high = problem.limits.position
    frame = problem.robot.link_names[-1]
    target = Target(frame, *problem.arm.pose(np.clip(problem.goal, low, high), frame))
    running, terminal = POSES
    return replace(problem, running=running, terminal=terminal, target=target)
