"""Chains of links as URDF text, from the kinds of their joints."""

from __future__ import annotations

LIMITS = {
    "revolute": '<limit lower="-1.5" upper="1.5" effort="9" velocity="9"/>',
    "prismatic": '<limit lower="-0.2" upper="0.3" effort="9" velocity="9"/>',
}
# Chains with spherical joints, the first link at the left; the last link is the tip.
WITH_BALLS: dict[str, tuple[str, ...]] = {
    "ball wrist": ("revolute z", "revolute y", "revolute y", "spherical"),
    "ball shoulder": ("ball", "revolute y", "revolute x", "revolute z"),
    "two balls": ("spherical", "revolute y", "spherical"),
    "balls alone": ("ball", "ball", "spherical"),
    "slide and balls": ("prismatic z", "spherical", "revolute y", "spherical"),
}
_AXES = {"x": "1 0 0", "y": "0 1 0", "z": "0 0 1"}


def chain(*joints: str, extra: dict[int, str] | None = None) -> str:
    """Links l0, l1, ... joined by j0, j1, ...; a joint is its kind and, if it has one, its axis. `extra`: XML
    inside the joint of that number, in place of its limits."""
    parts = [_link(i) for i in range(len(joints) + 1)]
    for i, joint in enumerate(joints):
        kind, _, axis = joint.partition(" ")
        inside = f'<axis xyz="{_AXES[axis]}"/>' if axis else ""
        inside += (extra or {}).get(i, LIMITS.get(kind, ""))
        parts.append(
            f'<joint name="j{i}" type="{kind}"><parent link="l{i}"/><child link="l{i + 1}"/>'
            f'<origin xyz="0.3 {0.05 * i} 0.1" rpy="0.2 0.1 {0.3 + 0.1 * i}"/>{inside}</joint>'
        )
    return f'<robot name="chain">{"".join(parts)}</robot>'


def _link(i: int) -> str:
    return (
        f'<link name="l{i}"><inertial><mass value="{1.0 + 0.2 * i}"/><origin xyz="0.1 {0.02 * i} -0.05"/>'
        '<inertia ixx="0.1" iyy="0.12" izz="0.07" ixy="0.01" ixz="0" iyz="-0.02"/></inertial></link>'
    )
