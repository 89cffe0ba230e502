"""Re-rooted robots against the robot as it is written, by Pinocchio, whose free-flying base is moved so that
the new root link stands where ours does."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import robomorph
from robomorph import ModelWarning, Robot
from robomorph.model.robots import builtin_urdf
from tests.model.oracle import example_robot
from tests.oracle.random_trees import random_robots

pin = pytest.importorskip("pinocchio", reason="needs the package pin")

Array = np.ndarray[Any, Any]
LOCAL = pin.LOCAL
CASES = [
    ("atlas", "r_foot"),
    ("atlas", "l_hand"),
    ("atlas", "head"),
    ("hyq", "lf_lowerleg"),
    ("iiwa14", "lbr_iiwa_link_7"),
    ("iiwa14", "world"),
    ("talos_reduced", "right_sole_link"),
    ("talos_reduced", "gripper_left_base_link"),
    ("panda", "panda_hand"),
]


@cache
def text_of(name: str) -> str:
    built_in = builtin_urdf(name)
    if built_in is not None:
        return built_in.decode()
    path = example_robot(name)
    assert path is not None
    return path.read_text()


def load(text: str, **options: Any) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return robomorph.load(text, mimic=False, snap=0.0, **options)


def run(robot: Robot, algorithm: str, *args: Array, **options: Any) -> Any:
    """Interpreted: nothing is compiled for a robot that is met once."""
    return robot.compile(algorithm, target="interpreter", **options)(*args)


@dataclass
class Standing:
    """Pinocchio's free-flying robot with the link `root` at `pose`, moving with `twist` (in its own axes)."""

    model: Any
    data: Any
    root: int
    q: Array
    qd: Array

    @property
    def root_jacobian(self) -> Array:
        return np.asarray(pin.computeFrameJacobian(self.model, self.data, self.q, self.root, LOCAL))


def joint_values(ours: Robot, other: Any, values: Array, which: str) -> Array:
    """Values over our joints, in Pinocchio's order; its base's entries are zero."""
    out = np.zeros(other.nv if which == "v" else other.nq)
    for name in ours.joint_names:
        if name == "root_joint":
            continue
        joint = other.joints[other.getJointId(name)]
        entry = values[ours.coordinates(name)[1 if which == "v" else 0]]
        if which == "q" and joint.nq == 2:  # continuous joints are (cos, sin) there
            out[joint.idx_q : joint.idx_q + 2] = np.cos(entry[0]), np.sin(entry[0])
        elif which == "q":
            out[joint.idx_q] = entry[0]
        else:
            out[joint.idx_v] = entry[0]
    return out


def standing(text: str, ours: Robot, root: str, q: Array, qd: Array) -> Standing:
    model = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
    model.gravity.linear = ours.gravity
    data, floats = model.createData(), ours.joint_names[:1] == ("root_joint",)
    out = Standing(model, data, model.getFrameId(root), joint_values(ours, model, q, "q"), np.zeros(model.nv))
    out.q[:7] = pin.neutral(model)[:7]
    pin.framesForwardKinematics(model, data, out.q)
    pose = pin.XYZQUATToSE3(q[:7]) if floats else pin.SE3.Identity()
    out.q[:7] = pin.SE3ToXYZQUAT(pose * data.oMf[out.root].inverse())
    out.qd = joint_values(ours, model, qd, "v")
    twist = qd[:6] if floats else np.zeros(6)
    jacobian = out.root_jacobian
    out.qd[:6] = np.linalg.solve(jacobian[:, :6], twist - jacobian[:, 6:] @ out.qd[6:])
    return out


def error(ours: Any, theirs: Any) -> float:
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    return float(np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max()))


def assert_stands_alike(text: str, root: str, seed: int = 0) -> None:
    ours = load(text, root=root)
    q, qd = ours.random_state(seed)
    qdd = np.random.default_rng(seed).uniform(-2, 2, ours.nv)
    other = standing(text, ours, root, q, qd)
    model, data = other.model, other.data
    pin.framesForwardKinematics(model, data, other.q)
    for name, pose in zip(ours.link_names, run(ours, "link_poses", q), strict=True):
        assert error(pose, data.oMf[model.getFrameId(name)].homogeneous) < 1e-14, name
    assert error(run(ours, "center_of_mass", q), pin.centerOfMass(model, data, other.q)) < 1e-14
    assert ours.model.mass == pytest.approx(pin.computeTotalMass(model), rel=1e-14)
    energy = run(ours, "energy", q, qd)
    assert error(energy.kinetic, pin.computeKineticEnergy(model, data, other.q, other.qd)) < 1e-13
    weight = ours.model.mass * 9.81  # of what is added up: the sum itself may be small
    assert abs(energy.potential - pin.computePotentialEnergy(model, data, other.q)) < 1e-14 * max(1.0, weight)
    momentum = pin.computeCentroidalMomentum(model, data, other.q, other.qd).vector
    assert error(run(ours, "centroidal_momentum", q, qd), momentum) < 1e-13
    tau = _torque(ours, other, qdd)
    assert error(run(ours, "inverse_dynamics", q, qd, qdd), tau) < 2e-13


def _torque(ours: Robot, other: Standing, qdd: Array) -> Array:
    """Joint torques when the root link is held still: its wrench takes what the base cannot."""
    model, data = other.model, other.data
    pin.forwardKinematics(model, data, other.q, other.qd, np.zeros(model.nv))
    drift = pin.getFrameAcceleration(model, data, other.root, LOCAL).vector
    jacobian, acc = other.root_jacobian, joint_values(ours, model, qdd, "v")
    acc[:6] = np.linalg.solve(jacobian[:, :6], -drift - jacobian[:, 6:] @ acc[6:])
    full = pin.rnea(model, data, other.q, other.qd, acc)
    held = full - jacobian.T @ np.linalg.solve(jacobian[:, :6].T, full[:6])
    out = np.zeros(ours.nv)
    for name in ours.joint_names:
        out[ours.coordinates(name)[1]] = held[model.joints[model.getJointId(name)].idx_v]
    return out


def assert_flies_alike(text: str, root: str, seed: int = 0, tolerance: float = 1e-13) -> None:
    """Accelerations of a free-flying robot, whose base is the new root link."""
    ours = load(text, root=root, floating_base=True)
    q, qd = ours.random_state(seed)
    tau = np.random.default_rng(seed).uniform(-5, 5, ours.nv)
    tau[:6] = 0.0
    other = standing(text, ours, root, q, qd)
    acc = pin.aba(other.model, other.data, other.q, other.qd, joint_values(ours, other.model, tau, "v"))
    pin.forwardKinematics(other.model, other.data, other.q, other.qd, acc)
    expected = np.zeros(ours.nv)
    expected[:6] = pin.getFrameAcceleration(other.model, other.data, other.root, LOCAL).vector
    for name in ours.joint_names[1:]:
        joint = other.model.joints[other.model.getJointId(name)]
        expected[ours.coordinates(name)[1]] = acc[joint.idx_v]
    assert ours.link_names[0] == root and ours.gravity.tolist() == [0.0, 0.0, -9.81]
    assert error(run(ours, "forward_dynamics", q, qd, tau), expected) < tolerance


@pytest.mark.parametrize(("name", "root"), CASES)
def test_a_robot_that_stands_on_another_link(name: str, root: str) -> None:
    assert_stands_alike(text_of(name), root)


# The base of iiwa14 has no mass, so it cannot fly.
@pytest.mark.parametrize(("name", "root"), [case for case in CASES if case[0] != "iiwa14"])
def test_a_robot_that_flies_by_another_link(name: str, root: str) -> None:
    assert_flies_alike(text_of(name), root)


@settings(max_examples=40, deadline=None)
@given(random_robots(), st.integers(0, 5))
def test_random_trees(drawn: Any, which: int) -> None:
    """Every link of any tree, as long as only joints of one coordinate lie between."""
    free = load(drawn.text, floating_base=True)
    assume(all(kind not in drawn.text for kind in ("planar", "spherical", "floating")))
    root = free.link_names[which % len(free.link_names)]
    assert_stands_alike(drawn.text, root, which)
    assert_flies_alike(drawn.text, root, which, 1e-11)


def test_there_and_back_is_the_same_robot() -> None:
    """Every pose and torque of the fixed-base robot, from the other end and from the file's."""
    there, back = load(text_of("atlas")), load(text_of("atlas"), root="pelvis")
    assert back.joint_names == there.joint_names and back.limits == there.limits
    q = there.random_state(3).q
    for name in ("link_poses", "gravity_torque"):
        assert np.array_equal(run(there, name, q), run(back, name, q))
    # But what stands counts, once a root was chosen.
    assert back.model.mass > there.model.mass
    assert np.abs(run(there, "center_of_mass", q) - run(back, "center_of_mass", q)).max() > 1e-3
