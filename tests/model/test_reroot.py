"""What re-rooting promises and refuses; tests/robots/test_reroot.py compares numbers with Pinocchio."""

from __future__ import annotations

import json
import math
import pickle
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph import ArgumentError, ModelError
from robomorph.cli.main import main
from robomorph.model import load_model

from .samples import MENAGERIE, joint, link, robot


def limb(tilt: str = "0 0 0", **middle: Any) -> str:
    """base - hip (z) - thigh - knee (tilted, y) - shin - tip, a massless link."""
    return robot(
        link("base"),
        link("thigh"),
        link("shin"),
        link("tip", ""),
        joint("hip", "base", "thigh"),
        joint(
            "knee",
            "thigh",
            "shin",
            **{"origin": f'<origin xyz="0.3 0 0.1" rpy="{tilt}"/>', "axis": "0 1 0", **middle},
        ),
        joint("end", "shin", "tip", "fixed", origin='<origin xyz="0 0 -0.4"/>'),
    )


def test_joints_are_turned_round() -> None:
    model = load_model(limb(), root="shin")
    assert model.link_names == ("shin", "thigh", "base", "tip") and model.joint_names == ("knee", "hip")
    knee, hip = model.bodies
    assert (knee.name, knee.parent, hip.name, hip.parent) == ("thigh", -1, "base", 0)
    assert knee.axis.tolist() == [0.0, -1.0, 0.0] and hip.axis.tolist() == [0.0, 0.0, -1.0]
    assert str(hip.axis.tolist()).count("-") == 1  # no negative zeros
    there = load_model(limb()).bodies
    assert (knee.limits, hip.limits) == (there[1].limits, there[0].limits)


def test_a_turned_joint_is_undone_by_hand() -> None:
    """base seen from shin, at angles of 90 and 0 degrees, worked out on paper."""
    robot_ = robomorph.load(limb(), root="shin")
    pose = robot_.compile("forward_kinematics", target="interpreter", frame="base")([math.pi / 2, 0.0])
    # The knee is at (0.3, 0, 0.1) of the thigh, the thigh's frame 0.5 above base; turning the shin by +90
    # degrees about y has its x axis point down, so from the shin the thigh's x is its +z, its z its -x.
    assert pose[:3, 3] == pytest.approx([0.6, 0.0, -0.3], abs=1e-15)
    assert pose[:3, 0] == pytest.approx([0.0, 0.0, 1.0], abs=1e-15)


def test_gravity_keeps_its_direction() -> None:
    """The shin's frame is turned by 90 degrees about x against the base: down is its -y."""
    tilted = limb("1.5707963267948966 0 0")
    assert load_model(tilted, root="shin").gravity.tolist() == [0.0, -9.81, 0.0]
    assert load_model(tilted, root="tip").gravity.tolist() == [0.0, -9.81, 0.0]
    assert load_model(tilted, root="thigh").gravity.tolist() == [0.0, 0.0, -9.81]
    assert load_model(tilted, root="shin", floating_base=True).gravity.tolist() == [0.0, 0.0, -9.81]
    assert load_model(tilted, root="shin", gravity=(0, 0, -1)).gravity.tolist() == [0.0, 0.0, -1.0]
    # A joint locked at another angle stands at that one.
    locked = load_model(limb(), root="shin", locked={"knee": math.pi / 2})
    assert locked.gravity.tolist() == [9.81, 0.0, 0.0]


def test_gravity_of_a_joint_that_follows_at_an_offset() -> None:
    extra = f'<mimic joint="hip" multiplier="2" offset="{math.pi / 2!r}"/>'
    assert load_model(limb(extra=extra), root="shin").gravity.tolist() == [9.81, 0.0, 0.0]
    assert load_model(limb(extra=extra), root="shin", mimic=False).gravity.tolist() == [0.0, 0.0, -9.81]


def test_mimic_joints_follow_from_the_other_end() -> None:
    text = limb(extra='<mimic joint="hip" multiplier="-0.5" offset="0.2"/>')
    there, back = robomorph.load(text), robomorph.load(text, root="tip")
    assert back.nq == 1 and back.joint_names == ("knee", "hip")
    q = np.array([0.7])
    tip = there.compile("forward_kinematics", target="interpreter", frame="tip")(q)
    base = back.compile("forward_kinematics", target="interpreter", frame="base")(q)
    assert np.abs(tip @ base - np.eye(4)).max() < 1e-15


def test_what_stands_counts_and_what_carries_it_does_not() -> None:
    plain, chosen = load_model(limb()), load_model(limb(), root="base")
    assert plain.standing.is_zero and plain.mass == 4.0
    assert chosen.standing.mass == 2.0 and chosen.mass == 6.0 and chosen.digest != plain.digest
    assert load_model(limb(), root="base", floating_base=True).standing.is_zero
    loaded = load_model(limb(), root="tip", payloads={"tip": (3.0, (0, 0, 0.1))}, strict=True)
    assert loaded.standing.mass == 5.0  # the shin is fixed to it


@pytest.mark.parametrize(
    ("root", "kind", "name"), [("plate", "planar", "table"), ("drone", "floating", "free")]
)
def test_joints_that_cannot_be_turned(root: str, kind: str, name: str) -> None:
    with pytest.raises(ModelError, match=rf"(?s){name}.*{kind}.*not beyond joint '{name}'"):
        load_model(MENAGERIE, root=root)
    assert load_model(MENAGERIE, root="sensor").link_names[0] == "sensor"  # not on the way: no matter


def test_spherical_joints_cannot_be_turned() -> None:
    with pytest.raises(ModelError, match="spherical"):
        load_model(limb(kind="spherical"), root="tip")


@pytest.mark.parametrize(
    ("root", "message"),
    [
        ("shim", "no link called 'shim': did you mean 'shin'"),
        (3, "name of a link, found 3"),
        ("", "known are"),
    ],
)
def test_unknown_roots(root: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=f"root: .*{message}"):
        load_model(limb(), root=root)


def test_root_joint_of_a_floating_base() -> None:
    model = load_model(limb(), root="tip", floating_base=True)
    assert model.bodies[0].name == "tip" and model.bodies[0].joint_name == "root_joint"
    assert model.bodies[0].inertia.mass == 2.0


def test_pickles_with_its_root() -> None:
    robot_ = robomorph.load("atlas", root="r_foot")
    again = pickle.loads(pickle.dumps(robot_))
    assert again.model == robot_.model and again.model.digest == robot_.model.digest
    assert again.record.options["root"] == "r_foot" and again.model.standing.mass == pytest.approx(2.41)
    assert robot_.model.digest != robomorph.load("atlas").model.digest


def test_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "atlas", "--root", "r_foot", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["links"][0] == "r_foot"
    assert main(["info", "atlas", "--root", "r_fot"]) != 0
    assert "did you mean 'r_foot'" in capsys.readouterr().err


def test_compiled_kernels_count_what_stands() -> None:
    """Against the textbook formulas of `verify`, which walk the bodies by themselves."""
    asked = ["center_of_mass", "center_of_mass_jacobian", "energy", "centroidal_momentum", "inverse_dynamics"]
    report = robomorph.load(limb("0.3 0.2 0.1"), root="tip").verify(asked)
    assert report.passed and not report.refused
