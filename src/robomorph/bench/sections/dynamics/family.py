"""Every function, float64 and float32, batch and single call, beside Pinocchio and the others."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from robomorph.bench.charts import COLOURS
from robomorph.bench.functions import FAMILY, INVERSE_DYNAMICS, Function
from robomorph.bench.goals import Goal
from robomorph.bench.ours import our_contestant
from robomorph.bench.peers.pinocchio import CALLS, PINOCCHIO
from robomorph.bench.ratios import over_pinocchio
from robomorph.bench.records import OURS, Record, first, select, speedup
from robomorph.bench.sections.section import (
    Job,
    Records,
    Section,
    TableData,
    robots_of,
    show_error,
    show_ns,
    show_ratio,
)
from robomorph.bench.session import Session
from robomorph.bench.subject import Subject
from robomorph.report.figures import Bars, Figure, Panel

NAME = "family"
BATCH = 128


def _jobs(session: Session) -> list[Job]:
    return [
        Job(f"{subject.name}, {function.name}", partial(_run, session, subject, function))
        for subject in session.some
        for function in FAMILY
    ]


def _run(session: Session, subject: Subject, function: Function) -> list[Record]:
    both = [our_contestant(subject, function, BATCH, dtype=dtype) for dtype in ("float64", "float32")]
    theirs = session.theirs(subject, function, BATCH)
    alone, together = ([c for c in theirs if (c.threads > 1) is many] for many in (False, True))
    records = session.contest(NAME, subject, function, both + alone)
    if together:  # apart, for threads that still spin must not disturb those who use one
        ours = [our_contestant(subject, function, BATCH, threads=together[0].threads)]
        records += session.contest(NAME, subject, function, ours + together)
    one = [our_contestant(subject, function, 1)]
    one += session.theirs(subject, function, 1, reference_only=True)[:1]
    return records + session.contest(NAME, subject, function, one)


def _tables(records: Sequence[Record]) -> list[TableData]:
    tables = []
    for robot in robots_of(records):
        mine = select(records, robot=robot)
        names = list(dict.fromkeys(r.function for r in mine))
        tables.append(
            TableData(
                f"every function, {robot}: batch of {BATCH} (time per evaluation) and one call",
                (
                    "function",
                    "float64",
                    "pinocchio",
                    "faster",
                    "error",
                    "float32",
                    "over float64",
                    "error",
                    "one call",
                    "pinocchio",
                    "faster",
                ),
                [_row(select(mine, function=name), name) for name in names],
            )
        )
        others = [r for r in mine if r.who != OURS and not (r.who == PINOCCHIO and r.how == CALLS)]
        tables.append(_others(robot, mine, others))
    return tables


def _row(records: Sequence[Record], name: str) -> tuple[str, ...]:
    wide, narrow = (first(records, who=OURS, batch=BATCH, dtype=d, threads=1) for d in ("float64", "float32"))
    theirs = first(records, who=PINOCCHIO, how=CALLS, batch=BATCH)
    one, their_one = first(records, who=OURS, batch=1), first(records, who=PINOCCHIO, batch=1)
    return (
        name,
        show_ns(_best(wide)),
        show_ns(_best(theirs)),
        show_ratio(speedup(wide, theirs)),
        show_error(wide.error if wide else None),
        show_ns(_best(narrow)),
        show_ratio(speedup(narrow, wide)),
        show_error(narrow.error if narrow else None),
        show_ns(_best(one)),
        show_ns(_best(their_one)),
        show_ratio(speedup(one, their_one)),
    )


def _others(robot: str, mine: Sequence[Record], others: Sequence[Record]) -> TableData:
    rows = []
    for record in others:
        same = {"function": record.function, "batch": record.batch, "threads": record.threads}
        ours = first(mine, who=OURS, dtype="float64", **same)
        assert record.timing is not None
        rows.append(
            (
                record.function,
                record.who,
                record.how,
                str(record.threads),
                show_ns(record.timing.best_ns),
                show_ns(record.timing.median_ns),
                show_error(record.error),
                show_ratio(speedup(ours, record)),
            )
        )
    columns = (
        "function",
        "who",
        "how",
        "threads",
        "best",
        "median",
        "error",
        "robomorph, as many threads, is faster",
    )
    return TableData(
        f"every function, {robot}: other ways and libraries, batch of {BATCH}", columns, rows, left=3
    )


def _best(record: Record | None) -> float | None:
    return None if record is None else record.best_ns


def _figures(records: Records) -> list[Figure]:
    """How many times faster than Pinocchio each function is, batch and single call; 1 is a draw."""
    robots = robots_of(records)
    names = [function.name.replace("_", " ") for function in FAMILY]
    panels = [
        Panel(
            [_ratios(records, robot, batch, colour) for batch, colour in ((BATCH, "one"), (1, "third"))],
            f"{robot}: times faster than Pinocchio",
            categories=names if robot == robots[0] else [""] * len(names),
            lying=True,
            mark=1.0,
            legend="inside" if robot == robots[0] else "",
        )
        for robot in robots
    ]
    return [Figure(NAME, panels, (4.6 * len(robots), 3.6))]


def _ratios(records: Records, robot: str, batch: int, colour: str) -> Bars:
    ratios = [over_pinocchio(robot, function.name, batch)(records) or 0.0 for function in FAMILY]
    return Bars(ratios, "one call" if batch == 1 else f"batch of {batch}", (COLOURS[colour],))


SECTION = Section(
    NAME,
    _jobs,
    _tables,
    (
        Goal(
            "iiwa14, inverse dynamics over Pinocchio, batch of 128",
            25.0,
            "x",
            over_pinocchio("iiwa14", INVERSE_DYNAMICS.name, BATCH),
            robot="iiwa14",
        ),
    ),
    _figures,
)
