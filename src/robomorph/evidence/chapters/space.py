"""Many designs of the papers' kind of chip, and those that no other beats."""

from __future__ import annotations

from typing import Any

from robomorph.accelerators.space import GRID, Grid, design_space
from robomorph.evidence.charts import Series, curves, figure_panels, panel
from robomorph.evidence.context import Context
from robomorph.evidence.designs import papers_chip
from robomorph.evidence.parts import COMPUTED, Exhibit, Part, Table, absent_parts, sentence
from robomorph.evidence.tools import quick_only
from robomorph.evidence.view import Html, View, join, number, words

_QUICK_GRID: Grid = {"flat": ((4, 16, 48), (1.8,)), "units": ((8, 24), (1.8,))}
_AXES = (("multipliers", "multipliers"), ("all_adders", "adders"))


def run(context: Context) -> dict[str, Any]:
    robots = []
    pairs = context.pairs()[: 1 if context.quick else None]
    for source, robot in pairs:
        context.tell(f"{robot.name}: {'a few' if context.quick else 'many'} designs")
        designs = design_space(papers_chip(robot), _QUICK_GRID if context.quick else GRID)
        robots.append({"robot": robot.name, "source": source, "designs": designs})
    lack = quick_only("Other designs", "a quick run schedules a few of the first robot")
    return {
        "robots": robots,
        "absent": [lack.data()] if context.quick else [],
        "commands": {"space": f"robomorph rtl {context.sources[0]} --preset papers --no-simulate --space"},
    }


# --- shown ---------------------------------------------------------------------------------------------


def draw(data: View) -> list[Part]:
    parts: list[Part] = [
        sentence(
            "Designs that share single multiplications of the whole program (flat) and designs of folded "
            "link units, over cycles between states and the longest chain of a cycle. A design is on the "
            "front if none has a shorter time per state, less latency, fewer multipliers and fewer adders. "
            "Times are in delays of one multiplication: no clock is assumed."
        ),
        *absent_parts(data),
    ]
    for robot in data["robots"]:
        name = robot["robot"].value
        parts.append(
            Exhibit(
                f"{name}: designs",
                (COMPUTED,),
                _body(robot),
                data["commands"]["space"],
                "by the schedule model; the table has the front.",
            )
        )
    return parts


def _body(robot: View) -> Html:
    panels = []
    for key, label in _AXES:
        series = []
        for k, structure in enumerate(("flat", "units")):
            for front in (True, False):
                some = [
                    (d["latency_time"], d[key])
                    for d in robot["designs"]
                    if d["structure"].value == structure and d["pareto"].value == front
                ]
                if some:
                    told = f"{structure}, {'front' if front else 'others'}"
                    series.append(Series(told, some, k, dashed=not front, joined=False))
        about = f"{label} against latency of every design"
        drawn = curves(
            about,
            series,
            x_label="latency, multiplication delays",
            y_label=label,
            log="xy",
            form="whole",
        )
        panels.append(panel(label, drawn))
    return join(figure_panels(*panels), _front(robot))


def _front(robot: View) -> Html:
    keys = ("interval", "latency", "multipliers", "all_adders", "flip_flops")
    rows = [
        (
            words(d["structure"]),
            number(d["period"], "sig3"),
            *(number(d[key], "whole") for key in keys),
            number(d["time_per_state"], "sig3"),
        )
        for d in robot["designs"]
        if d["pareto"].value
    ]
    columns = (
        *("structure", "longest chain of a cycle", "cycles between states", "cycles to the result"),
        *("multipliers", "adders", "flip-flops", "time per state"),
    )
    return Table(columns, rows).html()
