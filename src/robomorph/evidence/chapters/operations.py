"""Operations of every function, by formulation: what is left once the robot is known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from robomorph.algorithms.registry import ALGORITHMS
from robomorph.bench.functions import FAMILY
from robomorph.compiler.specialise import make_request
from robomorph.evidence.charts import Bar, figure_panels, lying_bars, panel
from robomorph.evidence.context import Context
from robomorph.evidence.parts import COMPUTED, Exhibit, Part, Table, sentence
from robomorph.evidence.view import View, join, number, words
from robomorph.passes.fuse import fuse
from robomorph.robot import Robot

_KINDS = ("add", "sub", "mul", "neg", "div", "sin", "cos", "sqrt")


def run(context: Context) -> dict[str, Any]:
    robots = []
    for source, robot in context.pairs():
        robots.append({"robot": robot.name, "source": source, "functions": _functions(context, robot)})
    return {
        "robots": robots,
        "commands": {"all": f"robomorph compile {' '.join(context.sources[:1])}"},
    }


def _functions(context: Context, robot: Robot) -> list[dict[str, Any]]:
    found = []
    for function in FAMILY:
        context.tell(f"{robot.name}: {function.name}")
        frame = robot.link_names[-1] if function.about_frame else None
        request = make_request(robot.model, function.name, outputs=function.outputs, frame=frame)
        made = robot.specialiser.specialise(request)
        others = []
        for name in ALGORITHMS[function.name].usable_formulations(robot.specialiser.tree(regroup=True)):
            one = (
                made
                if name == made.formulation
                else robot.specialiser.specialise(replace(request, formulation=name))
            )
            others.append({"formulation": name, "flops": one.program.cost(), "depth": one.program.depth()})
        counts = made.program.counts()
        found.append(
            {
                "function": function.name,
                "outputs": list(function.outputs),
                "formulation": made.formulation,
                "flops": made.program.cost(),
                "instructions": sum(fuse(made.program).counts().values()),
                "depth": made.program.depth(),
                "operations": counts,
                "nonzeros": sum(made.program.nonzeros().values()),
                "entries": made.program.output_size,
                "formulations": others,
            }
        )
    return found


# --- shown ---------------------------------------------------------------------------------------------


def draw(data: View) -> list[Part]:
    command = data["commands"]["all"]
    parts: list[Part] = [
        sentence(
            "Every function is traced in all its formulations for the robot at hand; the one with the fewest "
            "operations becomes the kernel. Operations are those of the whole program after simplification: "
            "a multiply-add counts as two, and as one instruction where the machine fuses it."
        )
    ]
    for robot in data["robots"]:
        name = robot["robot"].value
        parts.append(Exhibit(f"{name}: operations", (COMPUTED,), _table(robot), command))
        parts.append(Exhibit(f"{name}: formulations side by side", (COMPUTED,), _panels(robot), command))
    return parts


def _table(robot: View) -> Any:
    kinds = [k for k in _KINDS if any(k in f["operations"].value for f in robot["functions"])]
    rows = []
    for f in robot["functions"]:
        counts = [number(f["operations"].get(kind), "whole") for kind in kinds]
        rows.append(
            (
                words(f["function"]),
                words(f["formulation"]),
                number(f["flops"], "whole"),
                number(f["instructions"], "whole"),
                number(f["depth"], "whole"),
                *counts,
                join(number(f["nonzeros"], "whole"), " of ", number(f["entries"], "whole")),
            )
        )
    columns = ("function", "formulation", "operations", "instructions", "depth", *kinds, "results not zero")
    return Table(columns, rows, left=2).html()


def _panels(robot: View) -> Any:
    panels = []
    for f in robot["functions"]:
        if len(f["formulations"]) < 2:
            continue
        chosen = f["formulation"].value
        bars = [
            Bar(
                words(one["formulation"], svg=True),
                one["flops"],
                0 if one["formulation"].value == chosen else 5,
            )
            for one in f["formulations"]
        ]
        about = f"operations of {f['function'].value} by formulation"
        panels.append(panel(f["function"].value.replace("_", " "), lying_bars(about, bars, "whole")))
    return figure_panels(*panels)
