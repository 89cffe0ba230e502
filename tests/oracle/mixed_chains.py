"""Chains of joints of all kinds that one coordinate moves: turning and sliding, following others, at any
angle."""

from __future__ import annotations

import numpy as np

_ANGLES = (0.0, 1.5707963267948966, -1.5707963267948966, 3.141592653589793)


def mixed_chain(seed: int) -> str:
    """URDF text of a chain of 3 to 9 joints; every third one has only right angles. The last link is
    `tool`."""
    rng = np.random.default_rng(seed)
    joints = int(rng.integers(3, 10))
    right = seed % 3 == 0
    parts = [f'<robot name="mixed{seed}">', '<link name="base"/>']
    parent = "base"
    earlier: list[tuple[str, str]] = []
    for k in range(joints):
        link = "tool" if k == joints - 1 else f"link{k}"
        kind = rng.choice(["revolute", "continuous", "prismatic"], p=[0.45, 0.25, 0.3])
        follows = ""
        same = [name for name, other in earlier if (other == "prismatic") == (kind == "prismatic")]
        if same and rng.random() < 0.3:
            scale, offset = rng.uniform(-1.5, 1.5), rng.uniform(-0.2, 0.2)
            follows = f'<mimic joint="{rng.choice(same)}" multiplier="{scale}" offset="{offset}"/>'
        else:
            earlier.append((f"joint{k}", str(kind)))
        parts += _joint(rng, f"joint{k}", str(kind), parent, link, follows, right)
        parent = link
    return "\n".join([*parts, "</robot>"])


def _joint(
    rng: np.random.Generator, name: str, kind: str, parent: str, child: str, follows: str, right: bool
) -> list[str]:
    turn = rng.choice(_ANGLES, 3) if right else rng.uniform(-3.0, 3.0, 3)
    axis = np.eye(3)[rng.integers(3)] if right else rng.normal(size=3)
    place = rng.uniform(-0.3, 0.3, 3) * rng.integers(0, 2, 3)
    low, high = (-0.3, 0.4) if kind == "prismatic" else (-rng.uniform(1.0, 3.0), rng.uniform(1.0, 7.0))
    limit = "" if kind == "continuous" else f'<limit lower="{low}" upper="{high}" effort="1" velocity="1"/>'

    def numbers(values: object) -> str:
        return " ".join(repr(float(x)) for x in np.asarray(values))

    return [
        f'<link name="{child}"/>',
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>',
        f'<origin xyz="{numbers(place)}" rpy="{numbers(turn)}"/><axis xyz="{numbers(axis)}"/>',
        f"{limit}{follows}</joint>",
    ]
