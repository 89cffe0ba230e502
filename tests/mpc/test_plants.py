"""Plants against formulas, Pinocchio and MuJoCo, none of which share code with them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph.errors import ArgumentError, ModelWarning, TargetError
from robomorph.mpc.disturbances import Friction
from robomorph.mpc.plants import MujocoPlant, Plant, RobotPlant
from robomorph.mpc.plants.friction import braked
from robomorph.mpc.plants.mjcf import mjcf, quaternion
from robomorph.mpc.plants.payload import loaded, tool_frame

from .arms import PENDULUM, PENDULUM_INERTIA, PENDULUM_MOMENT, SLIDE, iiwa, iiwa_reference

Array = npt.NDArray[np.float64]
START = np.array([0.5, 0.6, -0.3, -1.2, 0.4, 0.8, 0.1])
SPEED = np.array([0.4, -0.3, 0.5, 0.6, -0.5, 0.3, 0.7])
TOOL = "lbr_iiwa_link_7"


def mujoco_plant(*args: Any, **options: Any) -> MujocoPlant:
    pytest.importorskip("mujoco")
    return MujocoPlant(*args, **options)


PLANTS: list[Any] = [RobotPlant, pytest.param(mujoco_plant, id="MujocoPlant")]
Make = Callable[..., Plant]


def ended(plant: Plant, q: Array, qd: Array, tau: Array, seconds: float) -> Array:
    plant.reset(q, qd)
    plant.advance(tau, seconds)
    return np.concatenate([plant.q, plant.qd])


@pytest.mark.parametrize("make", PLANTS)
def test_a_pendulum_is_back_after_its_period(make: Make) -> None:
    """The period is known by the arithmetic-geometric mean, for any amplitude."""
    tilt = 2.5
    a, b = 1.0, math.cos(tilt / 2)
    for _ in range(8):
        a, b = (a + b) / 2, math.sqrt(a * b)
    period = 2 * math.pi * math.sqrt(PENDULUM_INERTIA / PENDULUM_MOMENT) / a
    plant = make(robomorph.load(PENDULUM))
    half = ended(plant, np.array([tilt]), np.zeros(1), np.zeros(1), period / 2)
    np.testing.assert_allclose(half, [-tilt, 0.0], atol=1e-8)
    plant.advance(np.zeros(1), period / 2)
    np.testing.assert_allclose([*plant.q, *plant.qd], [tilt, 0.0], atol=1e-8)


@pytest.mark.parametrize("make", PLANTS)
def test_energy_of_a_falling_arm_is_kept(make: Make) -> None:
    plant = make(iiwa())
    before = sum(iiwa_reference().energy(START, SPEED))
    state = ended(plant, START, SPEED, np.zeros(7), 0.3)
    kinetic, potential = iiwa_reference().energy(state[:7], state[7:])
    assert kinetic > 5.0  # it did fall
    assert kinetic + potential == pytest.approx(before, abs=1e-6)


def pinocchio_rollout(q: Array, v: Array, tau: Array, seconds: float, steps: int) -> Array:
    """Verlet steps with Pinocchio's forward dynamics, and Richardson's extrapolation of two rates."""

    def roll(count: int) -> Array:
        h, x = seconds / count, np.concatenate([q, v])

        def slope(state: Array) -> Array:
            return np.concatenate([state[7:], iiwa_reference().forward_dynamics(state[:7], state[7:], tau)])

        for _ in range(count):
            x = x + h * slope(x + 0.5 * h * slope(x))
        return x

    return (4.0 * roll(2 * steps) - roll(steps)) / 3.0


@pytest.mark.parametrize("make", PLANTS)
def test_the_motion_is_pinocchios(make: Make) -> None:
    tau = np.array([3.0, -40.0, 1.0, 20.0, -1.0, 0.5, 0.1])
    wanted = pinocchio_rollout(START, SPEED, tau, 0.1, 400)
    np.testing.assert_allclose(ended(make(iiwa()), START, SPEED, tau, 0.1), wanted, atol=2e-7)


@pytest.mark.parametrize(("integrator", "order"), [("rk4", 4), ("semi-implicit", 1)])
def test_finer_steps_converge_with_the_method_s_order(integrator: str, order: int) -> None:
    tau = np.array([3.0, -40.0, 1.0, 20.0, -1.0, 0.5, 0.1])
    exact = ended(RobotPlant(iiwa(), rate=20_000), START, SPEED, tau, 0.2)
    errors = []
    for rate in (200.0, 400.0, 800.0):
        plant = RobotPlant(iiwa(), rate=rate, integrator=integrator)
        errors.append(np.abs(ended(plant, START, SPEED, tau, 0.2) - exact).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    np.testing.assert_allclose(orders, order, atol=0.35)


def test_at_its_own_rate_a_motion_is_converged() -> None:
    """The default rate is fine enough for what is asked of it: errors far below a closed loop's."""
    tau = np.array([3.0, -40.0, 1.0, 20.0, -1.0, 0.5, 0.1])
    coarse = ended(RobotPlant(iiwa()), START, SPEED, tau, 0.3)
    fine = ended(RobotPlant(iiwa(), rate=40_000), START, SPEED, tau, 0.3)
    np.testing.assert_allclose(coarse, fine, atol=1e-9)


@pytest.mark.parametrize("make", PLANTS)
def test_torques_are_clipped_as_a_drive_does(make: Make) -> None:
    plant = make(robomorph.load(SLIDE))
    plant.reset([0.0], [0.0])
    assert plant.advance(np.array([100.0]), 0.1) == pytest.approx([30.0])
    assert plant.qd == pytest.approx([30.0 / 4.0 * 0.1])


@pytest.mark.parametrize("make", PLANTS)
def test_a_push_acts_at_its_frame(make: Make) -> None:
    """Against Pinocchio with the same force, given there in the link's own axes."""
    wrench = np.array([30.0, -50.0, 20.0, 1.0, -2.0, 0.5])
    pose = iiwa_reference().forward_kinematics(START, TOOL)
    own = np.concatenate([pose[:3, :3].T @ wrench[:3], pose[:3, :3].T @ wrench[3:]])
    tau = iiwa_reference().gravity_torque(START)
    wanted = iiwa_reference().forward_dynamics(START, SPEED, tau, {TOOL: own})
    plant = make(iiwa())
    plant.reset(START, SPEED)
    plant.advance(tau, 1e-6, {TOOL: wrench})
    np.testing.assert_allclose((plant.qd - SPEED) / 1e-6, wanted, rtol=1e-4, atol=1e-3)
    plant.reset(START, SPEED)
    plant.advance(tau, 1e-6)  # and it ends
    free = iiwa_reference().forward_dynamics(START, SPEED, tau)
    np.testing.assert_allclose((plant.qd - SPEED) / 1e-6, free, rtol=1e-4, atol=1e-3)


# --- payloads ---------------------------------------------------------------------------------------------


def test_a_payload_is_what_load_makes_of_it() -> None:
    frames = {"tcp": (TOOL, (0.0, 0.02, 0.1))}
    payload = (3.0, (0.01, 0.02, 0.03), np.diag([0.02, 0.03, 0.04]))
    wanted = robomorph.load("iiwa14", tool_frames=frames, payloads={TOOL: payload})
    found = RobotPlant(robomorph.load("iiwa14", tool_frames=frames), payload={TOOL: payload})
    tau = np.linspace(-5, 5, 7)
    qdd = wanted.forward_dynamics(START, SPEED, tau)
    np.testing.assert_allclose(found.acceleration(START, SPEED, tau), qdd, rtol=1e-9)


def test_a_bare_number_is_a_point_mass_at_the_tool() -> None:
    robot = robomorph.load("iiwa14", tool_frames={"tcp": (TOOL, (0.0, 0.02, 0.1))})
    assert tool_frame(robot) == "tcp" and tool_frame(iiwa()) == TOOL
    wanted = robomorph.load("iiwa14", payloads={TOOL: (2.0, (0.0, 0.02, 0.1))})
    tau = np.linspace(-5, 5, 7)
    qdd = wanted.forward_dynamics(START, SPEED, tau)
    np.testing.assert_allclose(RobotPlant(robot, payload=2.0).acceleration(START, SPEED, tau), qdd, rtol=1e-9)
    assert loaded(robot, None) is robot


# --- friction ---------------------------------------------------------------------------------------------


def test_a_sliding_car_stops_and_stays() -> None:
    """Coulomb friction c on mass m stops v0 after m v0 / c, at half of that distance, and then holds."""
    plant = RobotPlant(robomorph.load(SLIDE), friction=Friction(coulomb=8.0, width=1e-5))
    plant.reset([0.0], [1.0])
    plant.advance(np.zeros(1), 0.25)
    assert plant.qd == pytest.approx([0.5], abs=1e-9)
    plant.advance(np.zeros(1), 0.5)
    assert plant.q == pytest.approx([0.25], abs=2e-4) and abs(plant.qd[0]) < 1e-12
    before = plant.q
    plant.advance(np.array([7.0]), 0.5)  # below what breaks it away: it creeps, slower than the width
    assert 0.0 < plant.qd[0] < 2e-5
    assert np.abs(plant.q - before).max() < 1e-5
    plant.advance(np.array([10.0]), 0.5)
    assert plant.qd == pytest.approx([(10.0 - 8.0) / 4.0 * 0.5], abs=1e-4)


@pytest.mark.parametrize("integrator", ["rk4", "semi-implicit"])
def test_viscous_friction_decays_exponentially(integrator: str) -> None:
    plant = RobotPlant(robomorph.load(SLIDE), friction=Friction(viscous=20.0), integrator=integrator)
    plant.reset([0.0], [1.0])
    plant.advance(np.zeros(1), 0.4)
    assert plant.qd == pytest.approx([math.exp(-20.0 / 4.0 * 0.4)], rel=1e-8 if integrator == "rk4" else 1e-3)


def test_smooth_friction_of_an_arm_is_the_same_by_both_methods() -> None:
    friction = Friction(coulomb=np.linspace(0.5, 0.1, 7), viscous=0.2, width=0.2)
    tau = iiwa().gravity_torque(START)
    both = []
    for integrator in ("rk4", "semi-implicit"):
        plant = RobotPlant(iiwa(), friction=friction, integrator=integrator, rate=40_000)
        both.append(ended(plant, START, SPEED, tau, 0.05))
    np.testing.assert_allclose(both[0], both[1], atol=2e-4)


@pytest.mark.parametrize("width", [1e-6, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("spread", [1.0, 1e8])
def test_braked_speeds_solve_their_equation(width: float, spread: float) -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        root = rng.normal(size=(5, 5)) * np.geomspace(1.0, spread**-0.5, 5)
        mass = root @ root.T + 1e-9 * np.eye(5)
        free = rng.normal(size=5) * 10.0 ** rng.uniform(-6, 2)
        coulomb, viscous = (10.0 ** rng.uniform(-8, 2, 5) * (rng.random(5) < 0.8) for _ in range(2))
        guess = None if rng.random() < 0.5 else free + rng.normal(size=5) * 10.0 ** rng.uniform(-6, 2)
        v = braked(mass, free, coulomb, viscous, width, guess)
        left = mass @ (v - free) + coulomb * np.tanh(v / width) + viscous * v
        scale = np.abs(mass @ free).max() + coulomb.max()
        assert np.abs(left).max() <= 1e-4 * scale
        assert v @ mass @ v <= free @ mass @ free * (1 + 1e-9)  # friction never adds energy


def test_friction_of_the_file() -> None:
    text = SLIDE.replace("<limit", '<dynamics damping="3" friction="2"/> <limit')
    found = Friction.of_file(robomorph.load(text)).shares(1)
    assert [float(x[0]) for x in found] == [2.0, 3.0]


def test_mujocos_own_friction_stops_a_car_too() -> None:
    plant = mujoco_plant(robomorph.load(SLIDE), friction=Friction(coulomb=8.0, viscous=1.0))
    plant.reset([0.0], [1.0])
    plant.advance(np.zeros(1), 0.2)
    moving = math.exp(-0.05) * (1.0 + 8.0) - 8.0  # m v' = -c - b v
    assert plant.qd == pytest.approx([moving], abs=5e-3)
    plant.advance(np.zeros(1), 1.0)
    assert abs(plant.qd[0]) < 1e-3


# --- MuJoCo -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["iiwa14", "hyq", "atlas", "chain:4"])
@pytest.mark.parametrize("payload", [None, 3.0])
def test_mujocos_accelerations_are_ours(name: str, payload: float | None) -> None:
    robot = robomorph.load(name)
    theirs, ours = mujoco_plant(robot, payload=payload), RobotPlant(robot, payload=payload)
    rng = np.random.default_rng(5)
    for _ in range(20):
        q, qd = robot.random_state(rng)
        tau = rng.normal(size=robot.nv) * 20.0
        a, b = (plant.acceleration(q, qd, tau) for plant in (theirs, ours))
        np.testing.assert_allclose(a, b, atol=1e-8 * np.abs(b).max())


def test_mujocos_accelerations_are_pinocchios() -> None:
    plant, rng = mujoco_plant(iiwa()), np.random.default_rng(6)
    for _ in range(50):
        q, qd = iiwa().random_state(rng)
        tau = rng.normal(size=7) * 20.0
        wanted = iiwa_reference().forward_dynamics(q, qd, tau)
        np.testing.assert_allclose(plant.acceleration(q, qd, tau), wanted, atol=1e-6)


def test_quaternions_of_half_turns() -> None:
    rng = np.random.default_rng(7)
    for half in np.vstack([np.eye(3), rng.normal(size=(20, 3))]):
        axis = half / np.linalg.norm(half)
        w, x, y, z = quaternion(2.0 * np.outer(axis, axis) - np.eye(3))
        assert abs(w) < 1e-12 and abs(abs(np.array([x, y, z]) @ axis) - 1.0) < 1e-12


# --- refusals ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rate": 0.0}, "rate: expected"),
        ({"rate": math.nan}, "rate: expected"),
        ({"payload": -1.0}, "mass of 0 or more"),
        ({"payload": {"hand": (1.0, (0, 0, 0))}}, "no link or frame called 'hand'"),
        ({"payload": {"base": (1.0, (0, 0, 0))}}, "'base', which is fixed to the world"),
        ({"integrator": "euler"}, "integrator: expected one of"),
        ({"friction": Friction(coulomb=[1.0, 2.0])}, "friction.coulomb: expected one number, or 1"),
        ({"friction": Friction(viscous=-1.0)}, "friction.viscous: expected one number"),
    ],
)
def test_what_a_plant_refuses(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        RobotPlant(robomorph.load(SLIDE), **options)


@pytest.mark.parametrize(
    ("q", "qd"), [([0.0, 0.0], [0.0]), ([np.nan], [0.0]), ([0.0], [np.inf]), ("a", [0.0])]
)
def test_states_that_are_none(q: Any, qd: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^qd?: expected"):
        RobotPlant(robomorph.load(SLIDE)).reset(q, qd)


def test_floating_bases_are_refused_by_name() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # a base without mass
        robot = robomorph.load(SLIDE, floating_base=True)
    with pytest.raises(ArgumentError, match="slide: joint 'root_joint' of type 'floating'"):
        RobotPlant(robot)
    with pytest.raises(ArgumentError, match="slide: joint 'root_joint' of type 'floating': MuJoCo"):
        mjcf(robot.model)


def test_without_mujoco_its_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "mujoco", None)
    with pytest.raises(TargetError, match="pip install mujoco"):
        MujocoPlant(robomorph.load(SLIDE))
