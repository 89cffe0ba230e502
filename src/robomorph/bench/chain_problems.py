"""The Quick-IK paper's benchmark: chains, targets, starts, and what is expected of each method.

Chains of N joints; joint i turns about local z (i even) or y (i odd), i from 0, then 1/N m along local x; no
limits. Starts are uniform in (-pi, pi). Targets: set A, the position of random angles; set B, uniform in a
ball of 0.5 m about the base; set C, of 0.9 m. 1e-2 m, at most 10,000 iterations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from robomorph.robot import Robot

Array = npt.NDArray[Any]

CHAINS = (12, 25, 50, 75, 100)
TOLERANCE = 1e-2  # m
RADII = {"B": 0.5, "C": 0.9}  # m
SETS = ("A", "B", "C")

# Mean iterations on set B in double precision: reference values.
EXPECTED_ITERATIONS: dict[str, dict[int, float]] = {
    "jacobian-transpose": dict(zip(CHAINS, (33, 89, 281, 573, 1020), strict=True)),
    "quick-ik": dict(zip(CHAINS, (31, 75, 222, 428, 720), strict=True)),
    "jacobian-transpose-fixed": dict(zip(CHAINS, (800, 2482, 7249, 9043, 9601), strict=True)),
    "pseudoinverse": dict(zip(CHAINS, (5.7, 7.9, 15, 26, 50), strict=True)),
}

# "Quick-IK can reduce the number of iterations by 97%" against JT-Serial: the only number that the paper
# prints for its Figures 4 and 5.
PAPER_REDUCTION = 0.97

# Times in milliseconds that the paper prints (its Table 2), all on its authors' machines: an Intel Atom D2500
# (JT-Serial, J-1-SVD, JT-Speculation), an NVIDIA Jetson TX1, and their accelerator IKAcc (65 nm, 1 GHz).
PAPER_TIMES: dict[str, dict[int, float]] = {
    "JT-Serial (Atom)": dict(zip(CHAINS, (622.05, 2330.53, 6010.24, 9570.49, 12990.81), strict=True)),
    "J-1-SVD (Atom)": dict(zip(CHAINS, (96.76, 144.57, 469.87, 637.57, 1382.35), strict=True)),
    "JT-Speculation (Atom)": dict(zip(CHAINS, (288.06, 656.15, 5285.14, 7704.93, 12383.25), strict=True)),
    "JT-TX1 (Jetson TX1)": dict(zip(CHAINS, (38.30, 47.91, 185.18, 217.91, 311.74), strict=True)),
    "IKAcc (65 nm chip)": dict(zip(CHAINS, (0.3042, 0.8243, 4.5373, 7.6572, 12.1125), strict=True)),
}


@dataclass(frozen=True, eq=False)
class ChainProblems:
    """targets (n, 3) in metres, starts (n, N) in radians."""

    targets: Array
    starts: Array

    def first(self, count: int) -> ChainProblems:
        return self.slice(0, count)

    def slice(self, start: int, stop: int) -> ChainProblems:
        return ChainProblems(self.targets[start:stop], self.starts[start:stop])


def chain_problems(robot: Robot, which: str, count: int, seed: int = 2017) -> ChainProblems:
    """The first `count` problems of a set of 1,000 (or more); the same for every method and machine."""
    rng = np.random.default_rng([seed, robot.nq, SETS.index(which)])
    whole = max(count, 1000)
    starts = rng.uniform(-np.pi, np.pi, (whole, robot.nq))
    if which == "A":
        angles = rng.uniform(-np.pi, np.pi, (whole, robot.nq))
        targets = np.ascontiguousarray(robot.forward_kinematics(angles, "tool")[:, :3, 3])
    else:
        directions = rng.normal(size=(whole, 3))
        directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
        targets = directions * RADII[which] * rng.uniform(size=(whole, 1)) ** (1.0 / 3.0)
    return ChainProblems(targets[:count], starts[:count])
