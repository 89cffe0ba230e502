"""What a motion refuses, with a message that says what was expected, what was found and what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph import ArgumentError, RobomorphError
from robomorph.planning import Motion
from robomorph.tasks import Axis, CenterOfMass, Orientation, Position, Posture
from tests.planning.motions import FRAME, arm

Q = np.zeros(7)


def motion(**more: Any) -> Motion:
    return Motion(arm(), **{"seconds": 2.0, "intervals": 8, "start": Q, "end": Q, **more})


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"seconds": 0}, r"seconds: expected 1e-06 to 1e\+06 s, found 0"),
        ({"seconds": -1}, "seconds: expected"),
        ({"seconds": np.nan}, "seconds: expected a finite number, found nan"),
        ({"seconds": "4"}, "seconds: expected a finite number"),
        ({"seconds": (4, 2)}, "expected shortest < longest, found 4 and 2"),
        ({"seconds": (1, 2, 3)}, "seconds: .* found 3 numbers"),
        ({"intervals": 3}, "intervals: expected at least 4"),
        ({"intervals": 0}, "intervals: expected a whole number from 1"),
        ({"intervals": 2.5}, "intervals: expected a whole number"),
        ({"intervals": True}, "intervals: expected a whole number"),
        ({"refine": 0}, "refine: expected a whole number"),
        ({"start": np.zeros(6)}, r"start: expected q \(7,\).* found shape \(6,\)"),
        ({"start": np.full(7, np.nan)}, "start: expected finite"),
        ({"end": "home"}, "end: expected q"),
        ({"periodic": True}, "periodic: .* leave them out"),
        ({"periodic": 1, "start": None, "end": None}, "periodic: expected True or False"),
        ({"periodic": True, "start": None, "end": None, "intervals": 3}, "intervals: expected at least 4"),
        ({"seconds": (1, 2), "start": (Q, Q + 1)}, "start: with a free duration expected a state at rest"),
    ],
)
def test_motions(more: dict[str, Any], says: str) -> None:
    with pytest.raises(ArgumentError, match=says):
        motion(**more)


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda m: m.keep("position", 0, 1), "task: expected one of robomorph.tasks"),
        (lambda m: m.keep(Position("nobody"), 0, 1), "frame: unknown name 'nobody'"),
        (lambda m: m.keep(Position(FRAME)), "expected a bound, found none"),
        (lambda m: m.keep(Position(FRAME), 1, 0), "expected lower <= upper"),
        (lambda m: m.keep(Position(FRAME), 0, 0), "cannot be held exactly at every instant"),
        (lambda m: m.keep(Position(FRAME), np.nan, 1), "found NaN"),
        (lambda m: m.keep(Position(FRAME), 0, 1, np.inf * np.ones(3)), "expected finite"),
        (lambda m: m.keep(Position(FRAME), 0, 1, "end"), "expected numbers, or 'start'"),
        (lambda m: m.keep(Position(FRAME), 0, 1, during=(1, 3)), "during: expected a window within 0 to 2"),
        (lambda m: m.keep(Position(FRAME), 0, 1, during=(1.5, 0.5)), "during: expected a window"),
        (lambda m: m.keep(Position(FRAME), 0, 1, during=(0, np.nan)), "during: expected a finite number"),
        (lambda m: m.keep(Position(FRAME), 0, 1, during=(0, 1, 2)), "during: .* found 3 numbers"),
        (lambda m: m.keep(Position(FRAME), 0, 1, rate=3), "rate: expected a whole number from 0 to 2"),
        (lambda m: m.keep(Position(FRAME), np.zeros((2, 3)), 1), "found a batch"),
        (lambda m: m.keep(Orientation(FRAME), -1, 1), "expected what it is measured from, found None"),
        (lambda m: m.keep(Axis(FRAME, (0, 0, 1)), 0, 1, "start", rate=1), "rate: .* sines and cosines"),
        (lambda m: m.keep(Posture.of(arm().model, "nobody"), 0, 1), "unknown joint 'nobody'"),
        (lambda m: m.limits(velocity=-1.0), "velocity: expected True, a share above 0"),
        (lambda m: m.limits(velocity=np.ones(3)), r"velocity: .* found shape \(3,\)"),
        (lambda m: m.limits(torque=np.zeros(7)), "torque: expected limits above 0"),
        (lambda m: m.limits(acceleration=True), "acceleration: the robot's description has no such limit"),
        (lambda m: m.limits(position=(1, 0)), "position: expected lower < upper"),
        (lambda m: m.limits(position=3), r"position: expected True or \(lower, upper\)"),
        (lambda m: m.solve("speed"), "cost: expected one of jerk, energy, time, found 'speed'"),
        (lambda m: m.solve("time"), "cost 'time': the duration is fixed"),
        (lambda m: m.solve({"jerk": -1}), "cost 'jerk': expected a weight of 0 or more"),
        (lambda m: m.solve(3), "cost: expected"),
        (lambda m: m.solve(method="magic"), "method: expected one of"),
        (lambda m: m.solve(solver="snopt"), "solver: expected one of native, ipopt"),
        (lambda m: m.solve(threads=0), "threads: expected a whole number"),
        (lambda m: m.solve(starts=0), "starts: expected a whole number"),
        (lambda m: m.solve(guess=np.zeros((3, 7))), r"guess: .* found shape \(3, 7\)"),
        (lambda m: m.solve(method="grid", points=0), "points: expected a whole number"),
    ],
)
def test_what_is_asked(ask: Callable[[Motion], Any], says: str) -> None:
    with pytest.raises(ArgumentError, match=says):
        ask(motion())


def test_robots_whose_coordinates_do_not_add() -> None:
    robot = robomorph.load("iiwa14", floating_base=True)
    with pytest.raises(ArgumentError, match=r"'root_joint'.*fixed base"):
        Motion(robot, 2.0)


LINKS = """<robot name="r"><link name="a"/><link name="b">{}</link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>"""


def test_robots_without_masses_or_limits() -> None:
    robot = robomorph.load(LINKS.format(""))
    still = Motion(robot, 1.0, 5, start=[0.0], end=[1.0])
    assert still.solve().success
    with pytest.raises(ArgumentError, match="limits: expected limits to hold, found none: robot 'r'"):
        still.limits()
    with pytest.raises(ArgumentError, match="torque: expected a finite limit"):
        still.limits(torque=0.5)
    assert still.limits(velocity=[3.0]).solve().success
    with pytest.raises(RobomorphError, match="mass"):
        still.limits(torque=[1.0])
    with pytest.raises(RobomorphError, match="mass"):
        Motion(robot, 1.0, 5, start=[0.0], end=[1.0]).solve("energy")
    with pytest.raises(RobomorphError, match="mass"):
        Motion(robot, 1.0, 5, start=[0.0], end=[1.0]).keep(CenterOfMass(), 0, 1).solve()
