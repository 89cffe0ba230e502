"""What a plan says was proven: it must be about what the problem asks for, all of it, and not be false."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from robomorph.checker import document as read
from robomorph.checker.balls import Ball, flint
from robomorph.checker.document import Refused
from robomorph.checker.rows import Row

# Bounds of rows that were computed may differ by this much of themselves.
_SAME = 1e-12


@dataclass(frozen=True)
class Claim:
    """That a row's value is between `low` and `high`."""

    row: Row
    low: float
    high: float

    def must_allow(self, value: Ball, when: Fraction) -> None:
        """Refuse if a value that the motion does have is not among those claimed."""
        arb = flint().arb
        if arb(value) < arb(self.low) or arb(value) > arb(self.high):
            raise Refused(
                f"proof: constraint {self.row.constraint}, {self.row.name}: said to be between {self.low} "
                f"and {self.high}, but is about {float(arb(value).mid())} at {float(when)} s"
            )


Claims = dict[tuple[int, int], Claim]
"""By constraint and row."""


def read_claims(data: Any, rows: Sequence[Row]) -> Claims:
    fields = read.record(data, "proof", ("degree", "rows"))
    given = read.items(fields["rows"], "proof.rows")
    if len(given) != len(rows):
        raise Refused(f"proof: the problem asks for {len(rows)} rows, the plan lists {len(given)}")
    return {
        (row.constraint, row.row): _claim(row, entry, f"proof.rows[{k}]")
        for k, (row, entry) in enumerate(zip(rows, given, strict=True))
    }


def _claim(row: Row, data: Any, where: str) -> Claim:
    keys = ("constraint", "row", "name", "lower", "upper", "low", "high", "proven")
    fields = read.record(data, where, keys)
    if (fields["constraint"], fields["row"]) != (row.constraint, row.row):
        raise Refused(
            f"{where}: expected row {row.row} of constraint {row.constraint} ({row.name}), found row "
            f"{fields['row']} of constraint {fields['constraint']}"
        )
    lower, upper, low, high = (
        read.number(fields[key], f"{where}.{key}", infinite=True) for key in ("lower", "upper", "low", "high")
    )
    for key, claimed, bound in (("lower", lower, row.lower), ("upper", upper, row.upper)):
        if not _same(claimed, bound):
            raise Refused(f"{where}: {row.name}: {key} bound: expected {_shown(bound)}, found {claimed}")
    if not read.flag(fields["proven"], f"{where}.proven"):
        raise Refused(f"{where}: {row.name}: the plan itself says that it is not proven")
    if not lower <= low <= high <= upper:
        raise Refused(f"{where}: {row.name}: what is said to be proven is not within the bounds")
    return Claim(row, low, high)


def _same(claimed: float, bound: Any) -> bool:
    if math.isinf(claimed) or (isinstance(bound, float) and math.isinf(bound)):
        return isinstance(bound, float) and claimed == bound
    value = float(bound) if isinstance(bound, (float, int, Fraction)) else float(bound.mid())
    return abs(claimed - value) <= _SAME * max(1.0, abs(value))


def _shown(bound: Any) -> str:
    return str(float(bound) if isinstance(bound, (float, int, Fraction)) else float(bound.mid()))
