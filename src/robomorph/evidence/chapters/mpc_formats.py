"""Cost against iterations with the gradient in other numbers, and how far each format comes from float64."""

from __future__ import annotations

import math
from statistics import median
from typing import Any

from robomorph.evidence import papers
from robomorph.evidence.charts import Series, curves, figure_panels, panel
from robomorph.evidence.context import Context
from robomorph.evidence.parts import MEASURED, PUBLISHED, Exhibit, Part, Table, absent_parts, sentence
from robomorph.evidence.tools import quick_only
from robomorph.evidence.view import Html, View, join, number, words
from robomorph.mpc.studies.formats import FORMATS, FORMS, FormatStudy, format_study
from robomorph.mpc.studies.hard import EASY
from robomorph.robot import Robot

_QUICK_FORMATS = ("float32", "Q16.16", "Q12.5", "none")
_FULL = {"horizon": 100, "iterations": 60, "count": 10}
_QUICK = {"horizon": 30, "iterations": 12, "count": 1}
_CLOSE = 0.01


def run(context: Context) -> dict[str, Any]:
    formats, sizes = (_QUICK_FORMATS, _QUICK) if context.quick else (FORMATS, _FULL)
    robots = [
        _robot(robot, format_study(robot, formats, tell=lambda what: context.tell(what), **sizes))
        for robot in context.robots[: 1 if context.quick else None]
    ]
    lack = quick_only("Other robots, formats and problems", "a quick run has small ones of the first robot")
    size = f"--horizon {sizes['horizon']} --iterations {sizes['iterations']} --problems {sizes['count']}"
    return {
        **sizes,
        "close": _CLOSE,
        "robots": robots,
        "forms": {form.name: form.words for form in FORMS},
        "absent": [lack.data()] if context.quick else [],
        "papers": papers.FORMATS,
        "commands": {"formats": f"robomorph mpc formats {context.sources[0]} {size} --no-loop"},
    }


def _robot(robot: Robot, study: FormatStudy) -> dict[str, Any]:
    easy = [
        {
            "gradient": one.gradient,
            "costs": [{"iteration": k, "cost": cost} for k, cost in enumerate(one.costs)],
        }
        for one in study.of(form=FORMS[0].name, family=EASY.name)
    ]
    rows = [_row(study, form.name, gradient) for form in FORMS for gradient in study.formats]
    return {"robot": robot.name, "easy": easy, "rows": rows}


def _row(study: FormatStudy, form: str, gradient: str) -> dict[str, Any]:
    """Costs over float64's: of the easy reach, and of all hard problems."""
    easy = study.ratios(form, gradient, EASY.name)[0]
    hard = [r for family in study.families[1:] for r in study.ratios(form, gradient, family.name)]
    finite = [r for r in hard if math.isfinite(r)]
    saturated = [study.saturated(form, gradient, family.name) for family in study.families]
    return {
        "form": form,
        "gradient": gradient,
        "easy": easy,
        "median": median(finite) if finite else None,
        "worst": max(finite, default=None),
        "failed": len(hard) - len(finite),
        "close": sum(r <= 1.0 + _CLOSE for r in hard),
        "problems": len(hard),
        "saturated": max(saturated),
    }


# --- shown ---------------------------------------------------------------------------------------------


def draw(data: View) -> list[Part]:
    parts: list[Part] = [
        sentence(
            "Only the derivatives of the dynamics are in the format; costs, motions and line searches are in "
            "float64, so every cost is a true one. The easy reach is as the papers' is; the hard problems "
            "are drawn from fixed seeds: goals anywhere, little cost on the way, limits that bind. Plans "
            "have ",
            number(data["horizon"], "plain"),
            " steps and at most ",
            number(data["iterations"], "plain"),
            " iterations.",
        ),
        *absent_parts(data),
    ]
    for robot in data["robots"]:
        name = robot["robot"].value
        parts.append(
            Exhibit(
                f"{name}: cost against iterations, the easy reach",
                (MEASURED,),
                _curves(robot),
                data["commands"]["formats"],
                "torques as controls, the papers' form.",
            )
        )
        parts.append(
            Exhibit(
                f"{name}: costs over those of float64",
                (MEASURED,),
                _table(data, robot),
                data["commands"]["formats"],
                "after all iterations. Close: within the share named. Failed: plans that break a limit. "
                "Saturated: the largest share of states, of any family, in which a number did not fit.",
            )
        )
    parts.append(Exhibit("What the papers found", (PUBLISHED,), _theirs(data), data["papers"]["paper"]))
    return parts


def _curves(robot: View) -> Html:
    series = [
        Series(words(one["gradient"]), [(c["iteration"], c["cost"]) for c in one["costs"]], k % 8)
        for k, one in enumerate(robot["easy"])
    ]
    about = f"cost against iterations by number format, {robot['robot'].value}"
    drawn = curves(about, series, x_label="iterations", y_label="cost", log="y", form="sig4")
    return figure_panels(panel("", drawn))


def _table(data: View, robot: View) -> Html:
    rows = [
        (
            words(one["gradient"]),
            words(one["form"]),
            number(one["easy"], "short4"),
            number(one["median"], "short4"),
            number(one["worst"], "short4"),
            join(number(one["close"], "plain"), " of ", number(one["problems"], "plain")),
            number(one["failed"], "plain"),
            number(one["saturated"], "percent1"),
        )
        for one in robot["rows"]
    ]
    close = join("close (", number(data["close"], "percent"), ")")
    columns = ("gradient in", "form", "easy", "hard, median", "hard, worst", close, "failed", "saturated")
    told = join(*(join(name, ": ", words(text)) for name, text in data["forms"].items()), by="; ")
    return join(Table(columns, rows, left=2).html(), Html("<p class='note'>"), told, Html("</p>"))


def _theirs(data: View) -> Html:
    rows = [
        ("sufficed for their task", words(one["format"]), number(one["bits"], "plain"))
        for one in data["papers"]["sufficed"]
    ]
    return Table(("what", "format", "bits"), rows, left=2, theirs=frozenset(range(len(rows)))).html()
