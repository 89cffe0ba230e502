"""The paper's three figures as PNG files, with robomorph's figures."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from robomorph.bench.chain_problems import PAPER_REDUCTION
from robomorph.bench.sections.ik.paper import NAMES, SPECULATIONS
from robomorph.bench.solution_check import IkOutcome
from robomorph.errors import TargetError

_DPI = 150
_NO_CURVE = "(the paper's curves are not available as numbers)"


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
        axis.title.set_fontsize(9)
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
    title = f"Figure 4, set B, {paper['targets_of_other_sets_and_speculations']} targets a chain\n{_NO_CURVE}"
    axis.set(xscale="log", yscale="log", xlabel="speculations", ylabel="mean iterations", title=title)


def _iterations(axis: Any, paper: dict[str, Any]) -> None:
    """The one number that the paper prints for this figure, 97% fewer, is drawn dashed."""
    for method, by in paper["iterations"]["B"].items():
        axis.plot(list(by), list(by.values()), marker="o", label=NAMES[method])
    serial = paper["iterations"]["B"]["jacobian-transpose-fixed"]
    claimed = [(1.0 - PAPER_REDUCTION) * x for x in serial.values()]
    label = f"the paper's Quick-IK: {PAPER_REDUCTION:.0%} fewer than JT-Serial"
    axis.plot(list(serial), claimed, linestyle="--", color="black", label=label)
    axis.set(yscale="log", xlabel="joints", ylabel="mean iterations", title=_title("Figure 5 (a)", paper))


def _load(axis: Any, paper: dict[str, Any]) -> None:
    for method, by in paper["iterations"]["B"].items():
        factor = 64 if method == "quick-ik" else 1
        axis.plot(list(by), [factor * x for x in by.values()], marker="o", label=NAMES[method])
    axis.set(
        yscale="log", xlabel="joints", ylabel="iterations x speculations", title=_title("Figure 5 (b)", paper)
    )


def _times(axis: Any, paper: dict[str, Any]) -> None:
    for method, by in paper["milliseconds"].items():
        axis.plot(list(by), list(by.values()), marker="o", label=f"{NAMES[method]} (this machine)")
    chains = list(next(iter(paper["milliseconds"].values())))
    for name, by in paper["paper_milliseconds"].items():
        axis.plot(chains, [by[n] for n in chains], linestyle="--", label=f"{name}, the paper's")
    timed = sorted(set(paper["targets_timed"].values()))
    counts = " to ".join(map(str, timed))
    title = f"Table 2, set B, {counts} targets a chain\n(dashed: the paper's, other machines)"
    axis.set(yscale="log", xlabel="joints", ylabel="ms per solve", title=title)


def _title(figure: str, paper: dict[str, Any]) -> str:
    return f"{figure}, set B, {paper['targets']} targets a chain\n{_NO_CURVE}"


_PLOTS = {"speculations": _speculations, "iterations": _iterations, "load": _load, "times": _times}
