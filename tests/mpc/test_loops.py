"""Closed loops of real controllers: what they reach, and what they are measured by."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph.errors import ArgumentError
from robomorph.mpc import Controller, Delay, Late, Problem, Push, Simulation, Velocity, simulate
from robomorph.mpc.studies.loops import draw_reach, pushes, reach_case, target_case
from robomorph.mpc.tracking import Tracking
from robomorph.tasks import Position, Posture

from .arms import PENDULUM, iiwa, iiwa_reference
from .test_plants import PLANTS, Make

START = np.array([0.0, 0.6, 0.0, -1.2, 0.0, 0.8, 0.0])
GOAL = np.array([0.1, 0.7, 0.1, -1.1, 0.1, 0.7, 0.1])
TOOL = "lbr_iiwa_link_7"


def run(plant: Any = None, **options: Any) -> Simulation:
    problem = reach_case(iiwa(), 50, 0.01).problem
    controller = Controller(problem, iterations=1, period=1e-3)
    return simulate(controller, plant, start=START, reference=GOAL, **options)


@pytest.mark.parametrize("make", PLANTS)
def test_delay_payload_and_push_at_once(make: Make) -> None:
    """10 ms, 3 kg and 60 N for 50 ms: caught within a second, on an independent plant too."""
    push = Push((0.0, 60.0, 0.0), start=0.6)
    found = run(make(iiwa(), payload=3.0), seconds=1.7, pushes=[push], delay=Delay(0.005, 0.005))
    assert found.success and found.peak > 1e-2 and found.left < 1e-3, found.reason


def test_the_observer_takes_away_what_a_payload_leaves() -> None:
    from robomorph.mpc import RobotPlant

    without, with_it = (
        run(RobotPlant(iiwa(), payload=3.0), seconds=1.0, observer=on) for on in (False, True)
    )
    assert without.left > 20 * with_it.left


def test_limits_hold_while_nothing_disturbs() -> None:
    found = run(seconds=0.5)
    assert found.solved.all() and found.late.sum() == 0
    assert all(margin.left > -1e-3 for margin in found.margins)
    assert np.isfinite(found.solve_times).all() and (found.cpu_times > 0.0).all()


def test_late_answers_of_a_real_controller() -> None:
    found = run(seconds=1.0, late=Late(share=0.2, seconds=0.0035, seed=3))
    assert found.success and found.left < 2e-3 and found.late.mean() > 0.2


def test_an_unreachable_deadline_still_moves_the_robot() -> None:
    found = run(seconds=0.3, deadline=1e-9)
    assert found.success and np.isfinite(found.tau).all()


# --- what errors are measured by --------------------------------------------------------------------------


def test_errors_are_those_of_the_tasks() -> None:
    problem = Problem(iiwa(), 5, 0.01)
    problem.cost(Position(TOOL), name="tool").cost(Posture.of(iiwa().model), name="posture")
    there = iiwa_reference().forward_kinematics(START, TOOL)[:3, 3]
    track = Tracking(problem)
    wanted = {"tool": np.tile(there + np.array([0.1, 0.0, 0.0]), (6, 1)), "posture": GOAL}
    np.testing.assert_allclose(track.error(wanted, START), [-0.1, 0.0, 0.0], atol=1e-9)
    by_task = {Position(TOOL): there, "posture": GOAL}
    np.testing.assert_allclose(track.error(by_task, START), 0.0, atol=1e-9)
    assert track.configuration(wanted) is None


def test_errors_of_postures_alone() -> None:
    problem = Problem(iiwa(), 5, 0.01)
    posture = Posture.of(iiwa().model, ["lbr_iiwa_joint_3", "lbr_iiwa_joint_1"])
    problem.cost(posture, reference=[0.3, 0.1])
    track = Tracking(problem)
    np.testing.assert_allclose(track.error(None, START), [-0.3, -0.1])
    np.testing.assert_allclose(track.error([0.0, 1.0], START), [0.0, -1.0])
    assert track.configuration(None) is None
    whole = Tracking(Problem(iiwa(), 5, 0.01).cost(Posture.of(iiwa().model)))
    np.testing.assert_array_equal(whole.configuration(GOAL), GOAL)


def test_without_tasks_there_is_no_error() -> None:
    assert Tracking(Problem(iiwa(), 5, 0.01).cost(Velocity())).error(None, START).shape == (0,)


# --- loops for any robot ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["iiwa14", "hyq", "chain:3"])
def test_reaches_are_within_the_limits(name: str) -> None:
    robot = robomorph.load(name)
    start, goal = draw_reach(robot)
    limits = robot.limits
    for q in (start, goal):
        assert (q >= limits.lower).all() and (q <= limits.upper).all()
        assert (np.abs(robot.gravity_torque(q)) <= 0.7 * limits.effort).all()
    assert (np.abs(goal - start) <= 0.5 * limits.velocity + 1e-12).all() and np.abs(goal - start).max() > 0.05


def test_a_moving_target_can_be_followed() -> None:
    """What the tool is to do, the postures beside it do, with the speeds that they are told."""
    case = target_case(iiwa(), 10, 0.01)
    told = case.reference(0.4)
    for q, p in zip(told["posture"], told["target"], strict=True):
        np.testing.assert_allclose(iiwa_reference().forward_kinematics(q, TOOL)[:3, 3], p, atol=1e-9)
    slope = (case.reference(0.4 + 1e-6)["posture"] - told["posture"]) / 1e-6
    np.testing.assert_allclose(told["velocity"], slope, atol=1e-4)
    np.testing.assert_allclose(case.reference(0.43)["posture"][0], told["posture"][3])


def test_pushes_are_what_a_robot_can_bear() -> None:
    (strong,) = pushes(iiwa(), START)
    assert np.linalg.norm(strong.wrench) == pytest.approx(100.0)
    weak = robomorph.load(PENDULUM, tool_frames={"tip": ("rod", (0.0, 0.0, -1.0))})
    (push,) = pushes(weak, np.zeros(1))
    assert np.linalg.norm(push.wrench) == pytest.approx(25.0)  # half of 50 N m at 1 m
    assert pushes(weak, np.zeros(1), 0.0) == ()


def test_a_robot_that_cannot_hold_itself_is_told() -> None:
    with pytest.raises(ArgumentError, match="give its joints the efforts"):
        draw_reach(robomorph.load(PENDULUM.replace('effort="50"', 'effort="0"')))
