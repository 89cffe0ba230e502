"""Drawings of a design as SVG: its blocks, and the cycles in which its units work."""

from __future__ import annotations

from collections import defaultdict
from html import escape

from robomorph.targets.rtl.design import Design
from robomorph.targets.rtl.operations import Kind

_FONT = "font-family='sans-serif' font-size='13'"
_COLOURS = {
    Kind.MULTIPLY: "#3b6ea5",
    Kind.SUM: "#7fb069",
    Kind.SCALE: "#e6aa68",
    Kind.RECIPROCAL: "#ca3c25",
    Kind.ROTATE: "#7d5ba6",
}


def block_diagram(design: Design) -> str:
    """Streams, control, units, adders and registers, with their numbers."""
    s, (source, sink) = design.stats, design.streams
    boxes = [
        (20, 90, 150, 70, "rm_stream_in", f"{source.words} words, {source.beats} beats"),
        (210, 20, 190, 50, "rm_control", f"{design.schedule.length} cycles, interval {s.interval}"),
        (210, 90, 190, 44, "shared multipliers", f"{s.multipliers} for {s.multiplications} products"),
        (210, 140, 190, 44, "constant factors", f"{s.constant_multipliers} by {s.constant_adders} adders"),
        (210, 190, 190, 44, "sums", f"{s.adders} adders"),
        (210, 240, 190, 44, "registers", f"{s.flip_flops} flip-flops"),
        (440, 90, 150, 70, "rm_stream_out", f"{sink.words} words, {sink.beats} beats"),
    ]
    if s.rotate_units or s.reciprocal_units:
        text = f"{s.rotate_units} sine, {s.reciprocal_units} reciprocal"
        boxes.append((210, 290, 190, 44, "pipelined units", text))
    parts = [_box(*box) for box in boxes]
    parts += [_arrow(0, 125, 20), _arrow(170, 125, 210), _arrow(400, 125, 440), _arrow(590, 125, 615)]
    return _svg(620, 350, "\n".join(parts))


def timeline(design: Design) -> str:
    """Operations of every kind in each cycle of one state."""
    schedule = design.schedule
    counts: dict[Kind, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for i, op in enumerate(schedule.operations):
        if op.kind in _COLOURS:
            counts[op.kind][schedule.issue[i]] += 1
    most = max((n for row in counts.values() for n in row.values()), default=1)
    step = max(4.0, min(24.0, 700.0 / schedule.length))
    parts = []
    for row, (kind, cycles) in enumerate(sorted(counts.items(), key=lambda item: item[0].value)):
        base = 60 + 70 * row
        parts.append(f"<text x='5' y='{base}' {_FONT}>{escape(kind.value)}</text>")
        for cycle, n in cycles.items():
            height = 50 * n / most
            x = 90 + step * cycle
            parts.append(
                f"<rect x='{x:.1f}' y='{base - height:.1f}' width='{step - 1:.1f}' height='{height:.1f}' "
                f"fill='{_COLOURS[kind]}'><title>cycle {cycle}: {n}</title></rect>"
            )
    bottom = 60 + 70 * len(counts) - 40
    for cycle in range(0, schedule.length + 1, max(1, schedule.length // 10)):
        parts.append(f"<text x='{90 + step * cycle:.1f}' y='{bottom}' {_FONT}>{cycle}</text>")
    return _svg(int(110 + step * (schedule.length + 1)), bottom + 20, "\n".join(parts))


def _box(x: int, y: int, width: int, height: int, title: str, text: str) -> str:
    return (
        f"<rect x='{x}' y='{y}' width='{width}' height='{height}' rx='6' fill='#eef3f8' stroke='#34495e'/>"
        f"<text x='{x + 8}' y='{y + 18}' {_FONT} font-weight='bold'>{escape(title)}</text>"
        f"<text x='{x + 8}' y='{y + 36}' {_FONT}>{escape(text)}</text>"
    )


def _arrow(x0: int, y: int, x1: int) -> str:
    return (
        f"<line x1='{x0}' y1='{y}' x2='{x1 - 7}' y2='{y}' stroke='#34495e' stroke-width='2'/>"
        f"<polygon points='{x1 - 8},{y - 5} {x1},{y} {x1 - 8},{y + 5}' fill='#34495e'/>"
    )


def _svg(width: int, height: int, body: str) -> str:
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' "
        f"viewBox='0 0 {width} {height}'>\n<rect width='100%' height='100%' fill='white'/>\n{body}\n</svg>\n"
    )
