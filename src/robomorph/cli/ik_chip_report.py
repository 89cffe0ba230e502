"""The tables of `robomorph rtl --algorithm quick_ik`."""

from __future__ import annotations

from typing import Any

from robomorph.cli.rtl_report import synthesis_table
from robomorph.cli.terminal import make_console, make_table


def print_chip_report(report: dict[str, Any]) -> None:
    console = make_console()
    chosen = " (the robot's only end: --frame takes others)" if report["frame_chosen"] else ""
    title = f"{report['function']} of {report['robot']}, {report['frame']}{chosen}: {report['numbers']}"
    console.print(title, style="bold", markup=False)
    for part in (_chain, _words, _cycles, _simulated, _truth, synthesis_table, _energy):
        made = part(report)
        if made is not None:
            console.print(made)
    warnings = report["lint"]
    console.print("lint: clean, all warnings on" if not warnings else f"lint: {warnings}", markup=False)
    if "files" in report:
        console.print(f"{len(report['files'])} files written", markup=False)


def _chain(report: dict[str, Any]) -> Any:
    found = report["chain"]
    table = make_table("chain", ("", "figure"))
    rows = {"joints": "joints", "coordinates": "coordinates", "sliding": "joints that slide"}
    rows |= {"coupled": "joints that follow others", "limited": "coordinates with limits"}
    for key, text in rows.items():
        table.add_row(text, str(found[key]))
    table.add_row("reach, m", f"{found['reach_m']:.4g}")
    for name, value in report["knobs"].items():
        table.add_row(f"knob {name}", str(value))
    return table


def _words(report: dict[str, Any]) -> Any:
    found = report["words"]
    table = make_table("words", ("", "format"))
    for name, form in found["formats"].items():
        table.add_row(name, form)
    table.add_row("words of a problem, of a result", f"{found['input_words']}, {found['output_words']}")
    table.add_row("length of 1.0, m", f"{found['unit_length_m']:.6g}")
    table.add_row("last place of a position, m", f"{found['last_place_m']:.3g}")
    table.add_row("declared own error of a position, m", f"{found['declared_error_m']:.3g}")
    return table


def _cycles(report: dict[str, Any]) -> Any:
    estimates = report["estimates"]
    flight, problems = estimates["cycles_in_flight"], report["knobs"]["problems"]
    table = make_table(
        "cycles by the formula",
        ("mode", "K", "joints", "serial, L", "search, K/F", "constant", "iteration", "outside"),
        caption="iteration = joints * (L + K/F) + constant; search: a joint's cycles there, no fewer than "
        "its loop takes. outside: of a solve, from its last word in to its result, beside its iterations. "
        f"{problems} in flight: an iteration of Quick-IK ends every {flight:g} cycles",
    )
    keys = ("speculations", "joints", "serial_gap", "search_gap", "constant", "iteration", "outside")
    for mode, one in estimates["cycles"].items():
        table.add_row(mode, *(str(one[key]) for key in keys))
    return table


def _simulated(report: dict[str, Any]) -> Any:
    if "simulated" not in report:
        return None
    found = report["simulated"]
    table = make_table(
        f"simulated (Verilator), {found['problems']} problems a mode to {found['tolerance_m']:g} m",
        (
            "mode",
            "words, flags",
            "cycles",
            "solved",
            "cap",
            "stalled",
            "iterations",
            "cycles alone",
            "in flight",
        ),
        caption="words, flags: every word, count, status and flag is the definition's, with pauses on the "
        "streams, in a burst and one by one. cycles: as the formula says, of problems sent one by one. "
        "iterations: mean. cycles alone: mean of those; in flight: per iteration, in a burst",
    )
    for mode, one in found["modes"].items():
        states = one["statuses"]
        table.add_row(
            mode,
            "exact" if one["exact"] else f"{one['wrong_words']} words, {one['wrong_flags']} flags WRONG",
            _verdict(one),
            *(str(states[key]) for key in ("converged", "cap reached", "stalled")),
            f"{one['mean_iterations']:.4g}",
            f"{one['mean_cycles_alone']:.0f}",
            f"{one['cycles_per_iteration_in_flight']:.4g}",
        )
    return table


def _verdict(one: dict[str, Any]) -> str:
    """About cycles."""
    if not one["cycles_compared"]:
        return "all stalled"
    return f"equal ({one['cycles_compared']})" if one["cycles_exact"] else "DIFFER"


def _truth(report: dict[str, Any]) -> Any:
    if "simulated" not in report:
        return None
    table = make_table(
        "true errors, by forward kinematics in float64",
        ("mode", "worst of the solved, m", "beyond the tolerance", "chip's own, m", "beyond the declared"),
        caption="chip's own: how far its distances from the target are from the true ones, at most",
    )
    for mode, one in report["simulated"]["modes"].items():
        worst = one["worst_true_error_m"]
        table.add_row(
            mode,
            "none solved" if worst is None else f"{worst:.3e}",
            str(one["beyond_tolerance"]),
            f"{one['worst_own_error_m']:.2e}",
            str(one["beyond_declared"]),
        )
    return table


def _energy(report: dict[str, Any]) -> Any:
    """Of what standard cells were synthesised for: power at its clock, over the cycles of the formula."""
    found = report.get("synthesis_cells", {}).get("figures", {})
    if "power_w" not in found:
        return None
    path, per_cycle = found["critical_path_ns"], found["power_w"] * found["clock_ns"]  # ns, nJ
    table = make_table(
        "time and energy of an iteration, computed",
        ("mode", "cycles", "us", "uJ"),
        caption=f"cycles by the formula, one problem in flight, at the clock that the critical path allows "
        f"({1e3 / path:.0f} MHz); {per_cycle:.3g} nJ a cycle: power by OpenSTA over a cycle of its clock, "
        "every net changing in a tenth of the cycles; no wires, no clock tree, memories as flip-flops",
    )
    for mode, one in report["estimates"]["cycles"].items():
        cycles = one["iteration"]
        table.add_row(mode, str(cycles), f"{1e-3 * cycles * path:.3f}", f"{1e-3 * cycles * per_cycle:.3f}")
    return table
