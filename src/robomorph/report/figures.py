"""Figures as data: what is shown, apart from who draws it (png.py with matplotlib, bars_svg.py as SVG)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Numbers = Sequence[float]


@dataclass(frozen=True)
class Bars:
    """One bar for each category of the panel. Colours are taken in turn, by default the drawer's own; `texts`
    stand at the ends of the bars. A value that is not a number has no bar, but its text is shown."""

    values: Numbers
    label: str | None = None
    colours: Sequence[str] = ()
    texts: Sequence[str] = ()


@dataclass(frozen=True)
class Curve:
    """Points joined by a line. `form` is matplotlib's: "o-" with dots, "--" dashed and without."""

    x: Numbers
    y: Numbers
    label: str | None = None
    colour: str | None = None
    form: str = "o-"


@dataclass(frozen=True)
class Points:
    """Points that are coloured by a third number. Those that stand out have a rim, and are larger."""

    x: Numbers
    y: Numbers
    shades: Numbers
    label: str | None = None
    form: str = "o"
    rim: bool = False


@dataclass(frozen=True)
class Panel:
    """One pair of axes. Bars of the same category stand side by side, or on each other where `stacked`, and
    take `width` of its place; `lying` bars go to the right, the first category on top.

    log: the axes that are logarithmic, "x", "y" or "xy". ticks: where the x axis has its numbers, if not
    where the drawer would put them. legend: "inside" or "beside" the axes. mark: a line across all bars, such
    as 1 for ratios. room: what is left free beyond the longest bar for texts, as a part of its length.
    """

    marks: Sequence[Bars | Curve | Points]
    title: str = ""
    x_label: str = ""
    y_label: str = ""
    categories: Sequence[str] = ()
    stacked: bool = False
    lying: bool = False
    width: float = 0.8
    log: str = ""
    ticks: Numbers = ()
    legend: str = ""
    mark: float | None = None
    room: float = 0.05
    grid: bool = False


@dataclass(frozen=True)
class Figure:
    """Panels side by side. `name` is that of its file, without the ending; `size` is in inches. `shades` says
    what the colours of points mean."""

    name: str
    panels: Sequence[Panel]
    size: tuple[float, float]
    title: str = ""
    share_y: bool = False
    shades: str = ""
