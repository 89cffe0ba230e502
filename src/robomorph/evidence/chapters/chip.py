"""Chips of the papers' kind: cycles and resources by the schedule, and in simulation, equal to the bit."""

from __future__ import annotations

from typing import Any

from robomorph.evidence import papers
from robomorph.evidence.charts import Bar, figure_panels, lying_bars, panel
from robomorph.evidence.context import Context
from robomorph.evidence.designs import papers_chip
from robomorph.evidence.parts import (
    COMPUTED,
    PUBLISHED,
    SIMULATED,
    Exhibit,
    Part,
    Table,
    absent_parts,
    sentence,
)
from robomorph.evidence.tools import quick_only, simulator
from robomorph.evidence.view import NOTHING, UNITS, Html, View, join, number, words
from robomorph.report.rtl_parts import simulated

PIPELINES = (1, 4)
_STATES, _QUICK_STATES = 200, 40
_KEYS = ("latency", "interval", "multipliers", "constant_multipliers", "adders", "flip_flops")


def run(context: Context) -> dict[str, Any]:
    lack = simulator()
    absent = [] if lack is None else [lack.data()]
    states = _QUICK_STATES if context.quick else _STATES
    designs = []
    for place, (source, robot) in enumerate(context.pairs()):
        for pipelines in PIPELINES[: 1 if context.quick and place else None]:
            context.tell(f"{robot.name}, {pipelines} pipelines: schedule")
            chip = papers_chip(robot, pipelines)
            one: dict[str, Any] = {
                "robot": robot.name,
                "source": source,
                "pipelines": pipelines,
                **chip.design.stats_dict(),
                "numbers": chip.options.numbers.name,
                "simulated": None,
            }
            if lack is None and not (context.quick and (place or pipelines > 1)):
                context.tell(f"{robot.name}, {pipelines} pipelines: simulation")
                one["simulated"] = simulated(chip, states)
            designs.append(one)
    if context.quick and lack is None:
        absent.append(quick_only("Other simulations", "only the first design was simulated").data())
    if context.quick and len(context.sources) > 1:
        absent.append(quick_only("Other robots with several pipelines", "left out of this quick run").data())
    return {
        "designs": designs,
        "absent": absent,
        "papers": papers.CHIP,
        "commands": {
            "chip": f"robomorph rtl {context.sources[0]} --preset papers --states {states}",
        },
    }


# --- shown ---------------------------------------------------------------------------------------------


def draw(data: View) -> list[Part]:
    return [
        sentence(
            "The gradient with M^-1, sines and cosines given, as on the papers' chip, made from the robot's "
            "description. Resources of several pipelines are those of all; states leave in order."
        ),
        Exhibit(
            "Cycles and resources",
            (COMPUTED, PUBLISHED),
            _table(data),
            data["commands"]["chip"],
            "by the schedule. The anchor is counted from the authors' Verilog for iiwa, gravity zero.",
            paper=data["papers"]["paper"],
        ),
        Exhibit(
            "Simulated",
            (SIMULATED,),
            _simulations(data),
            data["commands"]["chip"],
            "by Verilator: states one by one, in a burst, and with random pauses on both streams; every word "
            "is compared with the fixed-point interpreter's.",
        ),
        *absent_parts(data),
        Exhibit("The papers' FPGA", (PUBLISHED,), _fpga(data), data["papers"]["paper"]),
    ]


def _table(data: View) -> Html:
    rows: list[tuple[str, ...]] = []
    for d in data["designs"]:
        cells = [number(d[key], "whole") for key in _KEYS]
        rows.append((words(d["robot"]), number(d["pipelines"], "plain"), *cells, words(d["numbers"])))
    anchor = data["papers"]["anchor"]
    theirs = [number(anchor[key], "whole") for key in _KEYS]
    rows.append((words(anchor["name"]), NOTHING, *theirs, NOTHING))
    columns = (
        *("design", "pipelines", "cycles to the result", "cycles between states", "multipliers"),
        *("constant multipliers", "adders", "flip-flops", "numbers"),
    )
    table = Table(columns, rows, theirs=frozenset([len(rows) - 1]))
    return join(figure_panels(*_panels(data)), table.html())


def _panels(data: View) -> list[Html]:
    panels = []
    for key, title in (
        ("latency", "cycles to the result"),
        ("interval", "cycles between states"),
        ("multipliers", "multipliers"),
    ):
        bars = [Bar(_label(d), d[key], k % 6) for k, d in enumerate(data["designs"])]
        anchor = data["papers"]["anchor"]
        bars.append(Bar(words(anchor["name"], svg=True), anchor[key], "t"))
        panels.append(panel(title, lying_bars(f"{title} of every design", bars, "short")))
    return panels


def _label(design: View) -> Html:
    count = number(design["pipelines"], "plain", svg=True)
    return join(words(design["robot"], svg=True), ", pipelines: ", count)


def _simulations(data: View) -> Html:
    rows = []
    for d in data["designs"]:
        found = d.get("simulated")
        if found is None:
            continue
        rows.append(
            (
                words(d["robot"]),
                number(d["pipelines"], "plain"),
                number(found["states"], "whole"),
                number(found["latency"], "whole"),
                number(found["last_word"], "whole"),
                number(found["interval"], "sig3"),
                number(found["wrong_words"], "whole"),
                "every bit equal" if found["exact"].value else "NOT EQUAL",
            )
        )
    columns = (
        *("design", "pipelines", "states", "cycles to the result", "to the last word", "between states"),
        *("wrong words", "verdict"),
    )
    return Table(columns, rows).html() if rows else Html("<p>No design was simulated here.</p>")


def _fpga(data: View) -> Html:
    theirs = data["papers"]
    row = (
        "their FPGA, iiwa",
        number(theirs["clock_hz"], "one", UNITS["MHz"]),
        number(theirs["dsp_blocks"], "whole"),
        number(theirs["dsp_blocks_there_are"], "whole"),
        number(theirs["dsp_share"], "percent1"),
    )
    columns = ("design", "clock, MHz", "DSP blocks", "of", "share")
    return Table(columns, [row], theirs=frozenset([0])).html()
