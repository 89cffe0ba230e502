"""How far the chip's numbers are from float64, by word width."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from robomorph.accelerators.accuracy import ErrorReport, format_sweep
from robomorph.evidence import papers
from robomorph.evidence.charts import Series, curves, figure_panels, panel
from robomorph.evidence.context import Context
from robomorph.evidence.designs import papers_chip
from robomorph.evidence.parts import COMPUTED, PUBLISHED, Exhibit, Part, Table, absent_parts, sentence
from robomorph.evidence.tools import quick_only
from robomorph.evidence.view import Html, View, join, number, words

_WIDTHS, _QUICK_WIDTHS = (12, 14, 16, 18, 20, 24, 28, 32), (12, 20, 32)
_STATES, _QUICK_STATES = 2000, 300
_WAYS = (("per_signal", "a format for each signal"), ("single_format", "one format for all"))


def run(context: Context) -> dict[str, Any]:
    widths = _QUICK_WIDTHS if context.quick else _WIDTHS
    robots: list[dict[str, Any]] = []
    for source, robot in context.pairs():
        chip = papers_chip(robot)
        arguments = chip.sample(_QUICK_STATES if context.quick else _STATES, seed=11)
        made: dict[str, Any] = {"robot": robot.name, "source": source}
        for name, words_ in _WAYS[: 1 if context.quick and robots else None]:
            context.tell(f"{robot.name}: {words_}")
            found = format_sweep(chip, arguments, widths, uniform=name == "single_format")
            made[name] = [_report(one) for one in found]
        robots.append(made)
    sweep = ",".join(map(str, widths))
    lack = quick_only("Other robots in one format for all, more widths", "a quick run has a few designs")
    return {
        "robots": robots,
        "absent": [lack.data()] if context.quick else [],
        "papers": papers.FORMATS,
        "commands": {
            "sweep": f"robomorph rtl {context.sources[0]} --preset papers --no-simulate --sweep {sweep}"
        },
    }


def _report(report: ErrorReport) -> dict[str, Any]:
    """The largest error of all outputs, relative to the largest value of the same output."""
    relative = max(o.worst / o.largest for o in report.outputs if o.largest)
    typical = max(o.typical / o.largest for o in report.outputs if o.largest)
    bits = _bits(report.format)
    return {**asdict(report), "bits": bits, "worst_relative": relative, "typical_relative": typical}


def _bits(name: str) -> int:
    """Of "16-bit words, ..." or "Q12.4"."""
    if name.startswith("Q"):
        return sum(int(part) for part in name[1:].split("."))
    return int(name.split("-")[0])


# --- shown ---------------------------------------------------------------------------------------------


def draw(data: View) -> list[Part]:
    return [
        sentence(
            "The papers' chip works in fixed point. Here its gradient is computed at random states in the "
            "chip's own numbers, equal to the bit, and compared with float64: words of several widths, each "
            "signal with a binary point of its own, or one format for all as in the papers."
        ),
        *absent_parts(data),
        Exhibit(
            "Errors by word width",
            (COMPUTED,),
            _body(data),
            data["commands"]["sweep"],
            "relative: to the largest value of the same output. Saturated: states in which some number did "
            "not fit. What that means inside a controller is a chapter of its own.",
        ),
        Exhibit("What the papers used", (PUBLISHED,), _theirs(data), data["papers"]["paper"]),
    ]


def _body(data: View) -> Html:
    panels, rows = [], []
    for robot in data["robots"]:
        series = []
        for k, (way, name) in enumerate(_WAYS):
            if robot.get(way) is None:
                continue
            series.append(Series(name, [(one["bits"], one["worst_relative"]) for one in robot[way]], k))
            rows += [
                (
                    words(robot["robot"]),
                    words(one["format"]),
                    number(one["worst_relative"], "power"),
                    number(one["typical_relative"], "power"),
                    number(one["overflows"], "whole"),
                    number(one["states"], "whole"),
                )
                for one in robot[way]
            ]
        about = f"largest relative error by word width, {robot['robot'].value}"
        drawn = curves(
            about, series, x_label="bits of a word", y_label="largest error", log="y", form="power"
        )
        panels.append(panel(robot["robot"].value, drawn))
    columns = (
        "robot",
        "numbers",
        "largest error, relative",
        "typical error, relative",
        "saturated",
        "states",
    )
    return join(figure_panels(*panels), Table(columns, rows, left=2).html())


def _theirs(data: View) -> Html:
    theirs = data["papers"]
    rows = [("their design", words(theirs["design"]["format"]), number(theirs["design"]["bits"], "plain"))]
    for one in theirs["sufficed"]:
        rows.append(("sufficed for their task", words(one["format"]), number(one["bits"], "plain")))
    return Table(("what", "format", "bits"), rows, left=2, theirs=frozenset(range(len(rows)))).html()
