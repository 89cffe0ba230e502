"""Drawings of a design as SVG: its blocks, and the cycles in which its units work."""

from __future__ import annotations

from collections import Counter

from robomorph.report import svg
from robomorph.targets.rtl.design import Design
from robomorph.targets.rtl.operations import Kind
from robomorph.targets.rtl.stream import Stream
from robomorph.targets.rtl.unit_stats import UnitStats

_COLOURS = {
    Kind.MULTIPLY: "#3b6ea5",
    Kind.SCALE: "#e6aa68",
    Kind.SUM: "#7fb069",
    Kind.RECIPROCAL: "#ca3c25",
    Kind.ROTATE: "#7d5ba6",
}
_NAMES = {
    Kind.MULTIPLY: "products",
    Kind.SCALE: "constant factors",
    Kind.SUM: "sums",
    Kind.RECIPROCAL: "reciprocals",
    Kind.ROTATE: "sines, cosines",
}
_UNIT_COLOURS = {"forward": "#3b6ea5", "backward": "#7d5ba6", "product": "#e6aa68"}
_SIDE, _CORE, _GAP = 190, 420, 45


def block_diagram(design: Design) -> str:
    """Streams, converters, control, and what is in the core, with their numbers."""
    inside = _core_parts(design)
    source, sink = design.streams
    floats, queues = design.boundary == "float32", design.queue > 0
    several = design.pipelines > 1
    left = (
        ["rm_fifo"] * queues + ["rm_dispatch"] * several + ["rm_float_to_fixed"] * floats + ["rm_stream_in"]
    )
    right = (
        ["rm_stream_out"] + ["rm_fixed_to_float"] * floats + ["rm_collect"] * several + ["rm_fifo"] * queues
    )
    side = _SIDE + _GAP
    core_x = _GAP + len(left) * side
    core_height = 34 + 50 * len(inside)
    core_y, middle = 120.0, 120 + core_height / 2
    parts = [
        svg.box(core_x, 16, _CORE, 54, "rm_control", _control_text(design)),
        svg.down_arrow(core_x + 40, 70, core_y),
        svg.text(core_x + 50, 100, "phase, enable"),
        svg.box(core_x, core_y, _CORE, core_height, _core_title(design), fill="#f8fafc"),
    ]
    for k, (title, words) in enumerate(inside):
        parts.append(svg.box(core_x + 10, core_y + 28 + 50 * k, _CORE - 20, 44, title, words))
    parts += _row(left, source, design, _GAP, middle, "s_axis")
    parts += _row(right, sink, design, core_x + _CORE + _GAP, middle, "")
    end = core_x + _CORE + _GAP + len(right) * side
    parts += [svg.text(end - _GAP + 6, middle - 8, "m_axis")]
    return svg.page(end + 20, max(core_y + core_height, middle + 60) + 20, parts)


def _row(cells: list[str], stream: Stream, design: Design, x: float, middle: float, port: str) -> list[str]:
    """Cells of one side from left to right, an arrow into the first and out of each."""
    parts = [svg.text(4, middle - 8, port)] if port else []
    parts.append(svg.right_arrow(x - _GAP, middle, x))
    for k, cell in enumerate(cells):
        at = x + k * (_SIDE + _GAP)
        words = {
            "rm_fifo": (f"{design.queue} beats wait",),
            "rm_dispatch": (f"{design.pipelines} pipelines", "take states in turn"),
            "rm_collect": ("results in turn",),
            "rm_float_to_fixed": (f"{stream.lanes} converters", "from float32"),
            "rm_fixed_to_float": (f"{stream.lanes} converters", "to float32"),
        }.get(cell, (f"{stream.words} words", f"{stream.beats} beats of {stream.lanes}"))
        parts.append(svg.box(at, middle - 35, _SIDE, 70, cell, *words))
        parts.append(svg.right_arrow(at + _SIDE, middle, at + _SIDE + _GAP))
    return parts


def _core_title(design: Design) -> str:
    if design.pipelines == 1:
        return f"{design.name}_core"
    return f"{design.pipelines} x {design.name}_core, figures of all"


def _control_text(design: Design) -> str:
    return f"{design.schedule.length} cycles, a state every {design.stats.interval:g}"


def _core_parts(design: Design) -> list[tuple[str, str]]:
    """What the core is made of: title and figures of every part."""
    s = design.stats
    if s.units:
        parts = [(f"{u.count} x {_short(u.name, 45)}", _unit_text(u)) for u in s.units]
    else:
        parts = [
            ("shared multipliers", f"{s.multipliers} for {s.multiplications} products"),
            ("constant factors", f"{s.constant_multipliers} by {s.constant_adders} adders"),
            ("sums", f"{s.adders} adders"),
        ]
    if s.rotate_units or s.reciprocal_units:
        text = f"{s.rotate_units} for sines and cosines, {s.reciprocal_units} for reciprocals"
        parts.append(("pipelined units", text))
    if memories := design.schedule.memories:
        words = sum(memory.depth for memory in memories.values())
        parts.append(("memories between units", f"{len(memories)}, of {words} words in all"))
    return [*parts, ("registers and selectors", f"{s.flip_flops} flip-flops (stream buffers included)")]


def _unit_text(u: UnitStats) -> str:
    return f"{u.kind}: {u.calls} calls, fold {u.fold}, {u.latency} cycles, {u.multipliers} multipliers each"


def timeline(design: Design) -> str:
    """What starts in each cycle of one state: calls of units, operations by kind."""
    schedule = design.schedule
    step = max(5.0, min(24.0, 700.0 / schedule.length))
    start, row_height = 330.0 if schedule.calls else 210.0, 52.0
    rows = _timeline_rows(design)
    bottom = 20 + row_height * len(rows)
    parts = [
        svg.line(start + step * c, 20, start + step * c, bottom + 4, faint=True)
        for c in range(0, schedule.length + 1, _tick(schedule.length))
    ]
    for k, (name, colour, cycles) in enumerate(rows):
        base = 20 + row_height * (k + 1)
        most = max(cycles.values())
        parts += [svg.text(start - 10, base - 4, f"{name}, at most {most}", anchor="end")]
        for cycle, n in sorted(cycles.items()):
            x = start + step * cycle
            parts.append(
                svg.bar(x, base, step - 1, (row_height - 12) * n / most, colour, f"cycle {cycle}: {n}")
            )
    for cycle in range(0, schedule.length + 1, _tick(schedule.length)):
        parts.append(svg.text(start + step * cycle, bottom + 20, str(cycle), anchor="middle"))
    parts.append(svg.text(start - 10, bottom + 20, "cycle", anchor="end"))
    return svg.page(start + step * (schedule.length + 1) + 20, bottom + 32, parts)


def _tick(length: int) -> int:
    return next(t for t in (1, 2, 5, 10, 20, 50, 100, 1000) if length / t <= 15)


def _timeline_rows(design: Design) -> list[tuple[str, str, Counter[int]]]:
    """Name, colour and starts by cycle of every row that has any."""
    schedule = design.schedule
    rows: list[tuple[str, str, Counter[int]]] = []
    for number, plan in enumerate(schedule.plans):
        calls = [c for c in schedule.calls if schedule.units[c.unit].key[1][0] == number]
        colour = _UNIT_COLOURS.get(plan.template.kind, "#808080")
        rows.append((_short(plan.template.name, 34), colour, Counter(call.issue for call in calls)))
    for kind, colour in _COLOURS.items():
        issues = (schedule.issue[i] for i, op in enumerate(schedule.operations) if op.kind is kind)
        rows.append((_NAMES[kind], colour, Counter(issues)))
    return [row for row in rows if row[2]]


def _short(name: str, most: int) -> str:
    return name if len(name) <= most else name[: most - 3] + "..."
