"""What a method is: how it makes a step, and how its steps are judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from robomorph.algorithms.tree import Tree
from robomorph.errors import ArgumentError
from robomorph.ik.layout import Layout
from robomorph.ik.step import StepRule


@dataclass(frozen=True)
class Method:
    """One way to solve. A new one is one file with one of these, and one entry in `METHODS`.

    rule: makes the step rule for a robot and a layout (traced once, so constants fold).
    gain_ratio: steps are accepted or refused by the gain they bring; otherwise every step is taken.
    speculative: many lengths of each step are tried at once and the best is taken (Quick-IK).
    speculations: how many, unless the caller says. longest_share: the longest of them, as a share of the
    step, at most 2; the others divide it evenly. relaxation: the best is shortened by a random share of
    itself, at most this, unless it ends the search.
    polish: can it move along the null space towards a posture?
    """

    name: str
    rule: Callable[[Tree, Layout], StepRule]
    gain_ratio: bool = False
    speculative: bool = False
    speculations: int = 64
    longest_share: float = 1.0
    relaxation: float = 0.0
    polish: bool = False
    restarts: bool = False
    max_iterations: int = 10_000

    def __post_init__(self) -> None:
        if not (0.0 < self.longest_share <= 2.0 and 0.0 <= self.relaxation < 1.0):
            raise ArgumentError(
                f"method {self.name!r}: expected longest_share in (0, 2] and relaxation in [0, 1), found "
                f"{self.longest_share!r} and {self.relaxation!r}"
            )
