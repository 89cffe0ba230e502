"""The Model itself: order, names, digest, immutability."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from robomorph.errors import ArgumentError
from robomorph.model import WORLD, Model, load_model

from .samples import MENAGERIE, arm, joint, link, robot


def test_order_is_depth_first_in_file_order() -> None:
    model = load_model(MENAGERIE)
    assert model.joint_names == ("rail", "shoulder", "grip_1", "grip_2", "grip_3", "table", "slide", "free")
    assert model.body_names == ("cart", "arm", "finger_1", "finger_2", "finger_3", "plate", "puck", "drone")
    assert model.link_names == (
        "base", "cart", "frame", "arm", "sensor", "finger_1", "finger_2", "finger_3", "plate",
        "puck", "drone",
    )  # fmt: skip
    assert [body.parent for body in model.bodies] == [WORLD, 0, 1, 1, 3, WORLD, 5, WORLD]
    assert [body.kind for body in model.bodies] == [
        "prismatic", "continuous", "prismatic", "prismatic", "revolute", "planar", "prismatic", "floating",
    ]  # fmt: skip


def test_fields_are_read() -> None:
    model = load_model(MENAGERIE)
    rail = model.bodies[0]
    assert (rail.damping, rail.friction) == (0.5, 0.1)
    assert (rail.limits.lower, rail.limits.upper, rail.limits.velocity, rail.limits.effort) == (-1, 2, 3, 4)
    assert model.bodies[1].axis.tolist() == [0.6, 0.0, 0.8]
    assert model.bodies[1].limits.lower == -np.inf
    assert rail.placement.translation.tolist() == [0.0, 0.0, 0.5]
    assert rail.inertia.mass == 2.0
    assert model.bodies[1].inertia.mass == 4.0


def test_names_map_both_ways() -> None:
    model = load_model(MENAGERIE, tool_frames={"tip": ("arm", (0, 0, 1))})
    for index, name in enumerate(model.joint_names):
        assert model.joint_index(name) == index
    for index, name in enumerate(model.frame_names):
        assert model.frame_index(name) == index
    for index, name in enumerate(model.link_names):
        assert model.link_index(name) == index
    assert len(model.link_placements) == len(model.link_names)


def test_unknown_names_are_answered_with_close_ones() -> None:
    model = load_model(MENAGERIE, tool_frames={"tip": ("arm", (0, 0, 1))})
    with pytest.raises(
        ArgumentError, match=r"robot 'menagerie' has no moving joint called 'sholder': did you mean 'sh"
    ):
        model.joint_index("sholder")
    with pytest.raises(ArgumentError, match="no link or frame called 'zzz': known are 'base'"):
        model.frame_index("zzz")
    with pytest.raises(ArgumentError, match="no link called 'tip'"):
        model.link_index("tip")
    with pytest.raises(ArgumentError, match="moving joint"):
        model.joint_index("mount")


def test_a_floating_base_comes_first() -> None:
    model = load_model(robot(*arm()), floating_base=True)
    assert model.joint_names == ("root_joint", "shoulder", "elbow")
    assert (model.bodies[0].kind, model.bodies[0].name, model.bodies[0].parent) == ("floating", "base", WORLD)
    assert [frame.body for frame in model.frames] == [0, 1, 2]
    assert model.bodies[1].parent == 0


def test_a_robot_without_moving_joints_is_a_model() -> None:
    text = robot(link("base"), link("tip"), joint("glue", "base", "tip", "fixed"))
    assert load_model(text).bodies == ()
    assert load_model(text, floating_base=True).bodies[0].inertia.mass == 4.0


def test_arrays_are_read_only() -> None:
    model = load_model("iiwa14")
    for array in (
        model.gravity,
        model.bodies[0].axis,
        model.bodies[0].inertia.com,
        model.bodies[0].placement.rotation,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_the_digest_is_the_same_in_another_process() -> None:
    code = "from robomorph.model import load_model; print(load_model('atlas', floating_base=True).digest)"
    other = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=_environment()
    )
    assert other.stdout.strip() == load_model("atlas", floating_base=True).digest


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": "7"}


def test_the_digest_sees_every_change() -> None:
    def changed(old: str, new: str) -> str:
        text = robot(*arm())
        assert old in text
        return text.replace(old, new)

    texts = [
        robot(*arm()),
        changed('name="sample"', 'name="other"'),
        changed('"elbow"', '"knee"'),
        changed('"lower"', '"forearm"'),
        changed('axis xyz="0 1 0"', 'axis xyz="0 -1 0"'),
        changed('value="2"', 'value="2.0000000000000004"'),
        changed('ixy="0"', 'ixy="1e-9"'),
        changed('xyz="0 0 0.5"', 'xyz="0 0 0.50000000000000011"'),
        changed('upper="2"', 'upper="2.5"'),
        changed('type="revolute"', 'type="prismatic"'),
    ]
    digests = [load_model(text).digest for text in texts]
    digests.append(load_model(texts[0], floating_base=True).digest)
    assert len(set(digests)) == len(digests)


def test_the_digest_does_not_see_the_way_numbers_are_written() -> None:
    plain = robot(*arm())
    assert load_model(plain).digest == load_model(plain.replace('"0 0 0.5"', '" -0  0.0\n5e-1 "')).digest


def test_text_bytes_and_file_agree(tmp_path: object) -> None:
    from pathlib import Path

    path = Path(str(tmp_path)) / "arm.urdf"
    path.write_text(robot(*arm()))
    models: list[Model] = [
        load_model(robot(*arm())),
        load_model(robot(*arm()).encode()),
        load_model(path),
        load_model(str(path)),
    ]
    assert len({model.digest for model in models}) == 1


def test_text_is_read_as_text_whatever_encoding_it_claims() -> None:
    text = '<?xml version="1.0" encoding="latin-1"?>' + robot(*arm()).replace("elbow", "Ellbogen-größe")
    assert "Ellbogen-größe" in load_model(text).joint_names
    assert "Ellbogen-größe" in load_model(text.encode("latin-1")).joint_names
