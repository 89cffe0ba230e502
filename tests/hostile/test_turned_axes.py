"""Joints turned by 1e-12 to 1e-2 rad: what is snapped is what the docs say, and with snap=0 nothing is."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, seed, settings

import robomorph
from robomorph import ModelWarning, Robot
from robomorph.algorithms.frames import plan_frames
from robomorph.model import WORLD, load_model
from robomorph.model.load import SNAP
from robomorph.verify.states import random_states
from robomorph.verify.yardstick import Yardstick, check_kernel
from tests.model.oracle import example_robots
from tests.oracle.calls import sample, some_frames
from tests.oracle.compare import ROUNDING
from tests.oracle.random_trees import RandomRobot, random_robots
from tests.robots.test_random_trees import QUIET

pytest.importorskip("pinocchio", reason="needs the package pin")
if not example_robots():
    pytest.skip("needs the package example-robot-data", allow_module_level=True)

from tests.oracle.checks import CHECKS, Subject
from tests.oracle.real_robots import ROBOTS, RealRobot
from tests.oracle.reference import Reference, build
from tests.oracle.turned import by_hand, turned

Array = npt.NDArray[Any]

CLOSE = 1e-11
FORWARD = (
    "inverse_dynamics",
    "inverse_dynamics_gradient",
    "mass_matrix",
    "forward_kinematics",
    "jacobian",
    "center_of_mass",
    "center_of_mass_jacobian",
    "energy",
)
# Each of a joint's three angles may be off by snap; an axis off by sqrt(2) snap moves what it turns by twice
# that.
TURN_PER_JOINT = 6 * SNAP
LARGE = ("icub_reduced", "g1_29dof_rev_1_0")
SMALL = [entry for entry in ROBOTS if not entry.slow and entry.label not in LARGE]
COMPILED = ("xarm7", "z1", "bolt", "finger_edu", "double_pendulum_continuous")


def quiet(text: str, **options: Any) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return robomorph.load(text, **options)


def check_all(robot: Robot, reference: Reference, target: str = "interpreter", states: int = 2) -> None:
    """Every function against the reference, to within CLOSE: as it is, or what M makes of it."""
    subject = Subject(robot, reference, sample(robot, 1, states), target, CLOSE)
    for name in FORWARD:
        CHECKS[name](subject)
    check_divided(subject)


def check_divided(subject: Subject) -> None:
    """What divides by M solves its equations, whose numbers come from the reference."""
    reference, states = subject.reference, subject.states
    gradient, qdd = subject.call("forward_dynamics_gradient"), subject.call("forward_dynamics")
    minv = subject.call("mass_matrix_inverse")
    for i in range(states.size):
        q, qd, _, tau, _ = states.row(i)
        mass, bias = reference.mass_matrix(q), reference.inverse_dynamics(q, qd, np.zeros_like(qd))
        rates = reference.inverse_dynamics_gradient(q, qd, gradient.qdd[i])
        residual(mass, qdd[i], bias, -tau)
        residual(mass, gradient.qdd[i], bias, -tau)
        residual(mass, gradient.dqdd_dq[i], rates.dq)
        residual(mass, gradient.dqdd_dqd[i], rates.dqd)
        residual(mass, gradient.minv[i], -np.eye(len(mass)))
        residual(mass, minv[i], -np.eye(len(mass)))


def residual(mass: Array, solution: Array, *terms: Array) -> None:
    """mass @ solution + terms is 0 beside the largest of what is added up."""
    size = (np.abs(mass) @ np.abs(solution) + sum(np.abs(term) for term in terms)).max()
    left = np.abs(mass @ solution + sum(terms)).max()
    assert left <= CLOSE * size + ROUNDING, f"{left:.3g} left of {size:.3g}"


def check_promise(robot: Robot, reference: Reference) -> None:
    """Poses with the default snap are as far from the file's as docs/models.md says, and no farther."""
    states = sample(robot, 1, 3)
    joints = len(robot.link_names) - 1
    reach = sum(float(np.linalg.norm(f.placement.translation)) for f in robot.model.frames)
    reach += sum(float(np.linalg.norm(b.placement.translation)) for b in robot.model.bodies)
    reach += float(np.abs(states.q).sum())
    for frame in some_frames(robot):
        ours = robot.compile("forward_kinematics", target="interpreter", frame=frame)(states.q)
        theirs = np.array([reference.forward_kinematics(q, frame) for q in states.q])
        off = np.abs(np.asarray(ours) - theirs)
        assert off[:, :3, :3].max() <= TURN_PER_JOINT * joints + 1e-13
        assert off[:, :3, 3].max() <= (TURN_PER_JOINT * joints + 1e-13) * reach


@cache
def text_of(entry: RealRobot) -> str:
    return turned(entry.path.read_text(errors="replace"), np.random.default_rng(len(entry.label)))


def real(entry: RealRobot, target: str) -> None:
    floating = entry.bases[-1] == "floating"
    robot = quiet(text_of(entry), floating_base=floating, snap=0.0)
    check_all(robot, Reference(robot, build(text_of(entry), floating=floating)), target)


@pytest.mark.parametrize("entry", SMALL, ids=lambda entry: entry.label)
def test_nothing_is_snapped_of_a_real_robot(entry: RealRobot) -> None:
    real(entry, "interpreter")


@pytest.mark.slow
@pytest.mark.parametrize("entry", [e for e in ROBOTS if e not in SMALL], ids=lambda entry: entry.label)
def test_nothing_is_snapped_of_a_large_robot(entry: RealRobot) -> None:
    real(entry, "interpreter")


@pytest.mark.parametrize("entry", [e for e in SMALL if e.label in COMPILED], ids=lambda entry: entry.label)
def test_nothing_is_snapped_by_compiled_code(entry: RealRobot) -> None:
    real(entry, "cpu")


@pytest.mark.parametrize("entry", SMALL, ids=lambda entry: entry.label)
def test_the_default_keeps_its_promise_for_a_real_robot(entry: RealRobot) -> None:
    floating = entry.bases[-1] == "floating"
    robot = quiet(text_of(entry), floating_base=floating)
    check_promise(robot, Reference(robot, build(text_of(entry), floating=floating)))
    subject = Subject(
        robot, Reference(robot, by_hand(robot.model)), sample(robot, 1, 2), "interpreter", CLOSE
    )
    for name in ("inverse_dynamics", "mass_matrix", "jacobian", "energy"):
        CHECKS[name](subject)


@pytest.mark.parametrize("shard", range(8))
def test_random_trees(shard: int) -> None:
    """200 of them: as written with snap=0, and as promised with the default."""

    @seed(shard)
    @settings(QUIET)
    @given(random_robots(most_joints=3))
    def check(drawn: RandomRobot) -> None:
        text = turned(drawn.text, np.random.default_rng(crc32(drawn.text.encode())))
        options = {"floating_base": drawn.floating, "mimic": drawn.mimic}
        robot = quiet(text, **options, snap=0.0)
        theirs = build(text, floating=drawn.floating)
        check_all(robot, Reference(robot, theirs), states=1)
        snapped = quiet(text, **options)
        check_promise(snapped, Reference(snapped, theirs))

    check()


# --- single numbers ---------------------------------------------------------------------------------------

LINK = (
    '<link name="{0}"><inertial><origin xyz="0.1 -0.2 0.3" rpy="0.3 0.2 0.1"/><mass value="2"/>'
    '<inertia ixx="0.03" iyy="0.04" izz="0.05" ixy="0.003" ixz="-0.002" iyz="0.001"/></inertial></link>'
)
JOINT = (
    '<joint name="{child}_j" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
    '<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>{more}'
    '<limit lower="-2" upper="2" velocity="3" effort="9"/></joint>'
)


def arm(kind: str = "revolute", axis: str = "0 0 1", rpy: str = "0 0 0", xyz: str = "0 0 0") -> str:
    """A joint between two others, all about z but for what is given of it; the last mimics the first."""
    parts = [LINK.format(name) for name in "abcd"]
    plain = {"kind": "revolute", "axis": "0 0 1", "rpy": "0 0 0", "xyz": "0.5 0 0", "more": ""}
    mimic = '<mimic joint="b_j" multiplier="-0.5" offset="0.1"/>'
    parts.append(JOINT.format(**plain, parent="a", child="b"))
    parts.append(JOINT.format(parent="b", child="c", kind=kind, axis=axis, rpy=rpy, xyz=xyz, more=""))
    parts.append(JOINT.format(**{**plain, "more": mimic}, parent="c", child="d"))
    return f'<robot name="arm">{"".join(parts)}</robot>'


TURNS = {
    "axis 1e-8": {"axis": "0 1e-8 1"},
    "axis 1e-9 and 1e-5": {"axis": "1e-9 1 1e-5"},
    "axis 1e-12": {"axis": "1 1e-12 0"},
    "axis 1e-13": {"axis": "1 0 1e-13"},
    "negative axis": {"axis": "-1e-6 0 -1"},
    "short axis": {"axis": "1e-16 1e-7 0"},
    "long axis": {"axis": "0 1e-3 1e6"},
    "roll": {"rpy": "1e-9 0 0"},
    "pitch": {"rpy": "0 1e-12 0"},
    "all angles": {"rpy": "1e-12 -1e-9 1e-6"},
    "gimbal lock": {"rpy": "0.3 1.5707963257948966 0.2"},
    "past a quarter": {"rpy": "1.5707963268048966 0 0"},
    "two quarters": {"rpy": "1.57079632679 1.57079632679 0"},
    "half a turn": {"rpy": "3.14159265359 0 -3.14159265359"},
    "offset 1e-13": {"xyz": "0.2 1e-13 0"},
    "offset 1e-13 alone": {"xyz": "0 1e-13 0", "axis": "1e-12 0 1"},
    "nearly parallel": {"xyz": "0.3 0.2 0", "axis": "1e-7 0 1"},
}


@pytest.mark.parametrize(
    ("kind", "floating"),
    [("revolute", False), ("prismatic", False), ("planar", False), ("continuous", True)],
)
@pytest.mark.parametrize("case", TURNS)
def test_every_number_written_survives(case: str, kind: str, floating: bool) -> None:
    turns = TURNS[case] if kind != "planar" else {**TURNS[case], "axis": "0 0 1"}
    robot = quiet(arm(kind, **turns), snap=0.0, floating_base=floating)
    reference, states = Reference(robot, by_hand(robot.model)), sample(robot, 3, 4)
    for frame in "bcd":
        ours = robot.compile("forward_kinematics", target="interpreter", frame=frame)(states.q)
        theirs = np.array([reference.forward_kinematics(q, frame) for q in states.q])
        assert np.abs(np.asarray(ours) - theirs).max() < 1e-14  # so that even what was turned by 1e-13 shows
    subject = Subject(robot, reference, states, "interpreter", CLOSE)
    for name in ("inverse_dynamics", "mass_matrix", "jacobian", "center_of_mass_jacobian", "energy"):
        CHECKS[name](subject)


@pytest.mark.parametrize("tilt", [1e-8, 1e-6, 1e-4, 1e-3])
def test_axes_that_meet_far_away_cost_no_digits(tilt: float) -> None:
    """Far from the world's origin, nearly parallel axes 5 cm apart: no frame goes where they meet."""
    text = arm(axis=f"{tilt!r} 0 1", xyz="0.05 0.05 0").replace('xyz="0.5 0 0"', 'xyz="1000 0 0"', 1)
    robot = quiet(text, snap=0.0)
    check_all(robot, Reference(robot, by_hand(robot.model)))
    for pose in plan_frames(robot.model).to_internal:
        assert np.abs(pose.translation).max() < 10.0


def test_small_numbers_reach_the_model_as_written() -> None:
    body = load(arm(axis="1e-9 0 1"), 0.0).bodies[1]
    assert body.axis.tolist() == [1e-9, 0.0, 1.0]
    rotation = load(arm(rpy="1e-12 0 0"), 0.0).bodies[1].placement.rotation
    assert rotation.tolist() == [[1, 0, 0], [0, 1, -1e-12], [0, 1e-12, 1]]
    locked = load(arm(axis="0 0 1"), 0.0, locked={"c_j": 1e-12}).frames[2].placement.rotation
    assert locked.tolist() == [[1, -1e-12, 0], [1e-12, 1, 0], [0, 0, 1]]
    # By default each of them is within snap of a right angle.
    assert load(arm(axis="1e-11 0 1"), SNAP).bodies[1].axis.tolist() == [0.0, 0.0, 1.0]
    assert load(arm(rpy="1e-12 0 0"), SNAP).bodies[1].placement.rotation.tolist() == np.eye(3).tolist()
    assert (
        load(arm(), SNAP, locked={"c_j": 1e-12}).frames[2].placement.rotation.tolist() == np.eye(3).tolist()
    )
    # A locked angle between two oblique axes is an angle, not an entry of a matrix.
    oblique = {"axis": "0.6 0 0.8", "rpy": "0.1 0.2 0.3"}
    still = load(arm(**oblique), SNAP, locked={"c_j": 1e-5}).frames[2].placement.rotation
    assert np.abs(still @ still.T - np.eye(3)).max() < 1e-15


def load(text: str, snap: float, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return load_model(text, snap=snap, **options)


@pytest.mark.parametrize("off", [2e-10, 1e-9, 1e-7, 1e-5, 9e-4])
def test_the_warning_tells_the_truth(off: float) -> None:
    """What is named is used as written, and a snap above the distance named removes it."""
    for text in (arm(axis=f"{off!r} 0 1"), arm(rpy=f"0 {off!r} 0"), arm(rpy=f"{np.pi / 2 + off!r} 0 0")):
        with pytest.warns(ModelWarning, match="nearly right angle") as caught:
            model = load_model(text)
        named = float(str(caught[0].message).split(" is nearly")[0].split(" from a multiple")[0].split()[-1])
        assert off * 0.999 < named < off * 1.2
        body = model.bodies[1]
        assert np.abs([*body.axis[:2], *body.placement.rotation[2]]).max() >= 0.999 * off
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            body = load_model(text, snap=named).bodies[1]
        assert {abs(x) for x in (*body.axis, *body.placement.rotation.ravel())} == {0.0, 1.0}


def test_a_planar_axis_that_is_nearly_z_is_named() -> None:
    """And only that: its axis is z, so it is no nearly right angle."""
    with pytest.warns(ModelWarning, match="planar joint whose <axis> is not z") as caught:
        load_model(arm("planar", axis="1e-9 0 1"))
    assert len(caught) == 1


# --- `robomorph compile` ----------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", ["0.00001 0 1", "1e-9 0 1", "1 1e-12 0"])
def test_compile_agrees_with_itself(axis: str) -> None:
    robot = quiet(arm(axis=axis), snap=0.0)
    yardstick = Yardstick(robot, random_states(robot, 3), "d")
    for name in ("inverse_dynamics", "forward_dynamics", "jacobian", "forward_dynamics_gradient"):
        frame = "d" if name == "jacobian" else None
        kernel = robot.compile(name, frame=frame)
        verdict = check_kernel(robot, name, kernel, yardstick, dtype="float64", frame=frame)
        assert verdict.passed, (name, verdict)
        assert verdict.textbook is not None and verdict.textbook < 1e-12


@pytest.mark.parametrize("axis", ["0 0 1", "1e-9 0 1", "1e-6 0 1"])
def test_compile_checks_a_turntable(axis: str) -> None:
    """Its torque hardly depends on its angle: what differences of it leave is no fault of the kernel."""
    joint = JOINT.format(parent="a", child="b", kind="revolute", axis=axis, rpy="0 0 0", xyz="0 0 0", more="")
    robot = quiet(f'<robot name="table">{LINK.format("a")}{LINK.format("b")}{joint}</robot>')
    yardstick = Yardstick(robot, random_states(robot, 16), "b")
    for name in ("inverse_dynamics", "inverse_dynamics_gradient", "forward_dynamics_gradient", "energy"):
        verdict = check_kernel(robot, name, robot.compile(name), yardstick, dtype="float64", frame=None)
        assert verdict.passed, (name, verdict)


def test_an_axis_off_by_a_nanoradian_does_not_pass_for_the_robots() -> None:
    """Kernels of a robot whose axis is 1e-9 off: no textbook formula is that far off by itself."""
    right, wrong = quiet(arm(axis="0 0 1")), quiet(arm(axis="1e-9 0 1"))
    yardstick = Yardstick(right, random_states(right, 3), "d")
    for name in (
        "inverse_dynamics",
        "forward_kinematics",
        "jacobian",
        "center_of_mass_jacobian",
        "mass_matrix",
    ):
        frame = "d" if name in ("forward_kinematics", "jacobian") else None
        kernel = wrong.compile(name, frame=frame)
        verdict = check_kernel(wrong, name, kernel, yardstick, dtype="float64", frame=frame)
        assert verdict.textbook is not None and 1e-11 < verdict.textbook < 1e-7
        assert not verdict.passed


def test_differences_of_a_wrong_function_are_not_trusted() -> None:
    right, wrong = quiet(arm(axis="0 0 1")), quiet(arm(axis="1e-4 0 1"))
    assert right.nv == wrong.nv and wrong.model.bodies[0].parent == WORLD
    yardstick = Yardstick(wrong, random_states(wrong, 2), "d")
    yardstick.__dict__["reference"] = Yardstick(right, yardstick.states, "d").reference
    kernel = wrong.compile("inverse_dynamics_gradient")
    verdict = check_kernel(wrong, "inverse_dynamics_gradient", kernel, yardstick, dtype="float64", frame=None)
    assert not verdict.passed
    assert verdict.independent is None
    assert verdict.distrust is not None and "inverse_dynamics itself is" in verdict.distrust
    assert "not trusted" in verdict.checked_against
