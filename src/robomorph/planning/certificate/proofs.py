"""What was proven of a motion."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from robomorph.planning.certificate.obligations import Obligation
from robomorph.planning.certificate.splines import Spline


class Enclosure(NamedTuple):
    """During [begin, end] (s) the value is between low and high; `proven` if that is within its bounds."""

    begin: Fraction
    end: Fraction
    low: float
    high: float
    proven: bool


@dataclass(frozen=True)
class Proof:
    """What is known of one obligation: enclosures that follow each other and fill its window."""

    obligation: Obligation
    pieces: tuple[Enclosure, ...]

    @property
    def proven(self) -> bool:
        return all(piece.proven for piece in self.pieces)

    @property
    def low(self) -> float:
        return min(piece.low for piece in self.pieces)

    @property
    def high(self) -> float:
        return max(piece.high for piece in self.pieces)

    @property
    def gap(self) -> float:
        """The least distance from a bound that is proven; negative: what is lacking."""
        return min(self.obligation.upper - self.high, self.low - self.obligation.lower)

    @property
    def worst(self) -> Enclosure:
        """The piece that comes nearest to a bound, or is farthest from being proven."""
        bound = self.obligation
        return min(self.pieces, key=lambda p: min(bound.upper - p.high, p.low - bound.lower))

    def __str__(self) -> str:
        at, bound = self.worst, self.obligation
        where = f"between {float(at.begin):.6g} and {float(at.end):.6g} s"
        if self.proven:
            return f"{bound.name}: proven, {self.gap:.3g} to spare ({where})"
        found = f"[{at.low:.9g}, {at.high:.9g}] against [{bound.lower:.9g}, {bound.upper:.9g}]"
        return f"{bound.name}: not proven {where}: {found}, {-self.gap:.3g} short"


@dataclass(frozen=True)
class Certificate:
    """Every obligation and what was proven of it."""

    spline: Spline
    proofs: tuple[Proof, ...]
    degree: int
    runs: int = field(default=0)  # pieces on which programs were run, bisections included

    @property
    def proven(self) -> bool:
        return all(proof.proven for proof in self.proofs)

    @property
    def failed(self) -> tuple[Proof, ...]:
        return tuple(proof for proof in self.proofs if not proof.proven)
