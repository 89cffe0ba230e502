"""An inverse-kinematics chip as a folder: RTL, testbench with vectors, Makefile, drawings, a README, and a
manifest from which a host can make its words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from robomorph.accelerators.ik.make import IkChip
from robomorph.accelerators.ik.problems import MODES, mode_speculations
from robomorph.export.folders import write_folder
from robomorph.export.ik_chip_vectors import Vectors, make_vectors
from robomorph.export.manifest import manifest as common_manifest
from robomorph.export.rtl import MANIFEST
from robomorph.export.rtl_files import bench_files, makefile, stream_tables, synthesis_files
from robomorph.report.ik_chip_drawing import chip_blocks, chip_timeline
from robomorph.robot import Robot
from robomorph.targets.rtl.ik.chip import IkDesign
from robomorph.targets.rtl.ik.cycles import Cycles, cycles_of, period
from robomorph.targets.rtl.ik.stream_words import CAP_BITS, NEWTON_BIT, RELAXED_BIT, SATURATED, STATUS
from robomorph.targets.templates import fill

_WORDS = (
    "Beats of 32 bits, a word each. Signed, two's complement, unless it says otherwise; Qm.n has n fraction"
    " bits. Of a word in, the chip reads the bits that its format has; words out are sign-extended."
)


def export_chip(robot: Robot, chip: IkChip, folder: Path, *, force: bool = False) -> list[Path]:
    """Write everything; the files written. A folder that holds other things is refused unless forced. What an
    earlier export wrote there and this one does not is removed; files of others stay."""
    design, vectors = IkDesign(chip.plan), make_vectors(robot, chip)
    about = chip_manifest(chip)
    files = {f"rtl/{name}": text for name, text in design.files.items()}
    files |= bench_files(design, vectors.words, vectors.results, vectors.flags, vectors.quiet)
    files |= synthesis_files(design)
    files |= {
        "docs/blocks.svg": chip_blocks(design),
        "docs/timeline.svg": chip_timeline(design),
        "docs/register_map.md": stream_tables(_WORDS, about["inputs"], about["outputs"], design),
        "Makefile": makefile(design),
        "README.md": _readme(chip, design, about, vectors),
    }
    return write_folder(folder, files, about, manifest=MANIFEST, force=force)


def chip_manifest(chip: IkChip) -> dict[str, Any]:
    """Everything a driver needs to know: the words of both streams, and how they are made and read."""
    design, plan = IkDesign(chip.plan), chip.plan
    about = {
        "function": "quick_ik",
        "frame": chip.chain.frame,
        "top": design.top,
        "inputs": _inputs(chip),
        "outputs": _outputs(chip),
        "streams": {n: asdict(s) for n, s in zip(("in", "out"), design.streams, strict=True)},
        "position": {
            "base_rotation": chip.chain.base.rotation.tolist(),
            "base_translation_m": chip.chain.base.translation.tolist(),
            "unit_m": chip.length,
            "fraction_bits": plan.unit_frac,
            "bits": plan.target_bits,
            "last_place_m": chip.place,
        },
        "threshold": {
            "declared_error_m": chip.own_error,
            "lowered_by_m": chip.own_error,
            "bits": plan.square_bits,
        },
        "coordinates": coordinates(chip),
        "control": {
            "modes": dict(MODES),
            "speculations": {mode: mode_speculations(mode, plan.knobs) for mode in MODES},
            "most_iterations": (1 << CAP_BITS) - 1,
        },
        "statuses": {str(code): name for code, name in STATUS.items()},
        "saturated_bit": SATURATED.bit_length() - 1,
        "widths": asdict(plan.widths),
        "knobs": asdict(plan.knobs),
        "cycles": {mode: asdict(_cycles(design, mode)) for mode in MODES},
    }
    return common_manifest("rtl", chip.chain.name, about)


def coordinates(chip: IkChip) -> list[dict[str, Any]]:
    """How the word of each coordinate is made: (q * scale + zero) * 2**fraction_bits, rounded."""
    chain, tables = chip.chain, chip.plan.tables
    found = []
    for k, place in enumerate(chain.coordinates):
        driver = next(joint for joint in chain.joints if joint.coordinate == k)
        limits = (chain.lower[k], chain.upper[k])
        found.append(
            {
                "joint": driver.name,
                "q_index": place,
                "kind": "slides" if driver.slides else "turns",
                "scale": float(chip.coordinates.per_coordinate[k]),
                "zero": float(chip.coordinates.zero[k]),
                "fraction_bits": chip.plan.widths.theta,
                "bits": chip.plan.theta_bits,
                "limited": bool(tables.coordinate_clamped[k]),
                "lower_word": int(tables.coordinate_lower[k]),
                "upper_word": int(tables.coordinate_upper[k]),
                "limits": [x if math.isfinite(x) else None for x in limits],
            }
        )
    return found


def _inputs(chip: IkChip) -> list[dict[str, str]]:
    plan = chip.plan
    place = f"{_format(plan.target_bits, plan.unit_frac)} units"
    high = max(0, plan.square_bits - 32)
    words = [(f"target_{axis}", place) for axis in "xyz"]
    words += [("threshold_low", "32 bits, no sign"), ("threshold_high", f"{high} bits, no sign")]
    words += [("most_iterations", f"{CAP_BITS} bits, no sign"), ("control", "fields")]
    return _named([*words, *_thetas(chip)])


def _outputs(chip: IkChip) -> list[dict[str, str]]:
    high = max(0, chip.plan.square_bits - 32)
    words = [("status", "fields"), ("iterations", f"{CAP_BITS} bits, no sign")]
    words += [("squared_error_low", "32 bits, no sign"), ("squared_error_high", f"{high} bits, no sign")]
    return _named([*words, *_thetas(chip)])


def _named(words: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "format": form} for name, form in words]


def _thetas(chip: IkChip) -> list[tuple[str, str]]:
    form = _format(chip.plan.theta_bits, chip.plan.widths.theta)
    units = {"turns": "turns", "slides": f"of {2**chip.plan.slide_log} units"}
    return [(f"theta[{c['joint']}]", f"{form} {units[c['kind']]}") for c in coordinates(chip)]


def _format(bits: int, frac: int) -> str:
    return f"Q{bits - frac}.{frac}"


def _cycles(design: IkDesign, mode: str) -> Cycles:
    bits, tried = MODES[mode], mode_speculations(mode, design.plan.knobs)
    newton, relaxed = bool(bits & NEWTON_BIT), bool(bits & RELAXED_BIT)
    return cycles_of(design.timing, tried, newton=newton, relaxed=relaxed)


# --- the README -------------------------------------------------------------------------------------------


def _readme(chip: IkChip, design: IkDesign, about: dict[str, Any], vectors: Vectors) -> str:
    plan, k = chip.plan, chip.plan.knobs
    words = {
        **{"top": design.top, "robot": chip.chain.name, "frame": chip.chain.frame, "manifest": MANIFEST},
        **{"joints": str(plan.joints), "coordinates": str(plan.coordinates), "units": str(k.units)},
        **{"speculations": str(k.speculations), "problems": str(k.problems), "what": _what(chip)},
        "inputs": _rows(about["inputs"]),
        "outputs": _rows(about["outputs"]),
        "statuses": ", ".join(f"{code} {name}" for code, name in STATUS.items()),
        "most_log": str(k.most_log),
        "rotation": _matrix(about["position"]["base_rotation"]),
        "translation": ", ".join(f"{x!r}" for x in about["position"]["base_translation_m"]),
        "unit": f"{chip.length!r}",
        "unit_frac": str(plan.unit_frac),
        "target_bits": str(plan.target_bits),
        "target_most": str((1 << plan.target_bits - 1) - 1),
        "place": f"{chip.place:.3e}",
        "error": f"{chip.own_error:.3e}",
        "lowered": f"{about['threshold']['lowered_by_m']!r}",
        "square_bits": str(plan.square_bits),
        "theta": str(plan.widths.theta),
        "theta_bits": str(plan.theta_bits),
        "whole": str(2**plan.turns),
        "slides": str(2**plan.slide_log),
        "coordinate_rows": "\n".join(map(_coordinate_row, about["coordinates"])),
        "cycle_rows": "\n".join(_cycle_row(mode, _cycles(design, mode)) for mode in MODES),
        "flight": f"{period(design.timing, k.speculations, k.problems):g}",
        "knobs": ", ".join(f"{n} {v}" for n, v in {**about["knobs"], **about["widths"]}.items()),
        "count": str(len(vectors.words)),
        **_example(vectors),
    }
    return fill("rtl", "README_ik.md.in", words)


def _what(chip: IkChip) -> str:
    plan = chip.plan
    found = [
        text for text, there in (("sliding joints", plan.sliding), ("coupled joints", plan.coupled)) if there
    ]
    found.append("limits are kept" if plan.limited else "no joint has limits")
    return ", ".join(found)


def _rows(entries: Sequence[dict[str, str]]) -> str:
    return "\n".join(f"| {k} | `{e['name']}` | {e['format']} |" for k, e in enumerate(entries))


def _matrix(rows: Sequence[Sequence[float]]) -> str:
    return ", ".join("[" + ", ".join(f"{x!r}" for x in row) + "]" for row in rows)


def _coordinate_row(c: dict[str, Any]) -> str:
    ends = f"{c['lower_word']} to {c['upper_word']}" if c["limited"] else "none: wraps"
    return f"| `{c['joint']}` | {c['q_index']} | {c['kind']} | {c['scale']!r} | {c['zero']!r} | {ends} |"


def _cycle_row(mode: str, c: Cycles) -> str:
    return (
        f"| {mode} | {c.speculations} | {c.joints} * ({c.serial_gap} + {c.search_gap}) + {c.constant} | "
        f"{c.iteration} | {c.outside} |"
    )


def _example(vectors: Vectors) -> dict[str, str]:
    """The testbench's first problem, in numbers and in words."""
    problems, answers = vectors.problems[0], vectors.answers[0]
    q = problems.configurations(answers.words)[0]
    own = list(problems.chip.chain.coordinates)
    return {
        "example_mode": problems.mode,
        "example_tolerance": f"{problems.tolerance:g}",
        "example_target": ", ".join(f"{x:.9g}" for x in problems.targets[0]),
        "example_start": ", ".join(f"{x:.9g}" for x in problems.starts[0][own]),
        "example_in": " ".join(f"{int(w) & 0xFFFFFFFF:08x}" for w in problems.words[0]),
        "example_out": " ".join(f"{int(w) & 0xFFFFFFFF:08x}" for w in answers.words[0]),
        "example_status": STATUS[int(answers.status[0])],
        "example_iterations": str(int(answers.iterations[0])),
        "example_distance": f"{problems.distances(answers.words)[0]:.3e}",
        "example_q": ", ".join(f"{x:.9g}" for x in q[own]),
    }
