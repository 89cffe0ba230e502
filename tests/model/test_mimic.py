"""Joints that follow other joints."""

from __future__ import annotations

import pytest

from robomorph.errors import ModelError, ModelWarning
from robomorph.model import load_model

from .samples import MENAGERIE, arm, joint, link, robot


def test_chains_of_mimics_lead_to_the_independent_joint() -> None:
    model = load_model(MENAGERIE)
    index = {name: i for i, name in enumerate(model.joint_names)}
    mimics = {body.joint_name: body.mimic for body in model.bodies}
    assert mimics["grip_1"] is None
    assert mimics["grip_2"] == (index["grip_1"], 2.0, 0.01)
    source, multiplier, offset = mimics["grip_3"] or (None, 0.0, 0.0)
    assert source == index["grip_1"]
    assert multiplier == -1.0
    assert offset == pytest.approx(-0.5 * 0.01 + 0.1)


def test_mimics_may_come_before_their_source() -> None:
    text = robot(*arm()[:3], joint("shoulder", "base", "upper", extra='<mimic joint="elbow"/>'), arm()[4])
    model = load_model(text)
    assert model.bodies[0].mimic == (1, 1.0, 0.0)
    assert model.bodies[1].mimic is None


def test_mimic_false_frees_them() -> None:
    model = load_model(MENAGERIE, mimic=False)
    assert all(body.mimic is None for body in model.bodies)
    assert model.joint_names == load_model(MENAGERIE).joint_names
    locked = load_model(MENAGERIE, mimic=False, locked={"grip_2": 0.0})
    assert {"grip_1", "grip_3"} < set(locked.joint_names)


@pytest.mark.parametrize("target", ["nothing", "elbow"])
def test_with_mimic_false_a_mimic_that_leads_nowhere_is_only_noted(target: str) -> None:
    text = robot(*arm()[:-1], joint("elbow", "upper", "lower", extra=f'<mimic joint="{target}"/>'))
    with pytest.raises(ModelError):
        load_model(text)
    with pytest.warns(ModelWarning, match=f"leads nowhere.*elbow.*mimics '{target}'"):
        assert load_model(text, mimic=False).joint_names == ("shoulder", "elbow")


def test_a_mimic_of_a_fixed_joint_stands_at_its_offset() -> None:
    extra = '<mimic joint="glue" offset="0.25"/>'
    text = robot(*arm(), link("x"), joint("glue", "base", "x", "fixed"), link("y"),
                 joint("follower", "base", "y", "prismatic", extra=extra))  # fmt: skip
    with pytest.warns(ModelWarning):
        model = load_model(text)
    assert model.joint_names == ("shoulder", "elbow")
    assert model.frames[model.frame_index("y")].placement.translation.tolist() == [0.0, 0.0, 0.75]


def test_mass_behind_a_mimic_counts_for_its_source() -> None:
    lines = [link("base"), link("x", ""), link("y"), joint("a", "base", "x")]
    follower = joint("b", "base", "y", extra='<mimic joint="a"/>')
    assert load_model(robot(*lines, follower)).joint_names == ("a", "b")
    with pytest.warns(ModelWarning, match="joint 'a' moves no mass"):
        load_model(robot(*lines, follower.replace("/></joint>", ' multiplier="0"/></joint>')))
    with pytest.warns(ModelWarning, match="joint 'a' moves no mass"):
        load_model(robot(*lines, follower), mimic=False)
