"""The paper's three figures as PNG files, with robomorph's figures."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from robomorph.bench.ik_paper import NAMES, SPECULATIONS
from robomorph.bench.ik_session import IkOutcome
from robomorph.errors import TargetError

_DPI = 150


def write_ik_plots(outcome: IkOutcome, folder: Path) -> list[Path]:
    """Figures 4, 5 (a) and 5 (b), and the time table as curves; nothing if the section did not run."""
    if "paper" not in outcome.figures:
        return []
    try:
        matplotlib = importlib.import_module("matplotlib")
        matplotlib.use("Agg")
        pyplot = importlib.import_module("matplotlib.pyplot")
    except ImportError as error:
        raise TargetError(f"--plots needs matplotlib: pip install 'robomorph[bench]' ({error})") from error
    folder.mkdir(parents=True, exist_ok=True)
    paper = outcome.figures["paper"]
    written = []
    for name, draw in _PLOTS.items():
        figure, axis = pyplot.subplots(figsize=(5.2, 3.6))
        draw(axis, paper)
        axis.grid(alpha=0.3)
        axis.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.02, 1.0))
        path = folder / f"ik_{name}.png"
        figure.savefig(path, dpi=_DPI, bbox_inches="tight")
        pyplot.close(figure)
        written.append(path)
    return written


def _speculations(axis: Any, paper: dict[str, Any]) -> None:
    for joints, by in paper["speculations"].items():
        axis.plot(SPECULATIONS, [by[k] for k in SPECULATIONS], marker="o", label=f"N = {joints}")
    axis.set(
        xscale="log", yscale="log", xlabel="speculations", ylabel="mean iterations", title="Figure 4, set B"
    )


def _iterations(axis: Any, paper: dict[str, Any]) -> None:
    for method, by in paper["iterations"]["B"].items():
        axis.plot(list(by), list(by.values()), marker="o", label=NAMES[method])
    axis.set(yscale="log", xlabel="joints", ylabel="mean iterations", title="Figure 5 (a), set B")


def _load(axis: Any, paper: dict[str, Any]) -> None:
    for method, by in paper["iterations"]["B"].items():
        factor = 64 if method == "quick-ik" else 1
        axis.plot(list(by), [factor * x for x in by.values()], marker="o", label=NAMES[method])
    axis.set(yscale="log", xlabel="joints", ylabel="iterations x speculations", title="Figure 5 (b), set B")


def _times(axis: Any, paper: dict[str, Any]) -> None:
    for method, by in paper["milliseconds"].items():
        axis.plot(list(by), list(by.values()), marker="o", label=f"{NAMES[method]} (this machine)")
    chains = list(next(iter(paper["milliseconds"].values())))
    for name, by in paper["paper_milliseconds"].items():
        axis.plot(chains, [by[n] for n in chains], linestyle="--", label=f"{name}, the paper's")
    axis.set(
        yscale="log", xlabel="joints", ylabel="ms per solve", title="Table 2, set B (dashed: other machines)"
    )


_PLOTS = {"speculations": _speculations, "iterations": _iterations, "load": _load, "times": _times}
