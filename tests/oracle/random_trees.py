"""Random robots by Hypothesis: any shape, every joint type, as URDF text."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

SINGLE_AXIS = ("revolute", "continuous", "prismatic")
WIDE = ("planar", "spherical", "floating")
KINDS = (*SINGLE_AXIS, "revolute", "continuous", "fixed", *WIDE)
AXES = ((0, 0, 1), (0, 0, -1), (1, 0, 0), (0, 1, 0), (0, -1, 0), (0.6, 0.0, 0.8), None)
ANGLES = (0.0, 0.0, math.pi / 2, -math.pi / 2, math.pi, 1.5708, None)


@dataclass(frozen=True)
class RandomRobot:
    """A description, whether its root moves freely, and whether its mimic joints follow or are free."""

    text: str
    floating: bool
    mimic: bool


@st.composite
def random_robots(draw: st.DrawFn, most_joints: int = 6, narrow: bool = False) -> RandomRobot:
    """Structure is drawn by Hypothesis, so that a failure shrinks to the smallest robot; lengths and
    inertias come from one drawn seed. `narrow`: joints of one coordinate on a fixed base alone."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1), label="seed"))
    count = draw(st.integers(1, most_joints), label="joints")
    parts = [_link(0, rng)]
    kinds: list[str] = []
    free: list[int] = []  # joints that may be mimicked
    wide = 0  # joints of several coordinates so far: each is as much work as several others, so one at most
    for i in range(count):
        parent = draw(st.integers(max(0, i - 3), i), label=f"parent of {i}")
        kind = draw(st.sampled_from(KINDS if wide < 1 and not narrow else KINDS[:6]), label=f"kind of {i}")
        wide += kind in WIDE
        follows = None
        if kind in SINGLE_AXIS and free and draw(st.integers(0, 2), label=f"mimic {i}") == 0:
            follows = draw(st.sampled_from(free), label=f"{i} follows")
        elif kind in SINGLE_AXIS:
            free.append(i)
        kinds.append(kind)
        parts += [_link(i + 1, rng), _joint(draw, rng, i, parent, kind, follows)]
    if all(kind == "fixed" for kind in kinds):
        parts += [_link(count + 1, rng), _joint(draw, rng, count, count, "revolute", None)]
    floating = draw(st.booleans(), label="floating base") and wide < 1 and not narrow
    mimic = draw(st.booleans(), label="mimic")
    return RandomRobot(f'<robot name="random">{"".join(parts)}</robot>', floating, mimic)


def _numbers(values: object) -> str:
    return " ".join(repr(float(x)) for x in np.asarray(values))


def _link(i: int, rng: np.random.Generator) -> str:
    """A link whose inertia is that of six point masses, so that it is physical."""
    points = rng.uniform(-0.2, 0.2, (6, 3))
    tensor = sum(0.3 * (p @ p * np.eye(3) - np.outer(p, p)) for p in points)
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    upper = (tensor[j, k] for j, k in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)))
    entries = " ".join(f'{n}="{float(x)!r}"' for n, x in zip(names, upper, strict=True))
    origin = f'<origin xyz="{_numbers(rng.uniform(-0.3, 0.3, 3))}" rpy="{_numbers(rng.uniform(-3, 3, 3))}"/>'
    mass = f'<mass value="{rng.uniform(0.5, 4.0)!r}"/>'
    return f'<link name="l{i}"><inertial>{origin}{mass}<inertia {entries}/></inertial></link>'


def _joint(
    draw: st.DrawFn, rng: np.random.Generator, i: int, parent: int, kind: str, mimic: int | None
) -> str:
    angles = [draw(st.sampled_from(ANGLES), label=f"angle of {i}") for _ in range(3)]
    rpy = [rng.uniform(-math.pi, math.pi) if a is None else a for a in angles]
    keep = draw(st.tuples(*[st.booleans()] * 3), label=f"offsets of {i}")
    origin = f'<origin xyz="{_numbers(rng.uniform(-0.5, 0.5, 3) * keep)}" rpy="{_numbers(rpy)}"/>'
    ends = f'<parent link="l{parent}"/><child link="l{i + 1}"/>'
    extra = ""
    if kind in SINGLE_AXIS:
        axis = draw(st.sampled_from(AXES), label=f"axis of {i}")
        unit = rng.normal(size=3) if axis is None else np.array(axis, dtype=float)
        extra += f'<axis xyz="{_numbers(unit / np.linalg.norm(unit))}"/>'
    elif kind == "planar":  # Pinocchio knows only planes normal to z
        extra += '<axis xyz="0 0 1"/>'
    if kind in ("revolute", "prismatic"):
        extra += '<limit lower="-2" upper="2" velocity="3" effort="9"/>'
    if mimic is not None:
        factor, offset = rng.choice([-1.0, 1.0]) * rng.uniform(0.3, 2.0), rng.uniform(-0.5, 0.5)
        extra += f'<mimic joint="j{mimic}" multiplier="{float(factor)!r}" offset="{offset!r}"/>'
    return f'<joint name="j{i}" type="{kind}">{ends}{origin}{extra}</joint>'
