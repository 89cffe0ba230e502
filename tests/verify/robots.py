"""Small robots of every kind of joint, for what `verify` has to tell right from wrong."""

from __future__ import annotations

import robomorph
from robomorph import Passive, Robot

_LINK = (
    '<link name="l{i}"><inertial><mass value="{mass}"/><origin xyz="0.1 0 -0.1" rpy="0.3 0 0.1"/>'
    '<inertia ixx="0.03" iyy="0.04" izz="0.05" ixy="0.003" ixz="-0.002" iyz="0.001"/></inertial></link>'
)
_JOINT = (
    '<joint name="j{i}" type="{kind}"><parent link="{parent}"/><child link="l{i}"/>'
    '<origin xyz="0.1 -0.2 0.3" rpy="0.4 0.2 -0.5"/><axis xyz="{axis}"/>'
    '<limit lower="-2" upper="2" velocity="1" effort="9"/><dynamics damping="0.7" friction="0.4"/>'
    "{mimic}</joint>"
)
_FOLLOWS = '<mimic joint="j0" multiplier="-0.7" offset="0.3"/>'


def serial(*kinds: str, passive: bool | Passive = True, floating_base: bool = False) -> Robot:
    """A chain of joints of these kinds, damped; "mimic" follows the first."""
    parts = ['<link name="base"/>' if not floating_base else _LINK.format(i="b", mass=3)]
    for i, kind in enumerate(kinds):
        parent = f"l{i - 1}" if i else "lb" if floating_base else "base"
        own, mimic = ("revolute", _FOLLOWS) if kind == "mimic" else (kind, "")
        axis = "0 0 1" if kind == "planar" else "0.48 -0.6 0.64"
        parts += [
            _LINK.format(i=i, mass=i + 1),
            _JOINT.format(i=i, kind=own, parent=parent, axis=axis, mimic=mimic),
        ]
    text = f'<robot name="{"_".join(kinds)}">{"".join(parts)}</robot>'
    return robomorph.load(text, passive=passive, floating_base=floating_base)
