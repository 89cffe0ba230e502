"""One computation in the papers' three steps: on this CPU, as GPU code on PoCL, as chips by schedule."""

from __future__ import annotations

from functools import partial
from typing import Any

from robomorph.bench.functions import (
    FORWARD_DYNAMICS_GRADIENT,
    INVERSE_DYNAMICS,
    INVERSE_DYNAMICS_GRADIENT,
    MASS_MATRIX_INVERSE,
)
from robomorph.bench.measuring import time_calls
from robomorph.bench.peers.pinocchio import Pinocchio
from robomorph.bench.subject import Subject
from robomorph.evidence import papers
from robomorph.evidence.bench_runs import bench_records, pick, seconds
from robomorph.evidence.charts import Bar, figure_panels, lying_bars, panel
from robomorph.evidence.context import Context
from robomorph.evidence.parts import (
    COMPUTED,
    MEASURED,
    PUBLISHED,
    Exhibit,
    Part,
    Table,
    absent_parts,
    notes,
    sentence,
)
from robomorph.evidence.tools import opencl_device, quick_only
from robomorph.evidence.view import UNITS, Html, View, number, words

_PARTS = {
    "v, a, f": INVERSE_DYNAMICS,
    "gradient of inverse dynamics": INVERSE_DYNAMICS_GRADIENT,
    "M^-1": MASS_MATRIX_INVERSE,
    "all in one function": FORWARD_DYNAMICS_GRADIENT,
}
_CALLS = 30
_US = UNITS["us"]


def run(context: Context) -> dict[str, Any]:
    found = bench_records(context, "dynamics", ("steps",), peers=(Pinocchio,))
    device, lack = opencl_device()
    absent = [*found["absent"], *([lack.data()] if lack else [])]
    if device and context.quick and len(context.sources) > 1:
        absent.append(quick_only("Other robots on OpenCL", "a quick run has the first").data())
    robots: list[dict[str, Any]] = []
    for source in context.sources:
        subject = Subject(source)
        mine = pick(found["records"], robot=subject.name)
        robots.append(
            {
                "robot": subject.robot.name,
                "cpu": [_split(who, pick(mine, who=who)) for who in dict.fromkeys(r["who"] for r in mine)],
                "opencl": _on_device(context, subject) if device and not (context.quick and robots) else None,
                "chip": _on_chip(context, subject),
            }
        )
    names = " ".join(context.sources)
    return {
        "robots": robots,
        "device": device,
        "notes": found["notes"],
        "absent": absent,
        "papers": papers.STEPS,
        "commands": {
            "cpu": f"robomorph bench {names} --only steps",
            "opencl": f"robomorph report {names} --only steps",
            "chip": f"robomorph rtl {context.sources[0]} --algorithm inverse_dynamics --preset papers",
        },
    }


def _split(who: str, records: list[dict[str, Any]]) -> dict[str, Any]:
    """Seconds of every step; the gradient's function has v, a, f in it, so dc'/du is what is beyond them."""
    times = {r["function"]: seconds(r) or 0.0 for r in records}
    forces = times[INVERSE_DYNAMICS.name]
    return {
        "who": who,
        "v, a, f": forces,
        "dc'/du": max(0.0, times[INVERSE_DYNAMICS_GRADIENT.name] - forces),
        "M^-1": times[MASS_MATRIX_INVERSE.name],
        "all in one function": times[FORWARD_DYNAMICS_GRADIENT.name],
        "error": max((r["error"] for r in records if r["error"] is not None), default=None),
        "reference": records[0]["reference"],
    }


def _on_device(context: Context, subject: Subject) -> list[dict[str, Any]]:
    """Median seconds of single calls, data there and back included."""
    found = []
    for name, function in _PARTS.items():
        context.tell(f"OpenCL: {subject.name}, {function.name}")
        kernel = subject.robot.compile(function.name, target="opencl", outputs=function.outputs)
        states = subject.states(1)
        timing = time_calls(partial(kernel, *(states[a] for a in function.arguments)), _CALLS)
        found.append({"step": name, "seconds": timing.median_ns * 1e-9, "best_s": timing.best_ns * 1e-9})
    return found


def _on_chip(context: Context, subject: Subject) -> list[dict[str, Any]]:
    """Cycles that the schedule gives chips of their own, sines and cosines from the host as in the papers."""
    found = []
    for name, function in list(_PARTS.items())[: 2 if context.quick else None]:
        context.tell(f"chip: {subject.name}, {function.name}")
        kernel = subject.robot.compile(function.name, target="rtl", outputs=function.outputs, trig="host")
        stats = kernel.accelerator.design.stats
        found.append(
            {
                "step": name,
                "latency": stats.latency,
                "interval": stats.interval,
                "multipliers": stats.multipliers,
                "adders": stats.adders + stats.constant_adders,
            }
        )
    return found


# --- shown ---------------------------------------------------------------------------------------------


def draw(data: View) -> list[Part]:
    commands = data["commands"]
    parts: list[Part] = [
        sentence(
            "The papers split one gradient of forward dynamics in three: motions and forces (v, a, f); the "
            "gradient of inverse dynamics with them known (dc'/du); the product with M^-1. Here each is a "
            "function of its own, called from Python with one state."
        ),
        Exhibit(
            "On this CPU",
            (MEASURED,),
            _cpu(data),
            commands["cpu"],
            "us of single calls, float64, one thread, the least of all rounds. dc'/du: the function less its "
            "v, a, f. The last function also multiplies, and shares work. Error: the largest difference from "
            "the reference, relative to the largest entry.",
        ),
        *notes(data),
        *absent_parts(data),
    ]
    if data["device"].value is not None:
        parts.append(
            Exhibit(
                "As GPU source, run on OpenCL",
                (MEASURED,),
                _device_table(data),
                commands["opencl"],
                "us of single calls, median, data to the device and back included. The device is named in "
                "the table: PoCL is an OpenCL on the CPU, and says nothing of a GPU.",
            )
        )
    parts.append(
        Exhibit(
            "As chips of their own",
            (COMPUTED,),
            _chips(data),
            commands["chip"],
            "cycles by the schedule, which simulation meets (chapter on chips); sines and cosines from the "
            "host.",
        )
    )
    parts.append(Exhibit("What the papers print", (PUBLISHED,), _claims(data), data["papers"]["paper"]))
    return parts


def _cpu(data: View) -> Html:
    rows, panels = [], []
    steps = ("v, a, f", "dc'/du", "M^-1", "all in one function")
    for robot in data["robots"]:
        bars = []
        for k, one in enumerate(robot["cpu"]):
            cells = [number(one[step], "sig3", _US) for step in steps]
            error = (number(one["error"], "power"), words(one["reference"]))
            rows.append((words(robot["robot"]), words(one["who"]), *cells, *error))
            bars += [Bar(f"{one['who'].value}: {step}", one[step], k) for step in steps]
        about = f"microseconds of the steps, {robot['robot'].value}"
        panels.append(panel(f"{robot['robot'].value}, us", lying_bars(about, bars, "sig3", _US)))
    table = Table(("robot", "who", *steps, "error", "against"), rows, left=2)
    return Html(figure_panels(*panels) + table.html())


def _device_table(data: View) -> Html:
    rows = []
    for robot in data["robots"]:
        if robot.get("opencl") is None:
            continue
        times = [number(one["seconds"], "sig3", _US) for one in robot["opencl"]]
        rows.append((words(robot["robot"]), words(data["device"]), *times))
    return Table(("robot", "device", *_PARTS), rows, left=2).html()


def _chips(data: View) -> Html:
    rows = []
    for robot in data["robots"]:
        for one in robot["chip"]:
            cells = [number(one[key], "whole") for key in ("latency", "interval", "multipliers", "adders")]
            rows.append((words(robot["robot"]), words(one["step"]), *cells))
    columns = ("robot", "step", "cycles to the result", "cycles between states", "multipliers", "adders")
    return Table(columns, rows, left=2).html()


def _claims(data: View) -> Html:
    rows = [(words(c["what"]), number(c["ratio"], "ratio")) for c in data["papers"]["claims"]]
    return Table(("claim", "ratio"), rows, theirs=frozenset(range(len(rows)))).html()
