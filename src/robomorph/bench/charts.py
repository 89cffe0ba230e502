"""What the figures of several sections share."""

from __future__ import annotations

from collections.abc import Sequence

from robomorph.bench.records import OURS, Record, select
from robomorph.report.figures import Bars

COLOURS = {"one": "#4c78a8", "many": "#1b3a5c", "theirs": "#f58518", "third": "#54a24b"}


def by_threads(records: Sequence[Record]) -> dict[str, tuple[list[Record], str]]:
    """Ours on one thread and on all, and the other library's: label -> records and colour; none is empty."""
    theirs = [r for r in records if r.who != OURS]
    groups = {
        "robomorph, 1 thread": (select(records, who=OURS, threads=1), COLOURS["one"]),
        "robomorph, all threads": ([r for r in records if r.who == OURS and r.threads > 1], COLOURS["many"]),
        theirs[0].who if theirs else "": (theirs, COLOURS["theirs"]),
    }
    return {label: group for label, group in groups.items() if group[0]}


def bars_over_batch(label: str, records: Sequence[Record], colour: str, counts: Sequence[int]) -> Bars:
    """Microseconds of the whole batch, a bar for each of the counts."""
    times = {r.batch: r.best_ns * r.batch / 1e3 for r in records}
    return Bars([times.get(n, float("nan")) for n in counts], label, (colour,))
