"""What a problem or a controller does not take: every refusal names the thing, what was found and the
mend."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph import ArgumentError, ModelError, ModelWarning
from robomorph.mpc import Acceleration, Controller, Effort, Function, Jerk, Problem, Velocity
from robomorph.tasks import Axis, Orientation, Pose, Position, Posture
from tests.mpc.cases import NV, TOOL, iiwa, reach, state

LINKS = """<robot name="two"><link name="base"/>
<link name="a">{mass}</link><link name="b">{mass}</link>
<joint name="j" type="{kind}"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>{limit}</joint>
<joint name="k" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
<origin xyz="0 0 0.3"/><limit lower="-1" upper="1" velocity="2" effort="10"/></joint></robot>"""
MASS = (
    '<inertial><origin xyz="0.1 0 0.1"/><mass value="1"/>'
    '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
)


def problem() -> Problem:
    return Problem(iiwa()[0], 5, 0.01)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((0, 0.01), "horizon: expected a whole number from 1"),
        ((2.5, 0.01), "horizon: expected a whole number from 1"),
        ((True, 0.01), "horizon: expected a whole number from 1"),
        ((5, 0.0), "dt: expected 1e-06 to 10 s, found 0.0"),
        ((5, -0.1), "dt: expected 1e-06 to 10 s"),
        ((5, np.nan), "dt: expected a finite number, found nan"),
        ((5, "fast"), "dt: expected a finite number, found 'fast'"),
    ],
)
def test_sizes(arguments: tuple[Any, Any], says: str) -> None:
    with pytest.raises(ArgumentError, match=says):
        Problem(iiwa()[0], *arguments)


def test_robots_that_do_not_simply_add_are_refused_by_name() -> None:
    with pytest.warns(ModelWarning):
        floating = robomorph.load("iiwa14", floating_base=True)
    with pytest.raises(ArgumentError, match=r"'root_joint'.*floating bases come next.*re-root"):
        Problem(floating, 5, 0.01)
    ball = LINKS.format(mass=MASS, kind="spherical", limit="")
    with pytest.raises(
        ArgumentError, match="joint 'j' of type 'spherical': model predictive control expects"
    ):
        Problem(robomorph.load(ball), 5, 0.01)
    with pytest.raises(ArgumentError, match=r"robot: expected a robot of robomorph.load, found str 'iiwa14'"):
        Problem("iiwa14", 5, 0.01)  # type: ignore[arg-type]


def test_a_robot_without_masses() -> None:
    limit = '<limit lower="-1" upper="1" velocity="2" effort="10"/>'
    with pytest.warns(ModelWarning):
        robot = robomorph.load(LINKS.format(mass="", kind="revolute", limit=limit))
    with pytest.raises(ModelError, match="is about masses, but nothing that moves has any"):
        Problem(robot, 5, 0.01)


def test_limits_that_a_robot_does_not_have_are_named() -> None:
    """A joint without limits is named; continuous joints have no limits of position to begin with."""
    robot = robomorph.load(LINKS.format(mass=MASS, kind="continuous", limit=""))
    for name in ("torque", "velocity"):
        with pytest.raises(
            ArgumentError, match=f"{name}: the description of robot 'two' has no such limit of 'j'"
        ):
            Problem(robot, 5, 0.01).limits(**{name: True})
    made = Problem(robot, 5, 0.01).limits(position=True)
    assert np.array_equal(made.bounds["position limits"].upper, [np.inf, 1.0])
    with pytest.raises(ArgumentError, match="acceleration: a robot's description has no such limit"):
        problem().limits(acceleration=True)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "expected torque, velocity, position or acceleration"),
        ({"torque": -0.5}, "torque: expected True, a share above 0"),
        ({"torque": np.ones(3)}, r"torque: expected a number or 7 numbers, found shape \(3,\)"),
        ({"torque": [1.0] * 6 + [np.nan]}, "torque: expected numbers, found NaN"),
        ({"velocity": [1.0] * 6 + [-1.0]}, "expected magnitudes, found -1 .*give a pair"),
        (
            {"velocity": (1.0, -1.0)},
            "velocity: expected lower < upper, found 1 and -1 .joint 'lbr_iiwa_joint_1'",
        ),
        ({"position": (np.zeros(NV), np.zeros(NV))}, "lock a joint that is to stand still"),
        ({"position": (-1.0, 0.0, 1.0)}, r"expected a pair \(lower, upper\), found 3"),
        ({"acceleration": np.inf}, "expected a finite limit of at least one joint"),
        ({"torque": "all"}, "torque: expected a number or 7 numbers, found 'all'"),
        ({"torque": True, "soft": -1.0}, r"soft of limits: expected None \(hard\) or a weight above 0"),
    ],
)
def test_limits(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ArgumentError, match=says):
        problem().limits(**given)


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda p: p.cost("posture"), "task: expected one of robomorph.tasks.*found str 'posture'"),
        (lambda p: p.cost(Position("tool0")), "frame: unknown name 'tool0'"),
        (lambda p: p.cost(Velocity(("elbow",))), "velocity: unknown joint 'elbow'"),
        (lambda p: p.cost(Effort(())), "effort: expected joints, each once"),
        (lambda p: p.cost(Velocity(), -1.0), "weight of velocity: expected weights of at least 0, found -1"),
        (lambda p: p.cost(Velocity(), np.nan), "weight of velocity: expected finite numbers"),
        (lambda p: p.cost(Velocity(), [1.0, 2.0]), "weight of velocity: expected a number or 7 numbers"),
        (lambda p: p.cost(Position(TOOL), 1.0, [0.0, np.nan, 0.0]), "expected finite numbers"),
        (lambda p: p.cost(Position(TOOL), 1.0, [0.0, 0.0]), r"expected shape \(\.\.\., 3\), found \(2,\)"),
        (lambda p: p.cost(Position(TOOL), 1.0, np.zeros((5, 3))), "one for each of 6 nodes, found a batch"),
        (
            lambda p: p.cost(Pose(TOOL), 1.0, 2 * np.eye(4)),
            "expected a rotation matrix|the last row of a pose",
        ),
        (
            lambda p: p.cost(Position(TOOL), 1.0, "gravity"),
            "reference of .*: expected numbers, found 'gravity'",
        ),
        (lambda p: p.cost(Effort(), 1.0, "zero"), "expected numbers or 'gravity', found 'zero'"),
        (lambda p: p.cost(Position(TOOL), rate=2), "rate: expected a whole number from 0 to 1"),
        (lambda p: p.cost(Axis(TOOL, (0, 0, 1)), rate=1), "rate: the speed of axis of .* is not known"),
        (lambda p: p.cost(Velocity(), rate=1), "rate: velocity is not a task whose speed is known"),
        (lambda p: p.cost(Jerk(), 1.0, np.zeros(NV)), "reference of jerk: expected none"),
        (lambda p: p.cost(Jerk(), 1.0).cost(Jerk(), 1.0, name="b"), "jerk: there is a cost on it already"),
        (lambda p: p.terminal(Effort()), "terminal: there is no effort at the last node"),
        (lambda p: p.terminal(Acceleration()), "terminal: there is no acceleration at the last node"),
        (lambda p: p.cost(Velocity()).cost(Velocity()), "name: there is a cost 'velocity' already"),
        (lambda p: p.cost(Velocity()).terminal(Effort(), name="velocity"), "terminal: there is no effort"),
        (
            lambda p: p.cost(Velocity()).terminal(Position(TOOL), 1.0, np.zeros(3), name="velocity"),
            "a cost 'velocity' is there, of another task",
        ),
        (
            lambda p: p.cost(Position(TOOL), 1.0, np.zeros(3)).terminal(Position(TOOL), 1.0, np.ones(3)),
            "the cost of this name has another one",
        ),
        (lambda p: p.cost(Velocity(), name="terminal x"), "name: expected a word that does not begin with"),
        (lambda p: p.cost(Velocity(), name=""), "name: expected a word"),
        (lambda p: p.bound(Jerk(), -1.0, 1.0), "bound: jerk is only a cost"),
        (lambda p: p.bound(Position(TOOL)), "expected a bound, found none"),
        (lambda p: p.bound(Position(TOOL), 1.0, 0.0), "expected lower <= upper, found 1 and 0"),
        (lambda p: p.bound(Position(TOOL), 1.0, 1.0), "expected lower < upper, .*needs a tolerance"),
        (lambda p: p.bound(Position(TOOL), np.nan, 1.0), "expected numbers, found NaN"),
        (lambda p: p.bound(Position(TOOL), np.zeros((2, 3)), 1.0), "expected one set of bounds"),
        (lambda p: p.bound(Velocity(), -1.0, 1.0, soft=0.0), "expected None .hard. or a weight above 0"),
        (
            lambda p: p.bound(Effort(), -1.0, 1.0).bound(Effort(), -2.0, 2.0, soft=1.0),
            "the same joints have a bound of another softness",
        ),
        (lambda p: p.bound(Velocity(), -1.0, 1.0, name="b").bound(Effort(), -1.0, 1.0, name="b"), "already"),
        (lambda p: Function(3, 1), "function: expected a function"),  # type: ignore[arg-type]
        (lambda p: Function(lambda q, qd: q, 0), "rows: expected a whole number from 1"),
    ],
)
def test_costs_and_bounds(ask: Callable[[Problem], Any], says: str) -> None:
    with pytest.raises(ArgumentError, match=says):
        ask(problem())


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"iterations": 0}, "iterations: expected a whole number from 1"),
        ({"optimal": -1.0}, "optimal: expected a number above 0"),
        ({"tolerance": 0.0}, "tolerance: expected a number above 0"),
        ({"period": -1.0}, "period: expected a number above 0"),
        ({"threads": 0}, "threads: expected a whole number from 1"),
        ({"method": "magic"}, "method: unknown name 'magic'"),
        ({"cap": 1.5}, "cap: expected a whole number"),
    ],
)
def test_controllers(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ArgumentError, match=says):
        Controller(reach().problem, **given)


def test_problems_that_cannot_be_solved() -> None:
    with pytest.raises(ArgumentError, match="problem: expected a cost, found none"):
        Controller(problem())
    with pytest.raises(ArgumentError, match=r"problem: expected an mpc\.Problem, found int 3"):
        Controller(3)  # type: ignore[arg-type]
    made = problem().cost(Velocity()).limits(velocity=np.full(NV, 0.5))
    made.bound(Velocity(), 0.6, 1.0)
    with pytest.raises(ArgumentError, match="those on 'v' of joint 'lbr_iiwa_joint_1' leave nothing between"):
        Controller(made)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"q": np.full(NV, np.nan)}, "q: expected finite numbers, found NaN"),
        ({"qd": np.full(NV, np.inf)}, "qd: expected finite numbers"),
        ({"q": np.full(NV, 1e13)}, "q: expected numbers within 1e[+]12, found 1e[+]13"),
        ({"qd": np.full(NV, -1e200)}, "qd: expected numbers within"),
        ({"q": np.zeros(6)}, r"q: expected shape \(\.\.\., 7\), found \(6,\)"),
        ({"qd": np.zeros((3, NV)), "q": np.zeros((2, NV))}, "batch dimensions do not broadcast"),
        ({"q": np.zeros((0, NV))}, "expected at least one problem"),
        ({"q": "here"}, "q: expected"),
        ({"q": np.zeros(NV, complex)}, "q: expected"),
        ({"deadline": -1.0}, "deadline: expected seconds from 0 on"),
        ({"deadline": np.nan}, "deadline: expected a finite number"),
        ({"elapsed": -1.0}, "elapsed: expected seconds from 0 on"),
        ({"reference": {"pose": 1}}, "reference: unknown name 'pose': did you mean 'posture'"),
        (
            {"reference": {Position(TOOL): 1}},
            "expected the name or the task of one cost or bound, found none",
        ),
        ({"reference": {"posture": np.zeros(3)}}, "reference of posture: expected shape"),
        ({"reference": {"posture": np.zeros((4, NV))}}, "one for each of 13 nodes, found batch dimensions"),
        ({"reference": {"posture": np.full(NV, np.nan)}}, "reference of posture: expected finite numbers"),
        ({"weights": {"posture": -1.0}}, "weight of 'posture': expected weights of at least 0"),
        ({"weights": {"posture": np.ones(3)}}, "weight of 'posture': expected a number or 7 numbers"),
        ({"weights": {"terminal effort": 1.0}}, "weights: unknown name 'terminal effort'"),
        ({"weights": 3.0}, "weights: expected a mapping"),
        ({"offset": np.zeros(3)}, "offset: expected shape"),
        ({"offset": np.zeros((2, NV))}, "offset: expected one"),
        ({"out": 3}, "out: expected a result of this controller"),
    ],
)
def test_steps(given: dict[str, Any], says: str) -> None:
    """And a step after a refusal is as good as any."""
    case = reach()
    controller = Controller(case.problem)
    with pytest.raises(ArgumentError, match=says):
        controller.step(**{"q": case.q, "qd": case.qd, **given})
    assert controller.step(case.q, case.qd).success


def test_references_that_every_step_must_give() -> None:
    case = reach()
    case.problem.cost(Orientation(TOOL), 1.0).cost(Position(TOOL), 1.0, name="tool")
    controller = Controller(case.problem)
    with pytest.raises(ArgumentError, match="'orientation of lbr_iiwa_link_7' has none of its own"):
        controller.step(case.q, case.qd)
    with pytest.raises(ArgumentError, match="as the problem has 3 costs of tasks, found ndarray"):
        controller.step(case.q, case.qd, reference=np.zeros(3))
    given = {"orientation of lbr_iiwa_link_7": np.eye(3), "tool": np.zeros(3)}
    assert controller.step(case.q, case.qd, reference=given).success
    with pytest.raises(ArgumentError, match="'tool' has none of its own"):
        controller.step(case.q, case.qd, reference={"orientation of lbr_iiwa_link_7": np.eye(3)})


def test_references_of_bounds() -> None:
    """One on coordinates themselves has none; one that moves may leave nothing beside the limits."""
    case = reach()
    model = case.problem.robot.model
    case.problem.limits(position=True).bound(Posture.of(model), -3.0, 3.0, name="fixed")
    case.problem.bound(Posture.of(model), -0.5, 0.5, reference=case.q, name="near")
    controller = Controller(case.problem)
    assert controller.step(case.q, case.qd).success
    with pytest.raises(ArgumentError, match="'fixed': it is a bound on coordinates themselves"):
        controller.step(case.q, case.qd, reference={"fixed": case.q})
    with pytest.raises(ArgumentError, match=r"with these references those on 'q' of joint .* leave nothing"):
        controller.step(case.q, case.qd, reference={"near": case.q + 5.0})
    assert controller.step(case.q, case.qd).success


def test_problems_can_be_copied_and_controllers_say_that_they_cannot() -> None:
    case = reach()
    case.problem.limits(torque=0.9).bound(Position(TOOL), [-2.0, -2.0, 0.0], 2.0, soft=10.0)
    weight = np.ones(3)
    case.problem.cost(Position(TOOL), weight, np.zeros(3), name="tool")
    weight[...] = 7.0  # what the caller does with it later
    controller = Controller(case.problem)
    expected = controller.step(case.q, case.qd)
    for again in (
        copy.deepcopy(case.problem),
        pickle.loads(pickle.dumps(case.problem)),
        copy.copy(case.problem),
    ):
        assert repr(again) == repr(case.problem)
        found = Controller(again).step(case.q, case.qd)
        assert np.array_equal(found.qdd, expected.qdd) and found.cost == expected.cost
    for action in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(ArgumentError, match="cannot be copied or pickled: copy its problem"):
            action(controller)


def test_what_is_added_later_is_not_seen() -> None:
    case = reach()
    controller = Controller(case.problem)
    before = controller.step(case.q, case.qd)
    case.problem.cost(Position(TOOL), 1e3, np.zeros(3), name="later")
    controller.reset()
    assert controller.step(case.q, case.qd).cost == before.cost
    assert Controller(case.problem).step(case.q, case.qd).cost > before.cost
    assert state()[0].shape == (NV,)
