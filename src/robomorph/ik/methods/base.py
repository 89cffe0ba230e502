"""What a method is: how it makes a step, and how its steps are judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from robomorph.algorithms.tree import Tree
from robomorph.ik.layout import Layout
from robomorph.ik.step import StepRule


@dataclass(frozen=True)
class Method:
    """One way to solve. A new one is one file with one of these, and one entry in `METHODS`.

    rule: makes the step rule for a robot and a layout (traced once, so constants fold).
    gain_ratio: steps are accepted or refused by the gain they bring; otherwise every step is taken.
    speculative: many lengths of each step are tried at once and the best is taken (Quick-IK).
    polish: can it move along the null space towards a posture?
    """

    name: str
    rule: Callable[[Tree, Layout], StepRule]
    gain_ratio: bool = False
    speculative: bool = False
    polish: bool = False
    restarts: bool = False
    max_iterations: int = 10_000
