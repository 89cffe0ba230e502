"""What one measurement found, in the one form that tables, plots, goals and JSON are made from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

OURS = "robomorph"
REFUSED = "refused"  # a figure: how many results that we claimed were refused by an independent check


@dataclass(frozen=True)
class Timing:
    """Times of one contestant. Nanoseconds per evaluation; seconds for the warm-up."""

    best_ns: float
    median_ns: float
    rounds: int
    warmup_s: float  # preparation and the first call: model building, code generation, compilation


@dataclass(frozen=True)
class Record:
    """One contestant in one contest: who computed what, how it was called, and what that cost.

    `error` is the largest difference from `reference`, relative to the largest entry of that output.
    `figures` holds what only some sections have (operations, memory, fraction of the peak). `case` says which
    problems these were, where a robot has several sets of them.
    """

    section: str
    robot: str
    function: str
    who: str
    how: str
    dtype: str = "float64"
    batch: int = 1
    threads: int = 1
    timing: Timing | None = None
    error: float | None = None
    reference: str | None = None
    figures: dict[str, float] = field(default_factory=dict)
    case: str = ""

    @property
    def best_ns(self) -> float:
        """Least time per evaluation; NaN where this record holds no timing."""
        return float("nan") if self.timing is None else self.timing.best_ns


def select(records: Iterable[Record], **wanted: Any) -> list[Record]:
    """The records whose fields have the wanted values."""
    return [r for r in records if all(getattr(r, name) == value for name, value in wanted.items())]


def first(records: Iterable[Record], **wanted: Any) -> Record | None:
    """The first such record, or None."""
    return next(iter(select(records, **wanted)), None)


def one_many_theirs(records: Sequence[Record]) -> tuple[Record | None, Record | None, Record | None]:
    """Ours on one thread, ours on several, and another library's; None for what was not measured."""
    several = [r for r in records if r.who == OURS and r.threads > 1]
    theirs = [r for r in records if r.who != OURS]
    return first(records, who=OURS, threads=1), first(several), first(theirs)


def speedup(ours: Record | None, theirs: Record | None) -> float | None:
    """How many times faster `ours` is than `theirs`, by the least times; None unless both were timed."""
    if ours is None or theirs is None or ours.timing is None or theirs.timing is None:
        return None
    return theirs.timing.best_ns / ours.timing.best_ns
