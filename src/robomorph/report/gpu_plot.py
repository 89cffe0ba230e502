"""The GPU report as a figure: registers, spills, occupancy, bytes moved and the estimated roofline."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from robomorph.report.bars_svg import bars_svg
from robomorph.report.figures import Bars, Figure, Panel
from robomorph.report.gpu_kernels import KernelReport

_COLOURS = {"thread": "#4477aa", "group": "#cc6677"}

Value = Callable[[KernelReport], float]


def report_svg(reports: Sequence[KernelReport], title: str, architecture: int) -> str:
    """The picture for one architecture."""
    return bars_svg(report_figure(reports, title, architecture))


def report_figure(reports: Sequence[KernelReport], title: str, architecture: int) -> Figure:
    """Five panels of bars, one bar per partitioning and mapping, for one architecture."""
    gpu = next((r.gpu.name for k in reports for r in k.roofline if r.gpu.architecture == architecture), "")
    panels: list[tuple[str, Value, str]] = [
        (
            f"registers per thread, sm_{architecture}",
            lambda k: _compiled(k, architecture, "registers"),
            "{:.0f}",
        ),
        (
            f"bytes of spill stores, sm_{architecture}",
            lambda k: _compiled(k, architecture, "spill_stores"),
            "{:.0f}",
        ),
        (f"theoretical occupancy, sm_{architecture}", lambda k: _occupancy(k, architecture), "{:.0%}"),
        ("bytes moved per evaluation, both ways", lambda k: float(k.cost.bytes_total), "{:.0f}"),
        (
            f"million evaluations/s on {gpu} at peak rates, data on the device (ESTIMATE, not measured)",
            lambda k: _estimate(k, architecture),
            "{:.1f}",
        ),
    ]
    return Figure("gpu", [_panel(reports, *panel) for panel in panels], (7.6, 8.0), title)


def _panel(reports: Sequence[KernelReport], title: str, value: Value, form: str) -> Panel:
    rows = [(k, value(k)) for k in reports if value(k) >= 0]
    bars = Bars(
        [v for _, v in rows],
        colours=[_COLOURS[k.mapping] for k, _ in rows],
        texts=[form.format(v) for _, v in rows],
    )
    names = [f"{k.partitioning.replace('_', ' ')}, {k.mapping}" for k, _ in rows]
    return Panel([bars], title, categories=names, lying=True)


def _compiled(kernel: KernelReport, architecture: int, name: str) -> float:
    """A figure of the compiled kernel; -1 if it was not compiled."""
    found = [c for c in kernel.compiled if c.architecture == architecture]
    return float(getattr(found[0].info, name)) if found else -1.0


def _occupancy(kernel: KernelReport, architecture: int) -> float:
    found = [c for c in kernel.compiled if c.architecture == architecture]
    return found[0].occupancy.fraction if found else -1.0


def _estimate(kernel: KernelReport, architecture: int) -> float:
    found = [r for r in kernel.roofline if r.gpu.architecture == architecture]
    return found[0].resident_per_second / 1e6 if found else -1.0
