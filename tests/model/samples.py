"""Small URDF texts for tests, written so that line numbers are easy to see."""

from __future__ import annotations

SOUND_INERTIAL = (
    '<inertial><origin xyz="0.1 0 0"/><mass value="2"/>'
    '<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.04"/></inertial>'
)


def link(name: str, inertial: str = SOUND_INERTIAL) -> str:
    """One line: a link."""
    return f'<link name="{name}">{inertial}</link>'


def joint(
    name: str,
    parent: str,
    child: str,
    kind: str = "revolute",
    *,
    origin: str = '<origin xyz="0 0 0.5"/>',
    axis: str = "0 0 1",
    limit: str = '<limit lower="-1" upper="2" velocity="3" effort="4"/>',
    extra: str = "",
) -> str:
    """One line: a joint."""
    axis = f'<axis xyz="{axis}"/>' if kind not in ("fixed", "floating") else ""
    limit = limit if kind in ("revolute", "prismatic") else ""
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{origin}{axis}{limit}{extra}</joint>'


def robot(*lines: str, name: str = "sample") -> str:
    """A document whose n-th given line is on line n + 1."""
    return "\n".join([f'<robot name="{name}">', *lines, "</robot>"])


def arm() -> list[str]:
    """Lines 2 to 6 of a sound robot: base - shoulder - upper - elbow - lower."""
    return [
        link("base"),
        link("upper"),
        link("lower"),
        joint("shoulder", "base", "upper"),
        joint("elbow", "upper", "lower", axis="0 1 0"),
    ]


MENAGERIE = robot(
    link("base"),
    link("cart"),
    link("arm"),
    link("plate"),
    link("puck"),
    link("drone"),
    link("finger_1"),
    link("finger_2"),
    link("finger_3"),
    link("sensor"),
    link("frame", ""),
    joint(
        "rail", "base", "cart", "prismatic", axis="1 0 0", extra='<dynamics damping="0.5" friction="0.1"/>'
    ),
    joint("mount", "cart", "frame", "fixed", origin='<origin xyz="0 0.2 0" rpy="0.3 0.2 0.1"/>'),
    joint("shoulder", "frame", "arm", "continuous", axis="0.6 0 0.8"),
    joint(
        "glue", "arm", "sensor", "fixed", origin='<origin xyz="0.1 0.2 0.3" rpy="1.5707963267948966 0 0"/>'
    ),
    joint("table", "base", "plate", "planar", limit='<limit velocity="1" effort="1"/>'),
    joint("slide", "plate", "puck", "prismatic", axis="0 1 0"),
    joint("free", "base", "drone", "floating"),
    joint("grip_1", "arm", "finger_1", "prismatic", axis="0 1 0"),
    joint(
        "grip_2",
        "arm",
        "finger_2",
        "prismatic",
        axis="0 -1 0",
        extra='<mimic joint="grip_1" multiplier="2" offset="0.01"/>',
    ),
    joint("grip_3", "finger_2", "finger_3", extra='<mimic joint="grip_2" multiplier="-0.5" offset="0.1"/>'),
    name="menagerie",
)
"""A robot with every joint type, fixed links and a chain of mimics."""
