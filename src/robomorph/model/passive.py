"""Whether damping, friction loss and springs of joints are part of the dynamics, and by which law."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

from ..errors import ArgumentError
from .arrays import LARGEST

# Below that, friction is a corner to floating-point numbers.
NARROWEST = 1e-6


@dataclass(frozen=True)
class Passive:
    """Damping, friction loss and springs of joints are part of the dynamics.

    A joint asks for damping * qd + stiffness * (q - rest) + friction * qd / sqrt(qd^2 + width^2) beside what
    moves its links. width: the speed (rad/s or m/s) at which friction has 0.7 of its loss; a joint at rest
    under a load below its loss creeps with less than about that speed.
    """

    width: float = 0.01

    def __post_init__(self) -> None:
        width = self.width
        number = isinstance(width, Real) and not isinstance(width, bool)  # NumPy's are, too
        if not (number and NARROWEST <= width <= LARGEST):
            raise ArgumentError(
                f"Passive.width: expected a speed from {NARROWEST:g} to {LARGEST:g}, found {width!r}."
            )
        object.__setattr__(self, "width", float(width))


def read_passive(value: Any) -> Passive | None:
    """The argument `passive` of `load`."""
    if isinstance(value, Passive):
        return value
    if not isinstance(value, bool):
        raise ArgumentError(f"passive: expected True, False or a robomorph.Passive, found {value!r}.")
    return Passive() if value else None
