"""The observer against plants that share no code with its predictions, and torques known by Pinocchio."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph import Robot
from robomorph.errors import ArgumentError
from robomorph.mpc import Delay, Gains, Observer, RobotPlant, simulate
from robomorph.mpc.kernels.observing import ObserverKernels
from robomorph.mpc.observer import SECOND
from robomorph.mpc.payload_estimate import PayloadEstimate
from robomorph.mpc.plants import Plant

from .arms import PENDULUM, PENDULUM_MOMENT, iiwa, iiwa_reference
from .stand_in import StandIn
from .test_plants import PLANTS, Make

Array = npt.NDArray[np.float64]
START = np.array([0.0, 0.6, 0.0, -1.2, 0.0, 0.8, 0.0])
GOAL = np.array([0.3, 0.8, 0.1, -1.0, 0.2, 0.6, 0.3])
TOOL = "lbr_iiwa_link_7"


class Watching(StandIn):
    """Remembers the states it was asked to plan from."""

    def __init__(self, robot: Robot, **options: Any) -> None:
        super().__init__(robot, **options)
        self.seen: list[Array] = []

    def step(self, q: Array, qd: Array, **more: Any) -> Any:
        self.seen.append(np.concatenate([q, qd]))
        return super().step(q, qd, **more)


@pytest.mark.parametrize(
    "delay", [Delay(), Delay(0.003), Delay(0.0, 0.003), Delay(0.0024, 0.0013), Delay(0.0005, 0.01)]
)
@pytest.mark.parametrize("make", PLANTS)
def test_predictions_come_true(make: Make, delay: Delay) -> None:
    """What was planned from is where the plant is when that plan's torque begins to act."""
    controller = Watching(iiwa(), stiffness=400.0, damping=40.0)
    plant, truth = make(iiwa()), []

    class Spy(Plant):
        """Writes down where the plant is at the end of every span that it is moved by."""

        q = property(lambda self: plant.q)
        qd = property(lambda self: plant.qd)
        now = 0

        def _place(self, q: Array, qd: Array) -> None:
            plant.reset(q, qd)
            truth.append((0, np.concatenate([q, qd])))

        def _step(self, tau: Array, seconds: float, wrenches: Any) -> None:
            raise NotImplementedError

        def advance(self, tau: Array, seconds: float, wrenches: Any = None) -> Array:
            acted = plant.advance(tau, seconds, wrenches)
            self.now += round(seconds * SECOND)
            truth.append((self.now, np.concatenate([plant.q, plant.qd])))
            return acted

        def acceleration(self, q: Any, qd: Any, tau: Any) -> Array:
            raise NotImplementedError

    simulate(controller, Spy(iiwa(), 5000.0), seconds=0.15, start=START, reference=GOAL, delay=delay)
    known = dict(truth)
    way = round(delay.actuation * SECOND)
    errors = [
        np.abs(seen - known[k * SECOND // 1000 + way]).max()
        for k, seen in enumerate(controller.seen)
        if k * SECOND // 1000 + way in known
    ]
    assert len(errors) > 130
    moved = np.abs(np.diff([state for _, state in truth], axis=0)).max()
    assert max(errors) < 5e-4 and moved > 1e-2  # speeds change by 0.03 rad/s a tick here


def test_without_an_observer_the_old_state_is_planned_from() -> None:
    controller = Watching(iiwa(), stiffness=400.0, damping=40.0)
    found = simulate(controller, seconds=0.05, start=START, reference=GOAL, delay=Delay(0.01), observer=False)
    np.testing.assert_array_equal(controller.seen[30][:7], found.q[20])


@pytest.mark.parametrize("make", PLANTS)
def test_the_missing_torque_is_found(make: Make) -> None:
    """At rest it is what a payload's weight makes, which Pinocchio knows by the tool's Jacobian."""
    observer = Observer(iiwa(), 1e-3, payload=False)
    found = simulate(
        StandIn(iiwa(), stiffness=400.0, damping=40.0),
        make(iiwa(), payload=3.0),
        seconds=1.5,
        start=START,
        reference=START,
        observer=observer,
    )
    weight = iiwa_reference().jacobian(found.q[-1], TOOL)[:3].T @ [0.0, 0.0, -3.0 * 9.81]
    np.testing.assert_allclose(observer.disturbance, weight, atol=1e-3)
    assert found.left < 1e-4 < np.abs(found.error).max()


@pytest.mark.parametrize("make", PLANTS)
def test_a_payload_is_weighed(make: Make) -> None:
    observer = Observer(iiwa(), 1e-3, delay=Delay(0.01))
    found = simulate(
        StandIn(iiwa(), stiffness=400.0, damping=40.0),
        make(iiwa(), payload=3.0),
        seconds=1.6,
        start=START,
        reference=GOAL,
        delay=Delay(0.01),
        observer=observer,
    )
    assert observer.payload == pytest.approx(3.0, abs=0.06)
    assert found.left < 1e-3 and found.payload is not None and found.payload[0] == 0.0


def test_weighing_keeps_the_sum_of_torques() -> None:
    """Disturbance less payload's torque is the same before and after, and ends as payload alone."""
    estimate = PayloadEstimate(1e-3, seconds=0.01)
    q, qd, qdd = GOAL, 0.3 * START, np.linspace(-1, 1, 7)
    loaded = robomorph.load("iiwa14", payloads={TOOL: (2.0, (0.0, 0.0, 0.0))})
    true = iiwa().inverse_dynamics(q, qd, qdd) - loaded.inverse_dynamics(q, qd, qdd)
    left, kilogram = true, -true / 2.0
    for _ in range(200):
        left = estimate.take(left, kilogram)
        np.testing.assert_allclose(left - estimate.mass * kilogram, true, atol=1e-9)
    assert estimate.mass == pytest.approx(2.0, rel=1e-6)
    np.testing.assert_allclose(left, 0.0, atol=1e-4)


def test_what_is_no_payload_is_not_taken_for_one() -> None:
    kilogram = -iiwa_reference().jacobian(GOAL, TOOL)[:3].T @ [0.0, 0.0, -9.81]
    sideways = iiwa_reference().jacobian(GOAL, TOOL)[1]
    estimate = PayloadEstimate(1e-3)
    for disturbance in (30.0 * sideways, np.zeros(7), 3.0 * kilogram):  # the last one lifts
        np.testing.assert_array_equal(estimate.take(disturbance, kilogram), disturbance)
        assert estimate.mass == 0.0
    assert np.abs(estimate.take(-3.0 * kilogram, kilogram)).max() < np.abs(3.0 * kilogram).max()


def test_a_payload_that_is_set_down_is_forgotten() -> None:
    kilogram = np.array([3.0, -1.0, 0.5])
    estimate = PayloadEstimate(1e-3, seconds=0.01)
    estimate.mass = 2.0
    left = 2.0 * kilogram  # what holds against a weight that is no longer there
    for _ in range(200):
        left = estimate.take(left, kilogram)
    assert estimate.mass == pytest.approx(0.0, abs=1e-6)
    np.testing.assert_allclose(left, 0.0, atol=1e-5)


def test_a_posture_that_feels_no_weight_teaches_nothing() -> None:
    estimate = PayloadEstimate(1e-3)
    assert estimate.take(np.array([5.0]), np.array([1e-3])) == 5.0 and estimate.mass == 0.0


@pytest.mark.parametrize("name", ["iiwa14", "hyq", "chain:3"])
def test_kernels_with_a_mass_as_their_argument_are_those_of_a_loaded_robot(name: str) -> None:
    robot = robomorph.load(name)
    tool = robot.model.farthest_link
    robot = robomorph.load(name, tool_frames={"tip": (tool, (0.05, -0.02, 0.1))})
    loaded = robomorph.load(name, payloads={tool: (3.0, (0.05, -0.02, 0.1))})
    kernels, rng = ObserverKernels(robot, "tip"), np.random.default_rng(2)
    for _ in range(10):
        q, qd = robot.random_state(rng)
        qdd, tau = rng.normal(size=(2, robot.nv))
        h, mass = 3e-3, np.array([3.0])
        half = q + 0.5 * h * qd
        a = loaded.forward_dynamics(half, qd + 0.5 * h * qdd, tau)
        found = kernels.predict(q, qd, qdd, tau, np.array([h]), mass)
        for value, wanted in zip(found, (half + 0.5 * h * (qd + h * a), qd + h * a, a), strict=True):
            np.testing.assert_allclose(value, wanted, rtol=1e-9, atol=1e-9 * np.abs(a).max())
        np.testing.assert_allclose(kernels.correct(q, qdd, mass), loaded.mass_matrix(q) @ qdd, atol=1e-9)
        more = loaded.inverse_dynamics(q, qd, qdd) - robot.inverse_dynamics(q, qd, qdd)
        np.testing.assert_allclose(3.0 * kernels.carry(q, qd, qdd), more, atol=1e-9)


def test_a_torque_told_late_acts_late() -> None:
    """An answer that comes 1.5 ticks after its tick is overtaken by what went out in between."""
    robot = robomorph.load(PENDULUM)
    observer = Observer(robot, 1e-3, payload=False, gains=Gains(0.0, 0.0, 0.0))
    plant = RobotPlant(robot)
    state = np.array([0.4]), np.zeros(1)
    plant.reset(*state)
    observer.reset(*state)
    observer.sense(*state)
    observer.sent(np.array([1.0]))
    observer.sent(np.array([9.0]), later=1.5e-3)
    observer.sense(*state)
    observer.sent(np.array([2.0]))
    observer.sense(*state)
    q, qd = observer.sense(*state)
    for tau, seconds in ((1.0, 1e-3), (2.0, 0.5e-3), (9.0, 1.5e-3)):
        plant.advance(np.array([tau]), seconds)
    np.testing.assert_allclose([*q, *qd], [*plant.q, *plant.qd], rtol=1e-5)


def test_commands_stay_within_the_limits() -> None:
    robot = robomorph.load(PENDULUM)
    observer = Observer(robot, 1e-3, payload=False)
    observer.sense([0.0], [0.0])
    assert observer.command([80.0], [0.0]) == pytest.approx([50.0])


def test_before_the_first_torque_the_model_is_held() -> None:
    """A measurement from before the beginning is no surprise: nothing is learned from it."""
    robot = robomorph.load(PENDULUM)
    observer = Observer(robot, 1e-3, delay=Delay(0.004), payload=False)
    observer.reset([1.0], [0.0])
    for _ in range(4):
        observer.sense([1.0], [0.0])
        observer.sent(np.array([PENDULUM_MOMENT * np.sin(1.0)]))
    np.testing.assert_allclose(observer.disturbance, 0.0, atol=1e-9)


def test_a_period_of_nothing_is_refused() -> None:
    with pytest.raises(ArgumentError, match="period: expected seconds above 0"):
        Observer(iiwa(), 0.0)
