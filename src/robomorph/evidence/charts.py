"""Charts as inline SVG, drawn for the width of a phone and enlarged on a desk: bars, curves, points.

Colours are classes (page.css), those of Okabe and Ito; "t" is for bars of what others published. Numbers
come as views, so that each shape and text says its place in the document; only ticks of axes are no data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from robomorph.evidence.view import Html, View, hint, join, markup, number, tag

_WIDTH, _HEIGHT = 380.0, 230.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 54.0, 12.0, 10.0, 34.0


@dataclass(frozen=True)
class Bar:
    """A lying bar with its label above it and its number at its end."""

    label: str
    value: View
    colour: int | str = 0


@dataclass(frozen=True)
class Series:
    """Points by x, joined. A dashed one is not measured here."""

    label: str
    points: Sequence[tuple[View, View]]
    colour: int | str = 0
    dashed: bool = False
    joined: bool = True


@dataclass(frozen=True)
class Scale:
    """An axis from data to the picture."""

    low: float
    high: float
    start: float
    stop: float
    log: bool

    def __call__(self, x: float) -> float:
        return self.start + (self.stop - self.start) * self._share(x)

    def _share(self, x: float) -> float:
        if self.log:
            return math.log(x / self.low) / math.log(self.high / self.low)
        return (x - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        return _log_ticks(self.low, self.high) if self.log else _ticks(self.low, self.high)


def figure_panels(*panels: str) -> Html:
    """Charts side by side where there is room."""
    return tag("div", *panels, class_="panels")


def panel(title: str, body: str, *, cls: str = "panel") -> Html:
    return tag("div", tag("h4", title), body, class_=cls)


def lying_bars(
    about: str, bars: Sequence[Bar], form: str = "sig3", scale: float = 1.0, *, log: bool = False
) -> Html:
    """Bars from zero, or from below the least with `log`. What has no number has no bar, but its text."""
    values = [float(bar.value.value) * scale for bar in bars if bar.value.value is not None]
    high = max(values, default=1.0) or 1.0
    low = min((v for v in values if v > 0.0), default=high) / 2.0
    parts = []
    for k, bar in enumerate(bars):
        y = 4.0 + 34.0 * k
        value = 0.0 if bar.value.value is None else float(bar.value.value) * scale
        share = 0.0 if value <= 0.0 else value / high
        if log and value > 0.0:
            share = math.log(value / low) / math.log(high / low)
        width = max(0.5, 296.0 * share) if value > 0.0 else 0.0
        end = number(bar.value, form, scale, svg=True)
        parts += [
            f"<text x='0' y='{y + 9:.1f}'>{markup(bar.label)}</text>",
            f"<rect class='fill k{bar.colour}' x='0' y='{y + 13:.1f}' width='{width:.1f}' height='13'/>",
            f"<text x='{width + 5:.1f}' y='{y + 23.5:.1f}'>{end}</text>",
        ]
    return _svg(about, 34.0 * len(bars) + 6.0, parts)


def curves(
    about: str,
    series: Sequence[Series],
    *,
    x_label: str = "",
    y_label: str = "",
    log: str = "",
    form: str = "sig3",
    scales: tuple[float, float] = (1.0, 1.0),
    lines: Sequence[tuple[View, str]] = (),
    zero: bool = False,
) -> Html:
    """Curves or points with a legend below. `lines` are levels of y (in the data's unit) with their names;
    `scales` are from the data to the axes; `zero`: the y axis begins there."""
    sx, sy = scales
    pairs = [_pairs(s, log) for s in series]
    xs = [float(x.value) * sx for mine in pairs for x, _ in mine]
    ys = [float(y.value) * sy for mine in pairs for _, y in mine] + [float(v.value) * sy for v, _ in lines]
    if not xs:
        return tag("p", "No points.", class_="note")
    across = _scale(xs, _LEFT, _WIDTH - _RIGHT, "x" in log)
    up = _scale([*ys, 0.0] if zero else ys, _HEIGHT - _BOTTOM, _TOP, "y" in log)
    parts = [*_axes(across, up, x_label, y_label)]
    for level, name in lines:
        y = up(float(level.value) * sy)
        parts.append(f"<line class='ref' x1='{_LEFT}' x2='{_WIDTH - _RIGHT}' y1='{y:.1f}' y2='{y:.1f}'/>")
        parts.append(f"<text x='{_WIDTH - _RIGHT}' y='{y - 3:.1f}' text-anchor='end'>{markup(name)}</text>")
    for s, mine in zip(series, pairs, strict=True):
        parts.append(_curve(s, mine, across, up, form, scales))
    return join(_svg(about, _HEIGHT, parts), legend(series))


def legend(series: Sequence[Series]) -> Html:
    items = [
        tag("li", Html("<i></i>"), s.label, class_=f"k{s.colour}" + (" dashed" if s.dashed else ""))
        for s in series
        if s.label
    ]
    return tag("ul", *items, class_="legend") if items else Html("")


def _pairs(series: Series, log: str) -> list[tuple[View, View]]:
    """Points that can be drawn: with numbers, above zero on logarithmic axes."""
    found = [(x, y) for x, y in series.points if x.value is not None and y.value is not None]
    return [
        (x, y) for x, y in found if not ("x" in log and x.value <= 0) and not ("y" in log and y.value <= 0)
    ]


def _curve(
    series: Series,
    pairs: Sequence[tuple[View, View]],
    across: Scale,
    up: Scale,
    form: str,
    scales: tuple[float, float],
) -> Html:
    sx, sy = scales
    spots = [(across(float(x.value) * sx), up(float(y.value) * sy)) for x, y in pairs]
    shapes = []
    if series.joined and len(spots) > 1:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
        shapes.append(Html(f"<polyline class='line' points='{path}'/>"))
    shape = "hollow" if series.dashed else "fill"
    for (x, y), (_, value) in zip(spots, pairs, strict=True):
        title = hint(value, form, sy)
        shapes.append(Html(f"<circle class='{shape}' cx='{x:.1f}' cy='{y:.1f}' r='2.6'>{title}</circle>"))
    return tag("g", *shapes, class_=f"k{series.colour}" + (" dashed" if series.dashed else ""))


def _scale(values: Sequence[float], start: float, stop: float, log: bool) -> Scale:
    low, high = min(values), max(values)
    if log:
        return Scale(low / 1.15, high * 1.15, start, stop, True)
    room = (high - low) * 0.05 or abs(high) * 0.1 or 1.0
    return Scale(low if low == 0.0 else low - room, high + room, start, stop, False)


def _axes(across: Scale, up: Scale, x_label: str, y_label: str) -> list[str]:
    parts = []
    for x in across.ticks():
        at = across(x)
        parts.append(f"<line class='grid' x1='{at:.1f}' x2='{at:.1f}' y1='{up.stop}' y2='{up.start}'/>")
        parts.append(
            f"<text class='tick' x='{at:.1f}' y='{up.start + 13:.1f}' text-anchor='middle'>{_tick(x)}</text>"
        )
    for y in up.ticks():
        at = up(y)
        place = f"x1='{across.start}' x2='{across.stop}' y1='{at:.1f}' y2='{at:.1f}'"
        parts.append(f"<line class='grid' {place}/>")
        place = f"x='{across.start - 4}' y='{at + 3.5:.1f}' text-anchor='end'"
        parts.append(f"<text class='tick' {place}>{_tick(y)}</text>")
    parts.append(f"<path class='axis' d='M{across.start} {up.stop}V{up.start}H{across.stop}'/>")
    middle, centre = (across.start + across.stop) / 2, (up.start + up.stop) / 2
    parts.append(f"<text x='{middle}' y='{up.start + 28}' text-anchor='middle'>{markup(x_label)}</text>")
    turned = f"transform='translate(11 {centre}) rotate(-90)'"
    parts.append(f"<text {turned} text-anchor='middle'>{markup(y_label)}</text>")
    return parts


def _tick(x: float) -> str:
    if x == 0.0:
        return "0"
    if abs(x) >= 1e5 or abs(x) < 1e-3:
        power = round(math.log10(abs(x)))
        if abs(abs(x) - 10.0**power) < 1e-9 * abs(x):
            return f"10<tspan dy='-4' font-size='8'>{power}</tspan>"
        return f"{x:.0e}"
    return f"{x:,.6g}" if abs(x) < 1e4 else f"{x:,.0f}"


def _ticks(low: float, high: float) -> list[float]:
    step = 10.0 ** math.floor(math.log10((high - low) / 4.0))
    step = next(step * k for k in (1, 2, 5, 10) if (high - low) / (step * k) <= 5.0)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten, or 1, 2 and 5 of them where there are few; thinned where there are many."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    powers = [p for p in range(first, last + 1) if low <= 10.0**p <= high]
    if len(powers) < 3:
        found = [m * 10.0**p for p in range(first - 1, last + 1) for m in (1, 2, 5)]
        return [x for x in found if low <= x <= high]
    every = math.ceil(len(powers) / 6)
    return [10.0**p for p in powers[::every]]


def _svg(about: str, height: float, parts: Sequence[str]) -> Html:
    """A picture with a name for those who cannot see it."""
    box = f"viewBox='0 0 {_WIDTH:.0f} {height:.0f}'"
    told = tag("desc", about)
    return Html(f"<svg {box} role='img' aria-label='{markup(about)}'>{told}{''.join(parts)}</svg>")
