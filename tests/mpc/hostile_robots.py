"""Robots of any shape, each with Pinocchio's model of the same text."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np

import robomorph
from robomorph import ModelWarning, Robot
from tests.ik.arms import ARMS, arm
from tests.oracle.reference import Reference, build

_KNOWN = ("iiwa14", "panda", "ur5_robot")
_KINDS = ("revolute", "revolute", "continuous", "prismatic")


@cache
def hostile_robot(index: int) -> tuple[Robot, Reference, str]:
    """Robot, reference and the name of a frame on its last link. Every fifth is a real arm, others are trees
    of one to four joints that turn, slide and follow each other, under a gravity of their own."""
    if index % 5 == 4:
        name = _KNOWN[index // 5 % len(_KNOWN)]
        return (*arm(name), ARMS[name])
    rng = np.random.default_rng(index)
    count = int(rng.integers(1, 5))
    text = _tree(rng, count)
    gravity = (0.0, 0.0, -9.81) if index % 2 else tuple(float(x) for x in rng.uniform(-12, 12, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        robot = robomorph.load(text, gravity=gravity)
    return robot, Reference(robot, build(text)), f"l{count}"


def _tree(rng: np.random.Generator, count: int) -> str:
    parts = [_link(rng, 0)]
    free: list[int] = []
    for i in range(count):
        kind = str(rng.choice(_KINDS))
        axis = rng.normal(size=3) if rng.random() < 0.4 else np.eye(3)[rng.integers(3)]
        inside = f'<axis xyz="{_words(axis / np.linalg.norm(axis))}"/>'
        if kind != "continuous":
            inside += f'<limit lower="-1.8" upper="{rng.uniform(0.5, 2.0)!r}" velocity="3" effort="40"/>'
        if free and rng.random() < 0.25:
            leader, factor = int(rng.choice(free)), float(rng.uniform(-1.5, 1.5))
            inside += (
                f'<mimic joint="j{leader}" multiplier="{factor!r}" offset="{rng.uniform(-0.2, 0.2)!r}"/>'
            )
        else:
            free.append(i)
        parent = int(rng.integers(max(0, i - 1), i + 1))
        parts.append(
            f'<joint name="j{i}" type="{kind}"><parent link="l{parent}"/><child link="l{i + 1}"/>'
            f'<origin xyz="{_words(rng.uniform(-0.4, 0.4, 3))}" rpy="{_words(rng.uniform(-3, 3, 3))}"/>'
            f"{inside}</joint>{_link(rng, i + 1)}"
        )
    return f'<robot name="hostile">{"".join(parts)}</robot>'


def _link(rng: np.random.Generator, i: int) -> str:
    """Masses from grams to many kilograms, somewhere off the joint."""
    mass = float(10 ** rng.uniform(-2, 1.3))
    turn = mass * float(rng.uniform(0.002, 0.05))
    return (
        f'<link name="l{i}"><inertial><origin xyz="{_words(rng.uniform(-0.2, 0.2, 3))}"/>'
        f'<mass value="{mass!r}"/>'
        f'<inertia ixx="{turn!r}" iyy="{turn * 1.2!r}" izz="{turn * 0.9!r}" ixy="0" ixz="0" iyz="0"/>'
        "</inertial></link>"
    )


def _words(values: object) -> str:
    return " ".join(repr(float(x)) for x in np.asarray(values))
