"""Closed loops with a stand-in controller: time, delays, noise, lateness, and what is said of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph import Robot
from robomorph.errors import ArgumentError
from robomorph.mpc import (
    Delay,
    Friction,
    Gains,
    Late,
    Noise,
    Observer,
    Push,
    RobotPlant,
    Simulation,
    simulate,
)
from robomorph.mpc.simulate import middle
from robomorph.mpc.stepping import planned

from .arms import PENDULUM, PENDULUM_INERTIA, SLIDE, iiwa
from .stand_in import StandIn

Array = npt.NDArray[np.float64]
START = np.array([0.0, 0.6, 0.0, -1.2, 0.0, 0.8, 0.0])
GOAL = np.array([0.3, 0.8, 0.1, -1.0, 0.2, 0.6, 0.3])
TOOL = "lbr_iiwa_link_7"


def pendulum() -> Robot:
    return robomorph.load(PENDULUM)


def run(robot: Robot | None = None, plant: Any = None, **options: Any) -> Simulation:
    options = {"seconds": 0.1, "start": START, "reference": GOAL, "observer": False, **options}
    return simulate(StandIn(robot or iiwa()), plant, **options)


# --- time and delays --------------------------------------------------------------------------------------


@pytest.mark.parametrize("late", [0, 1, 3, 7])
def test_a_loop_is_what_a_queue_makes_of_it(late: int) -> None:
    """The same loop by hand: a list of torques on their way."""
    controller, plant = StandIn(iiwa()), RobotPlant(iiwa())
    plant.reset(START, np.zeros(7))
    coming = [iiwa().gravity_torque(START)] * late
    wanted = []
    for _ in range(60):
        wanted.append(np.concatenate([plant.q, plant.qd]))
        coming.append(controller.step(plant.q, plant.qd, reference=GOAL).tau)
        plant.advance(coming.pop(0), 1e-3)
    found = run(seconds=0.06, delay=Delay(actuation=late * 1e-3))
    np.testing.assert_allclose(np.hstack([found.q, found.qd]), wanted, atol=1e-12)


def test_old_measurements_and_slow_torques_are_the_same_to_a_plant() -> None:
    """Both act on what was so many seconds ago; with slow torques, all begins so much later."""
    old, slow = (run(delay=d, seconds=0.2) for d in (Delay(measurement=0.004), Delay(actuation=0.004)))
    np.testing.assert_allclose(old.q[:-4], slow.q[4:], atol=1e-12)
    assert np.abs(old.q - run(seconds=0.2).q).max() > 1e-3  # a delay is felt


def test_a_push_is_momentum() -> None:
    """Force times lever times time, on a pendulum that nothing else moves."""
    robot = robomorph.load(PENDULUM, gravity=(0.0, 0.0, 0.0), tool_frames={"tip": ("rod", (0.0, 0.0, -1.0))})
    still = StandIn(robot, stiffness=0.0, damping=0.0)
    push = Push((2.0, 0.0, 0.0), start=0.0103, seconds=0.0042, frame="tip")
    found = simulate(
        still, seconds=0.03, start=[0.0], pushes=[push, replace(push, start=0.02)], observer=False
    )
    turn = -2.0 * 1.0 * 0.0042 / PENDULUM_INERTIA  # about +y, at the hanging rod's end
    np.testing.assert_allclose(found.qd[[10, 16, 29], 0], [0.0, turn, 2 * turn], rtol=1e-4)


def test_pushes_that_overlap_add() -> None:
    robot = robomorph.load(SLIDE)
    still = StandIn(robot, stiffness=0.0, damping=0.0)
    pushes = [Push((4.0, 0.0, 0.0), 0.0, 0.02), Push((4.0, 5.0, 0.0), 0.01, 0.02)]
    found = simulate(still, seconds=0.05, start=[0.0], pushes=pushes, observer=False)
    assert found.qd[-1] == pytest.approx([0.04])


def test_noise_is_drawn_from_its_seed_and_has_its_spread() -> None:
    class Hearing(StandIn):
        heard: list[Array] = []  # noqa: RUF012

        def step(self, q: Array, qd: Array, **more: Any) -> Any:
            self.heard.append(np.concatenate([q, qd]))
            return super().step(q, qd, **more)

    both = []
    for seed in (1, 1, 2):
        Hearing.heard = []
        noise = Noise(position=1e-3, velocity=np.linspace(0.01, 0.07, 7), seed=seed)
        found = simulate(
            Hearing(iiwa(), stiffness=0.0, damping=0.0), seconds=1.0, start=START, noise=noise, observer=False
        )
        off = np.array(Hearing.heard) - np.hstack([found.q, found.qd])
        both.append(off)
    np.testing.assert_array_equal(both[0], both[1])
    assert np.abs(both[0] - both[2]).max() > 1e-3
    np.testing.assert_allclose(both[0].std(axis=0), [1e-3] * 7 + [*np.linspace(0.01, 0.07, 7)], rtol=0.15)


def test_the_plan_begins_when_its_torque_acts() -> None:
    controller = StandIn(pendulum())
    simulate(
        controller,
        seconds=0.005,
        start=[0.0],
        reference=lambda time: np.array([time]),
        delay=Delay(0.1, 0.02),
        observer=False,
    )
    np.testing.assert_allclose(np.ravel(controller.references), 0.02 + 1e-3 * np.arange(5))


# --- late answers -----------------------------------------------------------------------------------------


def test_a_busy_controller_is_not_asked() -> None:
    controller = StandIn(iiwa())
    late = Late(share=1.0, seconds=0.0025)
    found = simulate(controller, seconds=0.05, start=START, reference=GOAL, late=late, observer=False)
    asked = np.flatnonzero(np.isfinite(found.solve_times))
    np.testing.assert_array_equal(asked, [0, *range(1, 50, 3)])
    assert controller.elapsed[:3] == [None, pytest.approx(0.001), pytest.approx(0.003)]
    assert not found.late[0] and found.late[1:].all()
    assert "49 of 50 answers were late" in found.reason


@pytest.mark.parametrize("meanwhile", ["plan", "torque"])
@pytest.mark.parametrize("observed", [False, True])
def test_late_answers_are_survived(meanwhile: str, observed: bool) -> None:
    late = Late(share=0.3, seconds=0.0035, seed=4, meanwhile=meanwhile)
    found = run(seconds=1.2, late=late, observer=observed)
    assert found.success and found.left < 1e-3
    assert 0.3 < found.late.mean() < 0.9


def test_the_last_plan_is_better_than_the_last_torque() -> None:
    off = []
    for meanwhile in ("plan", "torque"):
        late = Late(share=0.5, seconds=0.009, seed=1, meanwhile=meanwhile)
        off.append(np.abs(run(seconds=0.3, late=late).q - run(seconds=0.3).q).max())
    assert off[0] < 0.5 * off[1]


def test_a_plan_between_and_beyond_its_nodes() -> None:
    values = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 5.0]])
    for age, wanted in ((-1.0, [0, 1]), (0.005, [1, 1]), (0.015, [3, 3]), (0.02, [4, 5]), (9.0, [4, 5])):
        np.testing.assert_allclose(planned(values, 0.01, age), wanted)
    np.testing.assert_array_equal(planned(values[:1], 0.01, 0.5), [0.0, 1.0])


# --- what is said of it -----------------------------------------------------------------------------------


def test_divergence_is_named() -> None:
    """Feedback that pushes away; torque limits do not save it."""
    controller = StandIn(pendulum(), stiffness=-500.0, damping=-20.0)
    found = simulate(controller, seconds=5.0, start=[0.1], reference=[0.0], observer=False)
    assert not found.success and "diverged: joint 'swing' moves with" in found.reason
    assert found.times[-1] < 4.9 and len(found.q) == len(found.times) == len(found.solve_times)


def test_a_controller_that_gives_nonsense_is_divergence() -> None:
    class Broken(StandIn):
        def step(self, q: Array, qd: Array, **more: Any) -> Any:
            return replace(super().step(q, qd, **more), tau=np.full(1, np.nan))

    found = simulate(Broken(pendulum()), seconds=0.1, start=[0.1], reference=[0.0], observer=False)
    assert found.reason == "diverged: the state is not finite at 0.001 s"
    assert found.size[-1] == np.inf


def test_clipping_is_told() -> None:
    found = simulate(
        StandIn(pendulum(), stiffness=1e4, damping=200.0),
        seconds=0.5,
        start=[1.0],
        reference=[0.0],
        observer=False,
    )
    assert np.abs(found.tau).max() == pytest.approx(50.0)
    assert found.clipped[0] == pytest.approx([1e4 * PENDULUM_INERTIA - 50.0 - 9.81 * np.sin(1.0)], rel=1e-2)
    data = found.as_data()
    assert data["clipped_ticks"] > 0 and data["clipped_Nm"] > 1000.0
    (margin,) = [m for m in found.margins if m.what == "torque"]
    assert margin.left == pytest.approx(0.0) and margin.joint == "swing"


def made(error: Array, **more: Any) -> Simulation:
    """A result with a given error (T,) of ticks 0.1 s apart."""
    ticks = len(error)
    zeros = np.zeros((ticks, 1))
    fields: dict[str, Any] = {
        **{name: zeros for name in ("q", "qd", "tau", "clipped")},
        **{name: None for name in ("reference", "disturbance", "payload")},
        **{name: np.zeros(ticks) for name in ("observe_times", "violations", "cpu_times")},
        **{name: np.zeros(ticks, bool) for name in ("late",)},
    }
    fields |= {"times": 0.1 * np.arange(ticks), "error": error[:, None], "solved": np.ones(ticks, bool)}
    fields |= {"success": True, "reason": "", "robot": pendulum(), "period": 0.1, "reasons": {}}
    fields |= {"solve_times": np.arange(ticks) * 1e-3, "pushes": (), "tolerance": 0.01}
    return Simulation(**{**fields, **more})


def test_settling_peak_and_what_is_left() -> None:
    error = np.array([1.0, 0.1, 0.005, 0.005, 0.3, -0.4, 0.1, 0.005, -0.002, 0.001])
    found = made(error, pushes=(Push((1, 0, 0), start=0.4, seconds=0.1),))
    assert found.before_push == 0.005 and found.peak == 0.4
    assert found.settled == pytest.approx(0.7 - 0.5)
    assert found.left == pytest.approx(0.002)
    assert made(error).settled == pytest.approx(0.7) and np.isnan(made(error).peak)
    assert made(error[:6]).settled is None and "error still" in made(error[:6]).with_reason().reason
    assert found.percentile(100.0) == pytest.approx(9e-3) and found.percentile(50.0) == pytest.approx(4.5e-3)


def test_a_broken_plan_is_counted() -> None:
    solved = np.array([True, False, True])
    assert "1 of 3 plans broke a limit" in made(np.zeros(3), solved=solved).with_reason().reason


def test_margins_are_of_the_nearest_limit() -> None:
    q, qd = np.array([[0.0], [-9.0], [8.0]]), np.array([[0.0], [25.0], [0.0]])
    found = {m.what: m for m in made(np.zeros(3), q=q, qd=qd).margins}
    assert (found["position"].left, found["position"].share, found["position"].time) == pytest.approx(
        (1.0, 0.1, 0.1)
    )
    assert (found["speed"].left, found["speed"].share) == (-5.0, -0.25)


def test_an_error_of_ones_own() -> None:
    def height(time: float, q: Array) -> Any:
        return iiwa().forward_kinematics(q, TOOL)[2, 3] - 0.5

    found = run(error=height, reference=GOAL)
    assert found.error.shape == (100, 1) and found.reference is None
    assert found.error[0, 0] == pytest.approx(height(0.0, START))
    assert run(reference=None).error.shape == (100, 0)
    assert run(reference=lambda time: None).error.shape == (100, 0)


def test_a_viewer_sees_every_tick_and_may_end_it() -> None:
    seen: list[float] = []

    def viewer(time: float, q: Array) -> bool:
        seen.append(time)
        assert q.shape == (7,)
        return time < 0.0195

    found = run(viewer=viewer)
    np.testing.assert_allclose(seen, 1e-3 * np.arange(21))
    assert len(found.times) == 21 and found.success


def test_the_middle_of_the_limits() -> None:
    robot = robomorph.load(PENDULUM.replace('lower="-10"', 'lower="2"'))
    assert middle(robot) == pytest.approx([6.0])
    assert middle(robomorph.load(PENDULUM.replace('type="revolute"', 'type="continuous"'))) == 0.0


# --- observer in the loop ---------------------------------------------------------------------------------


def test_the_same_loop_twice_is_the_same_loop() -> None:
    options: dict[str, Any] = {"noise": Noise(1e-4, 1e-2), "delay": Delay(0.004), "observer": True}
    options["late"] = Late(0.1, 0.002)
    a, b = (run(plant=RobotPlant(iiwa(), payload=2.0), **options) for _ in range(2))
    np.testing.assert_array_equal(a.q, b.q)


def test_friction_leaves_an_error_that_the_observer_takes_away() -> None:
    plant = RobotPlant(iiwa(), friction=Friction(coulomb=0.5, viscous=0.5, width=0.01))
    without, with_it = (run(plant=plant, seconds=1.5, observer=on) for on in (False, True))
    assert without.left > 10 * with_it.left


# --- refusals ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seconds": 0.0}, "seconds: expected 1 to"),
        ({"seconds": np.nan}, "seconds: expected 1 to"),
        ({"rate": 500.0}, r"rate: expected the controller's own, 1000 Hz.*period=0.002"),
        ({"rate": -1.0}, "rate: expected the controller's own"),
        ({"plant": "mujoco"}, "plant: expected RobotPlant"),
        ({"start": [0.0, 0.0]}, "q: expected 7 finite numbers"),
        ({"start_speed": np.full(7, np.nan)}, "qd: expected 7 finite numbers"),
        ({"observer": "yes"}, "observer: expected True, False or an Observer"),
        ({"error": lambda time, q: np.zeros((2, 2))}, "error: expected a function"),
        ({"pushes": [Push((1, 0, 0), frame="hand")]}, "no link or frame called 'hand'"),
        ({"noise": Noise(position=[1.0, 2.0])}, "noise.position: expected one number, or 7"),
    ],
)
def test_what_a_loop_refuses(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        run(**options)


def test_strangers_are_refused() -> None:
    with pytest.raises(ArgumentError, match="plant: expected the joints of the controller's robot 'iiwa14'"):
        run(plant=RobotPlant(pendulum()))
    with pytest.raises(ArgumentError, match=r"the controller's period 0.001 s, found 0.01 s"):
        run(observer=Observer(iiwa(), 0.01))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Push((1, 2)),
        lambda: Push((1, 2, np.inf)),
        lambda: Push((1, 2, 3), start=-1.0),
        lambda: Push((1, 2, 3), seconds="a"),  # type: ignore[arg-type]
        lambda: Delay(-0.1),
        lambda: Delay(actuation=np.nan),
        lambda: Late(1.5, 0.001),
        lambda: Late(0.5, -0.001),
        lambda: Late(0.5, 0.001, meanwhile="stop"),
        lambda: Friction(width=0.0),
        lambda: Noise(velocity=-1.0).spread(3),
    ],
)
def test_disturbances_that_are_none(make: Any) -> None:
    with pytest.raises(ArgumentError, match="expected"):
        make()


def test_a_disturbance_is_learned_in_twice_the_delay() -> None:
    found = [Gains.for_delay(delay, 1e-3).disturbance for delay in (0.0, 0.002, 0.01)]
    assert found == pytest.approx([0.2, 0.2, 0.05])
