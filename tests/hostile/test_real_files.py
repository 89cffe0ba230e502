"""Files as they are found: every example robot, and robots written without masses, against Pinocchio."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import robomorph

from ..model.oracle import example_robots

pinocchio = pytest.importorskip("pinocchio", reason="needs the package pin")

FAULTY = {
    "ur3": "at least one <link>",  # a xacro leftover without links
    "alex_psyonic_hands": "'index_q1'",  # mimics joints by names that the file does not have
}
FILES = [path for path in example_robots() if path.stem not in FAULTY]
# One of each kind for the ordinary run: arms, hands, mimics, humanoids, massless and faulty parts.
QUICK = {
    "panda",
    "kinova",
    "ur5_robot",
    "xarm7",
    "romeo",
    "romeo_laas_small",
    "allegro_left_hand",
    "tiago_pro",
}

# Of poses (m) and Jacobians; some of the files' axes are up to 1e-7 off a coordinate axis.
CLOSE = 1e-9

_LIMIT = '<limit lower="-2" upper="2" effort="1" velocity="1"/>'
_VISUAL = '<visual><geometry><mesh filename="package://arm/link.stl"/></geometry></visual>'


def _bare_arm(angles: tuple[str, ...], lengths: tuple[str, ...]) -> str:
    """An arm of visuals alone, as industrial arms are published: no <inertial> anywhere."""
    size = len(angles)
    links = [f'<link name="link_{i}">{_VISUAL}</link>' for i in range(size + 1)]
    joints = [
        f'<joint name="joint_{i + 1}" type="revolute"><origin xyz="{lengths[i]}" rpy="{angles[i]}"/>'
        f'<parent link="link_{i}"/><child link="link_{i + 1}"/><axis xyz="0 0 1"/>{_LIMIT}</joint>'
        for i in range(size)
    ]
    tool = '<link name="tool0"/><joint name="flange" type="fixed"><origin xyz="0 0 0.1" rpy="0 0.3 0"/>'
    ends = f'<parent link="link_{size}"/><child link="tool0"/></joint>'
    return "\n".join(
        ['\n<?xml version="1.0"?>\n<robot name="bare">', *links, *joints, tool, ends, "</robot>"]
    )


def _gripper_arm() -> str:
    """A massless arm whose only masses are its fingers, one of which follows the other."""
    heavy = (
        '<inertial><mass value="0.2"/><inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="1e-4"/>'
        "</inertial>"
    )
    slide = '<origin xyz="0 0 0.1"/><limit lower="0" upper="0.04" effort="1" velocity="1"/>'
    fingers = (
        f'<link name="left">{heavy}</link><link name="right"/>'
        f'<joint name="grip" type="prismatic"><parent link="tool0"/><child link="left"/>{slide}'
        '<axis xyz="0 1 0"/></joint>'
        f'<joint name="grip_2" type="prismatic"><parent link="tool0"/><child link="right"/>{slide}'
        '<axis xyz="0 -1 0"/><mimic joint="grip" multiplier="0.5" offset="0.01"/></joint>'
    )
    return BARE["six"].replace("</robot>", f"{fingers}</robot>")


_RIGHT = "1.5707963267948966"
BARE = {
    "six": _bare_arm(
        ("0 0 0", f"-{_RIGHT} 0 0", "0 0 0", f"-{_RIGHT} 0 0", f"{_RIGHT} 0 0", f"-{_RIGHT} 0 0"),
        ("0 0 0.35", "0.07 0 0", "0 -0.36 0", "0.02 0 0", "0 0 0.38", "0 0 0"),
    ),
    "seven": _bare_arm(
        (
            "0 0 0",
            f"{_RIGHT} 0 0",
            f"-{_RIGHT} 0 0",
            "0.3 0.2 0.1",
            f"-{_RIGHT} 0 0",
            f"{_RIGHT} 0 0",
            "0 0 1",
        ),
        ("0 0 0.34", "0 0 0", "0 -0.4 0", "0 0 0", "0 0.4 0", "0 0 0", "0 0 0.1"),
    ),
    "two": _bare_arm(("0 0 0", f"{_RIGHT} 0 0"), ("0 0 0.2", "0.4 0 0")),
}
BARE["gripper"] = _gripper_arm()


class Oracle:
    """Pinocchio's opinion of a URDF text, addressed by our coordinates through the joints' names."""

    def __init__(self, text: str, robot: robomorph.Robot) -> None:
        self.robot, self.model = robot, pinocchio.buildModelFromXML(text.strip())
        self.data = self.model.createData()
        self.follows = _follows(text)  # joint -> (independent joint, multiplier, offset)

    def configuration(self, q: Any) -> Any:
        out = pinocchio.neutral(self.model)
        for name in list(self.model.names)[1:]:
            source, multiplier, offset = self.follows.get(name, (name, 1.0, 0.0))
            mine = q[self.robot.coordinates(source)[0]]
            joint = self.model.joints[self.model.getJointId(name)]
            if joint.nq == mine.size:
                out[joint.idx_q : joint.idx_q + joint.nq] = (
                    multiplier * mine + offset if mine.size == 1 else mine
                )
            else:  # a continuous joint
                angle = float(multiplier * mine[0] + offset)
                out[joint.idx_q : joint.idx_q + 2] = np.cos(angle), np.sin(angle)
        return out

    def pose(self, q: Any, link: str) -> Any:
        pinocchio.framesForwardKinematics(self.model, self.data, self.configuration(q))
        return self.data.oMf[self._frame(link)].homogeneous

    def jacobian(self, q: Any, link: str) -> Any:
        frame, axes = self._frame(link), pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
        theirs = pinocchio.computeFrameJacobian(self.model, self.data, self.configuration(q), frame, axes)
        out = np.zeros((6, self.robot.nv))
        for name in list(self.model.names)[1:]:
            source, multiplier, _ = self.follows.get(name, (name, 1.0, 0.0))
            joint = self.model.joints[self.model.getJointId(name)]
            columns = theirs[:, joint.idx_v : joint.idx_v + joint.nv]
            out[:, self.robot.coordinates(source)[1]] += multiplier * columns
        return out

    def _frame(self, link: str) -> int:
        index = self.model.getFrameId(link, pinocchio.FrameType.BODY)
        assert index < self.model.nframes
        return int(index)


def _follows(text: str) -> dict[str, tuple[str, float, float]]:
    mimics = {
        str(joint.get("name")): mimic
        for joint in ElementTree.fromstring(text.strip()).findall("joint")
        if (mimic := joint.find("mimic")) is not None
        and joint.get("type") in ("revolute", "prismatic", "continuous")
    }
    out = {}
    for name in mimics:
        source, multiplier, offset = name, 1.0, 0.0
        while source in mimics:
            mimic = mimics[source]
            offset += multiplier * float(mimic.get("offset", 0.0))
            multiplier *= float(mimic.get("multiplier", 1.0))
            source = str(mimic.get("joint"))
        out[name] = (source, multiplier, offset)
    return out


def load(text: str) -> robomorph.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", robomorph.ModelWarning)
        return robomorph.load(text)


def tips(robot: robomorph.Robot) -> list[str]:
    """The links that carry the ends of the tree, the farthest out first."""
    model = robot.model
    depth = [0] * len(model.bodies)
    for i, body in enumerate(model.bodies):
        depth[i] = 1 + (depth[body.parent] if body.parent >= 0 else 0)
    parents = {body.parent for body in model.bodies}
    ends = [i for i in range(len(model.bodies)) if i not in parents]
    return [model.bodies[i].name for i in sorted(ends, key=lambda i: -depth[i])]


def check_kinematics(text: str, frames: int) -> None:
    robot = load(text)
    oracle = Oracle(text, robot)
    q = robot.random_state(0).q
    links = [*tips(robot)[:frames], *robot.link_names[:: max(1, len(robot.link_names) // frames)]]
    for link in links:
        pose = robot.compile("forward_kinematics", target="interpreter", frame=link)(q)
        np.testing.assert_allclose(pose, oracle.pose(q, link), rtol=0, atol=CLOSE, err_msg=link)
        jacobian = robot.compile("jacobian", target="interpreter", frame=link)(q)
        np.testing.assert_allclose(jacobian, oracle.jacobian(q, link), rtol=0, atol=CLOSE, err_msg=link)


def check_inverse_kinematics(text: str, targets: int) -> None:
    robot = load(text)
    if robot.nv == 0:
        return
    oracle, link = Oracle(text, robot), tips(robot)[0]
    goals = np.array([oracle.pose(robot.random_state(seed).q, link) for seed in range(targets)])
    result = robot.inverse_kinematics(goals, link)
    assert result.success.all(), result.reason
    for q, goal in zip(result.q, goals, strict=True):
        reached = oracle.pose(q, link)
        assert np.abs(reached - goal).max() < 2e-4
        inside = (robot.limits.lower - 1e-9 <= q) & (q <= robot.limits.upper + 1e-9)
        assert inside.all()


def test_all_but_the_faulty_ones_load() -> None:
    assert len(FILES) >= 40 and all(load(path.read_text()).link_names for path in FILES)


@pytest.mark.parametrize("stem", FAULTY)
def test_the_faulty_ones_are_refused_for_what_is_wrong_with_them(stem: str) -> None:
    path = next(path for path in example_robots() if path.stem == stem)
    with pytest.raises(robomorph.ModelError, match=FAULTY[stem]):
        robomorph.load(path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_kinematics_of_example_robots(path: Path) -> None:
    check_kinematics(path.read_text(), 2)


@pytest.mark.parametrize(
    "path",
    [pytest.param(p, id=p.stem, marks=() if p.stem in QUICK else pytest.mark.slow) for p in FILES],
)
def test_inverse_kinematics_of_example_robots(path: Path) -> None:
    check_inverse_kinematics(path.read_text(), 5)


@pytest.mark.parametrize("name", BARE)
def test_robots_without_masses(name: str) -> None:
    check_kinematics(BARE[name], 20)
    check_inverse_kinematics(BARE[name], 10)
