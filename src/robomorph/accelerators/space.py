"""Many designs of one function: both structures over intervals and periods, and which of them none beats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from robomorph.targets.rtl.accelerator import Accelerator, make_accelerator

# Of each structure: cycles between states, and chained delay per cycle in multiplications. The inside of a
# unit hardly chains more than one multiplication, so longer periods bring it nothing.
Grid = Mapping[str, tuple[Sequence[int], Sequence[float]]]
GRID: Grid = {
    "flat": ((1, 2, 4, 8, 16, 24, 48), (1.25, 1.5, 1.8, 2.5, 3.5)),
    "units": ((4, 8, 16, 24, 48), (1.25, 1.8)),
}
# A flat design has no units, whatever was wished of them.
_NO_UNITS: dict[str, Any] = {"units": "", "fold": None, "unit_latency": None, "memories": True}
_LESS_IS_BETTER = ("time_per_state", "latency_time", "multipliers", "all_adders")


def design_space(accelerator: Accelerator, grid: Grid = GRID) -> list[dict[str, Any]]:
    """The schedule model's figures of a grid of designs; `pareto` marks those that no other beats in time
    per state and latency (cycles x period), multipliers and adders at once."""
    return marked([figures(accelerator, *point) for point in points_of(grid)])


def points_of(grid: Grid = GRID) -> list[tuple[str, int, float]]:
    """Structure, interval and period of every design of a grid, in order."""
    return [
        (structure, interval, period)
        for structure, (intervals, periods) in grid.items()
        for interval in intervals
        for period in periods
    ]


def marked(designs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same designs, each told by `pareto` whether none of the others beats it."""
    for one in designs:
        one["pareto"] = not any(_beats(other, one) for other in designs)
    return designs


def figures(accelerator: Accelerator, structure: str, interval: int, period: float) -> dict[str, Any]:
    """The schedule model's, of one design."""
    wishes = _NO_UNITS if structure == "flat" else {}
    options = replace(
        accelerator.options, structure=structure, interval=interval, period=period, latency=None, **wishes
    )
    stats = make_accelerator(accelerator.source, options).design.stats
    made: dict[str, Any] = {"structure": structure, "asked_interval": interval, "asked_period": period}
    for key in ("latency", "interval", "period", "multipliers", "flip_flops", "selector_inputs"):
        made[key] = getattr(stats, key)
    made["all_adders"] = stats.adders + stats.constant_adders
    made["time_per_state"] = stats.interval * stats.period
    made["latency_time"] = stats.latency * stats.period
    return made


def _beats(a: dict[str, Any], b: dict[str, Any]) -> bool:
    no_worse = all(a[key] <= b[key] for key in _LESS_IS_BETTER)
    return no_worse and any(a[key] < b[key] for key in _LESS_IS_BETTER)
