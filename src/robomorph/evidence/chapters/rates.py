"""Which horizon fits which control rate: on this CPU, with a chip (an estimate), in the papers' model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from robomorph.accelerators.coprocessor import LINKS
from robomorph.bench.mpc.rates import peer_points
from robomorph.evidence import papers
from robomorph.evidence.charts import Series, curves, figure_panels, panel
from robomorph.evidence.context import Context
from robomorph.evidence.parts import (
    ESTIMATED,
    MEASURED,
    PUBLISHED,
    Exhibit,
    Part,
    Table,
    absent_parts,
    sentence,
)
from robomorph.evidence.tools import quick_only, simulator
from robomorph.evidence.view import UNITS, Html, View, join, number, words
from robomorph.mpc.studies.documents import rate_data
from robomorph.mpc.studies.horizons import PUBLISHED as DERIVED
from robomorph.mpc.studies.horizons import RATES
from robomorph.mpc.studies.rate import HORIZONS, rate_study

_QUICK_HORIZONS = (16, 50, 100, 200)
_LINK = "pcie1x8"


def run(context: Context) -> dict[str, Any]:
    lack = quick_only("Chip", "a quick run leaves it out") if context.quick else simulator()
    horizons = _QUICK_HORIZONS if context.quick else HORIZONS
    study = rate_study(
        context.robots,
        horizons=horizons,
        link=None if lack else LINKS[_LINK],
        tell=context.tell,
    )
    points = list(study.points)
    if not context.quick:
        for source, robot in context.pairs():
            points += peer_points(robot.name, source, horizons, study.iterations, context.tell)
    data = rate_data(replace(study, points=tuple(points)))
    chip = "" if lack else f" --chip --link {_LINK}"
    return {
        "lines_hz": list(RATES),
        **data,
        "absent": [lack.data()] if lack else [],
        "papers": papers.RATES,
        "commands": {"rate": f"robomorph mpc rate {' '.join(context.sources)}{chip}"},
    }


# --- shown ---------------------------------------------------------------------------------------------


def draw(data: View) -> list[Part]:
    return [
        sentence(
            number(data["iterations"], "plain"),
            " iterations a plan, as in the papers: reaches in joint space from Python on one thread, without "
            "and with limits on torque, speed and position. The papers' lines are the least rate for "
            "nonlinear predictive control and what joints respond to. Their model is derived from the "
            "horizons that they print.",
        ),
        *absent_parts(data),
        Exhibit(
            "Control rate against horizon",
            (MEASURED, ESTIMATED, PUBLISHED),
            _panels(data),
            data["commands"]["rate"],
            "solid: measured on this machine; dashed: estimated, or derived from the papers.",
            data["papers"]["paper"],
        ),
        Exhibit(
            "The longest horizon that keeps up",
            (MEASURED, ESTIMATED, PUBLISHED),
            _table(data),
            data["commands"]["rate"],
            "steps, by straight lines between the horizons tried; none is zero.",
            data["papers"]["paper"],
        ),
    ]


def _panels(data: View) -> Html:
    panels = []
    lines = [(line, join(number(line, "plain", svg=True), " Hz")) for line in data["lines_hz"]]
    for robot in dict.fromkeys(p["robot"].value for p in data["points"]):
        mine = [p for p in data["points"] if p["robot"].value == robot]
        series = []
        for k, who in enumerate(dict.fromkeys(p["who"].value for p in mine)):
            own = [p for p in mine if p["who"].value == who]
            known = own[0]["known"].value
            spots = [(p["horizon"], p["rate_hz"]) for p in own]
            series.append(Series(words(own[0]["who"]), spots, k % 7, dashed=known != MEASURED))
        about = f"plans a second against steps of the horizon, {robot}"
        drawn = curves(about, series, x_label="steps", y_label="Hz", log="xy", lines=lines)
        panels.append(panel(robot, drawn))
    return figure_panels(*panels)


def _table(data: View) -> Html:
    rows, theirs = [], set()
    for k, one in enumerate(data["horizons"]):
        cells = [number(one[f"at_{line.value:.0f}_hz"], "plain") for line in data["lines_hz"]]
        rows.append((words(one["robot"]), words(one["who"]), words(one["known"]), *cells))
        if one["known"].value == DERIVED:
            theirs.add(k)
    steps = [join("steps at ", number(line, "plain", UNITS["s"]), " Hz") for line in data["lines_hz"]]
    return Table(("robot", "who", "known by", *steps), rows, left=3, theirs=frozenset(theirs)).html()
