"""The parts of MJCF one by one: joints, names, the tree, what the model keeps beside its inertias."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import mujoco
import numpy as np
import pytest

import robomorph
from robomorph.errors import ModelError, RobomorphError
from robomorph.model import WORLD, Model, load_model
from tests.model.read.mujoco_oracle import differences, load, mj_model


def mjcf(*bodies: str, before: str = "", after: str = "") -> str:
    return f"<mujoco model='m'>{before}<worldbody>{''.join(bodies)}</worldbody>{after}</mujoco>"


def body(*content: str, name: str = "b", where: str = "pos='0.1 0.2 0.3' euler='10 20 30'") -> str:
    named = f"name='{name}'" if name else ""
    return f"<body {named} {where}><geom size='0.1' pos='0.05 0.1 0'/>{''.join(content)}</body>"


def agrees(text: str, **options: Any) -> Model:
    """The model, once kernels agree with MuJoCo."""
    robot = load(text, **options)
    found = differences(robot, mj_model(text))
    assert max(found.values()) < 1e-12, found
    return robot.model


JOINTS = {
    "hinge": "<joint axis='1 2 3'/>",
    "hinge off its origin": "<joint axis='0 1 0' pos='0.3 -0.1 0.2'/>",
    "hinge with ref": "<joint axis='0 1 1' pos='0.3 0 0' ref='35'/>",
    "hinge with a right angle as ref": "<joint axis='0 0 1' ref='90'/>",
    "slide": "<joint type='slide' axis='1 -1 0' pos='1 2 3'/>",
    "slide with ref": "<joint type='slide' axis='0 1 2' ref='-0.4'/>",
    "ball": "<joint type='ball'/>",
    "ball off its origin": "<joint type='ball' pos='0.1 0.2 -0.3'/>",
    "free": "<freejoint/>",
    "free, as a joint": "<joint type='free' pos='1 2 3' damping='0.1' armature='0.5'/>",
    "three hinges at three places": "<joint axis='1 0 0' pos='0.1 0 0'/><joint axis='0 1 0' ref='20'/>"
    "<joint axis='1 1 1' pos='0 0 0.3'/>",
    "slide after hinge": "<joint axis='0 0 1' pos='0.1 0.2 0' ref='10'/>"
    "<joint type='slide' axis='1 0 0' ref='0.3'/>",
    "hinge after slide": "<joint type='slide' axis='1 1 0'/><joint axis='0 0 1' pos='0.1 0.2 0'/>",
    "slides and a ball": "<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0' ref='1'/>"
    "<joint type='ball' pos='0 0.1 0'/>",
}


@pytest.mark.parametrize("case", JOINTS)
def test_joints(case: str) -> None:
    deeper = body("<joint axis='0 1 0' pos='0 0.1 0.1'/>", name="deeper")
    agrees(mjcf(body(JOINTS[case], deeper if "free" not in case else "")))
    agrees(mjcf(body(JOINTS[case], deeper), before="<option gravity='1 2 -3'/>"))


def test_coordinates_are_mujocos_own() -> None:
    text = mjcf(body("<joint name='j' ref='35' range='30 60' axis='0 1 0'/>"))
    robot = load(text)
    assert robot.limits.lower[0] == pytest.approx(math.radians(30), abs=1e-15)
    pose = np.eye(4)
    model = mj_model(text)
    data = mujoco.MjData(model)
    assert data.qpos[0] == pytest.approx(math.radians(35))
    mujoco.mj_kinematics(model, data)
    pose[:3, :3], pose[:3, 3] = data.xmat[1].reshape(3, 3), data.xpos[1]
    np.testing.assert_allclose(robot.forward_kinematics(data.qpos, "b"), pose, atol=1e-15)


def test_names_are_the_files_or_documented() -> None:
    text = mjcf(
        body("<joint/><joint/>", "<site name='b'/><site name='tip'/><site/>", body("<joint/>", name="")),
        body("<freejoint name='root'/>", name="body_2"),
        body(name="still", where="mocap='true'"),
    )
    robot = load(text)
    assert robot.joint_names == ("b_joint_0", "b_joint_1", "body_2_2_joint", "root")
    assert robot.link_names == ("world", "b@b_joint_0", "b", "body_2_2", "body_2", "still")
    assert robot.model.frame_names[6:] == ("b_site", "tip")
    assert robot.model.name == "m"
    frame = robot.model.frames[robot.model.frame_index("still")]
    assert frame.body == WORLD
    assert load(text.replace(" model='m'", "")).model.name == "MuJoCo Model"


def test_names_of_the_file_come_before_made_ones() -> None:
    text = mjcf(
        body("<joint name='j'/><joint/>", "<site name='b'/><site name='b_site' pos='0 2 0'/>"),
        body("<site name='b@j' pos='3 0 0'/><site name='body_3' pos='4 0 0'/>", name="c"),
        body("<joint name='c@fixed'/>", name=""),
    )
    robot = load(text)
    assert robot.link_names == ("world", "b@j_2", "b", "c", "body_3_2")
    assert robot.model.frame_names[5:] == ("b_site_2", "b_site", "b@j", "body_3")
    assert robot.joint_names == ("j", "b_joint_1", "c@fixed")
    frames = {frame.name: frame.placement.translation for frame in robot.model.frames}
    assert frames["b_site"][1] == 2.0 and frames["b_site_2"].tolist() == [0.0, 0.0, 0.0]


def test_order_is_mujocos() -> None:
    """Depth first in the order of the file is how MuJoCo numbers bodies."""
    leg = "".join(body("<joint/>", body("<joint/>", name=""), name="") for _ in range(3))
    text = mjcf(body("<freejoint/>", leg, name="trunk"), body("<joint/>", name="other"))
    robot, model = load(text), mj_model(text)
    assert list(robot.model.addresses) == list(robot.joint_names)
    assert list(robot.model.addresses.values()) == list(
        zip(model.jnt_qposadr.tolist(), model.jnt_dofadr.tolist(), strict=True)
    )
    for joint, (at, dof) in robot.model.addresses.items():
        place, rates = robot.coordinates(joint)
        assert (place.start, rates.start) == (at, dof)


def test_addresses_follow_joints_through_changes() -> None:
    text = mjcf(
        body("<joint name='a'/>", body("<joint name='b'/>", name="c"), name="x"),
        body("<joint name='d'/>", name="y"),
    )
    robot = load(text, root="x", locked={"b": 0.3})
    assert robot.joint_names == ("a", "d")
    assert robot.model.addresses["d"] == (2, 2)


def test_robot_from_another_root() -> None:
    """Joints whose links' frames lie elsewhere than the joints are turned round, too."""
    text = mjcf(
        body(
            "<joint name='a' axis='1 2 0' pos='0.1 0 0.2' ref='20'/>",
            "<joint name='s' type='slide' axis='0 1 0' ref='.2'/>",
            body("<joint name='b' pos='0 0.3 0'/>", body(name="glued"), name="c"),
            name="x",
        ),
        before="<option gravity='1 -2 -5'/>",
    )
    plain, turned = load(text), load(text, root="glued")
    q = plain.random_state(3).q
    other = np.zeros(3)
    for joint in plain.joint_names:
        other[turned.coordinates(joint)[0]] = q[plain.coordinates(joint)[0]]
    inverse = np.linalg.inv(plain.forward_kinematics(q, "glued"))
    for link in plain.link_names:
        wanted = inverse @ plain.forward_kinematics(q, link)
        np.testing.assert_allclose(turned.forward_kinematics(other, link), wanted, atol=1e-14)
    assert np.linalg.norm(turned.gravity) == pytest.approx(np.sqrt(30.0))
    rest = plain.forward_kinematics(np.zeros(3), "glued")[:3, :3]
    np.testing.assert_allclose(turned.gravity, rest.T @ plain.gravity, atol=1e-13)


def test_a_fixed_robot_can_float_and_a_free_one_cannot_twice() -> None:
    text = mjcf(body("<joint name='j'/>"))
    assert load(text, floating_base=True).joint_names == ("root_joint", "j")
    for beside in (
        "",
        body(name="table"),
        "<body name='target' mocap='true'/>",
        body("<joint/>", name="door"),
    ):
        with pytest.raises(RobomorphError, match=r'"r">: expected a root that does not move.*a free joint'):
            load(mjcf(beside, body("<freejoint name='r'/>")), floating_base=True)


@pytest.mark.parametrize("stiffness", ["", "stiffness='3'"])
def test_a_stiffness_of_the_callers_keeps_the_files_springref(stiffness: str) -> None:
    text = mjcf(body(f"<joint name='j' springref='20' {stiffness}/>"))
    for given in (5.0, {"j": 5.0}):
        (one,) = load(text, stiffness=given).model.bodies
        assert one.stiffness == 5.0 and one.rest == pytest.approx(math.radians(20))
    (one,) = load(text, stiffness={"j": (5.0, 0.1)}).model.bodies
    assert (one.stiffness, one.rest) == (5.0, 0.1)


def test_springs_dampers_and_friction_are_kept() -> None:
    joint = "<joint stiffness='3' springref='20' damping='0.5' frictionloss='0.2' armature='0.1' ref='10'/>"
    (one,) = load(mjcf(body(joint))).model.bodies
    assert (one.stiffness, one.damping, one.friction, one.armature) == (3.0, 0.5, 0.2, 0.1)
    assert one.rest == pytest.approx(math.radians(20))
    flags = "<option><flag spring='disable' damper='disable' frictionloss='disable'/></option>"
    (off,) = load(mjcf(body(joint), before=flags)).model.bodies
    assert (off.stiffness, off.rest, off.damping, off.friction, off.armature) == (0.0, 0.0, 0.0, 0.0, 0.1)
    (ball,) = load(
        mjcf(body("<joint type='ball' damping='0.3' frictionloss='0.1' armature='0.2'/>"))
    ).model.bodies
    assert (ball.damping, ball.friction, ball.armature) == (0.3, 0.1, 0.2)


@pytest.mark.parametrize("name", ["armature", "damping", "frictionloss", "stiffness"])
def test_negative_numbers_are_told(name: str) -> None:
    text = mjcf(body(f"<joint name='j' {name}='-0.001'/>"))
    with pytest.warns(UserWarning, match=rf'negative.*name="j".*{name.replace("loss", "")} -0\.001'):
        load_model(text)
    with pytest.raises(ModelError, match="negative"):
        load_model(text, strict=True)


def test_gravity_is_the_options() -> None:
    text = mjcf(body("<joint/>"))
    assert load(text).gravity.tolist() == [0.0, 0.0, -9.81]
    assert load(mjcf(body("<joint/>"), before="<option gravity='1 0 -2'/>")).gravity.tolist() == [
        1.0,
        0.0,
        -2.0,
    ]
    off = "<option gravity='1 0 -2'><flag gravity='disable'/></option>"
    assert load(mjcf(body("<joint/>"), before=off)).gravity.tolist() == [0.0, 0.0, 0.0]
    assert load(text, gravity=(0, 1, 0)).gravity.tolist() == [0.0, 1.0, 0.0]


def test_limits() -> None:
    text = mjcf(
        body("<joint range='-1 2'/><joint type='slide' range='0 3'/><joint axis='1 0 0'/>"),
        before="<compiler angle='radian'/>",
    )
    limits = load(text).limits
    assert limits.lower.tolist() == [-1.0, 0.0, -math.inf] and limits.upper.tolist() == [2.0, 3.0, math.inf]
    assert [one.kind for one in load(text).model.bodies] == ["revolute", "prismatic", "continuous"]
    off = load(text.replace("<worldbody>", "<option><flag limit='disable'/></option><worldbody>")).limits
    assert np.isinf(off.upper).all()


MOTOR = "<actuator>{}</actuator>"
EFFORTS = {
    "gear times control": ("<motor joint='j' gear='-20' ctrlrange='-2 2'/>", 40.0),
    "gain times control": ("<general joint='j' gear='2' gainprm='3' ctrlrange='-1 1'/>", 6.0),
    "force range": ("<position joint='j' kp='100' gear='3' forcerange='-5 5' ctrlrange='-1 1'/>", 15.0),
    "force range within that of controls": (
        "<motor joint='j' gear='2' ctrlrange='-9 9' forcerange='-5 5'/>",
        10.0,
    ),
    "controls within the force range": (
        "<motor joint='j' gear='2' ctrlrange='-1 1' forcerange='-5 5'/>",
        2.0,
    ),
    "a servo without": ("<position joint='j' kp='100' ctrlrange='-1 1'/>", math.inf),
    "no range": ("<motor joint='j' gear='20'/>", math.inf),
    "two motors": ("<motor joint='j' ctrlrange='-1 1'/><motor joint='j' gear='-3' ctrlrange='-1 1'/>", 4.0),
    "one without range": ("<motor joint='j' ctrlrange='-1 1'/><motor joint='j'/>", math.inf),
    "no motor": ("", math.inf),
    "gear of nothing": ("<motor joint='j' gear='0' ctrlrange='-1 1'/>", 0.0),
    "of another joint": ("<motor joint='k' gear='2' ctrlrange='-1 1'/>", math.inf),
}


@pytest.mark.parametrize("case", EFFORTS)
def test_effort_limits(case: str) -> None:
    motors, limit = EFFORTS[case]
    text = mjcf(body("<joint name='j'/><joint name='k' axis='0 1 0'/>"), after=MOTOR.format(motors))
    assert load_model(text, strict=True).bodies[0].limits.effort == limit


def test_effort_limits_of_the_joint_itself() -> None:
    text = mjcf(
        body("<joint name='j' actuatorfrcrange='-3 3'/>"),
        after=MOTOR.format("<motor joint='j' ctrlrange='-9 9'/>"),
    )
    assert load_model(text, strict=True).bodies[0].limits.effort == 3.0
    assert load_model(text.replace("-9 9", "-1 1"), strict=True).bodies[0].limits.effort == 1.0
    assert load_model(text.replace("<motor joint='j' ctrlrange='-9 9'/>", "")).bodies[0].limits.effort == 3.0
    with pytest.warns(UserWarning, match=r'name="j".*from 3 to 3'):
        assert load_model(text.replace("-9 9", "5 6")).bodies[0].limits.effort == 3.0


def test_uneven_effort_limits_are_told() -> None:
    text = mjcf(
        body("<joint name='j'/>"), after=MOTOR.format("<motor joint='j' gear='-2' ctrlrange='-1 3'/>")
    )
    with pytest.warns(UserWarning, match=r'differ in the two directions.*name="j".*from -6 to 2'):
        assert load_model(text).bodies[0].limits.effort == 6.0


def test_armature_and_damping_of_motors_are_seen_through_the_gear() -> None:
    if not hasattr(mujoco.MjModel, "actuator_armature"):
        pytest.skip("this version of MuJoCo has none")
    motors = (
        "<motor joint='j' gear='-3' armature='0.2' damping='0.1'/><motor joint='j' gear='2' armature='0.5'/>"
    )
    model = agrees(mjcf(body("<joint name='j' armature='0.1' damping='1'/>"), after=MOTOR.format(motors)))
    assert model.bodies[0].armature == pytest.approx(0.1 + 9 * 0.2 + 4 * 0.5)
    assert model.bodies[0].damping == pytest.approx(1.0 + 9 * 0.1)


OF_A_BALL = {  # armature and damping are along all axes alike, whatever the gear says of the others
    "ball": "<motor joint='ball' gear='2 1 0' armature='0.3' damping='0.1'/>",
    "parent": "<motor jointinparent='ball' gear='2 1 0' armature='0.3' damping='0.1'/>",
}


@pytest.mark.skipif(not hasattr(mujoco.MjModel, "actuator_armature"), reason="of later versions of MuJoCo")
@pytest.mark.parametrize("case", OF_A_BALL)
def test_armature_of_motors_of_balls_counts_though_they_are_left_out(case: str) -> None:
    text = mjcf(body("<joint name='ball' type='ball' armature='0.5'/>"), after=MOTOR.format(OF_A_BALL[case]))
    (one,) = agrees(text, ignore="actuator").bodies
    assert one.armature == pytest.approx(0.5 + 4 * 0.3) and one.damping == pytest.approx(0.4)
    off = "<option><flag actuation='disable'/></option><worldbody>"
    assert agrees(text.replace("<worldbody>", off)).bodies == (one,)


SEVERAL_EACH = {  # actuators with several controls, and with several forces
    "controls": "<pid joint='k' kp='3' kv='1' input='pos vel'/>",
    "forces": "<general joint='l' gaintype='so3' biastype='so3' gainprm='1' biasprm='0 -1'/>",
}


@pytest.mark.parametrize("case", SEVERAL_EACH)
def test_motors_after_actuators_with_several_of_each(case: str) -> None:
    motors = SEVERAL_EACH[case] + "<motor joint='j' gear='7' ctrlrange='-2 2' armature='0.3' damping='0.4'/>"
    joints = "<joint name='j'/><joint name='k' axis='0 1 0'/><joint name='l' type='ball' armature='0.1'/>"
    text = mjcf(body(joints), after=MOTOR.format(motors))
    try:
        mj_model(text)
    except ValueError as error:
        pytest.skip(f"this version of MuJoCo has none: {error}")
    one = agrees(text, ignore="actuator").bodies[0]
    assert one.limits.effort == 14.0
    assert one.armature == pytest.approx(49 * 0.3) and one.damping == pytest.approx(49 * 0.4)


OFF = {
    "actuation": ("<option><flag actuation='disable'/></option>", math.inf),
    "both groups": ("<option actuatorgroupdisable='0 3'/>", math.inf),
    "one group": ("<option actuatorgroupdisable='3'/>", 20.0),
    "clamping of controls": ("<option><flag clampctrl='disable'/></option>", math.inf),
    "nothing": ("", 50.0),
}


@pytest.mark.parametrize("case", OFF)
def test_actuators_that_are_switched_off_limit_nothing(case: str) -> None:
    before, limit = OFF[case]
    motors = "<motor joint='j' gear='20' ctrlrange='-1 1'/><motor joint='j' gear='-3' group='3' {}/>"
    text = mjcf(
        body("<joint name='j'/>"), before=before, after=MOTOR.format(motors).format("ctrlrange='-10 10'")
    )
    assert load_model(text, strict=True).bodies[0].limits.effort == limit
    muscle = "<muscle joint='j' group='3' ctrlrange='0 1' lengthrange='0 1'/></actuator>"
    if case in ("actuation", "both groups", "one group"):
        assert load_model(text.replace("</actuator>", muscle)).bodies[0].limits.effort == limit


def test_compiler_settings_are_mujocos() -> None:
    content = body("<joint range='-1 2' ref='0.1'/>", body("<joint axis='1 0 0'/>", name="c"))
    for settings in (
        "angle='radian' autolimits='true'",
        "boundmass='3' boundinertia='0.2'",
        "settotalmass='7'",
        "inertiafromgeom='true' balanceinertia='true'",
        "eulerseq='zyx'",
        "fusestatic='true'",
    ):
        model = agrees(mjcf(content, before=f"<compiler {settings}/>"))
        assert "settotalmass" not in settings or model.mass == pytest.approx(7.0)


def test_objects_of_mujoco() -> None:
    text = mjcf(body("<joint name='j'/>"))
    model = mj_model(text)
    assert load(model).model == load(text).model
    try:
        spec = mujoco.MjSpec.from_string(text)
    except TypeError:  # the first versions fill one
        spec = mujoco.MjSpec()
        spec.from_string(text)
    assert load(spec).model == load(text).model
    model.opt.gravity[:] = (0.0, 0.0, -1.0)
    model.body_mass[1] = 5.0
    changed = load(model)
    assert changed.gravity.tolist() == [0.0, 0.0, -1.0] and changed.model.mass == 5.0
    before = changed.model.digest
    model.body_mass[1] = 6.0
    assert load(changed.model is not None and model).model.digest != before == changed.model.digest


def test_robots_pickle_and_copy() -> None:
    text = mjcf(
        body("<joint name='j'/>"),
        after="<tendon><fixed name='t'><joint joint='j' coef='1'/></fixed></tendon>",
    )
    for source in (text, mj_model(text)):
        robot = load(source, ignore="tendon")
        again = pickle.loads(pickle.dumps(robot))
        assert again.model == robot.model == copy.deepcopy(robot).model
        assert again.model.addresses == {"j": (0, 0)}
        assert again.record is not None and again.record.options["ignore"] == ["tendon"]
        assert again.record.document.format == "MJCF" and again.record.document.given is None


def test_urdf_stays_with_our_own_reader() -> None:
    """MuJoCo reads URDF too, but drops and changes much of it."""
    text = robomorph.load("iiwa14").record
    assert text is not None and text.document.format == "URDF"
    with pytest.raises(ModelError, match="<robot> as the outermost element"):
        load("<mjcf/>")
