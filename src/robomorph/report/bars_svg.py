"""Figures of lying bars as SVG, panel below panel: they need no library."""

from __future__ import annotations

from itertools import cycle

from robomorph.report import svg
from robomorph.report.figures import Bars, Figure, Panel

_WIDTH, _LEFT, _BAR, _GAP, _PANEL, _TEXT = 760, 250, 15, 6, 46, 90
_COLOURS = ("#4477aa",)


def bars_svg(figure: Figure) -> str:
    """The picture; each panel has one Bars, with a text for every bar."""
    parts = [svg.text(12, 24, figure.title, bold=True, size=16)]
    at = 40.0
    for panel in figure.panels:
        parts += _panel(panel, at)
        at += _PANEL + len(panel.categories) * (_BAR + _GAP)
    return svg.page(_WIDTH, at, parts)


def _panel(panel: Panel, at: float) -> list[str]:
    (bars,) = (mark for mark in panel.marks if isinstance(mark, Bars))
    parts = [svg.text(12, at + 18, panel.title, bold=True, size=12)]
    largest = max(bars.values, default=0.0) or 1.0
    rows = zip(panel.categories, bars.values, bars.texts, strict=True)
    for k, ((name, value, text), colour) in enumerate(
        zip(rows, cycle(bars.colours or _COLOURS), strict=False)
    ):
        y = at + 28 + k * (_BAR + _GAP)
        length = (_WIDTH - _LEFT - _TEXT) * value / largest
        parts += [
            svg.text(_LEFT - 8, y + 12, name, anchor="end", size=12),
            svg.bar(_LEFT, y + _BAR, length, _BAR, colour, f"{name}: {text}"),
            svg.text(_LEFT + length + 6, y + 12, text, size=12),
        ]
    return parts
