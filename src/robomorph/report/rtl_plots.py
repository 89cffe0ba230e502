"""The figures of an accelerator's report: sparsity, resources, design space, word widths, area and power."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from robomorph.errors import TargetError
from robomorph.report.png import save
from robomorph.report.rtl_resources import resource_plots


def write_plots(report: dict[str, Any], folder: str) -> list[Path]:
    """Every figure that the report has data for, as PNG."""
    try:
        import matplotlib

        matplotlib.use("Agg")
    except ImportError:
        raise TargetError("--plots: matplotlib is not installed: pip install matplotlib") from None
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    written = [_sparsity(report["sparsity"], report["robot"], place), *resource_plots(report, place)]
    if "space" in report:
        written.append(_space(report["space"], report["robot"], place))
    if "sweep" in report:
        written.append(_sweep(report["sweep"], report["robot"], place))
    return written


def _sparsity(data: dict[str, Any], robot: str, place: Path) -> Path:
    from matplotlib import pyplot as plt

    names = ("none", "robot_agnostic", "superposed", "average")
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True)
    for axis, (key, title) in zip(
        axes, (("as_given", "frames as given"), ("chosen_frames", "chosen frames")), strict=True
    ):
        for offset, kind in ((-0.2, "multipliers"), (0.2, "adders")):
            heights = [data[key][name][kind] for name in names]
            axis.bar([k + offset for k in range(len(names))], heights, 0.4, label=kind)
        axis.set_xticks(range(len(names)), [name.replace("_", "-") for name in names], fontsize=8)
        axis.set_title(title)
    axes[0].set_ylabel("operations of the transform unit")
    axes[0].legend()
    figure.suptitle(f"{robot}: sparsity of joint transforms")
    return save(figure, place / "sparsity.png")


def _space(designs: list[dict[str, Any]], robot: str, place: Path) -> Path:
    """Resources over latency, both structures, the interval as colour; designs on the front have a rim."""
    from matplotlib import pyplot as plt
    from matplotlib.colors import LogNorm
    from matplotlib.ticker import LogLocator, NullFormatter

    figure, axes = plt.subplots(1, 2, figsize=(12, 4.6))
    norm = LogNorm(min(d["interval"] for d in designs), max(d["interval"] for d in designs))
    panels = (("multipliers", "variable multipliers"), ("all_adders", "adders (those of constants included)"))
    for axis, (key, label) in zip(axes, panels, strict=True):
        for structure, marker in (("flat", "o"), ("units", "s")):
            for front in (False, True):
                some = [d for d in designs if d["structure"] == structure and d["pareto"] == front]
                shown = axis.scatter(
                    [d["latency_time"] for d in some],
                    [d[key] for d in some],
                    c=[d["interval"] for d in some],
                    norm=norm,
                    marker=marker,
                    s=75 if front else 30,
                    edgecolors="black" if front else "none",
                    label=f"{structure}, {'Pareto front' if front else 'others'}",
                )
        axis.set_xlabel("latency (multiplication delays)")
        axis.set_ylabel(label)
        axis.set_xscale("log")
        axis.set_yscale("log")
        for line in (axis.xaxis, axis.yaxis):
            line.set_major_locator(LogLocator(subs=(1, 2, 5)))
            line.set_major_formatter("{x:,.0f}")
            line.set_minor_formatter(NullFormatter())
    axes[0].legend(fontsize=8)
    bar = figure.colorbar(shown, ax=axes[1], label="cycles between states", format="{x:.0f}")
    bar.ax.yaxis.set_minor_formatter("{x:.0f}")
    figure.suptitle(f"{robot}: designs, as the schedule model estimates them")
    return save(figure, place / "design_space.png")


def _sweep(data: dict[str, Any], robot: str, place: Path) -> Path:
    from matplotlib import pyplot as plt

    figure, axis = plt.subplots(figsize=(6, 4))
    for key, label in (("per_signal", "a format per signal"), ("single_format", "one format for all")):
        rows = data[key]
        widths = [_bits(row["format"]) for row in rows]
        axis.semilogy(widths, [max(o["worst"] for o in row["outputs"]) for row in rows], "o-", label=label)
    axis.set_xticks(widths)
    axis.set_xlabel("word width (bits)")
    axis.set_ylabel("worst error against float64")
    axis.legend()
    axis.set_title(f"{robot}: error by word width")
    return save(figure, place / "formats.png")


def _bits(name: str) -> int:
    if name.startswith("Q"):
        return sum(int(part) for part in name[1:].split("."))
    return int(name.split("-")[0])
