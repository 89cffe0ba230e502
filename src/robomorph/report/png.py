"""Figures drawn by matplotlib."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from robomorph.report.figures import Bars, Curve, Figure, Panel, Points
from robomorph.report.guard import matplotlib_figure

_DPI = 150
_SIZES = {False: 30, True: 75}  # of points, by their rim


def write_figures(figures: Iterable[Figure], folder: Path) -> list[Path]:
    """Every figure as a PNG file of its name; TargetError without matplotlib."""
    matplotlib_figure()  # nothing is made where nothing can be drawn
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for figure in figures:
        path = folder / f"{figure.name}.png"
        draw(figure).savefig(path, dpi=_DPI, bbox_inches="tight")
        written.append(path)
    return written


def draw(figure: Figure) -> Any:
    """The figure as matplotlib's."""
    drawn = matplotlib_figure()(figsize=figure.size)
    axes = drawn.subplots(1, len(figure.panels), squeeze=False, sharey=figure.share_y)[0]
    shades = _shades(figure)
    for axis, panel in zip(axes, figure.panels, strict=True):
        _draw_panel(axis, panel, shades)
    if shades is not None:
        bar = drawn.colorbar(axes[-1].collections[-1], ax=axes[-1], label=figure.shades, format="{x:.0f}")
        bar.ax.yaxis.set_minor_formatter("{x:.0f}")
    if figure.title:
        drawn.suptitle(figure.title, fontsize=11)
    if all(panel.legend != "beside" for panel in figure.panels):
        drawn.tight_layout()  # with a legend beside them it would crush the axes
    return drawn


def _shades(figure: Figure) -> Any:
    """One scale of colours for all points of the figure; None without points."""
    from matplotlib.colors import LogNorm

    values = [
        shade
        for panel in figure.panels
        for mark in panel.marks
        if isinstance(mark, Points)
        for shade in mark.shades
    ]
    return LogNorm(min(values), max(values)) if values else None


def _draw_panel(axis: Any, panel: Panel, shades: Any) -> None:
    for mark in panel.marks:
        if isinstance(mark, Curve):
            axis.plot(mark.x, mark.y, mark.form, label=mark.label, color=mark.colour)
        elif isinstance(mark, Points):
            _draw_points(axis, mark, shades)
    _draw_bars(axis, panel, [mark for mark in panel.marks if isinstance(mark, Bars)])
    axis.set_title(panel.title, fontsize="medium")
    axis.set(xlabel=panel.x_label, ylabel=panel.y_label)
    _scale(axis, panel, shades is not None)
    if panel.ticks:
        axis.set_xticks(panel.ticks, [f"{x:g}" for x in panel.ticks])
        axis.set_xticks([], minor=True)
    if panel.grid:
        axis.grid(alpha=0.3)
    if panel.legend == "inside":
        axis.legend(fontsize="small")
    elif panel.legend == "beside":
        axis.legend(fontsize="x-small", loc="upper left", bbox_to_anchor=(1.02, 1.0))


def _draw_points(axis: Any, mark: Points, shades: Any) -> None:
    axis.scatter(
        mark.x,
        mark.y,
        c=mark.shades,
        norm=shades,
        marker=mark.form,
        s=_SIZES[mark.rim],
        edgecolors="black" if mark.rim else "none",
        label=mark.label,
    )


def _scale(axis: Any, panel: Panel, between: bool) -> None:
    """Logarithmic axes; `between`: with numbers at 1, 2 and 5 of every power of ten."""
    for name in panel.log:
        getattr(axis, f"set_{name}scale")("log")
        if between:
            from matplotlib.ticker import LogLocator, NullFormatter

            line = getattr(axis, f"{name}axis")
            line.set_major_locator(LogLocator(subs=(1, 2, 5)))
            line.set_major_formatter("{x:,.0f}")
            line.set_minor_formatter(NullFormatter())


def _draw_bars(axis: Any, panel: Panel, groups: Sequence[Bars]) -> None:
    if not groups:
        return
    draw, start = (axis.barh, "left") if panel.lying else (axis.bar, "bottom")
    count = len(panel.categories)
    width = panel.width if panel.stacked else panel.width / len(groups)
    base = [0.0] * count
    for k, bars in enumerate(groups):
        aside = 0.0 if panel.stacked else (k - (len(groups) - 1) / 2) * width
        values = [0.0 if value != value else value for value in bars.values]
        shown = draw(
            [i + aside for i in range(count)],
            values,
            width,
            color=bars.colours or None,
            label=bars.label,
            **({start: base} if panel.stacked else {}),
        )
        base = [low + value for low, value in zip(base, values, strict=True)]
        if panel.stacked and k:
            for bar in shown:  # where a bar begins on others, the axes need not end
                bar.sticky_edges.x.clear()
                bar.sticky_edges.y.clear()
        if bars.texts:
            axis.bar_label(shown, labels=bars.texts, padding=3)
    _name_categories(axis, panel)


def _name_categories(axis: Any, panel: Panel) -> None:
    places = range(len(panel.categories))
    if panel.lying:
        axis.set_yticks(places, panel.categories, fontsize="small")
        axis.margins(x=panel.room)
        if not axis.yaxis_inverted():  # panels that share it are turned once
            axis.invert_yaxis()
        if panel.mark is not None:
            axis.axvline(panel.mark, color="black", linewidth=0.8)
    else:
        axis.set_xticks(places, panel.categories, fontsize="small")
        axis.margins(y=panel.room)
        if panel.mark is not None:
            axis.axhline(panel.mark, color="black", linewidth=0.8)
