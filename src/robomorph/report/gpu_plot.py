"""The report as an SVG picture: registers, spills, occupancy, bytes moved and the estimated roofline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from xml.sax.saxutils import escape

from robomorph.gpu.report import KernelReport

_WIDTH, _LEFT, _BAR, _GAP, _PANEL = 760, 250, 15, 6, 46
_COLOURS = {"thread": "#4477aa", "group": "#cc6677"}

Figure = Callable[[KernelReport], float]


def report_svg(reports: Sequence[KernelReport], title: str, architecture: int) -> str:
    """Four panels of bars, one bar per partitioning and mapping, for one architecture."""
    gpu = next((r.gpu.name for k in reports for r in k.roofline if r.gpu.architecture == architecture), "")
    panels: list[tuple[str, Figure, str]] = [
        (
            f"registers per thread, sm_{architecture}",
            lambda k: _compiled(k, architecture, "registers"),
            "{:.0f}",
        ),
        (
            f"bytes of spill stores, sm_{architecture}",
            lambda k: _compiled(k, architecture, "spill_stores"),
            "{:.0f}",
        ),
        (f"theoretical occupancy, sm_{architecture}", lambda k: _occupancy(k, architecture), "{:.0%}"),
        ("bytes moved per evaluation, both ways", lambda k: float(k.cost.bytes_total), "{:.0f}"),
        (
            f"million evaluations/s on {gpu} at peak rates, data on the device (ESTIMATE, not measured)",
            lambda k: _estimate(k, architecture),
            "{:.1f}",
        ),
    ]
    body: list[str] = []
    at = 40.0
    for name, figure, form in panels:
        rows = [(k, figure(k)) for k in reports if figure(k) >= 0]
        body += _panel(name, rows, form, at)
        at += _PANEL + len(rows) * (_BAR + _GAP)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{at:.0f}" '
        'font-family="sans-serif" font-size="12">'
    )
    background = f'<rect width="{_WIDTH}" height="{at:.0f}" fill="white"/>'
    heading = f'<text x="12" y="24" font-size="16" font-weight="bold">{escape(title)}</text>'
    return "\n".join([head, background, heading, *body, "</svg>"]) + "\n"


def _panel(title: str, rows: Sequence[tuple[KernelReport, float]], form: str, at: float) -> list[str]:
    lines = [f'<text x="12" y="{at + 18:.0f}" font-weight="bold">{escape(title)}</text>']
    largest = max((value for _, value in rows), default=0.0) or 1.0
    y = at + 28
    for kernel, value in rows:
        length = (_WIDTH - _LEFT - 90) * value / largest
        name = f"{kernel.partitioning.replace('_', ' ')}, {kernel.mapping}"
        lines += [
            f'<text x="{_LEFT - 8}" y="{y + 12:.0f}" text-anchor="end">{escape(name)}</text>',
            f'<rect x="{_LEFT}" y="{y:.0f}" width="{length:.1f}" height="{_BAR}" '
            f'fill="{_COLOURS[kernel.mapping]}"/>',
            f'<text x="{_LEFT + length + 6:.1f}" y="{y + 12:.0f}">{form.format(value)}</text>',
        ]
        y += _BAR + _GAP
    return lines


def _compiled(kernel: KernelReport, architecture: int, name: str) -> float:
    """A figure of the compiled kernel; -1 if it was not compiled."""
    found = [c for c in kernel.compiled if c.architecture == architecture]
    return float(getattr(found[0].info, name)) if found else -1.0


def _occupancy(kernel: KernelReport, architecture: int) -> float:
    found = [c for c in kernel.compiled if c.architecture == architecture]
    return found[0].occupancy.fraction if found else -1.0


def _estimate(kernel: KernelReport, architecture: int) -> float:
    found = [r for r in kernel.roofline if r.gpu.architecture == architecture]
    return found[0].resident_per_second / 1e6 if found else -1.0
