"""The tables of `robomorph rtl`."""

from __future__ import annotations

from typing import Any

from robomorph.cli.rtl_units import unit_table
from robomorph.cli.terminal import make_console, make_table
from robomorph.report.papers import KEPT_BY_PAPERS, PAPERS_CHIP
from robomorph.report.rtl_resources import describe

_ESTIMATES = {
    "latency": "cycles, last word in to result ready",
    "last_word": "cycles, last word in to last word out",
    "interval": "cycles between states",
    "period": "longest chain of a cycle, in multiplications",
    "multipliers": "variable multipliers",
    "multiplications": "products they share",
    "constant_multipliers": "constant multipliers (shift and add)",
    "constant_adders": "adders in them",
    "adders": "adders",
    "reciprocal_units": "reciprocal units",
    "rotate_units": "sine and cosine units",
    "flip_flops": "flip-flops (values, stream buffers)",
    "memory_bits": "bits in memories",
    "input_words": "words in",
    "output_words": "words out",
    "input_bits": "bits of a beat, in",
    "output_bits": "bits of a beat, out",
}


def print_report(report: dict[str, Any]) -> None:
    console = make_console()
    title = f"{report['function']} of {report['robot']}: {report['numbers']}"
    table = make_table(title, ("from the schedule model (estimates)", "figure"))
    for key, text in _ESTIMATES.items():
        if report["estimates"][key]:
            table.add_row(text, f"{report['estimates'][key]:g}")
    _add_rate(table, report["estimates"])
    console.print(table)
    parts = (unit_table, _sparsity, _ranges, _errors, _widen, _simulated, _sweep, _space)
    for part in (*parts, synthesis_table, _area_and_power):
        made = part(report)
        if made is not None:
            console.print(made)
    warnings = report["lint"]
    console.print("lint: clean, all warnings on" if not warnings else f"lint: {warnings}", markup=False)
    if "files" in report:
        console.print(f"{len(report['files'])} files written", markup=False)


def _add_rate(table: Any, estimates: dict[str, Any]) -> None:
    """How many states leave the chip, and what keeps more from it."""
    table.add_row("states a second, per MHz of its clock", f"{1e6 / estimates['interval']:,.0f}")
    table.add_row("what bounds the rate", estimates["bound_by"])
    if estimates["pipelines"] > 1:
        table.add_row("pipelines (figures are of all)", str(estimates["pipelines"]))


def _sparsity(report: dict[str, Any]) -> Any:
    table = make_table(
        "transform unit (6x6 times 6)",
        ("frames", "", "dense", "robot-agnostic", "superposed", "average", "kept", "kept beyond"),
        left=2,
        caption="kept: what one unit for all joints saves over a dense one, of what an average joint saves; "
        "kept beyond: the same over a robot-agnostic unit. The papers' unit: "
        f"{100 * KEPT_BY_PAPERS:.1f}%, counted in one of the two ways. "
        f"{_sparsest(report['sparsity']['as_given'])}",
    )
    for key, name in (("as_given", "as given"), ("chosen_frames", "chosen")):
        figure = report["sparsity"][key]
        for kind in ("multipliers", "adders"):
            cells = [f"{figure[c][kind]:.3g}" for c in ("none", "robot_agnostic", "superposed", "average")]
            shares = (figure["kept"], figure["kept_beyond_agnostic"])
            table.add_row(name, kind, *cells, *(f"{100 * share:.1f}%" for share in shares))
    return table


def _sparsest(figure: dict[str, Any]) -> str:
    """The joint whose own unit would be the smallest, beside a dense one."""
    joints, dense = figure["joints"], figure["none"]
    best = min(range(len(joints)), key=lambda k: joints[k]["multipliers"])
    parts = []
    for kind in ("multipliers", "adders"):
        own, whole = joints[best][kind], dense[kind]
        parts.append(f"{own:g} of {whole:g} {kind} ({100 * (1 - own / whole):.0f}% fewer)")
    return f"As given, joint {best + 1} alone: {', '.join(parts)}"


def _ranges(report: dict[str, Any]) -> Any:
    found = report["ranges"]
    proven = found["largest_proven"]
    table = make_table("ranges of signals", ("", "figure"), caption=_what_is_proven(found))
    table.add_row("formats from", found["formats_from"])
    table.add_row("signals", str(found["signals"]))
    table.add_row("largest magnitude, profiled", f"{found['largest_profiled']:.4g}")
    table.add_row("largest magnitude, proven", "none" if proven is None else f"{proven:.4g}")
    table.add_row("signals without a proven bound", str(found["without_proven_bound"]))
    return table


def _what_is_proven(found: dict[str, Any]) -> str:
    text = f"proven: by intervals, for {', '.join(found['proven_for'])}"
    return f"{text}; assumed, not proven: {', '.join(found['assumed'])}" if found["assumed"] else text


def _widen(report: dict[str, Any]) -> Any:
    table = make_table(
        "signals to widen first",
        ("signal", "feeds most", "format", "share"),
        left=3,
        caption="feeds most: outputs with the largest derivatives by the signal; share: of the error "
        "variance of all outputs, what the roundings of a signal cause, estimated",
    )
    for signal in report["errors"]["widen"]:
        feeds = ", ".join(signal["feeds"]).replace("[", "\\[")
        name = signal["name"].replace("[", "\\[")
        table.add_row(name, feeds, signal["format"], f"{100 * signal['share']:.1f}%")
    return table


def _errors(report: dict[str, Any]) -> Any:
    found = report["errors"]
    table = make_table(
        f"errors against float64, {found['states']} random states, {found['overflows']} overflows",
        ("output", "worst", "typical", "largest value"),
    )
    for o in found["outputs"]:
        table.add_row(o["name"], f"{o['worst']:.2e}", f"{o['typical']:.2e}", f"{o['largest']:.4g}")
    return table


def _simulated(report: dict[str, Any]) -> Any:
    if "simulated" not in report:
        return None
    found = report["simulated"]
    table = make_table(f"simulated (Verilator), {found['states']} states", ("measured", "figure"))
    verdict = "every bit equals the interpreter" if found["exact"] else f"{found['wrong_words']} WRONG WORDS"
    table.add_row("results, with random pauses on both streams", verdict)
    table.add_row("cycles, last word in to result ready", str(found["latency"]))
    table.add_row("cycles, last word in to last word out", str(found["last_word"]))
    interval = found["interval"]  # needs more than a few states
    table.add_row(
        "cycles between states, in a burst", f"{interval:.2f}" if interval == interval else "too few"
    )
    return table


def _sweep(report: dict[str, Any]) -> Any:
    if "sweep" not in report:
        return None
    table = make_table("word widths", ("format", "worst error", "overflows"), caption="of all outputs")
    for kind in ("per_signal", "single_format"):
        for one in report["sweep"][kind]:
            worst = max(o["worst"] for o in one["outputs"])
            table.add_row(one["format"], f"{worst:.2e}", str(one["overflows"]))
    return table


def _space(report: dict[str, Any]) -> Any:
    if "space" not in report:
        return None
    table = make_table(
        "design space (estimates), Pareto front only",
        ("structure", "interval", "period", "latency", "multipliers", "adders", "flip-flops"),
        caption="period in multiplications; the front: time per state, latency, multipliers and adders",
    )
    for one in report["space"]:
        if one["pareto"]:
            keys = ("interval", "period", "latency", "multipliers", "all_adders", "flip_flops")
            table.add_row(one["structure"], *(f"{one[key]:g}" for key in keys))
    return table


def synthesis_table(report: dict[str, Any]) -> Any:
    records = report.get("results", [])
    if not records:
        return None
    table = make_table("synthesis (measured)", ("design", "target", "figure", "value"), left=3)
    for record in records:
        made = record["synthesis"]
        for name, value in made["figures"].items():
            table.add_row(describe(record), made["target"], name, f"{value:.6g}")
    return table


def _area_and_power(report: dict[str, Any]) -> Any:
    cells = [r for r in report.get("results", []) if "area_mm2" in r["synthesis"]["figures"]]
    if not cells:
        return None
    table = make_table(
        "standard cells",
        ("design", "area, mm2", "critical path, ns", "power, W", "clock of the power, MHz"),
        caption="ours: no wires, no clock tree; power with every net changing in a tenth of the cycles",
    )
    for record in cells:
        figures = record["synthesis"]["figures"]
        clock = 1e3 / figures["clock_ns"] if "clock_ns" in figures else None
        values = (figures["area_mm2"], figures.get("critical_path_ns"), figures.get("power_w"), clock)
        table.add_row(describe(record), *("not measured" if v is None else f"{v:.3g}" for v in values))
    chip = PAPERS_CHIP
    spans = (chip.area_mm2, tuple(1e3 / f for f in reversed(chip.clock_mhz)), chip.power_w, chip.clock_mhz)
    table.add_row(f"{chip.name}: as published", *(f"{low:.4g} to {high:.4g}" for low, high in spans))
    return table
