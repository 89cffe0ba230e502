"""A section of the benchmark: jobs that give records; tables, goals and figures made from those records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from robomorph.bench.goals import Goal
from robomorph.bench.records import Record
from robomorph.bench.session import Session
from robomorph.report.figures import Figure

Records = Sequence[Record]
# The columns of a table over `one_many_theirs`.
ONE_MANY_THEIRS = ("one thread", "all threads", "pinocchio", "faster, one thread", "faster, all threads")


@dataclass(frozen=True)
class Job:
    """One step of a section, named for the progress display."""

    label: str
    run: Callable[[], list[Record]]


@dataclass(frozen=True)
class TableData:
    """A table before it is drawn; the first `left` columns are text."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    left: int = 1
    caption: str | None = None


def no_figures(records: Records) -> list[Figure]:
    return []


@dataclass(frozen=True)
class Section:
    """`jobs` lists the work; `tables`, `goals` and `figures` say what came of it. `about` is a line for the
    help, if it does not stand in the table of its group."""

    name: str
    jobs: Callable[[Session], list[Job]]
    tables: Callable[[Records], list[TableData]] = field(repr=False)
    goals: tuple[Goal, ...] = ()
    figures: Callable[[Records], list[Figure]] = field(default=no_figures, repr=False)
    about: str = ""


def robots_of(records: Records) -> list[str]:
    """The robots of some records, in order."""
    return list(dict.fromkeys(r.robot for r in records))


def show_ns(nanoseconds: float | None) -> str:
    """A time per evaluation with three significant digits."""
    if nanoseconds is None or nanoseconds != nanoseconds:
        return "-"
    for limit, unit, scale in ((1e3, "ns", 1.0), (1e6, "us", 1e3), (1e9, "ms", 1e6)):
        if nanoseconds < limit:
            return (
                f"{nanoseconds / scale:.3g} {unit}"
                if nanoseconds / scale < 99.95
                else f"{nanoseconds / scale:.0f} {unit}"
            )
    return f"{nanoseconds / 1e9:.3g} s"


def show_ratio(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.2f}x" if ratio < 10 else f"{ratio:.1f}x"


def show_error(error: float | None) -> str:
    return "-" if error is None else f"{error:.1e}"


def show_seconds(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{seconds * 1e3:.0f} ms" if seconds < 1.0 else f"{seconds:.2f} s"
