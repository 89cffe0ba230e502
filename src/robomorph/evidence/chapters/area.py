"""Area and power of standard cells: by synthesis, here or as saved before, beside the papers' chip."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from robomorph.evidence import papers
from robomorph.evidence.context import Context
from robomorph.evidence.designs import FUNCTION, papers_chip
from robomorph.evidence.parts import (
    ESTIMATED,
    PUBLISHED,
    Exhibit,
    Part,
    Table,
    absent_parts,
    sentence,
)
from robomorph.evidence.tools import quick_only, synthesiser
from robomorph.evidence.view import NOTHING, UNITS, Html, View, join, number, tag, words
from robomorph.report.rtl_resources import describe
from robomorph.report.synthesis import Saved, load_saved
from robomorph.targets.rtl.synthesis import synthesise_cells

_NO_DATE = "not said by the file"


def run(context: Context) -> dict[str, Any]:
    lack = synthesiser()
    if lack is None and context.quick:
        lack = quick_only("Synthesis", "takes minutes, and was left out of this quick run")
    made = [] if lack is not None else [_synthesised(context)]
    source = context.sources[0]
    command = f"robomorph rtl {source} --preset papers --no-simulate --synthesise cells --save cells.json"
    return {
        "made": made,
        "saved": [_saved(one) for one in load_saved(context.results)],
        "absent": [] if lack is None else [lack.data()],
        "papers": papers.AREA,
        "commands": {"cells": command},
    }


def _synthesised(context: Context) -> dict[str, Any]:
    """The papers' kind of chip for the first robot."""
    robot = context.robots[0]
    context.tell(f"{robot.name}: synthesis, some minutes")
    chip = papers_chip(robot)
    found = asdict(synthesise_cells(chip.design))
    about = {"robot": robot.name, "function": FUNCTION, "minv": "given", "structure": "flat"}
    design = {**about, "numbers": chip.options.numbers.name, "estimates": chip.design.stats_dict()}
    return {"design": describe(design), **_figures(found)}


def _saved(saved: Saved) -> dict[str, Any]:
    rows = [{"design": describe(record), **_figures(record["synthesis"])} for record in saved.records]
    return {
        "file": saved.file,
        "date": saved.date or _NO_DATE,
        "command": saved.command or _NO_DATE,
        "rows": rows,
    }


def _figures(synthesis: dict[str, Any]) -> dict[str, Any]:
    """In SI units; None for what was not measured."""
    figures = synthesis["figures"]
    units = {"area_m2": ("area_mm2", 1e-6), "path_s": ("critical_path_ns", 1e-9), "power_w": ("power_w", 1.0)}
    found = {name: figures[key] * unit if key in figures else None for name, (key, unit) in units.items()}
    clock = 1e9 / figures["clock_ns"] if "clock_ns" in figures else None
    others = {k: v for k, v in figures.items() if k not in ("area_mm2", "critical_path_ns", "power_w")}
    about = {"target": synthesis["target"], "tools": synthesis["tool"], "seconds": synthesis["seconds"]}
    return {**about, **found, "clock_hz": clock, "others": others}


# --- shown ---------------------------------------------------------------------------------------------


def draw(data: View) -> list[Part]:
    parts: list[Part] = [
        sentence(
            "Standard cells of an open library, mapped by Yosys and timed by OpenSTA: without wires, clock "
            "tree or placement, so these are estimates of a chip, and of another technology than the papers'."
        ),
        *absent_parts(data),
    ]
    if data["made"]:
        title = "Synthesised in this run"
        parts.append(Exhibit(title, (ESTIMATED,), _table(data["made"]), data["commands"]["cells"]))
    for saved in data["saved"]:
        told = join("File ", words(saved["file"]), ", written ", words(saved["date"]), ".")
        body = join(tag("p", told), _table(saved["rows"]))
        parts.append(
            Exhibit(
                "Results of an earlier run",
                (ESTIMATED,),
                body,
                saved["command"],
                "read from a file and not made by this run; date and command are the file's own.",
            )
        )
    parts.append(Exhibit("The papers' chip", (PUBLISHED,), _theirs(data), data["papers"]["paper"]))
    return parts


def _table(rows: View) -> Html:
    cells = []
    for row in rows:
        others = [join(name, " ", number(value, "sig3")) for name, value in row["others"].items()]
        cells.append(
            (
                words(row["design"]),
                words(row["target"]),
                number(row.get("area_m2"), "sig3", 1e6),
                number(row.get("path_s"), "sig3", UNITS["ns"]),
                number(row.get("power_w"), "sig3"),
                number(row.get("clock_hz"), "sig3", UNITS["MHz"]),
                join(*others, by=", ") if others else NOTHING,
            )
        )
    columns = (
        *("design", "target", "area, mm2", "critical path, ns", "power, W", "clock of the power, MHz"),
        "other figures",
    )
    return Table(columns, cells, left=2).html()


def _theirs(data: View) -> Html:
    theirs = data["papers"]

    def span(key: str, scale: float = 1.0) -> Html:
        low, high = theirs[key]
        return join(number(low, "short", scale), " to ", number(high, "short", scale))

    row = (
        words(theirs["name"]),
        span("area_m2", 1e6),
        span("power_w"),
        span("clock_hz", UNITS["MHz"]),
        span("faster_than_fpga"),
        number(theirs["fpga_power_w"], "sig4"),
    )
    columns = (
        *("chip", "area, mm2", "power, W", "clock, MHz", "times faster than their FPGA"),
        "power of that, W",
    )
    return Table(columns, [row], theirs=frozenset([0])).html()
