"""Locked joints, payloads, tool frames and gravity."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from robomorph.errors import ArgumentError, ModelWarning
from robomorph.model import WORLD, Inertia, Pose, load_model

from .samples import MENAGERIE, arm, joint, link, robot

ARM = robot(*arm())


def test_a_locked_joint_merges_into_its_parent() -> None:
    model = load_model(ARM, locked={"elbow": math.pi / 2})
    assert model.joint_names == ("shoulder",)
    assert model.link_names == ("base", "upper", "lower")
    lower = model.frames[model.frame_index("lower")]
    assert lower.body == 0
    # Exact, because a quarter turn is snapped like the angles of the file.
    assert lower.placement.rotation.tolist() == [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]
    assert lower.placement.translation.tolist() == [0.0, 0.0, 0.5]
    assert model.bodies[0].inertia.mass == 4.0
    assert model.bodies[0].inertia.com.tolist() == pytest.approx([0.05, 0.0, 0.2])


def test_a_locked_robot_is_the_robot_with_fixed_joints() -> None:
    """Locking equals writing the joint as fixed with the pose it stands at."""
    angle = 0.7
    fixed = joint("elbow", "upper", "lower", "fixed", origin=f'<origin xyz="0 0 0.5" rpy="0 {angle} 0"/>')
    ours, theirs = load_model(ARM, locked={"elbow": angle}), load_model(robot(*arm()[:-1], fixed))
    np.testing.assert_allclose(ours.bodies[0].inertia.tensor, theirs.bodies[0].inertia.tensor, rtol=1e-14)
    np.testing.assert_allclose(ours.frames[2].placement.matrix, theirs.frames[2].placement.matrix, atol=1e-15)


def test_every_joint_type_can_be_locked() -> None:
    half = math.sqrt(0.5)
    locked: dict[str, Any] = {
        "rail": 0.3,
        "shoulder": [0.4],
        "table": [1.0, 2.0, 0.0, 1.0],
        "free": [1, 2, 3, 0, 0, half, half],
    }
    model = load_model(MENAGERIE, locked=locked)
    assert model.joint_names == ("grip_1", "grip_2", "grip_3", "slide")
    poses = {frame.name: frame for frame in model.frames}
    assert poses["cart"].placement.translation.tolist() == [0.3, 0.0, 0.5]
    assert poses["plate"].placement.translation.tolist() == [1.0, 2.0, 0.5]
    quarter = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    assert poses["plate"].placement.rotation.tolist() == quarter
    np.testing.assert_allclose(poses["drone"].placement.rotation, quarter, atol=1e-15)
    assert poses["drone"].placement.translation.tolist() == [1.0, 2.0, 3.5]
    turn = poses["frame"].placement.rotation.T @ poses["arm"].placement.rotation
    assert np.trace(turn) == pytest.approx(1 + 2 * math.cos(0.4))
    np.testing.assert_allclose(turn @ [0.6, 0, 0.8], [0.6, 0, 0.8], atol=1e-15)


def test_locking_a_source_locks_its_mimics() -> None:
    model = load_model(MENAGERIE, locked={"grip_1": 0.5})
    assert not {"grip_1", "grip_2", "grip_3"} & set(model.joint_names)
    poses = {frame.name: frame for frame in model.frames}
    assert poses["finger_1"].placement.translation.tolist() == [0.0, 0.5, 0.5]
    assert poses["finger_2"].placement.translation.tolist() == [0.0, -1.01, 0.5]
    angle = -0.5 * 1.01 + 0.1
    cosine = poses["finger_3"].placement.rotation[0, 0]
    assert cosine == pytest.approx(math.cos(angle))


def test_locking_outside_the_limits_is_noted() -> None:
    with pytest.warns(ModelWarning, match=r"locked outside its limits.*elbow.*5 is not in \[-1, 2\]"):
        load_model(ARM, locked={"elbow": 5.0})


def test_a_payload_adds_to_its_body() -> None:
    bare = load_model(ARM)
    tensor = np.diag([1.0, 2.0, 2.5])
    loaded = load_model(ARM, payloads={"lower": (3.0, (0.0, 0.0, 1.0), tensor)})
    sum_of_both = bare.bodies[1].inertia + Inertia(3.0, np.array([0, 0, 1.0]), tensor)
    np.testing.assert_array_equal(loaded.bodies[1].inertia.tensor, sum_of_both.tensor)
    assert loaded.bodies[1].inertia.mass == 5.0
    assert loaded.bodies[0].inertia.mass == bare.bodies[0].inertia.mass
    assert loaded.digest != bare.digest
    same = load_model(ARM, payloads={"lower": Inertia(3.0, np.array([0, 0, 1.0]), tensor)})
    assert same.digest == loaded.digest
    point = load_model(ARM, payloads={"lower": (3.0, (0.0, 0.0, 1.0))})
    assert point.bodies[1].inertia.mass == 5.0


def test_a_payload_on_a_merged_link_moves_with_it() -> None:
    text = robot(
        *arm(), link("tip", ""), joint("glue", "lower", "tip", "fixed", origin='<origin xyz="0 0 2"/>')
    )
    loaded = load_model(text, payloads={"tip": (2.0, (0.0, 0.0, 0.0))})
    assert loaded.bodies[1].inertia.com.tolist() == pytest.approx([0.05, 0.0, 1.0])


def test_a_payload_on_the_world_is_noted() -> None:
    with pytest.warns(ModelWarning, match="payload on a link that is fixed to the world.*base"):
        load_model(ARM, payloads={"base": (1.0, (0.0, 0.0, 0.0))})


def test_tool_frames() -> None:
    matrix = np.eye(4)
    matrix[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    matrix[:3, 3] = [1, 2, 3]
    frames: dict[str, Any] = {
        "tip": ("lower", (0.0, 0.0, 0.1)),
        "camera": ("lower", matrix),
        "eye": ("base", Pose.from_matrix(matrix)),
    }
    model = load_model(ARM, tool_frames=frames)
    assert model.link_names == ("base", "upper", "lower")
    assert model.frame_names == ("base", "upper", "lower", "tip", "camera", "eye")
    assert [model.frames[i].body for i in (3, 4, 5)] == [1, 1, WORLD]
    assert model.frames[3].placement.translation.tolist() == [0.0, 0.0, 0.1]
    np.testing.assert_array_equal(model.frames[4].placement.matrix, matrix)
    locked = load_model(ARM, tool_frames=frames, locked={"elbow": 0.0})
    assert locked.frames[3].body == 0
    assert locked.frames[3].placement.translation.tolist() == [0.0, 0.0, 0.6]


def test_gravity() -> None:
    assert load_model(ARM).gravity.tolist() == [0.0, 0.0, -9.81]
    moon = load_model(ARM, gravity=[0.0, 0.0, -1.62])
    assert moon.gravity.tolist() == [0.0, 0.0, -1.62]
    assert moon.digest != load_model(ARM).digest


BAD: list[tuple[dict[str, Any], list[str]]] = [
    ({"locked": {"elbw": 0.0}}, ["locked['elbw']", "did you mean 'elbow'"]),
    ({"locked": {"elbow": [0.0, 1.0]}}, ["locked['elbow']", "one angle (rad)"]),
    ({"locked": {"elbow": [[0.0]]}}, ["locked['elbow']", "flat"]),
    ({"locked": {"elbow": math.nan}}, ["locked['elbow']", "nan"]),
    ({"locked": {"elbow": "up"}}, ["locked['elbow']", "'up'"]),
    ({"payloads": {"lowr": (1.0, (0, 0, 0))}}, ["payloads", "did you mean 'lower'"]),
    ({"payloads": {"lower": (-1.0, (0, 0, 0))}}, ["payloads['lower']", "-1 kg"]),
    ({"payloads": {"lower": (1.0, (0, 0))}}, ["payloads['lower'] com"]),
    ({"payloads": {"lower": (1.0, (0, 0, math.inf))}}, ["payloads['lower'] com"]),
    (
        {"payloads": {"lower": (1.0, (0, 0, 0), np.diag([1, 1, -1]))}},
        ["payloads['lower']", "negative principal"],
    ),
    ({"payloads": {"lower": (1.0, (0, 0, 0), [[1, 1, 0], [0, 1, 0], [0, 0, 1]])}}, ["symmetric"]),
    ({"payloads": {"lower": 3.0}}, ["payloads['lower']", "expected an Inertia"]),
    ({"payloads": {"lower": (1e31, (0, 0, 0))}}, ["payloads['lower'] mass"]),
    ({"tool_frames": {"tip": ("lowr", (0, 0, 0))}}, ["tool_frames['tip']", "did you mean 'lower'"]),
    ({"tool_frames": {"lower": ("lower", (0, 0, 0))}}, ["tool_frames['lower']", "choose another"]),
    ({"tool_frames": {"tip": ("lower", np.ones((4, 4)))}}, ["tool_frames['tip']", "rigid motion"]),
    ({"tool_frames": {"tip": ("lower", np.diag([1, 1, -1, 1]))}}, ["tool_frames['tip']", "rigid motion"]),
    ({"tool_frames": {"tip": ("lower", np.eye(3))}}, ["tool_frames['tip']", "(3, 3)"]),
    ({"tool_frames": {"tip": "lower"}}, ["tool_frames['tip']", "link name"]),
    ({"gravity": (0, 0)}, ["gravity", "three finite numbers"]),
    ({"gravity": (0, 0, math.nan)}, ["gravity", "three finite numbers"]),
    ({"snap": -1.0}, ["snap", "-1.0"]),
    ({"snap": math.nan}, ["snap", "nan"]),
    ({"snap": 1.0}, ["snap", "0.1"]),
    # Whole numbers that no float has.
    ({"snap": 10**400}, ["snap", "0.1"]),
    ({"gravity": (0, 0, 10**400)}, ["gravity", "three finite numbers"]),
    ({"locked": {"elbow": 10**400}}, ["locked['elbow']", "finite number"]),
    ({"armature": 10**400}, ["armature", "finite number"]),
]


@pytest.mark.parametrize(("options", "fragments"), BAD)
def test_bad_arguments(options: dict[str, Any], fragments: list[str]) -> None:
    with pytest.raises(ArgumentError) as caught:
        load_model(ARM, **options)
    for fragment in fragments:
        assert fragment in str(caught.value), str(caught.value)


@pytest.mark.parametrize(
    ("locked", "fragment"),
    [
        ({"mount": 0.0}, "fixed already"),
        ({"table": 0.0}, "four numbers"),
        ({"table": [0, 0, 2, 0]}, "turn of length 1"),
        ({"free": [0, 0, 0, 0, 0, 0, 0]}, "turn of length 1"),
        ({"grip_2": 0.0}, "Lock 'grip_1', or load with mimic=False"),
    ],
)
def test_bad_locks(locked: dict[str, Any], fragment: str) -> None:
    with pytest.raises(ArgumentError, match=fragment):
        load_model(MENAGERIE, locked=locked)
