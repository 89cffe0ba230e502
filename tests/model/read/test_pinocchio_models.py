"""Robots given as pinocchio.Model against the same robots from URDF, and against Pinocchio."""

from __future__ import annotations

import pickle
import re
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio
import pytest

from robomorph.errors import ModelError
from robomorph.model import load_model
from robomorph.model.robots import builtin_urdf
from robomorph.robot import Robot
from robomorph.verify.reference import Reference
from tests.model.read.mujoco_oracle import frame_poses, load

Array = npt.NDArray[np.float64]
FILES = sorted(
    str(file.locate())
    for file in metadata.files("example-robot-data") or []
    if str(file).endswith(".urdf") and "tiago_dual" not in str(file)
)


def textbook(robot: Robot, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array, dict[str, Array]]:
    """Mass matrix, torque and the poses of all frames."""
    known = Reference(robot)
    torque = known.inverse_dynamics(q[None], qd[None], qdd[None])[0]
    return known.mass_matrix(q[None])[0], torque, frame_poses(known, q)


def in_order_of(robot: Robot, names: Robot, values: Array) -> Array:
    """Velocities of `names` for `robot`."""
    out = np.zeros(robot.nv)
    for joint in robot.model.joint_names:
        out[robot.coordinates(joint)[1]] = values[names.coordinates(joint)[1]]
    return out


@pytest.mark.parametrize("path", FILES, ids=[f"{Path(path).parent.name}/{Path(path).stem}" for path in FILES])
def test_is_the_robot_of_its_urdf(path: str) -> None:
    try:
        model: Any = pinocchio.buildModelFromUrdf(path)
    except ValueError:
        pytest.skip("Pinocchio does not read this file")
    theirs, ours = load(model), load(path, mimic=False)
    assert set(theirs.model.joint_names) == set(ours.model.joint_names)
    assert set(ours.link_names) <= set(theirs.model.frame_names)
    if ours.nv == 0:
        return
    q, (qd, qdd) = ours.random_state(1).q, np.random.default_rng(0).normal(size=(2, ours.nv))
    other = np.zeros(theirs.nq)
    for joint in ours.model.joint_names:
        other[theirs.coordinates(joint)[0]] = q[ours.coordinates(joint)[0]]
    mass, torque, poses = textbook(ours, q, qd, qdd)
    permuted = [in_order_of(theirs, ours, values) for values in (qd, qdd, torque)]
    mass_2, torque_2, poses_2 = textbook(theirs, other, permuted[0], permuted[1])
    order = in_order_of(theirs, ours, np.arange(float(ours.nv))).astype(int)
    np.testing.assert_allclose(
        mass_2, mass[np.ix_(order, order)], rtol=0, atol=1e-9 * max(np.abs(mass).max(), 1e-9)
    )
    np.testing.assert_allclose(torque_2, permuted[2], rtol=0, atol=1e-9 * max(np.abs(torque).max(), 1e-9))
    for name in ours.link_names:
        np.testing.assert_allclose(poses_2[name], poses[name], atol=1e-9)
    for body in ours.model.bodies:
        same = theirs.model.bodies[theirs.model.joint_index(body.joint_name)]
        assert (same.damping, same.friction) == (body.damping, body.friction)
        if body.kind == "revolute" and np.isfinite([*vars(body.limits).values()]).all():
            assert same.limits == body.limits


def mixed() -> Any:
    """A free base, an unaligned hinge and slide, a ball and a wheel, none of them in alphabetical order."""
    model = pinocchio.Model()
    model.name = "mixed"
    place = pinocchio.SE3.Random
    pinocchio.seed(3)
    base = model.addJoint(0, pinocchio.JointModelFreeFlyer(), pinocchio.SE3.Identity(), "z_root")
    axis = np.array([1.0, 2.0, -0.5]) / np.linalg.norm([1.0, 2.0, -0.5])
    joints: list[Any] = [
        pinocchio.JointModelRevoluteUnaligned(axis),
        pinocchio.JointModelPrismaticUnaligned(axis),
        pinocchio.JointModelSpherical(),
        pinocchio.JointModelRUBX(),
        pinocchio.JointModelPZ(),
        pinocchio.JointModelPlanar(),
    ]
    last = base
    for i, joint in enumerate(joints):
        last = model.addJoint(last if i % 3 else base, joint, place(), f"j{9 - i}")
        model.appendBodyToJoint(last, pinocchio.Inertia.Random(), pinocchio.SE3.Identity())
        model.addFrame(pinocchio.Frame(f"tool{i}", last, 0, place(), pinocchio.FrameType.OP_FRAME))
    model.appendBodyToJoint(base, pinocchio.Inertia.Random(), pinocchio.SE3.Identity())
    model.gravity.linear = np.array([0.5, -1.0, -3.0])
    model.armature = np.zeros(model.nv)
    for joint_id in range(2, model.njoints - 1):
        part = slice(model.idx_vs[joint_id], model.idx_vs[joint_id] + model.nvs[joint_id])
        model.armature[part] = 0.1 * joint_id
    return model


def state(robot: Robot, model: Any, seed: int) -> tuple[Array, Array, Array, Array]:
    """q of ours, and of Pinocchio's, which has cosine and sine where a wheel has an angle here; the order of
    our velocities in Pinocchio's."""
    rng = np.random.default_rng(seed)
    q = robot.random_state(seed).q
    theirs, order = np.zeros(model.nq), np.zeros(robot.nv, dtype=int)
    for body in robot.model.bodies:
        at, dof = robot.model.addresses[body.joint_name]
        mine, rates = robot.coordinates(body.joint_name)
        values = q[mine] if body.kind != "continuous" else np.array([np.cos(q[mine][0]), np.sin(q[mine][0])])
        theirs[at : at + len(values)] = values
        order[rates] = range(dof, dof + rates.stop - rates.start)
    return q, theirs, order, rng.normal(size=(2, robot.nv))


def test_agrees_with_pinocchio() -> None:
    model = mixed()
    robot = load(model)
    assert robot.model.joint_names[0] == "z_root"
    assert robot.gravity.tolist() == [0.5, -1.0, -3.0]
    data = model.createData()
    for seed in range(3):
        q, other, order, (qd, qdd) = state(robot, model, seed)
        velocity, acceleration = np.zeros(model.nv), np.zeros(model.nv)
        velocity[order], acceleration[order] = qd, qdd
        torque = pinocchio.rnea(model, data, other, velocity, acceleration)
        mass = pinocchio.crba(model, data, other)
        mass = np.triu(mass) + np.triu(mass, 1).T
        np.testing.assert_allclose(
            robot.mass_matrix(q), mass[np.ix_(order, order)], atol=1e-10 * np.abs(mass).max()
        )
        np.testing.assert_allclose(
            robot.inverse_dynamics(q, qd, qdd), torque[order], atol=1e-10 * np.abs(torque).max()
        )
        pinocchio.framesForwardKinematics(model, data, other)
        for name in ("tool0", "tool3", "tool5"):
            pose = data.oMf[model.getFrameId(name)].homogeneous
            np.testing.assert_allclose(robot.forward_kinematics(q, name), pose, atol=1e-12)


KINDS = ("RX", "RY", "RZ", "PX", "PY", "PZ", "RUBX", "RUBY", "RUBZ", "Spherical", "Planar", "FreeFlyer")


def at_random(seed: int) -> Any:
    """A tree of up to six joints with frames, some of them called as links are here."""
    rng, model = np.random.default_rng(seed), pinocchio.Model()
    pinocchio.seed(seed)
    for i in range(rng.integers(1, 7)):
        kind = str(rng.choice([*KINDS, "RevoluteUnaligned", "PrismaticUnaligned"]))
        axis = rng.normal(size=3) + rng.choice([0.0, 1e9]) * np.eye(3)[rng.integers(3)]
        given = (axis / np.linalg.norm(axis),) if "Unaligned" in kind else ()
        joint = getattr(pinocchio, f"JointModel{kind}")(*given)
        parent, place = int(rng.integers(model.njoints)), pinocchio.SE3.Random()
        index = model.addJoint(parent, joint, place, f"{rng.choice(['j', 'b', 'j_link'])}{i}")
        if rng.random() < 0.9:
            model.appendBodyToJoint(index, pinocchio.Inertia.Random(), pinocchio.SE3.Random())
        where = pinocchio.SE3.Random() if rng.random() < 0.5 else pinocchio.SE3.Identity()
        name = str(rng.choice([f"f{i}", f"{model.names[index]}_link"]))
        types = (pinocchio.FrameType.BODY, pinocchio.FrameType.OP_FRAME)
        model.addFrame(pinocchio.Frame(name, index, 0, where, types[rng.integers(2)]))
        if kind not in ("Planar", "FreeFlyer") and rng.random() < 0.5:
            armature = np.array(model.armature)
            armature[model.idx_vs[index] : model.idx_vs[index] + model.nvs[index]] = rng.random()
            model.armature = armature
    model.gravity.linear = rng.normal(size=3)
    return model


@pytest.mark.parametrize("block", [0, pytest.param(1, marks=pytest.mark.fuzz)])
def test_models_at_random_agree(block: int) -> None:
    for seed in range(500 * block, 500 * block + (500 if block else 40)):
        model = at_random(seed)
        robot, data = load(model), model.createData()
        q, other, order, (qd, qdd) = state(robot, model, seed)
        velocity, acceleration = np.zeros(model.nv), np.zeros(model.nv)
        velocity[order], acceleration[order] = qd, qdd
        wanted = pinocchio.rnea(model, data, other, velocity, acceleration)[order]
        _, torque, poses = textbook(robot, q, qd, qdd)
        assert np.abs(torque - wanted).max() < 1e-9 * max(1.0, np.abs(wanted).max()), seed
        pinocchio.framesForwardKinematics(model, data, other)
        for index, frame in enumerate(model.frames):
            if str(frame.type) != "JOINT":
                assert np.abs(poses[frame.name] - data.oMf[index].homogeneous).max() < 1e-9, seed


WHEEL = """<robot name="cart"><link name="base"/>
<link name="wheel"><inertial><mass value="1"/><origin xyz="0.1 0.2 0"/>
<inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="axle" type="continuous"><parent link="base"/><child link="wheel"/><origin xyz="0 0 1"/>
<axis xyz="1 2 3"/></joint></robot>"""


def test_a_wheel_about_any_axis_is_one_angle() -> None:
    model = pinocchio.buildModelFromXML(WHEEL)
    robot, ours = load(model), load(WHEEL)
    assert (model.nq, robot.nq) == (2, 1)
    assert robot.model.bodies[0].kind == "continuous"
    q = np.array([0.7])
    assert np.abs(robot.gravity_torque(q) - ours.gravity_torque(q)).max() < 1e-14
    assert "wheel" in robot.link_names


def test_pickles_without_pinocchios_model() -> None:
    robot = load(mixed())
    assert robot.record is not None and robot.record.document.given is None
    again = pickle.loads(pickle.dumps(robot))
    assert again.model == robot.model and again.model.addresses == robot.model.addresses


@pytest.mark.parametrize("carrier", [1, 2])
@pytest.mark.parametrize("kind", ["OP_FRAME", "BODY"])
def test_frames_keep_their_names(kind: str, carrier: int) -> None:
    """The link of a joint without a name of its own is not called as a frame that is elsewhere."""
    model = pinocchio.Model()
    for name, parent in (("j", 0), ("k", 1)):
        model.addJoint(parent, pinocchio.JointModelRX(), pinocchio.SE3.Random(), name)
        model.appendBodyToJoint(parent + 1, pinocchio.Inertia.Random(), pinocchio.SE3.Identity())
    place = pinocchio.SE3.Random() if carrier == 1 else pinocchio.SE3.Identity()
    model.addFrame(pinocchio.Frame("j_link", carrier, 0, place, getattr(pinocchio.FrameType, kind)))
    robot, data, q = load(model), model.createData(), np.array([0.3, -0.4])
    assert robot.link_names[:2] == ("universe", "j_link_of_joint_1")
    pinocchio.framesForwardKinematics(model, data, q)
    wanted = data.oMf[model.nframes - 1].homogeneous
    np.testing.assert_allclose(robot.forward_kinematics(q, "j_link"), wanted, atol=1e-14)


def test_effort_limits_of_both_directions() -> None:
    model = pinocchio.buildModelFromXML(text("iiwa14"))
    model.effortLimit = np.arange(1.0, 8.0)
    if not hasattr(model, "lowerEffortLimit"):
        pytest.skip("this version of Pinocchio has one for both")
    model.lowerEffortLimit = -np.arange(1.0, 8.0)
    assert load_model(model, strict=True).bodies[1].limits.effort == 2.0
    model.lowerEffortLimit = np.full(7, -np.finfo(float).max)  # as it is where nobody sets it
    assert load_model(model, strict=True).bodies[1].limits.effort == 2.0
    model.lowerEffortLimit = -np.full(7, 5.0)
    with pytest.warns(UserWarning, match="differ in the two directions.*from -5 to 2"):
        assert load_model(model).bodies[1].limits.effort == 5.0


LOOSE = {"JointModelSpherical": 0, "JointModelPlanar": 2, "JointModelFreeFlyer": 3, "JointModelRUBY": 0}


@pytest.mark.parametrize("joint", LOOSE)
def test_limits_of_joints_with_several_axes(joint: str) -> None:
    model = _with(getattr(pinocchio, joint)())
    model.velocityLimit, model.effortLimit = np.full(model.nv, 2.0), np.full(model.nv, 3.0)
    model.lowerPositionLimit = np.r_[np.full(LOOSE[joint], -np.inf), np.full(model.nq - LOOSE[joint], -1.0)]
    model.upperPositionLimit = -model.lowerPositionLimit
    model.appendBodyToJoint(1, pinocchio.Inertia.Random(), pinocchio.SE3.Identity())
    limits = load_model(model, strict=True).bodies[0].limits
    assert (limits.lower, limits.upper, limits.velocity, limits.effort) == (-np.inf, np.inf, 2.0, 3.0)
    for entry in range(model.nq):
        model.upperPositionLimit = -model.lowerPositionLimit
        high = np.array(model.upperPositionLimit)
        high[entry] = 0.5
        model.upperPositionLimit = high
        with pytest.warns(UserWarning, match=r"position limits of joints that have none here.*odd"):
            assert load_model(model).bodies[0].limits.upper == np.inf


def test_limits_that_differ_along_axes_are_told() -> None:
    model = _with(pinocchio.JointModelSpherical())
    model.velocityLimit, model.effortLimit = np.array([1.0, 3.0, 2.0]), np.array([5.0, 5.0, 6.0])
    with pytest.warns(UserWarning, match=r"differ along the axes.*velocity \[1.*effort \[5"):
        limits = load_model(model).bodies[0].limits
    assert (limits.velocity, limits.effort) == (3.0, 6.0)


def test_what_is_nearly_a_rotation_or_an_axis_is_told() -> None:
    """Pinocchio turns by what it has, whatever its length."""
    model = _with(pinocchio.JointModelRX())
    model.jointPlacements[1] = pinocchio.SE3(np.eye(3) * (1.0 + 1e-9), np.zeros(3))
    with pytest.warns(UserWarning, match="only nearly a rotation.*1e-09 off"):
        load_model(model)
    for joint in ("JointModelRevoluteUnaligned", "JointModelPrismaticUnaligned"):
        model = _with(getattr(pinocchio, joint)(np.array([0.0, 1.0 + 5e-7, 0.0])))
        with pytest.warns(UserWarning, match=r"normalised.*length 1\.0000005"):
            load_model(model)


def test_negative_numbers_are_told() -> None:
    with pytest.warns(UserWarning, match="negative.*lbr_iiwa_joint_1.*armature -1"):
        load_model(_changed(armature=-1.0))


def _long(joint: str) -> Any:
    return _with(getattr(pinocchio, joint)(np.array([2.0, 0.0, 1.0])))


def _negative() -> Any:
    model = _with(pinocchio.JointModelRX())
    model.inertias[1] = pinocchio.Inertia(-1.0, np.zeros(3), np.eye(3))
    return model


def _sticks_backwards() -> Any:
    model = pinocchio.buildModelFromXML(text("iiwa14"))
    if not hasattr(model, "lowerDryFrictionLimit"):
        pytest.skip("this version of Pinocchio has one for both")
    model.friction, model.lowerDryFrictionLimit = np.ones(7), np.full(7, -2.0)
    return model


def _with(joint: Any) -> Any:
    model = pinocchio.Model()
    model.addJoint(0, joint, pinocchio.SE3.Identity(), "odd")
    return model


def _composite() -> Any:
    joint = pinocchio.JointModelComposite(2)
    joint.addJoint(pinocchio.JointModelRX())
    joint.addJoint(pinocchio.JointModelRY())
    return _with(joint)


def _changed(**attributes: Any) -> Any:
    model = pinocchio.buildModelFromXML(text("iiwa14"))
    for name, value in attributes.items():
        array = np.array(getattr(model, name))
        array[0] = value
        setattr(model, name, array)
    return model


def text(name: str) -> str:
    data = builtin_urdf(name)
    assert data is not None
    return data.decode()


def _turning() -> Any:
    model = pinocchio.buildModelFromXML(text("iiwa14"))
    model.gravity.angular = np.array([0.0, 1.0, 0.0])
    return model


REFUSED: dict[str, tuple[Any, str]] = {
    "composite": (_composite, "JointModelComposite at joint 'odd'"),
    "translation": (lambda: _with(pinocchio.JointModelTranslation()), "JointModelTranslation at joint 'odd'"),
    "zyx": (lambda: _with(pinocchio.JointModelSphericalZYX()), "JointModelSphericalZYX"),
    "helical": (lambda: _with(pinocchio.JointModelHX(0.1)), "JointModelHX"),
    "universal": (
        lambda: _with(pinocchio.JointModelUniversal(np.eye(3)[0], np.eye(3)[1])),
        "JointModelUniversal",
    ),
    "gravity": (_turning, "gravity"),
    "a long axis": (
        lambda: _long("JointModelRevoluteUnaligned"),
        "an axis of length 1 at joint 'odd', found",
    ),
    "a long way": (
        lambda: _long("JointModelPrismaticUnaligned"),
        "an axis of length 1 at joint 'odd', found",
    ),
    "negative mass": (_negative, "a mass of 0 or more at joint 'odd', found -1 kg"),
    "uneven friction": (_sticks_backwards, "the same friction in both directions of joint"),
    "nan armature": (lambda: _changed(armature=np.nan), "armature of joint"),
    "crossed limits": (lambda: _changed(lowerPositionLimit=9.0), "limits of joint"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_is_refused_by_name(case: str) -> None:
    make, found = REFUSED[case]
    with pytest.raises(ModelError, match=re.escape(found)):
        load_model(make())


def test_names_what_a_model_lacks() -> None:
    class Model(SimpleNamespace):
        jointPlacements: tuple[()] = ()

    Model.__module__ = "pinocchio.old"
    Model.__qualname__ = "Model"
    with pytest.raises(ModelError, match=r"expected a pinocchio\.Model of Pinocchio 3 or 4"):
        load_model(Model())


def test_armature_of_a_motor_counts() -> None:
    model = pinocchio.buildModelFromXML(text("iiwa14"))
    plain = load(model)
    model.armature = np.full(model.nv, 0.25)
    q = plain.random_state(2).q
    difference = load(model).mass_matrix(q) - plain.mass_matrix(q)
    np.testing.assert_allclose(difference, 0.25 * np.eye(plain.nv), atol=1e-12)
