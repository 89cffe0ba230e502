"""One step in time and its derivatives: against rotations by other means, differences, and motion."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import robomorph
from robomorph import ArgumentError, ModelWarning, Robot
from robomorph.spatial import RotationVector
from tests.algorithms.test_armature import load
from tests.oracle.armed import armed, resisting
from tests.oracle.random_trees import RandomRobot, random_robots

Array = npt.NDArray[Any]
QUIET = settings(max_examples=15, deadline=None, database=None, suppress_health_check=list(HealthCheck))
NAMES = ("step", "semi_implicit_step")
ANGLES = (0.0, 1e-200, 1e-8, 1e-3, 0.5, np.nextafter(1.0, 0.0), 1.0, 3.0, np.pi, 6.28, 2 * np.pi, 30.0)


def one_joint(kind: str) -> Robot:
    text = (
        '<robot name="one"><link name="a"/><link name="b"><inertial><mass value="2"/>'
        '<origin xyz="0.1 -0.2 0.3"/><inertia ixx="0.3" iyy="0.4" izz="0.5" ixy="0.01" ixz="0" iyz="0.02"/>'
        f'</inertial></link><joint name="j" type="{kind}"><parent link="a"/><child link="b"/>'
        '<axis xyz="0 0 1"/></joint></robot>'
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return robomorph.load(text)


# --- turns ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", ANGLES)
def test_turns_at_every_angle(angle: float) -> None:
    direction = np.array([0.6, -0.64, 0.48])
    vector = angle * direction
    turn = RotationVector((vector[0], vector[1], vector[2]))
    assert np.abs(np.array(turn.quaternion) - Rotation.from_rotvec(vector).as_quat()).max() < 4e-16 or (
        np.abs(np.array(turn.quaternion) + Rotation.from_rotvec(vector).as_quat()).max()
        < 1e-15 * max(1, angle)
    )
    x, y, z = vector
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    # The integral of exp(-t [u]) over a unit of time, from the exponential of a larger matrix.
    large = np.block([[-skew, np.eye(3)], [np.zeros((3, 6))]])
    assert np.abs(np.array(turn.slopes()) - expm(large)[:3, 3:]).max() < 1e-14 * max(1.0, angle)


def test_turns_have_derivatives_at_rest() -> None:
    """Reverse mode through the choice between series and closed form: nothing is 0/0 on either side."""
    robot = one_joint("spherical")
    kernel = robot.compile("step", derivative="jvp", outputs=("q_next",), target="interpreter")
    arguments = [np.zeros(port.shape) for port in kernel.inputs]
    names = [port.name for port in kernel.inputs]
    arguments[names.index("q")] = robot.neutral
    arguments[names.index("dt")] = np.array(0.5)
    arguments[names.index("dqd")] = np.array([1.0, 2.0, 3.0])
    found = np.asarray(kernel(*arguments))
    assert np.abs(found[:3] - 0.25 * np.array([1.0, 2.0, 3.0])).max() < 0.2  # weight bends it a little
    assert np.isfinite(found).all()


@pytest.mark.parametrize("derivative", ["jvp", "vjp", "hvp"])
@pytest.mark.parametrize("kind", ["spherical", "floating"])
def test_turns_of_exactly_one_have_derivatives(kind: str, derivative: str) -> None:
    """Where the series ends, and from both sides of it: ten rad/s for a tenth of a second."""
    text = (
        '<robot name="top"><link name="a"/><link name="b"><inertial><mass value="2"/>'
        '<inertia ixx="0.3" iyy="0.3" izz="0.3" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        f'<joint name="j" type="{kind}"><parent link="a"/><child link="b"/></joint></robot>'
    )
    robot = robomorph.load(text, gravity=(0, 0, 0))
    kernel = robot.compile("step", derivative=derivative, target="interpreter")
    rng = np.random.default_rng(1)
    given = {port.name: rng.normal(size=port.shape) for port in kernel.inputs}
    given |= {"q": robot.neutral, "qd": np.zeros(robot.nv), "tau": np.zeros(robot.nv), "dt": np.array(0.1)}
    found = []
    for speed in (10.0, np.nextafter(10.0, 0.0), np.nextafter(10.0, 20.0)):
        given["qd"][-1] = speed
        found.append(np.concatenate([np.ravel(x) for x in kernel(*(given[p.name] for p in kernel.inputs))]))
    assert np.abs(found[0] - found[1:]).max() < 1e-12 * np.abs(found[0]).max()


# --- what a step is ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "planar", "spherical", "floating"])
@pytest.mark.parametrize("name", NAMES)
def test_a_step_by_hand(kind: str, name: str) -> None:
    """From accelerations: flat ones and turns are `integrate`; what flies goes straight."""
    robot, dt = one_joint(kind), 0.3
    q, qd = robot.random_state(rng=1)
    tau = np.random.default_rng(2).normal(size=robot.nv)
    qdd = robot.forward_dynamics(q, qd, tau)
    found = robot.compile(name)(q, qd, tau, np.array(dt))
    if kind in ("floating", "planar"):
        spin = np.zeros(3) if kind == "floating" else np.array([0.0, 0.0, qd[2]])
        spin, size = (qd[3:], 3) if kind == "floating" else (spin, 2)
        speed = np.zeros(3)
        speed[:size] = qd[:size]
        linear = qd[:size] + dt * (qdd[:size] + np.cross(spin, speed)[:size])
        turn = (
            Rotation.from_quat(q[3:])
            if kind == "floating"
            else Rotation.from_euler("z", np.arctan2(q[3], q[2]))
        )
        along = np.zeros(3)
        along[:size] = linear
        assert np.abs(found.q_next[:size] - q[:size] - dt * turn.apply(along)[:size]).max() < 1e-14
        rates = qd[size:] + dt * qdd[size:]
        assert np.abs(found.qd_next[size:] - rates).max() < 1e-13
        after = (
            Rotation.from_quat(found.q_next[3:])
            if kind == "floating"
            else Rotation.from_euler("z", np.arctan2(found.q_next[3], found.q_next[2]))
        )
        by = np.zeros(3)
        by[3 - len(rates) :] = dt * rates
        assert (after.inv() * turn * Rotation.from_rotvec(by)).magnitude() < 1e-14
        # The linear velocity is carried over as the world sees it.
        assert (
            np.abs(after.apply(np.append(found.qd_next[:size], [0.0])[:3]) - turn.apply(along)).max() < 1e-13
        )
    else:
        rates = qd + dt * qdd
        assert np.abs(found.qd_next - rates).max() < 1e-13 * max(1.0, np.abs(rates).max())
        assert np.abs(robot.difference(robot.integrate(q, dt * rates), found.q_next)).max() < 1e-13


def test_free_flight_is_straight() -> None:
    """A ball without weight, turning fast: its centre keeps its velocity, in steps of any length."""
    text = (
        '<robot name="ball"><link name="b"><inertial><mass value="2"/>'
        '<inertia ixx="0.3" iyy="0.3" izz="0.3" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    )
    robot = robomorph.load(text, floating_base=True, gravity=(0, 0, 0))
    q, qd = robot.neutral, np.array([1.0, 2.0, 3.0, 20.0, -30.0, 10.0])
    for _ in range(20):
        q, qd = robot.step(q, qd, np.zeros(6), 0.1)
    assert np.abs(q[:3] - 2.0 * np.array([1.0, 2.0, 3.0])).max() < 1e-12
    assert np.linalg.norm(q[3:]) == pytest.approx(1.0, abs=1e-15)


# --- derivatives ------------------------------------------------------------------------------------------


def check(
    robot: Robot, name: str, dt: float, *, seed: int = 0, speed: float = 1.0, tolerance: float = 2e-6
) -> None:
    """A and B against central differences of fourth order of the step itself, on the manifold."""
    nv = robot.nv
    q, qd = robot.random_state(rng=seed)
    qd = speed * qd
    tau = np.random.default_rng(seed).normal(size=nv)
    step, gradient = (robot.compile(n, target="interpreter") for n in (name, f"{name}_gradient"))
    a, b = gradient(q, qd, tau, np.array(dt))
    expected = np.zeros((2 * nv, 3 * nv))
    size = 1e-4 if speed < 100.0 else 2e-5
    after = step(q, qd, tau, np.array(dt))
    for k, way in enumerate(np.eye(3 * nv)):
        for times, weight in ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12)):
            dq, dqd, dtau = np.split(times * size * way, 3)
            q1, qd1 = step(robot.integrate(q, dq), qd + dqd, tau + dtau, np.array(dt))
            change = np.concatenate([robot.difference(after.q_next, q1), qd1 - after.qd_next])
            expected[:, k] += weight / size * change
    scale = max(1.0, np.abs(expected).max())
    assert np.abs(a - expected[:, : 2 * nv]).max() < tolerance * scale
    assert np.abs(b - expected[:, 2 * nv :]).max() < tolerance * scale


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dt", [0.0, 1e-3, 0.2])
@pytest.mark.parametrize("kind", ["plain", "armed", "resisting"])
def test_derivatives_of_a_leg(name: str, dt: float, kind: str) -> None:
    robot = robomorph.load("hyq", floating_base=True, locked={})
    made = {"plain": lambda r: r, "armed": armed, "resisting": resisting}[kind](robot)
    check(made, name, dt)


@given(random_robots(most_joints=4))
@QUIET
def test_derivatives_of_random_trees(drawn: RandomRobot) -> None:
    """Joints of all kinds, mimic joints among them, with all forces of their own."""
    robot = load(drawn)
    for made in (robot, resisting(robot)):
        for name in NAMES:
            check(made, name, 0.05, seed=3)


@pytest.mark.parametrize("kind", ["planar", "spherical", "floating"])
@pytest.mark.parametrize("speed", [0.0, 1e-9, 1.0, 10.0, 300.0])
def test_derivatives_at_every_speed(kind: str, speed: float) -> None:
    """At rest, and with turns of up to several times pi in a step."""
    for dt in (0.01, 0.1):
        for made in (one_joint(kind), resisting(one_joint(kind))):
            check(made, "step", dt, speed=speed, seed=7, tolerance=1e-5 if speed > 100.0 else 2e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["iiwa14", "hyq"])
def test_batches(name: str, dtype: str) -> None:
    """Compiled code of both versions, odd batches, one length of the step or one for each state."""
    robot = resisting(robomorph.load(name, floating_base=name == "hyq"))
    q, qd = robot.random_state(rng=1, batch=13)
    tau = np.random.default_rng(2).normal(size=qd.shape)
    q, qd, tau = (x.astype(dtype) for x in (q, qd, tau))
    steps = np.linspace(0.0, 0.1, 13).astype(dtype)
    good = 1e-3 if dtype == "float32" else 1e-10
    for algorithm in ("step", "step_gradient"):
        defined = robot.compile(algorithm, target="interpreter")(
            *(np.float64(x) for x in (q, qd, tau, steps))
        )
        found = getattr(robot, algorithm)(q, qd, tau, steps)
        for a, b in zip(found, defined, strict=True):
            assert a.dtype == dtype
            assert np.abs(a - b).max() < good * max(1.0, np.abs(b).max())
        one = getattr(robot, algorithm)(q, qd, tau, float(steps[4]))
        for a, b in zip(one, found, strict=True):
            assert a.dtype == dtype
            assert np.abs(a[4] - b[4]).max() <= good * max(1.0, np.abs(b[4]).max())


def test_no_time_changes_nothing() -> None:
    robot = resisting(robomorph.load("hyq", floating_base=True))
    q, qd = robot.random_state(rng=1)
    after, gradient = robot.step(q, qd, qd, 0.0), robot.step_gradient(q, qd, qd, 0.0)
    assert np.abs(after.q_next - q).max() < 1e-15 and np.abs(after.qd_next - qd).max() < 1e-15
    assert np.abs(gradient.A - np.eye(2 * robot.nv)).max() < 1e-14
    assert not gradient.B.any()


# --- drag -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strength", [1.0, 1e3, 1e7])
def test_drag_is_stable_however_strong(strength: float) -> None:
    """Implicit: speeds only fall. A damper's fall is m / (m + h d), friction's never overshoots."""
    kinds: tuple[dict[str, Any], ...] = ({"damping": strength}, {"friction": strength})
    for forces in kinds:
        robot = robomorph.load("chain:1", gravity=(0, 0, 0), passive=True, **forces)
        q, qd, inertia = np.zeros(1), np.array([2.0]), robot.mass_matrix([0.0])[0, 0]
        for _ in range(20):
            before = qd
            q, qd = robot.step(q, qd, [0.0], 0.01)
            assert 0.0 <= qd[0] <= before[0]
            if "damping" in forces:
                assert qd[0] == pytest.approx(before[0] * inertia / (inertia + 0.01 * strength), rel=1e-12)
    explicit = robomorph.load("chain:1", gravity=(0, 0, 0), passive=True, damping=1e7)
    assert explicit.step([0.0], [2.0], [0.0], 0.01, integrator="semi-implicit").qd_next[0] < -1e3


def test_without_drag_both_integrators_are_one() -> None:
    robot = armed(robomorph.load("iiwa14"))
    programs = [robot.compile(name, target="interpreter").program for name in NAMES]
    assert programs[0].nodes == programs[1].nodes


def test_small_steps_follow_the_motion() -> None:
    """Energy of a passive arm without drag stays, to first order in the step."""
    robot = robomorph.load("iiwa14", stiffness=20.0, passive=True)
    errors = []
    for count in (200, 400):
        q, qd = np.full(7, 0.3), np.zeros(7)
        start = sum(robot.energy(q, qd))
        for _ in range(count):
            q, qd = robot.step(q, qd, np.zeros(7), 0.2 / count)
        errors.append(abs(sum(robot.energy(q, qd)) - start))
    assert errors[1] < 0.6 * errors[0]


def test_formats_of_chips_are_for_steps_forward() -> None:
    """Backwards in time M - h D goes through zero; formats wide enough for that left no digits for others."""
    robot = robomorph.load("chain:2", damping=1.0, passive=True)
    q, qd = robot.random_state(rng=1, batch=20)
    tau, dt = robot.inverse_dynamics(q, qd, 0.0 * qd), np.linspace(0.0, 0.1, 20)
    weights = 0.5 * np.ones((2, 20, 2))
    for derivative, more in ((None, ()), ("vjp", weights)):
        chip: Any = robot.compile("step", derivative=derivative, target="fixed")
        defined = robot.compile("step", derivative=derivative, target="interpreter")(q, qd, tau, dt, *more)
        for a, b in zip(chip(q, qd, tau, dt, *more), defined, strict=True):
            assert np.abs(a - b).max() < 1e-5


# --- calls ------------------------------------------------------------------------------------------------


def test_wrenches() -> None:
    """A wrench on a link is the torque that it makes."""
    robot = robomorph.load("iiwa14")
    q, qd = robot.random_state(rng=1)
    link, wrench = robot.link_names[-1], np.array([1.0, -2.0, 3.0, 0.1, 0.2, -0.3])
    pose, jacobian = robot.forward_kinematics(q, link), robot.jacobian(q, link)
    world = np.concatenate([pose[:3, :3] @ wrench[:3], pose[:3, :3] @ wrench[3:]])
    pushed = robot.step(q, qd, np.zeros(7), 0.01, {link: wrench})
    same = robot.step(q, qd, jacobian.T @ world, 0.01)
    assert np.abs(pushed.qd_next - same.qd_next).max() < 1e-11
    assert robot.step_gradient(q, qd, np.zeros(7), 0.01, {link: wrench}).A.shape == (14, 14)


def test_refusals() -> None:
    robot = robomorph.load("chain:2")
    zero = np.zeros(2)
    with pytest.raises(ArgumentError, match="integrator: expected one of implicit, semi-implicit"):
        robot.step(zero, zero, zero, 0.1, integrator="rk4")
    with pytest.raises(ArgumentError, match="dt: expected finite numbers"):
        robot.step(zero, zero, zero, float("inf"))
    with pytest.raises(ArgumentError, match="dt: expected float32 or float64 numbers, found int"):
        robot.step(zero, zero, zero, 10**400)
    with pytest.raises(ArgumentError, match="dt"):
        robot.step(np.zeros((4, 2)), zero, zero, np.zeros(3))
