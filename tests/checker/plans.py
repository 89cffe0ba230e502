"""Plans to check: motions made up, certified and written down as a planner would."""

from __future__ import annotations

import copy
import json
import warnings
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

import robomorph
from robomorph import ModelWarning, Robot
from robomorph.planning.certificate import (
    End,
    Limits,
    Spline,
    Statement,
    TaskStatement,
    certify,
    plan_data,
    problem_data,
    rows_of,
    window_of,
)
from robomorph.tasks import Axis, CenterOfMass, Orientation, Pose, Position, Posture, Tilt

NONE = (0.0, 0.0, 0.0)
SECONDS = 3.0


def quiet(source: Any, **options: Any) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return robomorph.load(source, **options)


def motion(robot: Robot, noise: float, seed: int = 0, intervals: int = 6) -> Spline:
    """Random, inside the position limits, at rest at both ends."""
    rng = np.random.default_rng(seed)
    room = np.minimum(robot.limits.upper - robot.limits.lower, 1.0)
    middle = np.clip(0.0, robot.limits.lower + 0.4 * room, robot.limits.upper - 0.4 * room)
    control = middle + noise * room * rng.uniform(-1, 1, (intervals + 3, robot.nv))
    control[:3], control[-3:] = control[1], control[-2]
    return Spline.uniform(control, SECONDS)


def statements_of(robot: Robot, spline: Spline, frame: str) -> list[Statement]:
    """One of each kind, with room to spare: from what the motion does at samples."""
    whole = (spline.start, spline.stop)
    times = np.linspace(0.0, SECONDS, 200)
    q, qd, qdd = (_sampled(spline, times, order) for order in range(3))
    pose = robot.forward_kinematics(q, frame)
    still = pose[0]
    com = robot.center_of_mass(q)
    tau = np.abs(robot.inverse_dynamics(q, qd, qdd)).max(axis=0) * 1.3 + 1.0
    speed = np.abs(robot.frame_velocity(q, qd, frame)[:, :3]).max() * 1.3 + 0.1
    return [
        Limits("position", 1.0),
        Limits("velocity", None, (-20.0,) * robot.nv, (20.0,) * robot.nv),
        Limits("acceleration", None, (-500.0,) * robot.nv, (500.0,) * robot.nv),
        Limits("torque", None, tuple((-tau).tolist()), tuple(tau.tolist())),
        TaskStatement(Position(frame), NONE, *_around(pose[:, :3, 3], 0.05), whole),
        TaskStatement(Position(frame), NONE, (-speed,) * 3, (speed,) * 3, window_of(0.7, 2.2), 1),
        TaskStatement(CenterOfMass(), NONE, *_around(com, 0.05), whole),
        TaskStatement(CenterOfMass(), NONE, (-500.0,) * 3, (500.0,) * 3, window_of(1, 1), 2),
        TaskStatement(
            Orientation(frame), tuple(still[:3, :3].ravel().tolist()), (-0.9,) * 3, (0.9,) * 3, whole
        ),
        TaskStatement(
            Pose(frame),
            (*still[:3, 3].tolist(), *still[:3, :3].ravel().tolist()),
            (*(-3.0,) * 3, *(-0.9,) * 3),
            (*(3.0,) * 3, *(0.9,) * 3),
            window_of(0.5, 1.0),
        ),
        TaskStatement(
            Axis(frame, (0.0, 0.0, 1.0)),
            tuple(Axis(frame, (0.0, 0.0, 1.0)).read(still[:3, 2]).tolist()),
            (0.0,),
            (1.4,),
            whole,
        ),
        TaskStatement(
            Tilt(frame, (1.0, 0.0, 0.0)),
            tuple(Tilt(frame, (1.0, 0.0, 0.0)).read(still[:3, 0]).tolist()),
            (-0.9, -0.9),
            (0.9, 0.9),
            window_of(0.25, 2.5),
        ),
        TaskStatement(Posture.of(robot.model, [robot.joint_names[0]]), (0.1,), (-9.0,), (9.0,), whole),
    ]


def _sampled(spline: Spline, times: Any, order: int) -> Any:
    interpolate = import_module("scipy.interpolate")
    return interpolate.BSpline([float(k) for k in spline.knots], spline.control, spline.degree)(times, order)


def _around(values: Any, room: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return tuple((values.min(axis=0) - room).tolist()), tuple((values.max(axis=0) + room).tolist())


def written(robot: Robot, spline: Spline, statements: list[Statement]) -> tuple[dict[str, Any], bool]:
    """The document, as it comes back from a file, and whether all of it is proven."""
    rows = rows_of(robot, statements, (spline.start, spline.stop))
    certificate = certify(spline, [row.obligation for row in rows])
    rest = (0.0,) * robot.nv
    start = End(tuple(spline.control[1].tolist()), rest, rest)
    problem = problem_data(robot, statements, SECONDS, start, None)
    data = plan_data(robot, problem, spline, rows, certificate)
    return json.loads(json.dumps(data)), certificate.proven


@cache
def _arm() -> tuple[dict[str, Any], bool]:
    robot = quiet(
        "iiwa14",
        payloads={"lbr_iiwa_link_7": (3.0, (0.0, 0.0, 0.1))},
        tool_frames={"tool": ("lbr_iiwa_link_7", (0.0, 0.0, 0.2))},
    )
    spline = motion(robot, 0.15)
    return written(robot, spline, statements_of(robot, spline, "tool"))


def arm_plan() -> dict[str, Any]:
    """A plan of a small robot with every kind of constraint, to be changed at will."""
    data, proven = _arm()
    assert proven
    return copy.deepcopy(data)
