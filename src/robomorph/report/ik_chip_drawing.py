"""Drawings of an inverse-kinematics chip as SVG: its blocks, and who works when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from robomorph.report import svg
from robomorph.targets.rtl.ik.chip import IkDesign
from robomorph.targets.rtl.ik.cycles import Stay, cycles_of, flight, period
from robomorph.targets.rtl.ik.emit_search import slot_bits
from robomorph.targets.rtl.ik.parts import memory_depth
from robomorph.targets.rtl.operations import Kind
from robomorph.targets.rtl.schedule import Schedule

# --- blocks -------------------------------------------------------------------------------------------------

_INNER, _SPACE, _PAD = 168.0, 26.0, 14.0  # boxes inside of units: width, between them, around them
_SIDE, _GAP = 178.0, 46.0  # of boxes outside of units
_BACK = 40.0  # what the search has found goes back to control here
_LEFT = _GAP + _SIDE + _GAP
_CONTROL, _SERIAL, _MEMORY, _SEARCH = 44.0, 150.0, 316.0, 446.0  # rows
_PALE, _UNIT = "#f8fafc", "#e4ebf2"


class _Part(NamedTuple):
    title: str
    lines: tuple[str, ...]


def chip_blocks(design: IkDesign) -> str:
    """Streams, control, memories, serial unit, w unit and search, with the figures of this design."""
    serial, search = _serial_parts(design), _search_parts(design)
    wide = max(_row_width(len(serial)) + _GAP + _SIDE, _row_width(len(search)))
    k, name = design.plan.knobs, _short(design.plan.name, 60)
    title = f"{name}: {_count(design.plan.joints, 'joint')}, {_count(k.units, 'search unit')}"
    parts = [
        svg.text(_LEFT, 24, f"{title}, {_count(k.speculations, 'length')} of a step", bold=True, size=15),
        *_control(design, wide),
        *_load(design),
        *_serial_row(design, serial, wide),
        *_memory_row(design, wide),
        *_search_row(design, search, wide),
    ]
    return svg.page(_LEFT + wide + 2 * _GAP + _BACK + _SIDE + 20, _SEARCH + 172, parts)


def _row_width(boxes: int) -> float:
    return boxes * _INNER + (boxes - 1) * _SPACE + 2 * _PAD


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"


def _load(design: IkDesign) -> list[str]:
    middle = _MEMORY + 44
    lines = (
        f"{design.streams[0].words} words a problem,",
        "angles to their memory,",
        "the rest to registers",
    )
    return [
        svg.text(4, middle - 8, "s_axis"),
        svg.right_arrow(2, middle, _GAP),
        svg.box(_GAP, _MEMORY, _SIDE, 88, "rm_ik_load", *lines),
        svg.right_arrow(_GAP + _SIDE, middle, _LEFT),
    ]


def _control(design: IkDesign, wide: float) -> list[str]:
    """Control, what the search tells it, and results on their way out."""
    problems = design.plan.knobs.problems
    state = (
        f"{_count(problems, 'problem')} in flight: target, threshold, cap, best, position, chosen k of each"
    )
    ends = "turns for the serial unit and the search; ends: threshold, cap, stalled"
    back, right = _LEFT + wide + _BACK - 16, _LEFT + wide + _BACK + _GAP
    lines = (
        f"{design.streams[1].words} words a result,",
        "angles from memory,",
        "in the order of problems",
    )
    return [
        svg.box(_LEFT, _CONTROL, wide + _BACK, 62, "rm_ik_control", state, ends),
        svg.down_arrow(_LEFT + 60, _CONTROL + 62, _SERIAL),
        svg.text(_LEFT + 70, _CONTROL + 88, "start, k"),
        svg.line(_LEFT + wide, _SEARCH + 76, back, _SEARCH + 76),
        svg.up_arrow(back, _SEARCH + 76, _CONTROL + 62),
        svg.text(back + 8, _MEMORY + 40, "k, position,"),
        svg.text(back + 8, _MEMORY + 58, "squared error"),
        svg.right_arrow(right - _GAP, _CONTROL + 31, right),
        svg.box(right, _CONTROL, _SIDE, 88, "rm_ik_unload", *lines),
        svg.right_arrow(right + _SIDE, _CONTROL + 31, right + _SIDE + _GAP),
        svg.text(right + _SIDE + 4, _CONTROL + 23, "m_axis"),
    ]


def _serial_row(design: IkDesign, inside: list[_Part], wide: float) -> list[str]:
    t, at = design.timing, _LEFT + wide - _SIDE
    title = f"serial unit: base to tip, a joint every {_count(t.gap, 'cycle')}"
    middle, width = _SERIAL + 73, wide - _SIDE - _GAP
    lines = (
        f"{design.plan.widths.mantissa}-bit mantissas",
        *("w = alpha e:", f"{t.weights(False)} cycles"),
        *("w = (M + damping)^-1 e:", f"{t.weights(True)} cycles"),
    )
    return [
        svg.box(_LEFT, _SERIAL, width, 120, title, fill=_PALE),
        *_boxes(inside, _LEFT + _PAD, _SERIAL + 30),
        svg.right_arrow(_LEFT + width, middle, at),
        svg.text(_LEFT + width + 8, middle - 8, "M, e"),
        svg.box(at, _SERIAL, _SIDE, 120, "w unit", *lines),
        svg.down_arrow(at + _SIDE / 2, _SERIAL + 120, _SEARCH),
        svg.text(at + _SIDE / 2 + 8, _SEARCH - 14, "w"),
    ]


def _boxes(parts: Sequence[_Part], x: float, y: float) -> list[str]:
    """From left to right, each feeding the next."""
    made = []
    for k, part in enumerate(parts):
        at = x + k * (_INNER + _SPACE)
        if k:
            made.append(svg.right_arrow(at - _SPACE, y + 41, at))
        made.append(svg.box(at, y, _INNER, 82, part.title, *part.lines))
    return made


def _serial_parts(design: IkDesign) -> list[_Part]:
    plan, w = design.plan, design.plan.widths
    move = "inside the limits" if plan.limited else "whole turns drop out"
    parts = [
        _Part("move", ("theta + k step,", move)),
        _Part("CORDIC", (f"{w.serial_angle}-bit angles,", _count(plan.knobs.rotate_stages, "stage"))),
        _Part("columns core", (*_multipliers(design.timing.columns), f"{w.serial} bits")),
    ]
    more = ["couplings summed"] * plan.coupled + ["0 if held by a limit"] * plan.limited
    if more:
        parts.append(_Part("columns", tuple(more)))
    return [*parts, _Part("M = J J^T", ("6 sums, exact,", f"{plan.gram_bits} bits each"))]


def _multipliers(schedule: Schedule) -> tuple[str, ...]:
    there = sum(unit.kind is Kind.MULTIPLY for unit in schedule.units)
    products = sum(operation.kind is Kind.MULTIPLY for operation in schedule.operations)
    return (
        (_count(there, "multiplier"), f"for {_count(products, 'product')}") if there else ("no multiplier",)
    )


def _memory_row(design: IkDesign, wide: float) -> list[str]:
    """Memories between serial unit and search, and who writes and reads them."""
    plan = design.plan
    depth = memory_depth(plan.coordinates, plan.knobs.problems)
    boxes = (
        ("angles", f"{depth} x {plan.theta_bits} bits", "write: load, move", "read: all"),
        ("columns of J", f"{depth} x {3 * plan.widths.serial} bits", "write: serial unit", "read: search"),
        ("steps", f"{depth} x {plan.delta_bits} bits", "write: search", "read: move"),
        (
            "constants of joints",
            f"{plan.tables.reach.shape[1]} a joint: search",
            f"{plan.tables.columns.shape[1]} a joint: serial unit",
            "what all share: wired",
        ),
    )
    step = (wide - _SIDE) / len(boxes)  # the words of the w unit pass on the right
    parts = []
    for k, (title, *lines) in enumerate(boxes):
        x, width = _LEFT + k * step, step - _SPACE
        parts.append(svg.box(x, _MEMORY, width, 88, title, *lines, fill=_UNIT))
        written, read = x + width / 3, x + 2 * width / 3
        if title in ("angles", "columns of J"):
            parts.append(svg.down_arrow(written, _SERIAL + 120, _MEMORY))
        if title != "columns of J":
            parts.append(svg.up_arrow(read, _MEMORY, _SERIAL + 120))
        if title == "steps":
            parts.append(svg.up_arrow(written, _SEARCH, _MEMORY + 88))
        else:
            parts.append(svg.down_arrow(read, _MEMORY + 88, _SEARCH))
    return parts


def _search_parts(design: IkDesign) -> list[_Part]:
    plan, t = design.plan, design.timing
    w, k = plan.widths, plan.knobs
    clamp = "inside the limits" if plan.limited else "whole turns drop out"
    return [
        _Part("step", ("J^T w of the joint,", f"{plan.delta_bits} bits")),
        _Part("angles", ("theta + k step,", clamp)),
        _Part("CORDIC", (f"{w.angle}-bit angles,", _count(k.rotate_stages, "stage"))),
        _Part("reach core", (*_multipliers(t.reach), f"{w.unit} bits, {_count(t.loop, 'cycle')}")),
        _Part("positions", (f"{1 << slot_bits(t)} x {3 * w.unit} bits,", "wait for their joint")),
        _Part("selector", (f"{_count(k.judged, 'square')} a cycle,", "nearest, lowest k")),
    ]


def _search_row(design: IkDesign, inside: list[_Part], wide: float) -> list[str]:
    k, t = design.plan.knobs, design.timing
    slots = t.slots(k.speculations)
    title = f"search: tip to base, a joint every {_count(slots, 'cycle')}"
    x, y = _LEFT + _PAD, _SEARCH + 48
    first = x + _INNER + _SPACE - 8
    units = 4 * _INNER + 3 * _SPACE + 16
    each = f"{', each' * (k.units > 1)} with {_count(k.rounds, 'length')} of the step in turn"
    shades = [svg.box(first + d, _SEARCH + 24 + d, units, 114, "", fill=_UNIT) for d in (8, 4) if k.units > 1]
    return [
        svg.box(_LEFT, _SEARCH, wide, 156, title, fill=_PALE),
        *shades,
        svg.box(first, _SEARCH + 24, units, 114, f"{_count(k.units, 'search unit')}{each}", fill=_UNIT),
        *_boxes(inside, x, y),
    ]


# --- timeline -----------------------------------------------------------------------------------------------

_COLOURS = {"serial": "#3b6ea5", "weights": "#7d5ba6", "search": "#7fb069", "select": "#e6aa68"}
_PROBLEMS = ("#3b6ea5", "#e6aa68")
_START, _LENGTH, _ROW = 330.0, 760.0, 30.0


class _Bar(NamedTuple):
    row: int
    begin: int
    end: int
    colour: str
    hint: str


def chip_timeline(design: IkDesign) -> str:
    """One iteration of Quick-IK with all speculations, stage by stage, and two problems in flight."""
    k = design.plan.knobs
    rows, bars, length = _iteration(design)
    head = f"one iteration of Quick-IK: {length} cycles ({_formula(design)})"
    parts = [svg.text(20, 28, head, bold=True)]
    parts += _panel(rows, bars, length, 44)
    top = 44 + _ROW * len(rows) + 70
    problems = min(2, k.problems)
    stays = flight(design.timing, k.speculations, problems, 3)
    each = period(design.timing, k.speculations, problems)
    what = "two problems in flight" if problems == 2 else "one problem in flight"
    parts.append(svg.text(20, top - 16, f"{what}: an iteration ends every {each:g} cycles", bold=True))
    parts += _panel(("serial unit", "w unit", "search units"), _stays(design, stays), stays[-1].next, top)
    bottom = top + 3 * _ROW + 30
    if problems == 2:
        parts += [svg.text(_START + 20 + 150 * n, bottom + 22, f"problem {n + 1}") for n in range(2)] + [
            svg.bar(_START + 150 * n, bottom + 24, 14, 14, _PROBLEMS[n], f"problem {n + 1}") for n in range(2)
        ]
    return svg.page(_START + _LENGTH + 40, bottom + 40, parts)


def _formula(design: IkDesign) -> str:
    k = design.plan.knobs
    c = cycles_of(design.timing, k.speculations, newton=False, relaxed=False)
    return f"{c.joints} x ({c.serial_gap} + {c.search_gap}) + {c.constant}"


def _iteration(design: IkDesign) -> tuple[Sequence[str], list[_Bar], int]:
    """Rows, bars and the whole length."""
    t, n = design.timing, design.plan.joints
    tried = design.plan.knobs.speculations
    w = t.serial
    search = w + t.weights(False) + 1
    first = search + t.unit_core
    chosen = first + (n - 1) * t.slots(tried) + t.loop  # the first positions are whole, one a unit
    last = chosen + design.plan.knobs.rounds - 1
    done = search + t.search(tried)
    whole = t.iteration(tried)
    spans = (
        ("serial pass", 0, w, "serial"),
        ("w unit", w, w + t.weights(False), "weights"),
        ("first steps, angles, sines", search, first, "search"),
        ("positions", first, last, "search"),
        ("selection", chosen, done, "select"),
        ("decision", done, whole, "select"),
    )
    rows = [f"{name}, {_count(end - begin, 'cycle')}" for name, begin, end, _ in spans]
    bars = [
        _Bar(k, begin, end, _COLOURS[kind], f"{name}: cycles {begin} to {end}")
        for k, (name, begin, end, kind) in enumerate(spans)
    ]
    return rows, bars, whole


def _stays(design: IkDesign, stays: Sequence[Stay]) -> list[_Bar]:
    t = design.timing
    bars = []
    for stay in stays:
        colour, name = _PROBLEMS[stay.problem], f"problem {stay.problem + 1}"
        spans = (
            (stay.serial, stay.weights),
            (stay.weights, stay.weights + t.weights(False)),
            (stay.search, stay.end),
        )
        bars += [_Bar(k, a, b, colour, f"{name}: cycles {a} to {b}") for k, (a, b) in enumerate(spans)]
    return bars


def _panel(rows: Sequence[str], bars: Sequence[_Bar], length: int, top: float) -> list[str]:
    """Rows with their names on the left, cycles along the bottom."""
    step = _LENGTH / length
    tick = next(10**e * m for e in range(9) for m in (1, 2, 5) if length / (10**e * m) <= 12)
    bottom = top + _ROW * len(rows)
    parts = []
    for cycle in range(0, length + 1, tick):
        x = _START + step * cycle
        parts.append(svg.line(x, top, x, bottom + 4, faint=True))
        parts.append(svg.text(x, bottom + 20, f"{cycle:,}", anchor="middle"))
    parts += [svg.text(_START - 12, top + _ROW * k + 20, name, anchor="end") for k, name in enumerate(rows)]
    for bar in bars:
        x, width = _START + step * bar.begin, max(1.5, step * (bar.end - bar.begin) - 0.5)
        parts.append(svg.bar(x, top + _ROW * (bar.row + 1) - 5, width, _ROW - 10, bar.colour, bar.hint))
    parts.append(svg.text(_START - 12, bottom + 20, "cycle", anchor="end"))
    return parts


def _short(name: str, most: int) -> str:
    return name if len(name) <= most else name[: most - 3] + "..."
