"""Figures of what designs cost: estimates and measurements apart, and what others published beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robomorph.report.figures import Bars, Figure, Panel
from robomorph.report.papers import ANCHOR, PAPERS_CHIP

_OURS, _THEIRS, _RANGE = "#3b6ea5", "#b0b0b0", "#808080"
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


def resource_figures(report: dict[str, Any]) -> list[Figure]:
    """Latency and resources as estimated; resources, area and power as far as synthesis measured them."""
    figures = [_estimates(report)]
    records = report.get("results", [])
    for target, panels in _RESOURCES.items():
        some = [r for r in records if r["synthesis"]["target"].startswith(target.lower())]
        if some:
            figures.append(_resources(some, target, panels))
    cells = [r for r in records if "area_mm2" in r["synthesis"]["figures"]]
    return [*figures, _area_and_power(cells)] if cells else figures


def describe(record: dict[str, Any]) -> str:
    """The design of a record in a line."""
    function = str(record["function"]).replace("_", " ")
    given = ", M^-1 given" if record.get("minv") == "given" else ""
    frame = f" of {record['frame']}" if record.get("frame") else ""
    parts = [f"{record['robot']} {function}{frame}{given}", str(record.get("numbers", ""))]
    if "interval" in record["estimates"]:
        parts.append(f"interval {record['estimates']['interval']:g}")
    if record.get("pipelines", 1) > 1:
        parts.append(f"{record['pipelines']} pipelines")
    if record.get("structure"):
        parts.append(str(record["structure"]))
    return ", ".join(part for part in parts if part)


def _estimates(report: dict[str, Any]) -> Figure:
    """Latency and resources of the schedule model, beside the anchor's."""
    stats = report["estimates"]
    comparable = report["function"] == "forward_dynamics_gradient"  # the anchor computes nothing else
    figures = (
        ("latency", "cycles to the result", ANCHOR.latency),
        ("interval", "cycles between states", ANCHOR.interval),
        ("multipliers", "variable multipliers", ANCHOR.multipliers),
        ("constant_multipliers", "constant multipliers", ANCHOR.constant_multipliers),
        ("adders", "adders", ANCHOR.adders),
        ("flip_flops", "flip-flops", ANCHOR.flip_flops),
    )
    shown = 2 if comparable else 1
    panels = []
    for key, name, theirs in figures:
        values = [stats[key], theirs][:shown]
        bars = Bars(values, colours=(_OURS, _THEIRS)[:shown], texts=[f"{int(v):,}" for v in values])
        panels.append(Panel([bars], name, categories=["this design", "anchor"][:shown], width=0.7, room=0.15))
    title = f"{report['robot']}: {report['function'].replace('_', ' ')}, estimates of the schedule model"
    anchor = " (anchor: the authors' Verilog for iiwa, gravity zero)" if comparable else ""
    return Figure("latency_and_resources", panels, (13, 3.2), f"{title}{anchor}")


def _resources(records: list[dict[str, Any]], target: str, figures: Sequence[tuple[str, str]]) -> Figure:
    """What synthesis for an FPGA measured, a panel per resource."""
    names = [_wrapped(describe(r)) for r in records]
    panels = []
    for key, name in figures:
        if any(key in r["synthesis"]["figures"] for r in records):
            values = _measured(records, key)
            bars = Bars(values, colours=(_OURS,), texts=[f"{v:,.0f}" if v == v else "" for v in values])
            panels.append(Panel([bars], name, categories=names, lying=True, room=0.5))
    return Figure(
        f"resources_{target.rstrip('+').lower()}",
        panels,
        (12, 1.6 + 0.8 * len(records)),
        f"{target}: resources measured by Yosys, before placement",
        share_y=True,
    )


def _measured(records: list[dict[str, Any]], key: str) -> list[float]:
    return [r["synthesis"]["figures"].get(key, float("nan")) for r in records]


def _area_and_power(records: list[dict[str, Any]]) -> Figure:
    """Standard cells as synthesised, and the papers' chip as published (dark: from, to)."""
    names = [*(_wrapped(describe(r)) for r in records), PAPERS_CHIP.name]
    figures = (
        ("area_mm2", "area (mm$^2$)", PAPERS_CHIP.area_mm2),
        ("critical_path_ns", "critical path (ns)", tuple(1e3 / f for f in reversed(PAPERS_CHIP.clock_mhz))),
        ("power_w", "power (W)", PAPERS_CHIP.power_w),
    )
    panels = []
    for key, title, (low, high) in figures:
        values = _measured(records, key)
        texts = [f"{v:.3g}" if v == v else "not measured" for v in values]
        bars = Bars([*values, low], colours=[_OURS] * len(values) + [_THEIRS])
        ends = [*texts, f"{low:.4g} to {high:.4g}"]
        published = Bars([0.0] * len(values) + [high - low], colours=(_RANGE,), texts=ends)
        marks = [bars, published]
        panels.append(Panel(marks, title, categories=names, stacked=True, lying=True, room=0.65))
    title = (
        "standard cells: ours by Yosys and OpenSTA (no wires, no clock tree, default activity);"
        " theirs as published"
    )
    return Figure("area_and_power", panels, (12, 2.0 + 0.8 * len(names)), title, share_y=True)


def _wrapped(text: str) -> str:
    head, _, tail = text.partition(", ")
    return f"{head}\n{tail}"
