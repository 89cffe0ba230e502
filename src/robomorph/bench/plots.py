"""The run as PNG plots, in the form the papers show."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from robomorph.bench.functions import FAMILY
from robomorph.bench.ours import LAUNCHING, PERSISTENT
from robomorph.bench.peers.pinocchio import CALLS, PINOCCHIO
from robomorph.bench.records import OURS, Record, first, select, speedup
from robomorph.bench.sections.dynamics import steps, threads, timesteps
from robomorph.bench.sections.section import robots_of
from robomorph.errors import TargetError

Records = Sequence[Record]
_DPI = 150
_COLOURS = {"one": "#4c78a8", "many": "#1b3a5c", "theirs": "#f58518", "third": "#54a24b"}


def write_plots(records: Records, folder: Path) -> list[Path]:
    """One PNG file for each section that has records; TargetError without matplotlib."""
    try:
        matplotlib = importlib.import_module("matplotlib")
        matplotlib.use("Agg")  # files only: no display is needed
        pyplot = importlib.import_module("matplotlib.pyplot")
    except ImportError as error:
        raise TargetError(f"--plots needs matplotlib: pip install 'robomorph[bench]' ({error})") from error
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, draw in PLOTS.items():
        mine = select(records, section=name)
        if mine:
            figure = draw(pyplot, mine)
            path = folder / f"{name}.png"
            figure.savefig(path, dpi=_DPI, bbox_inches="tight")
            pyplot.close(figure)
            written.append(path)
    return written


def _steps(pyplot: Any, records: Records) -> Any:
    """Stacked bars, one per library: the three steps of one computation."""
    robots = robots_of(records)
    figure, axes = pyplot.subplots(1, len(robots), figsize=(3.2 * len(robots), 3.4), squeeze=False)
    colours = list(_COLOURS.values())
    for axis, robot in zip(axes[0], robots, strict=True):
        for x, who in enumerate(dict.fromkeys(r.who for r in records)):
            chosen = select(records, robot=robot, who=who)
            if not chosen:
                continue
            base = 0.0
            parts = list(steps.split(chosen).items())[:3]
            for (label, time), colour in zip(parts, colours, strict=False):
                axis.bar(x, time / 1e3, bottom=base, color=colour, width=0.6, label=label if x == 0 else None)
                base += time / 1e3
        whos = list(dict.fromkeys(r.who for r in records))
        axis.set_xticks(range(len(whos)), whos)
        axis.set_title(robot)
    axes[0][0].set_ylabel("one computation (us)")
    axes[0][0].legend()
    return figure


def _timesteps(pyplot: Any, records: Records) -> Any:
    """Grouped bars over N: all time steps end to end."""
    robots = robots_of(records)
    figure, axes = pyplot.subplots(1, len(robots), figsize=(4.2 * len(robots), 3.4), squeeze=False)
    for axis, robot in zip(axes[0], robots, strict=True):
        mine = select(records, robot=robot)
        theirs = [r for r in mine if r.who != OURS]
        groups = {
            "robomorph, 1 thread": (select(mine, who=OURS, threads=1), "one"),
            "robomorph, all threads": ([r for r in mine if r.who == OURS and r.threads > 1], "many"),
            theirs[0].who if theirs else "": (theirs, "theirs"),
        }
        _grouped_bars(axis, groups, timesteps.COUNTS)
        axis.set_yscale("log")
        axis.set_title(robot)
    axes[0][0].set_ylabel("N gradients, end to end (us)")
    axes[0][0].legend(fontsize="small")
    return figure


def _threads(pyplot: Any, records: Records) -> Any:
    """Grouped bars over N: one thread, two persistent, two launched for the call."""
    figure, axis = pyplot.subplots(figsize=(4.6, 3.4))
    groups = {
        "1 thread": (select(records, threads=1), "one"),
        "2 persistent threads": (select(records, threads=2, how=PERSISTENT), "many"),
        "2 threads launched per call": (select(records, threads=2, how=LAUNCHING), "third"),
    }
    _grouped_bars(axis, groups, threads.COUNTS)
    axis.set_ylabel("N gradients, end to end (us)")
    axis.set_title(records[0].robot)
    axis.legend(fontsize="small")
    return figure


def _grouped_bars(axis: Any, groups: dict[str, tuple[list[Record], str]], counts: Sequence[int]) -> None:
    shown = {label: group for label, group in groups.items() if group[0]}
    width = 0.8 / max(len(shown), 1)
    for k, (label, (records, colour)) in enumerate(shown.items()):
        by_batch = {r.batch: r.best_ns * r.batch / 1e3 for r in records}
        places = [i + (k - (len(shown) - 1) / 2) * width for i in range(len(counts))]
        axis.bar(places, [by_batch.get(n, 0.0) for n in counts], width, label=label, color=_COLOURS[colour])
    axis.set_xticks(range(len(counts)), [str(n) for n in counts])
    axis.set_xlabel("N")


def _batches(pyplot: Any, records: Records) -> Any:
    """Time per evaluation over the batch size, one panel per robot."""
    robots = robots_of(records)
    figure, axes = pyplot.subplots(1, len(robots), figsize=(4.2 * len(robots), 3.4), squeeze=False)
    for axis, robot in zip(axes[0], robots, strict=True):
        mine = select(records, robot=robot)
        many = [r for r in mine if r.who == OURS and r.threads > 1]
        theirs = [r for r in mine if r.who != OURS]
        lines = [("robomorph, 1 thread", select(mine, who=OURS, threads=1), "one")]
        lines += [("robomorph, all threads", many, "many")]
        lines += [(theirs[0].who, theirs, "theirs")] if theirs else []
        for label, chosen, colour in lines:
            times = [r.best_ns / 1e3 for r in chosen]
            axis.loglog([r.batch for r in chosen], times, "o-", label=label, color=_COLOURS[colour])
        axis.set_title(robot)
        axis.set_xlabel("batch size")
    axes[0][0].set_ylabel("time per gradient (us)")
    axes[0][0].legend(fontsize="small")
    return figure


def _chains(pyplot: Any, records: Records) -> Any:
    """Run time, compile time and memory over the number of joints."""
    figure, axes = pyplot.subplots(1, 3, figsize=(13.5, 3.4), gridspec_kw={"wspace": 0.3})
    for function, colour in zip(dict.fromkeys(r.function for r in records), ("one", "third"), strict=False):
        mine = select(records, function=function)
        ours, theirs = select(mine, who=OURS), [r for r in mine if r.who != OURS]
        joints = [r.figures["dofs"] for r in ours]
        label = function.replace("_", " ")
        axes[0].loglog(joints, [r.best_ns / 1e3 for r in ours], "o-", label=label, color=_COLOURS[colour])
        axes[0].loglog(
            [r.figures["dofs"] for r in theirs],
            [r.best_ns / 1e3 for r in theirs],
            "s--",
            label=f"{label}, {theirs[0].who}" if theirs else None,
            color=_COLOURS[colour],
        )
        axes[1].loglog(joints, [r.figures["total_s"] for r in ours], "o-", color=_COLOURS[colour])
        axes[2].plot(joints, [r.figures["peak_mb"] for r in ours], "o-", color=_COLOURS[colour])
    titles = ("time per evaluation (us)", "compile time (s)", "peak memory of the compilation (MB)")
    ticks = sorted({r.figures["dofs"] for r in records})
    for axis, title in zip(axes, titles, strict=True):
        axis.set_xticks(ticks, [f"{n:.0f}" for n in ticks])
        axis.set_xticks([], minor=True)
        axis.set_title(title, fontsize="medium")
        axis.set_xlabel("joints")
    axes[0].legend(fontsize="small")
    return figure


def _family(pyplot: Any, records: Records) -> Any:
    """How many times faster than Pinocchio each function is, batch and single call; 1 is a draw."""
    robots = robots_of(records)
    figure, axes = pyplot.subplots(1, len(robots), figsize=(4.6 * len(robots), 3.6), squeeze=False)
    names = [f.name for f in FAMILY]
    for axis, robot in zip(axes[0], robots, strict=True):
        for k, (batch, colour) in enumerate(((128, "one"), (1, "third"))):
            chosen = select(records, robot=robot, batch=batch)
            ratios = [_ratio(select(chosen, function=name)) for name in names]
            places = [i + (k - 0.5) * 0.4 for i in range(len(names))]
            label = "one call" if batch == 1 else f"batch of {batch}"
            axis.barh(places, ratios, 0.4, color=_COLOURS[colour], label=label)
        axis.axvline(1.0, color="black", linewidth=0.8)
        shown = [n.replace("_", " ") for n in names] if axis is axes[0][0] else [""] * len(names)
        axis.set_yticks(range(len(names)), shown)
        axis.invert_yaxis()
        axis.set_title(f"{robot}: times faster than Pinocchio", fontsize="medium")
    axes[0][0].legend(fontsize="small")
    return figure


def _ratio(records: Records) -> float:
    ours = first(records, who=OURS, dtype="float64")
    return speedup(ours, first(records, who=PINOCCHIO, how=CALLS)) or 0.0


PLOTS: dict[str, Callable[[Any, Records], Any]] = {
    "steps": _steps,
    "timesteps": _timesteps,
    "threads": _threads,
    "batches": _batches,
    "chains": _chains,
    "family": _family,
}
