"""The computation's features as the papers list them, counted in the traced programs."""

from __future__ import annotations

from typing import Any

from robomorph.bench.functions import (
    FORWARD_DYNAMICS_GRADIENT,
    INVERSE_DYNAMICS,
    INVERSE_DYNAMICS_GRADIENT,
    Function,
)
from robomorph.compiler.specialise import make_request
from robomorph.evidence import papers
from robomorph.evidence.charts import Series, curves, figure_panels, panel
from robomorph.evidence.context import Context
from robomorph.evidence.parts import COMPUTED, PUBLISHED, Exhibit, Part, Table, sentence
from robomorph.evidence.view import Html, View, number, words
from robomorph.ir.ops import CONST
from robomorph.ir.program import Program
from robomorph.model import Model
from robomorph.robot import Robot

_FUNCTIONS = (INVERSE_DYNAMICS, INVERSE_DYNAMICS_GRADIENT, FORWARD_DYNAMICS_GRADIENT)
_BYTES = 8  # of a float64


def run(context: Context) -> dict[str, Any]:
    robots = []
    for source, robot in context.pairs():
        context.tell(robot.name)
        robots.append(
            {
                "robot": robot.name,
                "source": source,
                "links": len(robot.model.bodies),
                "limbs": _limbs(robot.model),
                "columns": 2 * robot.nv,
                "longest_chain": _longest(robot.model),
                "functions": [_function(robot, function) for function in _FUNCTIONS],
            }
        )
    return {
        "robots": robots,
        "bytes_of_a_value": _BYTES,
        "papers": papers.FEATURES,
        "commands": {"all": f"robomorph compile {context.sources[0]}"},
    }


def _limbs(model: Model) -> int:
    """Links that carry no other."""
    parents = {body.parent for body in model.bodies}
    return sum(i not in parents for i in range(len(model.bodies)))


def _longest(model: Model) -> int:
    """Joints from the root to the farthest link."""
    depths: list[int] = []
    for body in model.bodies:
        depths.append(1 if body.parent < 0 else depths[body.parent] + 1)
    return max(depths)


def _function(robot: Robot, function: Function) -> dict[str, Any]:
    request = make_request(robot.model, function.name, outputs=function.outputs)
    program = robot.specialiser.specialise(request).program
    widths = level_widths(program)
    live = most_live(program)
    nonzeros = program.nonzeros()
    return {
        "function": function.name,
        "operations": sum(widths),
        "levels": len(widths),
        "mean_width": sum(widths) / len(widths),
        "widest": max(widths),
        "widths": widths,
        "live_values": live,
        "live_bytes": live * _BYTES,
        "bytes_in": program.input_size * _BYTES,
        "bytes_out": program.output_size * _BYTES,
        "zero_results": 1.0 - sum(nonzeros.values()) / program.output_size,
        "flops_per_byte": program.cost() / (_BYTES * (program.input_size + program.output_size)),
    }


def level_widths(program: Program) -> list[int]:
    """Operations by how many come before them at least: those of one level do not depend on each other."""
    depth = [0] * len(program.nodes)
    for i, node in enumerate(program.nodes):
        if node.args:
            depth[i] = 1 + max(depth[a] for a in node.args)
    widths = [0] * (max(depth, default=0) + 1)
    for i, node in enumerate(program.nodes):
        if node.args:
            widths[depth[i]] += 1
    return widths[1:]


def most_live(program: Program) -> int:
    """The most values that are needed again at any place of the program as it is ordered; constants are part
    of the code, and not counted."""
    last = list(range(len(program.nodes)))
    for i, node in enumerate(program.nodes):
        for a in node.args:
            last[a] = i
    for r in program.results:
        last[r] = len(program.nodes)
    changes = [0] * (len(program.nodes) + 2)
    for i, node in enumerate(program.nodes):
        if node.op is not CONST:
            changes[i] += 1
            changes[last[i] + 1] -= 1
    most = now = 0
    for change in changes:
        now += change
        most = max(most, now)
    return most


# --- shown ---------------------------------------------------------------------------------------------


def draw(data: View) -> list[Part]:
    command = data["commands"]["all"]
    return [
        sentence(
            "The papers name the features that decide where the gradient runs well: parallelism, sparsity, "
            "dependencies, the working set, bytes moved. Here they are counted in the programs that "
            "robomorph traces for each robot, before any target sees them."
        ),
        Exhibit("The robot's own parallelism", (COMPUTED,), _robots(data), command),
        Exhibit(
            "The programs",
            (COMPUTED,),
            _programs(data),
            command,
            "level: operations that depend on none of the same level, so that all could be done at once; "
            "live: the most values that are still needed at any place, in the program's order; bytes are "
            "those of float64 values.",
        ),
        Exhibit("Independent operations, level by level", (COMPUTED,), _levels(data), command),
        Exhibit("The papers' judgement", (PUBLISHED,), _judged(data), data["papers"]["paper"]),
    ]


def _robots(data: View) -> Html:
    rows = [
        (words(r["robot"]), *(number(r[k], "plain") for k in ("links", "limbs", "longest_chain", "columns")))
        for r in data["robots"]
    ]
    columns = ("robot", "links", "limbs", "longest chain", "columns of the gradient")
    return Table(columns, rows).html()


def _programs(data: View) -> Html:
    rows = []
    for robot in data["robots"]:
        for f in robot["functions"]:
            rows.append(
                (
                    words(robot["robot"]),
                    words(f["function"]),
                    number(f["operations"], "whole"),
                    number(f["levels"], "whole"),
                    number(f["mean_width"], "one"),
                    number(f["widest"], "whole"),
                    number(f["live_values"], "whole"),
                    number(f["live_bytes"], "whole"),
                    number(f["bytes_in"], "whole"),
                    number(f["bytes_out"], "whole"),
                    number(f["zero_results"], "percent"),
                    number(f["flops_per_byte"], "one"),
                )
            )
    columns = (
        *("robot", "function", "operations", "levels", "per level", "widest", "live values", "live bytes"),
        *("bytes in", "bytes out", "results zero", "operations per byte"),
    )
    return Table(columns, rows, left=2).html()


def _levels(data: View) -> Html:
    panels = []
    for robot in data["robots"]:
        series = []
        for k, f in enumerate(robot["functions"]):
            spots = [(View(i + 1, width.path), width) for i, width in enumerate(f["widths"])]
            series.append(Series(f["function"].value.replace("_", " "), spots, k))
        about = f"independent operations by level, {robot['robot'].value}"
        drawn = curves(about, series, x_label="level", y_label="operations", log="y", form="whole")
        panels.append(panel(robot["robot"].value, drawn))
    return figure_panels(*panels)


def _judged(data: View) -> Html:
    rows = [
        tuple(words(row[key]) for key in ("feature", "cpu", "gpu", "fpga")) for row in data["papers"]["rows"]
    ]
    return Table(("feature", "CPU", "GPU", "FPGA"), rows, left=4, theirs=frozenset(range(len(rows)))).html()
