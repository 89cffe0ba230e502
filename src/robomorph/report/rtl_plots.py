"""The figures of an accelerator's report: sparsity, resources, design space, word widths, area and power."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from robomorph.report.figures import Bars, Curve, Figure, Panel, Points
from robomorph.report.png import write_figures
from robomorph.report.rtl_resources import resource_figures


def write_plots(report: dict[str, Any], folder: str) -> list[Path]:
    """Every figure that the report has data for, as PNG."""
    return write_figures(report_figures(report), Path(folder))


def report_figures(report: dict[str, Any]) -> list[Figure]:
    """Every figure that the report has data for."""
    figures = [_sparsity(report["sparsity"], report["robot"]), *resource_figures(report)]
    if "space" in report:
        figures.append(_space(report["space"], report["robot"]))
    if "sweep" in report:
        figures.append(_sweep(report["sweep"], report["robot"]))
    return figures


def _sparsity(data: dict[str, Any], robot: str) -> Figure:
    names = ("none", "robot_agnostic", "superposed", "average")
    panels = [
        Panel(
            [Bars([data[key][name][kind] for name in names], kind) for kind in ("multipliers", "adders")],
            title,
            y_label="" if k else "operations of the transform unit",
            categories=[name.replace("_", "-") for name in names],
            legend="" if k else "inside",
        )
        for k, (key, title) in enumerate(
            (("as_given", "frames as given"), ("chosen_frames", "chosen frames"))
        )
    ]
    return Figure("sparsity", panels, (9, 3.2), f"{robot}: sparsity of joint transforms", share_y=True)


def _space(designs: list[dict[str, Any]], robot: str) -> Figure:
    """Resources over latency, both structures, the interval as colour; designs on the front have a rim."""
    axes = (("multipliers", "variable multipliers"), ("all_adders", "adders (those of constants included)"))
    panels = [
        Panel(
            [
                _points(designs, key, structure, form, front)
                for structure, form in (("flat", "o"), ("units", "s"))
                for front in (False, True)
            ],
            x_label="latency (multiplication delays)",
            y_label=label,
            log="xy",
            legend="" if k else "inside",
        )
        for k, (key, label) in enumerate(axes)
    ]
    title = f"{robot}: designs, as the schedule model estimates them"
    return Figure("design_space", panels, (12, 4.6), title, shades="cycles between states")


def _points(designs: list[dict[str, Any]], key: str, structure: str, form: str, front: bool) -> Points:
    some = [d for d in designs if d["structure"] == structure and d["pareto"] == front]
    return Points(
        [d["latency_time"] for d in some],
        [d[key] for d in some],
        [d["interval"] for d in some],
        f"{structure}, {'Pareto front' if front else 'others'}",
        form,
        front,
    )


def _sweep(data: dict[str, Any], robot: str) -> Figure:
    curves = []
    for key, label in (("per_signal", "a format per signal"), ("single_format", "one format for all")):
        worst = [max(o["worst"] for o in row["outputs"]) for row in data[key]]
        curves.append(Curve([_bits(row["format"]) for row in data[key]], worst, label))
    panel = Panel(
        curves,
        f"{robot}: error by word width",
        x_label="word width (bits)",
        y_label="worst error against float64",
        log="y",
        ticks=curves[-1].x,
        legend="inside",
    )
    return Figure("formats", [panel], (6, 4))


def _bits(name: str) -> int:
    if name.startswith("Q"):
        return sum(int(part) for part in name[1:].split("."))
    return int(name.split("-")[0])
