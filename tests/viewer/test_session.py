"""A live viewer without a network: messages in, messages out, every answer beside Pinocchio's."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph import ArgumentError
from robomorph.viewer.messages import LONGEST
from robomorph.viewer.session import Session
from robomorph.viewer.shown import make_shown, movable_frames
from tests.viewer.robots import TOOL, bent, loaded, pose_by_pinocchio, reference, session_of

NAMES = ("iiwa14", "hyq", "atlas")


def said(session: Session, **message: Any) -> dict[str, Any]:
    """The one answer to a message; it is JSON."""
    (answer,) = session.answer(json.dumps(message))
    return dict(json.loads(json.dumps(answer, allow_nan=False)))


def check_poses(name: str, state: dict[str, Any]) -> None:
    """Poses of a state beside Pinocchio's for its q."""
    (robot,) = state["robots"]
    for link, pose in zip(loaded(name).link_names, robot["poses"], strict=True):
        theirs = pose_by_pinocchio(name, robot["q"], link)
        np.testing.assert_allclose(pose[:3], theirs[:3, 3], atol=1e-6)
        x, y, z, w = pose[3:]
        np.testing.assert_allclose(2 * (x * y + z * w), theirs[1, 0], atol=1e-6)
        np.testing.assert_allclose(1 - 2 * (y * y + z * z), theirs[0, 0], atol=1e-6)
        np.testing.assert_allclose(1 - 2 * (x * x + y * y), theirs[2, 2], atol=1e-6)
        np.testing.assert_allclose(2 * (y * z + x * w), theirs[2, 1], atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_a_slider_moves_the_robot(name: str) -> None:
    session, q = session_of(name), bent(name)
    q[-1] += 0.05
    state = said(session, type="q", id=7, robot=0, q=q.tolist())
    assert state["type"] == "state" and state["id"] == 7 and state["ik"] is None
    np.testing.assert_array_equal(state["robots"][0]["q"], q)
    check_poses(name, state)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("turned", [False, True])
def test_a_dragged_frame_is_followed(name: str, turned: bool) -> None:
    """20 drags, each confirmed by Pinocchio; a base stays where it is."""
    session, robot, frame = session_of(name), loaded(name), TOOL[name]
    rng = np.random.default_rng(3)
    wish, base = bent(name), robot.coordinates(robot.joint_names[0])[0] if robot.nq > robot.nv else slice(0)
    joints = [k for k in range(robot.nq) if np.isfinite(robot.limits.lower[k])]
    for k in range(20):
        wish[joints] += rng.uniform(-0.03, 0.03, len(joints))
        wish = np.clip(wish, robot.limits.lower, robot.limits.upper)
        target = pose_by_pinocchio(name, wish, frame)
        turn = _quaternion(target[:3, :3]) if turned else None
        message = {"frame": frame, "position": target[:3, 3].tolist(), "quaternion": turn}
        state = said(session, type="drag", id=k, robot=0, **message)
        ik, q = state["ik"], np.array(state["robots"][0]["q"])
        assert ik["success"], ik
        assert ik["reason"] == "converged" and ik["frame"] == frame
        found = pose_by_pinocchio(name, q, frame)
        assert np.linalg.norm(found[:3, 3] - target[:3, 3]) <= 1.1e-5
        if turned:
            assert np.abs(found[:3, :3] - target[:3, :3]).max() <= 3e-5
        np.testing.assert_allclose(ik["target"][:3], target[:3, 3], atol=1e-12)
        np.testing.assert_array_equal(q[base], bent(name)[base])
        assert np.all(q >= robot.limits.lower - 1e-9) and np.all(q <= robot.limits.upper + 1e-9)
        check_poses(name, state)


def _quaternion(rotation: Any) -> list[float]:
    import pinocchio

    return [float(x) for x in pinocchio.Quaternion(rotation).coeffs()]


def test_a_drag_beyond_reach_says_how_far_and_later_why() -> None:
    session = session_of("iiwa14")
    state = said(session, type="drag", id=1, frame=TOOL["iiwa14"], position=[3.0, 0.0, 0.5], quaternion=None)
    ik, q = state["ik"], state["robots"][0]["q"]
    place = pose_by_pinocchio("iiwa14", q, TOOL["iiwa14"])[:3, 3]
    assert not ik["success"] and ik["reason"].startswith("does not follow: ")
    np.testing.assert_allclose(ik["position_error"], np.linalg.norm(place - [3.0, 0.0, 0.5]), atol=1e-6)
    later = session.explain()
    assert later is not None and later["id"] == 1
    assert later["ik"]["reason"].startswith("out of reach: ")
    np.testing.assert_array_equal(later["robots"][0]["q"], q)
    assert session.explain() is None  # it was said


def test_limits_that_hold_the_robot_back_are_named() -> None:
    session, robot = session_of("iiwa14"), loaded("iiwa14")
    first = robot.limits.upper.copy()
    target = pose_by_pinocchio("iiwa14", first + 0.2, TOOL["iiwa14"])
    message = {"position": target[:3, 3].tolist(), "quaternion": _quaternion(target[:3, :3])}
    said(session, type="q", q=(first - 0.01).tolist())
    ik = said(session, type="drag", frame=TOOL["iiwa14"], **message)["ik"]
    q = session.robots[0].q
    named = {text.split()[0] for text in ik["limits"]}
    ends = {n for n, x, low, up in zip(robot.coordinate_names, q, robot.limits.lower, first, strict=True)
            if x in (low, up)}  # fmt: skip
    assert named == ends and named and not ik["success"]
    assert all(" at its " in text and text.endswith("limit") for text in ik["limits"])


def test_the_same_drags_give_the_same_answers() -> None:
    answers = []
    for _ in range(2):
        session = session_of("atlas")
        for k in range(5):
            place = [0.3, -0.5 + 0.02 * k, 0.3]
            state = said(session, type="drag", frame="r_hand", position=place, quaternion=None)
        answers.append(state)
    assert answers[0] == answers[1]


def test_a_base_moves_if_it_is_dragged_itself_or_if_that_was_asked_for() -> None:
    robot = loaded("hyq")
    session = session_of("hyq")
    state = said(session, type="drag", frame="base_link_0", position=[0.1, 0.2, 0.7], quaternion=[0, 0, 0, 1])
    assert state["ik"]["success"]
    q = np.array(state["robots"][0]["q"])
    np.testing.assert_allclose(q[:3], [0.1, 0.2, 0.7], atol=1e-5)
    np.testing.assert_array_equal(q[7:], bent("hyq")[7:])
    far = [2.0, 0.0, 0.0]
    stays = said(session_of("hyq"), type="drag", frame=TOOL["hyq"], position=far, quaternion=None)
    goes = said(
        session_of("hyq", move_base=True), type="drag", frame=TOOL["hyq"], position=far, quaternion=None
    )
    assert not stays["ik"]["success"] and goes["ik"]["success"]
    np.testing.assert_array_equal(stays["robots"][0]["q"][:7], bent("hyq")[:7])
    place = pose_by_pinocchio("hyq", goes["robots"][0]["q"], TOOL["hyq"])[:3, 3]
    np.testing.assert_allclose(place, far, atol=1.1e-5)
    assert robot.nq == 19


def test_reset_goes_back_to_the_start() -> None:
    session = session_of("iiwa14")
    said(session, type="drag", frame=TOOL["iiwa14"], position=[0.4, 0.1, 0.6], quaternion=None)
    state = said(session, type="reset", id=3)
    np.testing.assert_array_equal(state["robots"][0]["q"], bent("iiwa14"))
    assert state["id"] == 3


def test_several_robots_and_ghosts() -> None:
    ghost = make_shown(loaded("iiwa14"), bent("iiwa14"), ghost=True)
    robots = [make_shown(loaded(name), bent(name)) for name in ("iiwa14", "hyq")]
    session = Session([*robots, ghost], lambda: {"robots": []})
    state = said(session, type="drag", robot=1, frame=TOOL["hyq"], position=[0.3, 0.2, -0.5], quaternion=None)
    assert [entry["index"] for entry in state["robots"]] == [0, 1]
    np.testing.assert_array_equal(state["robots"][0]["q"], bent("iiwa14"))
    place = pose_by_pinocchio("hyq", state["robots"][1]["q"], TOOL["hyq"])[:3, 3]
    np.testing.assert_allclose(
        np.linalg.norm(place - [0.3, 0.2, -0.5]), state["ik"]["position_error"], atol=1e-6
    )
    assert "is a ghost" in said(session, type="q", robot=2, q=bent("iiwa14").tolist())["text"]


def test_hello_gives_the_scene() -> None:
    answer = said(session_of("iiwa14"), type="hello")
    assert (
        answer["type"] == "scene" and answer["scene"]["title"] == "iiwa14" and answer["scene"]["marks"] == []
    )


def drag(**change: Any) -> str:
    whole = {"type": "drag", "id": 5, "robot": 0, "frame": TOOL["iiwa14"], "position": [0.4, 0.0, 0.6],
             "quaternion": None}  # fmt: skip
    return json.dumps({**whole, **change})


ODD: list[tuple[str | bytes, str]] = [
    ("", "expected JSON"),
    ("nonsense", "expected JSON"),
    (b"\x00\x01", "expected text, found bytes"),
    ("[1, 2]", "expected an object with a type"),
    ("null", "expected an object"),
    ("{}", "unknown message None"),
    ('{"type": "drga"}', "did you mean 'drag'?"),
    ('{"type": ["q"]}', "unknown message"),
    ('{"type": "q"}', "q: expected a list of numbers, found None"),
    ('{"type": "q", "q": "0000000"}', "q: expected a list of numbers"),
    ('{"type": "q", "q": [true, 0, 0, 0, 0, 0, 0]}', "q: expected a list of numbers"),
    ('{"type": "q", "q": [[0], 0, 0, 0, 0, 0, 0]}', "q: expected a list of numbers"),
    ('{"type": "q", "q": [0, 0]}', r"q: expected (7,) numbers for iiwa14, found (2,)"),
    ('{"type": "q", "q": [NaN, 0, 0, 0, 0, 0, 0]}', "NaN is no number of JSON"),
    ('{"type": "q", "q": [1e999, 0, 0, 0, 0, 0, 0]}', "q: expected finite numbers"),
    ('{"type": "q", "q": [1' + "0" * 400 + ", 0, 0, 0, 0, 0, 0]}", "q: expected finite numbers"),
    (
        '{"type": "q", "q": [9, 0, 0, 0, 0, 0, 0]}',
        "lbr_iiwa_joint_1: expected -2.96706 to 2.96706 (its limits)",
    ),
    ('{"type": "q", "robot": 1, "q": [0, 0, 0, 0, 0, 0, 0]}', "robot: expected 0 to 0, found 1"),
    ('{"type": "q", "robot": -1, "q": [0, 0, 0, 0, 0, 0, 0]}', "robot: expected 0 to 0, found -1"),
    ('{"type": "q", "robot": "a", "q": [0, 0, 0, 0, 0, 0, 0]}', "robot: expected the number of a robot"),
    ('{"type": "q", "robot": 0.0, "q": [0, 0, 0, 0, 0, 0, 0]}', "robot: expected the number of a robot"),
    (drag(frame="tool"), "has no link or frame called 'tool'"),
    (drag(frame=3), "frame: expected a name"),
    (drag(frame="world"), "frame: expected one that a joint of iiwa14 moves, found 'world'"),
    (drag(position=[0, 0]), "position: expected 3 numbers, found 2"),
    (drag(position=None), "position: expected a list of 3 numbers"),
    (drag(position=[1e200, 0, 0]), "expected coordinates within 1e+12 m"),
    (drag(quaternion=[0, 0, 0, 2]), "quaternion: expected unit length, found 2"),
    (drag(quaternion=[0, 0, 0, 0]), "quaternion: expected unit length, found 0"),
    (drag(quaternion=[0, 0, 1]), "quaternion: expected 4 numbers"),
    ('{"type": "layers", "on": "com"}', "on: expected names of layers"),
    ('{"type": "layers", "on": [1]}', "on: expected names of layers"),
    ("[" * 100_000, "expected JSON"),
    ('{"type": "q", "q": [' + "0, " * LONGEST + "0]}", f"expected at most {LONGEST} characters"),
]


@pytest.mark.parametrize(("text", "words"), ODD, ids=range(len(ODD)))
def test_odd_messages_get_an_error_in_words(text: str | bytes, words: str) -> None:
    session = session_of("iiwa14")
    (answer,) = session.answer(text)
    assert answer["type"] == "error" and words in answer["text"], answer
    assert len(answer["text"]) < 400
    np.testing.assert_array_equal(session.robots[0].q, bent("iiwa14"))
    assert said(session, type="reset")["type"] == "state"


def test_the_number_of_a_wrong_message_is_answered() -> None:
    session = session_of("iiwa14")
    assert said(session, type="q", id=9, q=[0])["id"] == 9
    assert said(session, type="q", id="x", q=[0])["id"] is None
    assert said(session, type="q", id=True, q=[0])["id"] is None


def test_quaternions_of_a_slider_message_must_be_units() -> None:
    q = bent("hyq")
    q[3:7] = [0, 0, 0, 1.1]
    answer = said(session_of("hyq"), type="q", q=q.tolist())
    assert answer["type"] == "error" and "'root_joint' needs a vector of unit length" in answer["text"]


def test_joints_outside_their_limits_stay_until_they_are_moved() -> None:
    """A program may show what it likes; a slider of another joint must still work."""
    robot, q = loaded("iiwa14"), bent("iiwa14")
    q[0] = 4.0
    session = Session([make_shown(robot, q)], dict)
    q[1] += 0.1
    assert said(session, type="q", q=q.tolist())["type"] == "state"
    q[0] = 3.9
    assert said(session, type="q", q=q.tolist())["type"] == "error"


# --- marks ---------------------------------------------------------------------------------------------


def marks(session: Session, *layers: str) -> list[dict[str, Any]]:
    state = said(session, type="layers", on=list(layers))
    assert state["robots"] == []  # nobody moved
    return list(state["marks"])


@pytest.mark.parametrize("name", NAMES)
def test_the_centre_of_mass_is_marked(name: str) -> None:
    (mark,) = marks(session_of(name), "com")
    assert mark["layer"] == "com" and mark["kind"] == "point" and mark["robot"] == 0
    np.testing.assert_allclose(mark["position"], reference(name).center_of_mass(bent(name)), atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_the_manipulability_ellipsoid_is_that_of_the_joints(name: str) -> None:
    """Its matrix R diag(size^2) R^T is J J^T of Pinocchio's Jacobian, without a base that is held."""
    session = session_of(name, frames=TOOL[name])
    (mark,) = marks(session, "manipulability")
    linear = reference(name).jacobian(bent(name), TOOL[name])[:3]
    linear = linear[:, 6:] if name != "iiwa14" else linear
    x, y, z, w = mark["quaternion"]
    turn = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    drawn = turn @ np.diag(np.square(np.array(mark["size"]) / 0.2)) @ turn.T
    np.testing.assert_allclose(drawn, linear @ linear.T, atol=1e-5)
    np.testing.assert_allclose(
        mark["position"], pose_by_pinocchio(name, bent(name), TOOL[name])[:3, 3], atol=1e-6
    )


def test_singular_arms_have_a_flat_ellipsoid_that_says_so() -> None:
    straight = Session([make_shown(loaded("iiwa14"))], dict)  # upright: it can only tip over one way
    (mark,) = marks(straight, "manipulability")
    assert "singular, 2 of 3 directions lost" in mark["name"]
    assert min(mark["size"]) == pytest.approx(1e-3 * max(mark["size"]))


def test_a_frame_that_no_joint_moves_in_a_line_has_no_ellipsoid() -> None:
    session = Session([make_shown(robomorph.load("iiwa14"), frames="lbr_iiwa_link_1")], dict)
    assert marks(session, "manipulability") == []  # it lies on the axis of the only joint before it


def test_forces_are_arrows_in_the_worlds_axes() -> None:
    link, wrench = "lbr_iiwa_link_5", np.array([3.0, -4.0, 12.0, 0.0, 0.5, 0.0])
    session = session_of("iiwa14", f_ext={link: wrench})
    force, moment = marks(session, "forces")
    pose = pose_by_pinocchio("iiwa14", bent("iiwa14"), link)
    for mark, vector, name in ((force, wrench[:3], "13 N on"), (moment, wrench[3:], "0.5 N m on")):
        assert mark["kind"] == "arrow" and mark["name"].startswith(name)
        np.testing.assert_allclose(mark["position"], pose[:3, 3], atol=1e-6)
        along = np.array(mark["vector"]) / np.linalg.norm(mark["vector"])
        np.testing.assert_allclose(along, pose[:3, :3] @ vector / np.linalg.norm(vector), atol=1e-5)
    assert marks(session) == []


def test_marks_are_computed_only_where_their_layer_is_on() -> None:
    session = session_of("atlas")
    assert marks(session, "visual", "frames", "names") == []
    assert session.computed_layers == frozenset()
    session.answer('{"type": "layers", "on": ["com"]}', "another page")
    assert session.computed_layers == {"com"}
    session.forget("another page")
    assert session.computed_layers == frozenset()


def test_robots_without_masses_have_no_centre_of_mass() -> None:
    text = (
        '<robot name="bare"><link name="a"/><link name="b"/><joint name="j" type="revolute">'
        '<parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>'
    )
    with pytest.warns(robomorph.ModelWarning):
        session = Session([make_shown(robomorph.load(text))], dict)
    assert marks(session, "com", "manipulability") == []


# --- what is shown -------------------------------------------------------------------------------------


def test_handles_hold_what_moves_the_ends_first() -> None:
    assert movable_frames(loaded("iiwa14"))[0] == "lbr_iiwa_link_7"
    assert "world" not in movable_frames(loaded("iiwa14"))
    assert set(movable_frames(loaded("atlas"))[:5]) == {"l_hand", "r_hand", "head", "l_foot", "r_foot"}
    tool = robomorph.load("iiwa14", tool_frames={"tcp": ("lbr_iiwa_link_7", [0, 0, 0.1])})
    assert movable_frames(tool)[0] == "tcp"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"q": np.zeros(6)}, r"q: expected \(7,\) numbers for iiwa14, found \(6,\)"),
        ({"q": np.full(7, np.nan)}, "q: expected finite numbers"),
        ({"frames": "tool"}, "no link or frame called 'tool'"),
        ({"frames": "world"}, "'world', which stands still"),
        ({"frames": 3}, "frames: expected names"),
        ({"f_ext": np.zeros(6)}, "f_ext: expected a mapping"),
        ({"f_ext": {"tool": np.zeros(6)}}, "no link called 'tool'"),
        ({"f_ext": {"lbr_iiwa_link_7": np.zeros(3)}}, r"expected \(6,\), force and moment, found \(3,\)"),
    ],
)
def test_what_cannot_be_shown_is_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        make_shown(loaded("iiwa14"), **change)
    with pytest.raises(ArgumentError, match=r"expected what robomorph\.load gives, found str"):
        make_shown("iiwa14")
