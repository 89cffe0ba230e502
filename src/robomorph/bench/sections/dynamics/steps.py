"""One computation split in its three steps, as the papers show it: v, a, f; dc'/du; M^-1."""

from __future__ import annotations

from functools import partial

from robomorph.bench.charts import COLOURS
from robomorph.bench.functions import (
    FORWARD_DYNAMICS_GRADIENT,
    INVERSE_DYNAMICS,
    INVERSE_DYNAMICS_GRADIENT,
    MASS_MATRIX_INVERSE,
)
from robomorph.bench.ours import our_contestant
from robomorph.bench.records import Record, select
from robomorph.bench.sections.section import Job, Records, Section, TableData, robots_of, show_ns
from robomorph.bench.session import Session
from robomorph.bench.subject import Subject
from robomorph.report.figures import Bars, Figure, Panel

NAME = "steps"
_PARTS = (INVERSE_DYNAMICS, INVERSE_DYNAMICS_GRADIENT, MASS_MATRIX_INVERSE, FORWARD_DYNAMICS_GRADIENT)
_SHOWN = ("v, a, f", "dc'/du", "M^-1")  # what is left of split() without the last


def _jobs(session: Session) -> list[Job]:
    return [Job(f"{s.name}, one computation", partial(_run, session, s)) for s in session.subjects]


def _run(session: Session, subject: Subject) -> list[Record]:
    records = []
    for function in _PARTS:
        contestants = [our_contestant(subject, function, 1)]
        contestants += session.theirs(subject, function, 1, reference_only=True)[:1]
        records += session.contest(NAME, subject, function, contestants)
    return records


def split(records: Records) -> dict[str, float]:
    """Nanoseconds of each step for one contestant. The gradient's function begins with the v, a, f of its
    own; what it takes beyond a call for these alone is the step dc'/du."""
    times = {record.function: record.best_ns for record in records}
    forces = times[INVERSE_DYNAMICS.name]
    return {
        _SHOWN[0]: forces,
        _SHOWN[1]: max(0.0, times[INVERSE_DYNAMICS_GRADIENT.name] - forces),
        _SHOWN[2]: times[MASS_MATRIX_INVERSE.name],
        "all in one function": times[FORWARD_DYNAMICS_GRADIENT.name],
    }


def _tables(records: Records) -> list[TableData]:
    rows = []
    for robot in robots_of(records):
        for who in dict.fromkeys(r.who for r in select(records, robot=robot)):
            parts = split(select(records, robot=robot, who=who))
            rows.append((robot, who, *(show_ns(time) for time in parts.values())))
    columns = ("robot", "who", *_SHOWN, "all in one function")
    caption = (
        "dc'/du: the inverse-dynamics gradient less its v, a, f. The last column also multiplies the two."
    )
    return [TableData("one computation in its three steps (single calls)", columns, rows, 2, caption)]


def _figures(records: Records) -> list[Figure]:
    """Stacked bars, one per library: the three steps of one computation."""
    robots, whos = robots_of(records), list(dict.fromkeys(r.who for r in records))
    panels = []
    for robot in robots:
        parts = [split(mine) if (mine := select(records, robot=robot, who=who)) else {} for who in whos]
        bars = [
            Bars([times.get(step, 0.0) / 1e3 for times in parts], step, (colour,))
            for step, colour in zip(_SHOWN, COLOURS.values(), strict=False)
        ]
        first = robot == robots[0]
        label, legend = ("one computation (us)", "inside") if first else ("", "")
        panels.append(
            Panel(bars, robot, y_label=label, categories=whos, stacked=True, width=0.6, legend=legend)
        )
    return [Figure(NAME, panels, (3.2 * len(robots), 3.4))]


SECTION = Section(NAME, _jobs, _tables, figures=_figures)
