"""What MJCF has and a robot cannot have: refused by name, and left out, but nothing else, if asked."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

from robomorph.errors import ArgumentError, ModelError
from robomorph.model import load_model
from robomorph.model.read.mjcf_refusals import KINDS
from tests.model.read.mujoco_oracle import differences, load, mj_model

ARM = """<mujoco model="m">{before}
<asset>{asset}</asset>
<worldbody>
  <body name="b" {body}><joint name="j" axis="1 0 0" {joint}/><geom size="0.1" pos="0.1 0.2 0"/>
    <site name="s" pos="0.2 0 0"/>
    <body name="c" pos="0 0 0.4"><joint name="k" axis="0 1 0"/>
      <joint name="ball" type="ball" pos="0 0 0.05" {ball}/>
      <geom size="0.05" pos="0 0 0.1"/><site name="t"/></body>
  </body>
  <body name="f"><joint name="free" type="free" {free}/><geom size="0.1" pos="0 0 0.03"/>{inside}</body>
  {world}
</worldbody>{after}</mujoco>"""


def arm(**parts: str) -> str:
    keys = ("before", "asset", "body", "joint", "ball", "free", "inside", "world", "after")
    return ARM.format(**{key: parts.get(key, "") for key in keys})


SHEET = "<flexcomp name='e' type='grid' count='3 3 1' spacing='.1 .1 .1' radius='.01' dim='2' mass='1'/>"
# kind -> what has it, and words of the message.
CASES: dict[str, tuple[str, dict[str, str], str]] = {
    "connect": (
        "equality",
        {"after": "<equality><connect name='e' body1='b' anchor='0 0 1'/></equality>"},
        "'e'",
    ),
    "weld": ("equality", {"after": "<equality><weld name='e' body1='f'/></equality>"}, "'e'"),
    "coupled joints": (
        "equality",
        {"after": "<equality><joint name='e' joint1='j' joint2='k'/></equality>"},
        "'e'",
    ),
    "fixed tendon": (
        "tendon",
        {"after": "<tendon><fixed name='e' stiffness='9'><joint joint='j' coef='1'/></fixed></tendon>"},
        "a tendon 'e'",
    ),
    "spatial tendon": (
        "tendon",
        {
            "after": "<tendon><spatial name='e' damping='2'><site site='s'/><site site='t'/></spatial>"
            "</tendon>"
        },
        "a tendon 'e'",
    ),
    "flex": ("flex", {"world": f"<body name='w' pos='1 0 0'>{SHEET}</body>"}, "a flex 'e'"),
    "gravity compensation": ("gravcomp", {"body": "gravcomp='0.5'"}, "gravity compensation of body 'b'"),
    "air": ("fluid", {"before": "<option density='1.2'/>"}, "option 'density'"),
    "honey": ("fluid", {"before": "<option viscosity='1'/>"}, "option 'viscosity'"),
    "muscle": (
        "actuator",
        {"after": "<actuator><muscle name='e' joint='j' ctrlrange='0 1' lengthrange='0 1'/></actuator>"},
        "with dynamics or delay: 'e'",
    ),
    "filter": (
        "actuator",
        {"after": "<actuator><general name='e' joint='j' dyntype='filter' dynprm='1'/></actuator>"},
        "with dynamics or delay: 'e'",
    ),
    "motor of a ball": (
        "actuator",
        {"after": "<actuator><motor name='e' joint='ball' gear='1 0 0'/></actuator>"},
        "no hinge or slide: 'e'",
    ),
    "thruster": (
        "actuator",
        {"after": "<actuator><motor name='e' site='s' gear='1 0 0 0 0 0'/></actuator>"},
        "no hinge or slide: 'e'",
    ),
    "spring of a ball": ("spring", {"ball": "stiffness='2'"}, "ball or free joint 'ball'"),
    "spring of a free joint": ("spring", {"free": "stiffness='2'"}, "ball or free joint 'free'"),
    "friction of a free joint": ("friction", {"free": "frictionloss='2'"}, "free joint 'free'"),
    "limit of a ball": ("limit", {"ball": "range='0 40'"}, "limit of ball joint 'ball'"),
}
NEWER: dict[str, tuple[str, dict[str, str], str]] = {
    "cubic spring": ("spring", {"joint": "stiffness='1 2 3'"}, "not linear, of joint 'j'"),
    "cubic damper": ("damping", {"joint": "damping='1 2 3'"}, "not linear, of joint 'j'"),
    "damper of a motor": (
        "actuator",
        {"after": "<actuator><motor name='e' joint='j' damping='1 2 3'/></actuator>"},
        "damping that is not linear: 'e'",
    ),
}


def test_every_kind_has_a_case() -> None:
    by_hand = {"plugin", "armature"}  # below
    assert {kind for kind, _, _ in [*CASES.values(), *NEWER.values()]} | by_hand == set(KINDS)


@pytest.mark.parametrize("case", [*CASES, *NEWER])
def test_refused_by_name_and_left_out_if_asked(case: str) -> None:
    kind, parts, found = {**CASES, **NEWER}[case]
    text = arm(**parts)
    try:
        model = mj_model(text)
    except ValueError:
        if case in NEWER:
            pytest.skip("this version of MuJoCo has no such thing")
        raise
    with pytest.raises(ModelError) as caught:
        load_model(text)
    assert found in str(caught.value) and f"ignore=['{kind}']" in str(caught.value)
    robot = load(text, ignore=kind)
    assert load(text, ignore=[kind, "tendon"]).model == robot.model
    worst = differences(robot, model, compiled=False)
    assert max(worst.values()) < 1e-12, worst
    if "'e'" in found:
        assert load(text, ignore=("e",)).model == robot.model


def test_what_is_switched_off_is_not_there() -> None:
    flags = ("equality", "spring", "damper", "frictionloss", "limit")
    off = "<option><flag " + " ".join(f"{flag}='disable'" for flag in flags) + "/></option>"
    ball = {"ball": "stiffness='2' range='0 40'", "free": "frictionloss='1'"}
    weld = "<equality><weld name='e' body1='f'/></equality>"
    load_model(arm(before=off, after=weld, **ball))
    load_model(arm(after=weld.replace("name='e'", "name='e' active='false'")))


def test_what_moves_nothing_is_left_out_silently() -> None:
    text = arm(
        before="<visual><headlight ambient='1 1 1'/></visual><size memory='1M'/>",
        asset="<texture name='x' type='2d' builtin='flat' width='4' height='4'/>"
        "<material name='y' texture='x'/>",
        inside="<camera name='c'/><light name='l'/>",
        after="<sensor><gyro site='s'/></sensor><contact><pair geom1='g' geom2='h'/></contact>"
        "<keyframe><key name='home'/></keyframe><custom><numeric name='n' data='1'/></custom>",
    ).replace(
        '<geom size="0.1" pos="0.1 0.2 0"/>',
        "<geom name='g' size='.1' pos='.1 .2 0' condim='6' friction='2'/>",
    )
    text = text.replace('<geom size="0.05"', "<geom name='h' size=\"0.05\"")
    plain = load_model(arm(), strict=True)
    assert load_model(text, strict=True) == plain


def test_bodies_that_never_move_need_no_compensation() -> None:
    """Neither what is fixed to the world nor mocap bodies, and what is fixed to those."""
    inside = "<geom size='.1'/><body gravcomp='1'><geom size='.1'/></body>"
    world = "".join(f"<body gravcomp='1' {more}>{inside}</body>" for more in ("", "mocap='true'"))
    text = arm(world=world)
    assert max(differences(load(text), mj_model(text), compiled=False).values()) < 1e-12


def test_all_that_is_refused_is_named_at_once() -> None:
    tendons = "".join(f"<fixed name='t{i}'><joint joint='j' coef='1'/></fixed>" for i in range(6))
    text = arm(before="<option density='1'/>", body="gravcomp='1'", after=f"<tendon>{tendons}</tendon>")
    with pytest.raises(ModelError) as caught:
        load_model(text)
    for found in (
        "'t0'",
        "'t2'; and 3 more",
        "'density'",
        "body 'b'",
        "ignore=['tendon', 'gravcomp', 'fluid']",
    ):
        assert found in str(caught.value)


def test_single_things_by_name() -> None:
    tendons = (
        "<tendon>"
        + "".join(f"<fixed name='t{i}'><joint joint='j' coef='1'/></fixed>" for i in (1, 2))
        + "</tendon>"
    )
    with pytest.raises(ModelError, match="'t2'") as caught:
        load_model(arm(after=tendons), ignore=["t1"])
    assert "'t1'" not in str(caught.value)
    load_model(arm(after=tendons), ignore=["t1", "t2"])


def test_models_changed_by_hand() -> None:
    model = mj_model(arm())
    model.dof_armature[4] = 0.5  # one axis of the ball
    with pytest.raises(ModelError, match=r"dof_armature that differs.*'ball'.*ignore=\['armature'\]"):
        load_model(model)
    model = mj_model(arm())
    model.jnt_axis[0] = (2.0, 0.0, 0.0)
    with pytest.raises(ModelError, match="an axis of length 1"):
        load_model(model)
    model = mj_model(arm())
    model.body_ipos[1, 2] = np.inf
    with pytest.raises(ModelError, match=r"body_ipos\[1\]\[2\]: expected finite numbers"):
        load_model(model)
    model = mj_model(arm())
    model.body_pos[2, 0] = 1e300
    with pytest.raises(ModelError, match=r"body_pos\[2\]\[0\]"):
        load_model(model)


def test_plugins_of_bodies() -> None:
    text = """<mujoco><extension><plugin plugin="mujoco.elasticity.cable"/></extension><worldbody>
      <composite type="cable" curve="s" count="5 1 1" size="1" prefix="p">
      <plugin plugin="mujoco.elasticity.cable"><config key="twist" value="1e7"/></plugin>
      <geom type="capsule" size=".01"/><joint damping="1"/></composite>
      </worldbody></mujoco>"""
    try:
        model = mj_model(text)
    except ValueError as error:
        pytest.skip(f"this MuJoCo has no such plugin: {error}")
    with pytest.raises(ModelError, match=r"a plugin of body.*ignore=\[.*'plugin'"):
        load_model(text)
    robot = load(text, ignore="plugin")
    assert max(differences(robot, model, compiled=False).values()) < 1e-10


def test_actuators_of_plugins_have_no_limit_that_we_know() -> None:
    """What a plugin exerts is no gain times its control."""
    text = arm(
        before="""<extension><plugin plugin="mujoco.pid"><instance name="servo"><config key="kp" value="4"/>
        </instance></plugin></extension>""",
        after="""<actuator><motor joint="k" ctrlrange="-1 1"/><plugin joint="j" plugin="mujoco.pid"
        instance="servo" ctrlrange="-1 1" gear="2"/></actuator>""",
    )
    try:
        mj_model(text)
    except ValueError as error:
        pytest.skip(f"this MuJoCo has no such plugin: {error}")
    with pytest.raises(ModelError, match=r"a plugin of actuator.*'servo'"):
        load_model(text)
    assert load(text, ignore="servo").limits.effort[:2].tolist() == [np.inf, 1.0]


@pytest.mark.parametrize("ignore", [3, [3], None])
def test_what_to_ignore_is_words(ignore: Any) -> None:
    for way_in in (load_model, load):
        with pytest.raises(ArgumentError, match="ignore: expected kinds or names"):
            way_in(arm(), ignore=ignore)


@pytest.mark.parametrize("kind", ["spring", "friction"])
def test_what_is_left_out_of_joints_is_gone(kind: str) -> None:
    """Also where the forces of joints count."""
    text = arm(joint="stiffness='3' frictionloss='0.2'", ball="stiffness='2'", free="frictionloss='2'")
    robot = load(text, ignore=["spring", "friction"], passive=True)
    j, _, ball, free = robot.model.bodies
    assert (j.stiffness, j.friction) == (3.0, 0.2)  # that can be represented
    assert (ball.stiffness, free.friction) == (0.0, 0.0)
    with pytest.raises(ModelError, match=kind):
        load(text, ignore={"spring": "friction", "friction": "spring"}[kind], passive=True)


def test_what_differs_along_axes_is_left_out() -> None:
    model = mj_model(arm(ball="damping='0.3' armature='0.1'"))
    model.dof_damping[2], model.dof_armature[3] = 0.5, 0.7
    ball = load(model, ignore=["damping", "armature"]).model.bodies[2]
    assert (ball.kind, ball.damping, ball.armature) == ("spherical", 0.0, 0.0)
    model.dof_armature[3] = 0.1
    assert load(model, ignore="ball").model.bodies[2].armature == 0.1


def test_an_empty_word_names_nothing() -> None:
    """Not what has no name: a shell's variable that is not set would leave out whatever that is."""
    text = arm(after="<tendon><fixed><joint joint='j' coef='1'/></fixed></tendon>")
    with pytest.raises(ModelError, match="found a tendon"):
        load_model(text, ignore=[""])
    with pytest.raises(ArgumentError, match="found ''"):
        load_model(arm(), ignore="")


def test_misspelt_words_are_told() -> None:
    for source in (arm(), "iiwa14"):
        with pytest.raises(ArgumentError, match="found 'tendons'; did you mean 'tendon'"):
            load_model(source, ignore="tendons")
        load_model(source, ignore="tendon")
    assert mujoco.mj_versionString()
