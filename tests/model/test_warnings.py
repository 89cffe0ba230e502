"""Suspicious but usable input: a ModelWarning that names it, an error if strict."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from robomorph.errors import ModelError, ModelWarning
from robomorph.model import Model, load_model

from .samples import SOUND_INERTIAL, arm, joint, link, robot
from .test_bad_input import inertial, replaced


def load_warned(text: str, **options: Any) -> tuple[Model, list[str]]:
    """Load and return the messages of the ModelWarnings; no other warning may appear."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = load_model(text, **options)
    assert all(issubclass(item.category, ModelWarning) for item in caught)
    return model, [str(item.message) for item in caught]


def one_robot(inertial_text: str, **changes: str) -> str:
    return robot(link("base"), link("tip", inertial_text), joint("j", "base", "tip", **changes))


WIDE = 'ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="5"'
POINT = 'ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"'
NEGATIVE = 'ixx="1" ixy="3" ixz="0" iyy="1" iyz="0" izz="1"'
THIN = 'ixx="0" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"'
ODD = 'ixx="-0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"'
TWICE = SOUND_INERTIAL + inertial("7")

CASES: dict[str, tuple[str, list[str]]] = {
    "triangle inequality": (
        one_robot(inertial("1", WIDE)),
        ["triangle inequality", '<inertia> of <link name="tip"> (line 3)', "1, 1, 5"],
    ),
    "no limit": (
        one_robot(SOUND_INERTIAL, limit=""),
        ["limits that are missing", '<joint name="j"> (line 4)'],
    ),
    "no effort": (replaced(' effort="4"', ""), ["limits that are missing", "no effort", "shoulder"]),
    "no range": (replaced('lower="-1" upper="2" ', ""), ["limits that are missing", "no lower, upper"]),
    "half a range": (replaced('lower="-1" ', ""), ["only one of the limits", "only upper", "(line 5)"]),
    "axis length": (
        one_robot(SOUND_INERTIAL, axis="0 0 2"),
        ["unit length", '<joint name="j"> (line 4)', "length 2"],
    ),
    "nearly right": (
        one_robot(SOUND_INERTIAL, origin='<origin rpy="1.5708 0 0"/>'),
        ["nearly right angle", '<joint name="j"> (line 4)', "1.5708 rad is 3.7e-06", "snap="],
    ),
    "nearly straight axis": (
        one_robot(SOUND_INERTIAL, axis="0 0.0001 0.999999995"),
        ["nearly right angle", '<joint name="j"> (line 4)', "0.0001", "snap="],
    ),
    "thin rod": (one_robot(inertial("1", THIN)), ["without rotational inertia about some axis", "'j'"]),
    "inertia without mass": (one_robot(inertial("0")), ["rotational inertia without mass", "(line 3)"]),
    "negative damping": (
        one_robot(SOUND_INERTIAL, extra='<dynamics damping="-1"/>'),
        ["negative damping or friction", "damping -1", "(line 4)"],
    ),
    "repeated element": (
        one_robot(TWICE),
        ["more than once", '<link name="tip"> (line 3)', "2 times <inertial>"],
    ),
    "no robot name": (robot(*arm()).replace(' name="sample"', "", 1), ["<robot> without a name", "(line 1)"]),
    "planar axis": (
        one_robot(SOUND_INERTIAL, kind="planar", axis="1 0 0"),
        ["planar joint whose <axis> is not z", '<joint name="j"> (line 4)'],
    ),
    "mimic on a fixed joint": (
        robot(*arm(), link("x"), joint("glue", "lower", "x", "fixed", extra='<mimic joint="elbow"/>')),
        ["ignored", '<joint name="glue"> (line 8)', "type fixed"],
    ),
    "mimic of a fixed joint": (
        robot(
            *arm(),
            link("x"),
            joint("glue", "base", "x", "fixed"),
            link("y"),
            joint("follower", "base", "y", extra='<mimic joint="glue" offset="0.25"/>'),
        ),
        ["mimics a fixed joint", '<joint name="follower"> (line 10)', "'glue'"],
    ),
    "missing mass": (
        one_robot(""),
        ["move no mass", "<link name=\"tip\"> (line 3): joint 'j' moves no mass"],
    ),
    "zero mass": (one_robot(inertial("0", POINT)), ["joint 'j' moves no mass", "payloads", "locked"]),
    "point mass on the axis": (
        one_robot(inertial("3", POINT)),
        ["joint 'j' moves 3 kg that does not resist it", "on its axis"],
    ),
    "point mass on a tilted axis": (
        one_robot(
            inertial("3", POINT).replace("<mass", '<origin xyz="3 6 9"/><mass'),
            axis="0.267261241912424 0.534522483824849 0.801783725737273",
        ),
        ["joint 'j' moves 3 kg that does not resist it"],
    ),
    "inertia not positive definite": (
        robot(*arm(), link("x", inertial("1", NEGATIVE)), joint("k", "base", "x", axis="1 0 0")),
        ["not positive definite", '<inertia> of <link name="x"> (line 7)'],
    ),
    "unknown element": (
        replaced('<axis xyz="0 0 1"/>', '<Axis xyz="0 0 1"/><axis xyz="0 0 1"/>'),
        ["does not know", '<Axis> of <joint name="shoulder"> (line 5): did you mean <axis>?'],
    ),
    "pose for origin": (
        replaced('<origin xyz="0 0 0.5"/>', '<pose xyz="0 0 0.5"/>'),
        ["<pose> of", "did you mean <origin>?"],
    ),
    "unknown attribute": (
        replaced('<origin xyz="0 0 0.5"/>', '<origin xyz="0 0 0.5" rpi="0 0 1"/>'),
        ["does not know", "<origin> of", "rpi=..., did you mean rpy?"],
    ),
    "text inside": (
        replaced('<origin xyz="0 0 0.5"/>', "<origin>0 0 0.5 0 0 0</origin>"),
        ["text inside", "<origin> of", "'0 0 0.5 0 0 0'"],
    ),
    "unknown version": (
        replaced('<robot name="sample">', '<robot name="sample" version="3.0">'),
        ["version of URDF", 'version="3.0"'],
    ),
    "quaternion of another length": (
        replaced('<robot name="sample">', '<robot name="sample" version="1.1">').replace(
            '<origin xyz="0 0 0.5"/>', '<origin quat_xyzw="0 0 3 4"/>', 1
        ),
        ["not of unit length", "length 5"],
    ),
    "quaternion in URDF 1.0": (
        replaced('<origin xyz="0 0 0.5"/>', '<origin quat_xyzw="0 0 0.6 0.8"/>'),
        ["does not say version 1.1", 'quat_xyzw="0 0 0.6 0.8"'],
    ),
    "indefinite part of a sound body": (
        robot(*arm(), link("x", inertial("0.1", ODD)), joint("glue", "lower", "x", "fixed")),
        ["not positive definite", '<inertia> of <link name="x"> (line 7)'],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_warning(case: str) -> None:
    text, fragments = CASES[case]
    _, messages = load_warned(text)
    assert len(messages) == 1, messages
    for fragment in ["<URDF text>", "To mend it", *fragments]:
        assert fragment in messages[0]


@pytest.mark.parametrize("case", CASES)
def test_strict_makes_it_an_error(case: str) -> None:
    text, fragments = CASES[case]
    with pytest.raises(ModelError) as caught:
        load_model(text, strict=True)
    for fragment in ["strict=True", *fragments]:
        assert fragment in str(caught.value)


def test_many_of_a_kind_give_one_warning() -> None:
    links = [link(f"l{i}", inertial("1", WIDE)) for i in range(30)]
    joints = [joint(f"j{i}", f"l{i}", f"l{i + 1}", limit="") for i in range(29)]
    _, messages = load_warned(robot(*links, *joints))
    assert len(messages) == 2
    assert "and 22 more" in messages[0]
    assert "and 21 more" in messages[1]


def test_warnings_point_at_the_caller() -> None:
    with pytest.warns(ModelWarning) as caught:
        load_model(CASES["axis length"][0])
    assert caught[0].filename == __file__


def test_missing_limits_are_infinite_and_half_a_range_is_completed_with_zero() -> None:
    model, _ = load_warned(CASES["no range"][0])
    assert (model.bodies[0].limits.lower, model.bodies[0].limits.upper) == (-np.inf, np.inf)
    assert (model.bodies[0].limits.velocity, model.bodies[0].limits.effort) == (3.0, 4.0)
    model, _ = load_warned(CASES["half a range"][0])
    assert (model.bodies[0].limits.lower, model.bodies[0].limits.upper) == (0.0, 2.0)
    model, _ = load_warned(CASES["no limit"][0])
    assert model.bodies[0].limits.velocity == model.bodies[0].limits.effort == np.inf


def test_the_axis_is_normalised_and_snapped() -> None:
    model, _ = load_warned(CASES["axis length"][0])
    assert model.bodies[0].axis.tolist() == [0.0, 0.0, 1.0]
    model, messages = load_warned(one_robot(SOUND_INERTIAL, axis="0 1e-12 -1"))
    assert model.bodies[0].axis.tolist() == [0.0, 0.0, -1.0]
    assert messages == []
    model, _ = load_warned(one_robot(SOUND_INERTIAL, axis="3 0 4"))
    assert model.bodies[0].axis.tolist() == [0.6, 0.0, 0.8]


def test_snap_is_exact_and_its_width_is_the_callers() -> None:
    near = one_robot(SOUND_INERTIAL, origin='<origin rpy="1.57079632679 0 -3.1415926535895866"/>')
    model, messages = load_warned(near)
    assert messages == []
    assert sorted(np.abs(model.bodies[0].placement.rotation).ravel()) == [0.0] * 6 + [1.0] * 3
    rough = CASES["nearly right"][0]
    model, _ = load_warned(rough)
    assert model.bodies[0].placement.rotation[1, 1] == pytest.approx(np.cos(1.5708), rel=1e-9)
    model, messages = load_warned(rough, snap=1e-5)
    assert messages == []
    assert model.bodies[0].placement.rotation.tolist() == [[1, 0, 0], [0, 0, -1], [0, 1, 0]]
    model, messages = load_warned(near, snap=0.0)
    assert "nearly right" in messages[0]
    assert model.bodies[0].placement.rotation[1, 1] != 0.0


def test_a_floating_base_without_mass_is_noted() -> None:
    text = robot(link("base", ""), link("tip"), joint("j", "base", "tip"))
    _, messages = load_warned(text, floating_base=True)
    assert len(messages) == 1
    assert '<link name="base"> (line 2)' in messages[0]


def test_a_massless_root_with_fixed_mass_makes_a_sound_floating_base() -> None:
    text = robot(link("base", ""), link("trunk"), joint("glue", "base", "trunk", "fixed"))
    model, messages = load_warned(text, floating_base=True)
    assert messages == []
    assert model.joint_names == ("root_joint",)
    assert model.bodies[0].inertia.com.tolist() == pytest.approx([0.1, 0.0, 0.5])
