"""Figures of what designs cost: estimates and measurements apart, and what others published beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from robomorph.hardware.results import describe
from robomorph.report.papers import ANCHOR, PAPERS_CHIP
from robomorph.report.png import save

_OURS, _THEIRS = "#3b6ea5", "#b0b0b0"
# (figure, title) of each target's panels, as synthesis names them.
_RESOURCES = {
    "UltraScale+": (("dsp48e2", "DSP48E2"), ("lut", "LUT"), ("ff", "flip-flops")),
    "ECP5": (
        ("mult18x18d", "MULT18X18D"),
        ("lut4", "LUT4"),
        ("ff", "flip-flops"),
        ("fmax_mhz", "clock after routing (MHz)"),
    ),
}


def resource_plots(report: dict[str, Any], place: Path) -> list[Path]:
    """Latency and resources as estimated; resources, area and power as far as synthesis measured them."""
    written = [_estimates(report, place)]
    records = report.get("results", [])
    for target, panels in _RESOURCES.items():
        some = [r for r in records if r["synthesis"]["target"].startswith(target.lower())]
        if some:
            written.append(_resources(some, target, panels, place))
    cells = [r for r in records if "area_mm2" in r["synthesis"]["figures"]]
    if cells:
        written.append(_area_and_power(cells, place))
    return written


def _estimates(report: dict[str, Any], place: Path) -> Path:
    """Latency and resources of the schedule model, beside the anchor's."""
    from matplotlib import pyplot as plt

    stats = report["estimates"]
    comparable = report["function"] == "forward_dynamics_gradient"  # the anchor computes nothing else
    panels = (
        ("latency", "cycles to the result", ANCHOR.latency),
        ("interval", "cycles between states", ANCHOR.interval),
        ("multipliers", "variable multipliers", ANCHOR.multipliers),
        ("constant_multipliers", "constant multipliers", ANCHOR.constant_multipliers),
        ("adders", "adders", ANCHOR.adders),
        ("flip_flops", "flip-flops", ANCHOR.flip_flops),
    )
    figure, axes = plt.subplots(1, len(panels), figsize=(13, 3.2))
    for axis, (key, name, theirs) in zip(axes, panels, strict=True):
        values = [stats[key], theirs] if comparable else [stats[key]]
        bars = axis.bar(range(len(values)), values, color=[_OURS, _THEIRS][: len(values)], width=0.7)
        axis.bar_label(bars, labels=[f"{int(value):,}" for value in values], padding=2)
        axis.set_xticks(range(len(values)), ["this design", "anchor"][: len(values)])
        axis.set_title(name, fontsize=10)
        axis.margins(y=0.15)
    title = f"{report['robot']}: {report['function'].replace('_', ' ')}, estimates of the schedule model"
    anchor = " (anchor: the authors' Verilog for iiwa, gravity zero)" if comparable else ""
    figure.suptitle(f"{title}{anchor}", fontsize=11)
    return save(figure, place / "latency_and_resources.png")


def _resources(
    records: list[dict[str, Any]], target: str, panels: tuple[tuple[str, str], ...], place: Path
) -> Path:
    """What synthesis for an FPGA measured, a panel per resource."""
    from matplotlib import pyplot as plt

    names = [_wrapped(describe(r)) for r in records]
    panels = tuple(panel for panel in panels if any(panel[0] in r["synthesis"]["figures"] for r in records))
    figure, axes = plt.subplots(1, len(panels), figsize=(12, 1.6 + 0.8 * len(records)), sharey=True)
    for axis, (key, name) in zip(axes, panels, strict=True):
        values = [r["synthesis"]["figures"].get(key, float("nan")) for r in records]
        bars = axis.barh(range(len(records)), values, color=_OURS)
        axis.bar_label(bars, labels=[f"{v:,.0f}" if v == v else "" for v in values], padding=3)
        axis.set_title(name)
        axis.margins(x=0.5)
    axes[0].set_yticks(range(len(records)), names, fontsize=8)
    axes[0].invert_yaxis()
    figure.suptitle(f"{target}: resources measured by Yosys, before placement")
    return save(figure, place / f"resources_{target.rstrip('+').lower()}.png")


def _area_and_power(records: list[dict[str, Any]], place: Path) -> Path:
    """Standard cells as synthesised, and the papers' chip as published (dark: from, to)."""
    from matplotlib import pyplot as plt

    names = [*(_wrapped(describe(r)) for r in records), PAPERS_CHIP.name]
    panels = (
        ("area_mm2", "area (mm$^2$)", PAPERS_CHIP.area_mm2),
        ("critical_path_ns", "critical path (ns)", tuple(1e3 / f for f in reversed(PAPERS_CHIP.clock_mhz))),
        ("power_w", "power (W)", PAPERS_CHIP.power_w),
    )
    figure, axes = plt.subplots(1, len(panels), figsize=(12, 2.0 + 0.8 * len(names)), sharey=True)
    for axis, (key, title, (low, high)) in zip(axes, panels, strict=True):
        values = [r["synthesis"]["figures"].get(key, float("nan")) for r in records]
        bars = axis.barh(range(len(records)), values, color=_OURS)
        axis.bar_label(bars, labels=[f"{v:.3g}" if v == v else "not measured" for v in values], padding=3)
        axis.barh([len(records)], [high], color=_THEIRS)
        axis.barh([len(records)], [high - low], left=low, color="#808080")
        axis.text(high, len(records), f" {low:.4g} to {high:.4g}", va="center")
        axis.set_title(title)
        axis.margins(x=0.65)
    axes[0].set_yticks(range(len(names)), names, fontsize=8)
    axes[0].invert_yaxis()
    figure.suptitle(
        "standard cells: ours by Yosys and OpenSTA (no wires, no clock tree, default activity);"
        " theirs as published",
        fontsize=11,
    )
    return save(figure, place / "area_and_power.png")


def _wrapped(text: str) -> str:
    head, _, tail = text.partition(", ")
    return f"{head}\n{tail}"
