"""Patterns of the joints' transforms, and what is left of a dense unit's multipliers and adders."""

from __future__ import annotations

from typing import Any

from robomorph.accelerators.sparsity import (
    DENSE,
    Pattern,
    SparsityFigure,
    TransformUnit,
    joint_patterns,
    sparsity_figure,
    superpose,
)
from robomorph.algorithms.frames import plan_frames
from robomorph.algorithms.tree import build_tree
from robomorph.evidence import papers
from robomorph.evidence.charts import Bar, figure_panels, lying_bars, panel
from robomorph.evidence.context import Context
from robomorph.evidence.parts import COMPUTED, PUBLISHED, Exhibit, Part, Table, sentence
from robomorph.evidence.view import NOTHING, Html, View, join, number, tag, words
from robomorph.loading import load
from robomorph.model import Model

# The joints that the papers name: (robot, joint, the papers' words).
NAMED = (
    ("iiwa14", 1, "between the first two links of iiwa"),
    ("hyq", "lh_kfe_joint", "left hind knee of HyQ"),
    ("atlas", "r_arm_shx", "right shoulder of Atlas"),
)
_FRAMES = (("as_given", False), ("chosen", True))


def run(context: Context) -> dict[str, Any]:
    robots = []
    for source, robot in context.pairs():
        context.tell(robot.name)
        robots.append(_robot(source, robot.model))
    return {
        "entries": 36,
        "dense": _unit(TransformUnit.of(DENSE)),
        "named": [_named(*one) for one in NAMED],
        "robots": robots,
        "papers": papers.SPARSITY,
        "commands": {
            "all": f"robomorph info {' '.join(context.sources[:1])}",
            "units": f"robomorph rtl {' '.join(context.sources[:1])} --no-simulate",
        },
    }


def _robot(source: str, model: Model) -> dict[str, Any]:
    tree = build_tree(model, plan_frames(model, fit=False), regroup=True)
    patterns = joint_patterns(tree)
    return {
        "robot": model.name,
        "source": source,
        "joints": [
            {"joint": body.joint_name, "kind": body.kind, **_pattern(pattern)}
            for body, pattern in zip(model.bodies, patterns, strict=True)
        ],
        "superposed": _pattern(superpose(patterns)),
        "frames": {name: _figure(sparsity_figure(model, fitted=fitted)) for name, fitted in _FRAMES},
    }


def _named(robot: str, joint: str | int, what: str) -> dict[str, Any]:
    model = load(robot).model
    names = [body.joint_name for body in model.bodies]
    index = joint if isinstance(joint, int) else names.index(joint)
    tree = build_tree(model, plan_frames(model, fit=False), regroup=True)
    pattern, dense = joint_patterns(tree)[index], TransformUnit.of(DENSE)
    made = _pattern(pattern)
    return {
        "robot": robot,
        "joint": names[index],
        "what": what,
        **made,
        "fewer_multipliers": 1.0 - made["multipliers"] / dense.multipliers,
        "fewer_adders": 1.0 - made["adders"] / dense.adders,
    }


def _pattern(pattern: Pattern) -> dict[str, Any]:
    return {
        "pattern": [[int(entry) for entry in row] for row in pattern],
        "populated": sum(map(sum, pattern)),
        **_unit(TransformUnit.of(pattern)),
    }


def _unit(unit: TransformUnit) -> dict[str, float]:
    return {"multipliers": unit.multipliers, "adders": unit.adders}


def _figure(figure: SparsityFigure) -> dict[str, Any]:
    return {
        "dense": _unit(figure.dense),
        "robot-agnostic": _unit(figure.agnostic),
        "superposed": _unit(figure.superposed),
        "average joint": _unit(figure.average),
        "kept": figure.kept,
        "kept_beyond_agnostic": figure.kept_beyond_agnostic,
    }


# --- shown ---------------------------------------------------------------------------------------------


def draw(data: View) -> list[Part]:
    command = data["commands"]["all"]
    lead = sentence(
        "A joint's 6x6 motion transform has entries that are zero in every configuration; a unit made for "
        "the joint leaves their multipliers and adders out. Rows are angular first. Frames are those of the "
        "description, each turned so that the joint's axis is z, unless said otherwise."
    )
    parts: list[Part] = [
        lead,
        Exhibit(
            "The joints that the papers name",
            (COMPUTED, PUBLISHED),
            _named_body(data),
            command,
            paper=data["papers"]["paper"],
        ),
    ]
    for robot in data["robots"]:
        parts.append(Exhibit(f"{robot['robot'].value}: every joint", (COMPUTED,), _patterns(robot), command))
    parts.append(
        Exhibit(
            "One unit for all joints",
            (COMPUTED, PUBLISHED),
            _units(data),
            data["commands"]["units"],
            "kept: what one unit for all joints saves over a dense one, of what an average joint saves; kept "
            "beyond: the same over a unit that knows no robot. The papers do not say which theirs is.",
            data["papers"]["paper"],
        )
    )
    return parts


def _named_body(data: View) -> Html:
    theirs = data["papers"]
    rows: list[tuple[str, ...]] = []
    for one in data["named"]:
        cells = (
            number(one["populated"], "plain"),
            number(one["multipliers"], "plain"),
            number(one["adders"], "plain"),
            number(one["fewer_multipliers"], "percent"),
            number(one["fewer_adders"], "percent"),
        )
        rows.append((join(words(one["what"]), " (", words(one["joint"]), ")"), *cells))
    printed = (
        number(theirs["populated"], "plain"),
        NOTHING,
        NOTHING,
        number(theirs["fewer_multipliers"], "percent"),
        number(theirs["fewer_adders"], "percent"),
    )
    rows.append(("the paper, for the joint of iiwa", *printed))
    columns = ("joint", "entries", "multipliers", "adders", "fewer multipliers", "fewer adders")
    table = Table(columns, rows, theirs=frozenset([len(rows) - 1]))
    pictures = [_picture(one, one["joint"]) for one in data["named"]]
    return join(tag("div", *pictures, class_="patterns"), table.html())


def _patterns(robot: View) -> Html:
    joints = [_picture(joint, joint["joint"]) for joint in robot["joints"]]
    joints.append(_picture(robot["superposed"], None))
    return tag("div", *joints, class_="patterns")


def _picture(one: View, name: View | None) -> Html:
    """Six rows of six dots, with how many there are."""
    dots = []
    for i, row in enumerate(one["pattern"].value):
        for j, entry in enumerate(row):
            kind, size = ("entry", 4.2) if entry else ("zero", 2.0)
            dots.append(f"<circle class='{kind}' cx='{8 + 14 * j}' cy='{8 + 14 * i}' r='{size}'/>")
    about = "entries of the transform that are not zero"
    svg = Html(f"<svg viewBox='0 0 86 86' role='img' aria-label='{about}'>{''.join(dots)}</svg>")
    label = tag("strong", "all superposed") if name is None else words(name)
    counts = join(
        number(one["populated"], "plain"),
        " entries, ",
        number(one["adders"], "plain"),
        " adders",
    )
    return tag("div", svg, label, Html("<br>"), counts, class_="panel")


def _units(data: View) -> Html:
    rows: list[tuple[str, ...]] = []
    panels = []
    for robot in data["robots"]:
        for key, title in (("as_given", "as given"), ("chosen", "chosen")):
            figure = robot["frames"][key]
            cells = [
                number(figure[unit][kind], "sig3")
                for unit in ("dense", "robot-agnostic", "superposed", "average joint")
                for kind in ("multipliers", "adders")
            ]
            shares = [number(figure[name], "percent1") for name in ("kept", "kept_beyond_agnostic")]
            rows.append((words(robot["robot"]), title, *cells, *shares))
        units = ("dense", "robot-agnostic", "superposed", "average joint")
        bars = [
            Bar(f"{unit}, {kind}", robot["frames"]["as_given"][unit][kind], k)
            for unit in units
            for k, kind in enumerate(("multipliers", "adders"))
        ]
        about = f"multipliers and adders of the transform unit of {robot['robot'].value}"
        panels.append(panel(f"{robot['robot'].value}, frames as given", lying_bars(about, bars, "sig3")))
    kept = number(data["papers"]["kept_by_superposed"], "percent1")
    rows.append(("the paper, iiwa", *(NOTHING,) * 9, kept, NOTHING))
    units = ("dense", "agnostic", "superposed", "average")
    columns = ["robot", "frames", *(f"{unit}: {kind}" for unit in units for kind in ("mul.", "add."))]
    table = Table([*columns, "kept", "kept beyond"], rows, left=2, theirs=frozenset([len(rows) - 1]))
    return join(figure_panels(*panels), table.html())
