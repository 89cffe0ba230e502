"""A closed loop as figures: joints, speeds and torques against their limits, tracking error, step times."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from robomorph.report.figures import Bars, Curve, Figure, Panel
from robomorph.report.png import write_figures

if TYPE_CHECKING:
    from robomorph.mpc import Simulation

Array = npt.NDArray[np.float64]
_POINTS = 1500  # of a curve
_BARS = 24  # of a histogram
_LEAST = 1e-9  # that a logarithmic axis shows
_SIZE = (7.0, 3.6)
_LIMIT = "#444444"


def draw_loop(loop: Simulation, folder: Path, prefix: str = "") -> list[Path]:
    """PNG files in a folder; their paths."""
    return write_figures(loop_figures(loop, prefix), folder)


def loop_figures(loop: Simulation, prefix: str = "") -> list[Figure]:
    """joints, speeds, torques, error (with a reference) and times, as data."""
    limits = loop.robot.limits
    shares = (
        ("speeds", "speeds, share of the limit", _share(loop.qd, limits.velocity)),
        ("torques", "torques of the drives, share of the limit", _share(loop.tau, limits.effort)),
    )
    figures = [_joints(loop)]
    figures += [_shown(name, _against_limits(loop, title, values)) for name, title, values in shares]
    if loop.error.shape[1]:
        figures.append(_shown("error", _error(loop)))
    figures.append(_shown("times", _times(loop)))
    return [Figure(prefix + f.name, f.panels, f.size, f.title) for f in figures]


def _shown(name: str, panel: Panel) -> Figure:
    return Figure(name, [panel], _SIZE)


def _joints(loop: Simulation) -> Figure:
    marks = _curves(loop, loop.q, loop.robot.coordinate_names)
    if loop.reference is not None:
        thin = _thinned(len(loop.times))
        marks += [
            Curve(_list(loop.times[thin]), _list(r), colour="black", form=":") for r in loop.reference[thin].T
        ]
    panel = Panel(marks, "joints; dotted: wanted", "s", "rad, m", legend="beside", grid=True)
    return _shown("joints", panel)


def _against_limits(loop: Simulation, title: str, values: Array) -> Panel:
    marks = _curves(loop, values, loop.robot.velocity_names)
    ends = [float(loop.times[0]), float(loop.times[-1])]
    marks += [Curve(ends, [side, side], colour=_LIMIT, form="--") for side in (-1.0, 1.0)]
    return Panel(marks, title, "s", "1 is the limit", legend="beside", grid=True)


def _error(loop: Simulation) -> Panel:
    thin = _thinned(len(loop.times))
    size = np.clip(np.nan_to_num(loop.size[thin], posinf=1e3), _LEAST, None)
    ends = [float(loop.times[0]), float(loop.times[-1])]
    marks = [
        Curve(_list(loop.times[thin]), _list(size), "largest entry", form="-"),
        Curve(ends, [loop.tolerance] * 2, "tolerance", _LIMIT, "--"),
    ]
    return Panel(marks, "tracking error", "s", log="y", legend="inside", grid=True)


def _times(loop: Simulation) -> Panel:
    """A histogram whose bars are equally wide in the logarithm: a busy machine may hold a step up long."""
    spent = 1e6 * loop.spent()
    if len(spent) == 0:
        return Panel([], "no steps")
    edges = np.geomspace(0.99 * spent.min(), 1.01 * spent.max(), _BARS + 1)
    counts, _ = np.histogram(spent, edges)
    names = [f"{high:.0f}" if k % 4 == 3 else "" for k, high in enumerate(edges[1:])]
    title = f"steps by time: median {np.median(spent):.0f}, 99% below {np.percentile(spent, 99):.0f} us"
    return Panel([Bars(_list(counts))], title, "us, at most", "steps", names, width=0.95)


def _curves(loop: Simulation, values: Array, names: Sequence[str]) -> list[Curve | Bars]:
    thin = _thinned(len(loop.times))
    times = _list(loop.times[thin])
    return [
        Curve(times, _list(column), name, form="-")
        for name, column in zip(names, values[thin].T, strict=True)
    ]


def _thinned(count: int) -> slice:
    return slice(None, None, max(1, count // _POINTS))


def _share(values: Array, limit: Array) -> Array:
    """Values by their limit; 0 where there is none."""
    known = np.isfinite(limit) & (limit > 0.0)
    return np.asarray(np.where(known, values / np.where(known, limit, 1.0), 0.0))


def _list(values: npt.ArrayLike) -> list[float]:
    return [float(value) for value in np.asarray(values)]
