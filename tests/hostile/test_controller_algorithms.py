"""What a controller's author asks for: against Pinocchio, differences along a motion, and each other.

Hostile states: speeds of 1e6 rad/s, angles of 1e5 rad, bases a thousand kilometres away, links of no mass to
speak of. Real robots of example-robot-data and 200 random trees are in tests/robots, which asks for every
check of tests/oracle/checks.py.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph import ArgumentError, ModelWarning, Robot
from robomorph.algorithms.registry import ALGORITHMS, state_algorithms
from robomorph.model.robots import builtin_urdf
from tests.model.samples import MENAGERIE, link
from tests.oracle.calls import Sample, sample, some_wrenches
from tests.oracle.compare import SINGLE, assert_close, assert_same_bits, relative_l2
from tests.oracle.crane import CRANE

Array = npt.NDArray[Any]
NEW = (
    "bias_torque", "gravity_torque", "coriolis_matrix", "link_poses", "frame_velocity", "frame_acceleration",
    "jacobian_rate", "centroidal_momentum", "centroidal_momentum_matrix",
)  # fmt: skip
ROBOTS = {
    "iiwa14": ("iiwa14", False),
    "hyq": ("hyq", False),
    "hyq-floating": ("hyq", True),
    "atlas": ("atlas", False),
    "atlas-floating": ("atlas", True),
    "crane": (CRANE, False),  # mimic joints
    "crane-floating": (CRANE, True),
    "menagerie": (MENAGERIE, False),  # every joint type, a chain of mimics
}
DIFFERENCES = 1e-8  # of the largest entry: what fourth-order central differences are good for
STENCIL = ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12))
STEP = 1e-3


@cache
def load(case: str) -> Robot:
    source, floating = ROBOTS[case]
    return robomorph.load(source, floating_base=floating)


@cache
def kernel(robot: Robot, name: str, frame: str | None) -> Any:
    return robot.compile(name, target="interpreter", frame=frame)


def ask(robot: Robot, name: str, args: list[Array], frame: str | None = None) -> Array:
    """By the interpreter: compiled code is compared with it elsewhere, and below."""
    frame = (frame or robot.link_names[-1]) if ALGORITHMS[name].frame else None
    return np.asarray(kernel(robot, name, frame)(*args))


def along(robot: Robot, x: Sample, function: Callable[[Array, Array], Array]) -> Array:
    """d/dt of a function of q and qd on the way that x's velocities and accelerations lead."""
    total: Any = 0.0
    for k, weight in STENCIL:
        t = k * STEP
        there = robot.integrate(x.q, t * x.qd + 0.5 * t * t * x.qdd)
        total = total + weight / STEP * function(there, x.qd + t * x.qdd)
    return np.asarray(total)


def times(matrix: Array, vector: Array) -> Array:
    return np.asarray(np.einsum("...ij,...j->...i", matrix, vector))


# --- nothing is left out ---------------------------------------------------------------------------------


def test_every_algorithm_is_checked_described_and_callable() -> None:
    """A new algorithm without an oracle, a yardstick, words for the export or a method fails here."""
    pytest.importorskip("pinocchio", reason="needs the package pin")
    from robomorph.verify.states import random_states
    from robomorph.verify.yardstick import Yardstick
    from tests.oracle.checks import CHECKS

    robot = robomorph.load("chain:2")
    yardstick = Yardstick(robot, random_states(robot, 2), "tool")
    for name, algorithm in state_algorithms().items():
        assert name in CHECKS, f"{name} is not compared with Pinocchio"
        assert yardstick.expected(name) is not None, f"{name}: robomorph compile has no yardstick"
        assert algorithm.title.endswith(".") and ("{frame}" in algorithm.title) == algorithm.frame
        assert all(algorithm.note(port) for port in (*algorithm.inputs, *algorithm.outputs)), name
        assert (getattr(Robot, name).__doc__ or "").strip(), f"Robot.{name} says nothing"


# --- Pinocchio -------------------------------------------------------------------------------------------


def subject(case: str, states: Sample, target: str = "interpreter", tolerance: float = 1e-11) -> Any:
    pytest.importorskip("pinocchio", reason="needs the package pin")
    from tests.oracle.checks import Subject
    from tests.oracle.reference import Reference, build

    source, floating = ROBOTS[case]
    text = builtin_urdf(source)
    reference = Reference(load(case), build(source if text is None else text.decode(), floating=floating))
    return Subject(load(case), reference, states, target, tolerance)


def check(
    name: str, case: str, states: Sample, target: str = "interpreter", tolerance: float = 1e-11
) -> None:
    tested = subject(case, states, target, tolerance)
    from tests.oracle.checks import CHECKS

    CHECKS[name](tested)


@pytest.mark.parametrize("name", (*NEW, "bias_torque_f_ext"))
@pytest.mark.parametrize("case", [case for case in ROBOTS if case != "menagerie"])
def test_agrees_with_pinocchio(case: str, name: str) -> None:
    check(name, case, sample(load(case), 3, 3))


@pytest.mark.parametrize("name", NEW)
def test_compiled_code_agrees_with_pinocchio(name: str) -> None:
    check(name, "crane-floating", sample(load("crane-floating"), 4, 37), "cpu")


@pytest.mark.parametrize("name", NEW)
@pytest.mark.parametrize("case", ["iiwa14", "hyq-floating", "crane"])
def test_a_million_radians_a_second(case: str, name: str) -> None:
    x = sample(load(case), 5, 4)
    check(name, case, x._replace(qd=1e6 * x.qd, qdd=1e6 * x.qdd))


@pytest.mark.parametrize("name", NEW)
def test_angles_of_many_turns(name: str) -> None:
    x = sample(load("iiwa14"), 6, 4)
    check(name, "iiwa14", x._replace(q=1e5 * x.q))


@pytest.mark.parametrize("name", ["frame_velocity", "frame_acceleration", "jacobian_rate", "bias_torque",
                                  "gravity_torque", "coriolis_matrix", "centroidal_momentum",
                                  "centroidal_momentum_matrix"])  # fmt: skip
@pytest.mark.parametrize("case", ["hyq-floating", "atlas-floating"])
def test_where_the_base_is_does_not_matter_to_the_bit(case: str, name: str) -> None:
    """Moments about the world's origin would lose a digit for every digit of the distance."""
    robot = load(case)
    near, far = sample(robot, 7, 3), sample(robot, 7, 3)
    far.q[:, :3] += [1e6, -2e6, 3e5]
    assert_same_bits(ask(robot, name, far.arguments(name)), ask(robot, name, near.arguments(name)), name)


LIGHT = 2.0**-40


@pytest.mark.parametrize("floating", [False, True])
def test_links_of_next_to_no_mass(floating: bool) -> None:
    """Powers of two change no digit, unless somewhere a small number is taken for nothing."""
    numbers = {f'"{x}"': f'"{float(x) * LIGHT!r}"' for x in ("2", "0.02", "0.03", "0.04")}
    text = CRANE
    for old, new in numbers.items():
        assert old in text
        text = text.replace(old, new)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        light, sound = (robomorph.load(t, floating_base=floating) for t in (text, CRANE))
    x = sample(sound, 8, 3)
    for name in NEW:
        kinematic = ALGORITHMS[name].frame or name == "link_poses"
        expected = ask(sound, name, x.arguments(name)) * (1.0 if kinematic else LIGHT)
        assert_same_bits(ask(light, name, x.arguments(name)), expected, name)


def test_one_link_of_next_to_no_mass() -> None:
    """Among heavy ones."""
    pytest.importorskip("pinocchio", reason="needs the package pin")
    from tests.oracle.checks import CHECKS, Subject
    from tests.oracle.reference import Reference, build

    tensor = '<inertia ixx="1e-15" ixy="0" ixz="0" iyy="1e-15" iyz="0" izz="1e-15"/>'
    inertial = f'<inertial><mass value="1e-12"/>{tensor}</inertial>'
    text = CRANE.replace(link("trolley"), link("trolley", inertial))
    assert text != CRANE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        robot = robomorph.load(text)
    tested = Subject(robot, Reference(robot, build(text)), sample(robot, 8, 3), "cpu", 1e-12)
    for name in NEW:
        CHECKS[name](tested)


def test_standing_still() -> None:
    """No velocity: nothing that is due to velocity, exactly; and the bias is gravity."""
    for case in ("hyq-floating", "menagerie"):
        robot = load(case)
        q = sample(robot, 9, 3).q
        rest = np.zeros((3, robot.nv))
        for name in ("coriolis_matrix", "centroidal_momentum", "jacobian_rate", "frame_velocity"):
            assert not ask(robot, name, [q, rest]).any(), name
        assert_close(ask(robot, "bias_torque", [q, rest]), ask(robot, "gravity_torque", [q]), case, 1e-13)


# --- identities ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("speed", [1.0, 1e6])
@pytest.mark.parametrize("case", ROBOTS)
def test_identities(case: str, speed: float) -> None:
    robot = load(case)
    x = sample(robot, 10, 5)
    x = x._replace(qd=speed * x.qd, qdd=speed * x.qdd)
    q, qd, qdd, *_ = x
    bias, gravity = ask(robot, "bias_torque", [q, qd]), ask(robot, "gravity_torque", [q])
    assert_close(times(ask(robot, "coriolis_matrix", [q, qd]), qd) + gravity, bias, "C qd + g", 1e-12)
    torque = ask(robot, "inverse_dynamics", [q, qd, qdd])
    assert_close(times(ask(robot, "mass_matrix", [q]), qdd) + bias, torque, "M qdd + bias", 1e-12)
    for frame in (robot.link_names[-1], robot.link_names[len(robot.link_names) // 2]):
        jacobian = ask(robot, "jacobian", [q], frame)
        velocity = ask(robot, "frame_velocity", [q, qd], frame)
        assert_close(velocity, times(jacobian, qd), "J qd", 1e-12)
        total = times(jacobian, qdd) + ask(robot, "jacobian_rate", [q, qd], frame)
        assert_close(ask(robot, "frame_acceleration", [q, qd, qdd], frame), total, "J qdd + dJ qd", 1e-12)
    momentum = times(ask(robot, "centroidal_momentum_matrix", [q]), qd)
    assert_close(ask(robot, "centroidal_momentum", [q, qd]), momentum, "A qd", 1e-12)
    mass = sum(body.inertia.mass for body in robot.model.bodies)
    drift = mass * times(ask(robot, "center_of_mass_jacobian", [q]), qd)
    assert_close(momentum[:, :3], drift, "linear momentum", 1e-12)


def test_link_poses_are_forward_kinematics_of_every_link() -> None:
    """In the order of `link_names`; tool frames are not among them, what is fixed to the world is."""
    pose = np.eye(4)
    pose[:3, 3] = (0.1, 0.2, 0.3)
    robot = robomorph.load(MENAGERIE, tool_frames={"tip": (load("menagerie").link_names[-1], pose)})
    q = sample(robot, 11, 4).q
    found = ask(robot, "link_poses", [q])
    assert found.shape == (4, len(robot.link_names), 4, 4)
    assert robot.model.link_placements[0].body < 0 and "tip" in robot.frame_names
    for i, name in enumerate(robot.link_names):
        assert_close(found[:, i], ask(robot, "forward_kinematics", [q], name), name, 1e-14)


# --- differences along a motion, mimic joints among them ---------------------------------------------------


@pytest.mark.parametrize("case", ROBOTS)
def test_frame_acceleration_is_the_rate_of_frame_velocity(case: str) -> None:
    robot = load(case)
    x = sample(robot, 12, 3)

    def velocity(frame: str, q: Array, qd: Array) -> Array:
        return np.asarray(ask(robot, "frame_velocity", [q, qd], frame))

    for frame in (robot.link_names[-1], robot.link_names[len(robot.link_names) // 2]):
        rate = along(robot, x, partial(velocity, frame))
        found = ask(robot, "frame_acceleration", [x.q, x.qd, x.qdd], frame)
        assert_close(found, rate, f"{case}: acceleration of {frame}", DIFFERENCES)


@pytest.mark.parametrize("case", ROBOTS)
def test_mass_rate_less_twice_coriolis_is_skew(case: str) -> None:
    robot = load(case)
    x = sample(robot, 13, 3)
    rate = along(robot, x, lambda q, qd: ask(robot, "mass_matrix", [q]))
    rest = rate - 2.0 * ask(robot, "coriolis_matrix", [x.q, x.qd])
    assert_close(rest, -rest.transpose(0, 2, 1), f"{case}: dM/dt - 2 C", DIFFERENCES)


@pytest.mark.parametrize("case", ["iiwa14", "hyq", "crane"])
def test_coriolis_entries_are_christoffels(case: str) -> None:
    """Where each joint has one degree of freedom there is just one such matrix for a mass matrix."""
    robot = load(case)
    x = sample(robot, 14, 1)
    n = robot.nv
    units = [x._replace(qd=np.eye(n)[k : k + 1], qdd=np.zeros((1, n))) for k in range(n)]
    slopes = [along(robot, u, lambda q, qd: ask(robot, "mass_matrix", [q]))[0] for u in units]
    d = np.stack(slopes, axis=-1)  # d[i, j, k] = dM_ij / dq_k
    symbols = 0.5 * (d + d.transpose(0, 2, 1) - d.transpose(2, 0, 1))
    wanted = symbols @ x.qd[0]
    assert_close(ask(robot, "coriolis_matrix", [x.q, x.qd])[0], wanted, case, DIFFERENCES)


@pytest.mark.parametrize("case", ["hyq-floating", "atlas-floating", "crane-floating"])
@pytest.mark.parametrize("pushed", [False, True])
def test_momentum_changes_by_what_acts_from_outside(case: str, pushed: bool) -> None:
    """In free fall, the joints at work: gravity and the wrenches on links, and nothing else."""
    robot = load(case)
    x = sample(robot, 15, 3)
    x.tau[:, :6] = 0.0
    wrenches = some_wrenches(robot, 16, 3) if pushed else {}
    forward = robot.compile("forward_dynamics", target="interpreter", f_ext=list(wrenches) or False)
    forces = [np.stack(list(wrenches.values()), axis=1)] if pushed else []
    x = x._replace(qdd=np.asarray(forward(x.q, x.qd, x.tau, *forces)))
    rate = along(robot, x, lambda q, qd: ask(robot, "centroidal_momentum", [q, qd]))
    center = ask(robot, "center_of_mass", [x.q])
    outside = np.zeros((3, 6))
    outside[:, :3] = sum(body.inertia.mass for body in robot.model.bodies) * robot.gravity
    for name, wrench in wrenches.items():
        pose = ask(robot, "forward_kinematics", [x.q], name)
        force, moment = times(pose[:, :3, :3], wrench[:, :3]), times(pose[:, :3, :3], wrench[:, 3:])
        outside[:, :3] += force
        outside[:, 3:] += moment + np.cross(pose[:, :3, 3] - center, force)
    assert_close(rate, outside, case, DIFFERENCES)


# --- calls -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NEW)
def test_batches_and_float32(name: str) -> None:
    """Any leading dimensions give the bits of single calls; float32 is near."""
    robot = load("crane")
    x = sample(robot, 17, 24)
    frame = (robot.link_names[-1],) if ALGORITHMS[name].frame else ()
    method, args = getattr(robot, name), x.arguments(name)
    whole = method(*args, *frame)
    block = method(*(a.reshape(2, 3, 4, -1) for a in args), *frame)
    assert_same_bits(block.reshape(whole.shape), whole, name)
    for i in range(24):
        assert_same_bits(method(*(a[i] for a in args), *frame), whole[i], name)
    single = method(*(a.astype("float32") for a in args), *frame)
    assert single.dtype == np.float32 and relative_l2(single, whole) < SINGLE


def test_wrenches_and_frames_are_taken_or_refused_by_name() -> None:
    robot = load("iiwa14")
    x = sample(robot, 18, 2)
    wrench = {"lbr_iiwa_link_7": np.arange(6.0)}
    pushed = robot.bias_torque(x.q, x.qd, wrench)
    still = robot.inverse_dynamics(x.q, x.qd, np.zeros((2, 7)), f_ext=wrench)
    assert_close(pushed, still, "bias with a wrench", 1e-13)
    for name in NEW:
        if not ALGORITHMS[name].wrenches:
            with pytest.raises(ArgumentError, match=f"f_ext: {name} does not take external forces"):
                robot.compile(name, f_ext=True, frame="lbr_iiwa_link_7" if ALGORITHMS[name].frame else None)
    with pytest.raises(ArgumentError, match="lbr_iiwa_link_7"):
        robot.frame_velocity(x.q, x.qd, "lbr_iiwa_link_8")
    with pytest.raises(ArgumentError, match="frame"):
        robot.compile("jacobian_rate")
    fixed = robot.link_names[0]
    assert not robot.frame_acceleration(x.q, x.qd, x.qdd, fixed).any()
    with pytest.raises(ArgumentError, match="qd"):
        robot.coriolis_matrix(x.q, np.full((2, 7), np.nan))
