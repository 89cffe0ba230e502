"""An accelerator as a folder: RTL, testbench with vectors, Makefile, register map, drawings and a README."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from robomorph.accelerators.accuracy import error_report
from robomorph.export.folders import write_folder
from robomorph.export.manifest import manifest as common_manifest
from robomorph.export.rtl_files import bench_files, makefile, stream_tables, synthesis_files
from robomorph.ir.text import entry_names
from robomorph.report.rtl_drawing import block_diagram, timeline
from robomorph.targets.rtl.accelerator import Accelerator
from robomorph.targets.rtl.design import DesignStats
from robomorph.targets.templates import fill

MANIFEST = "design.json"
_STATES = 50  # of the testbench
# Words on the streams, for the README and for the register map.
_BOUNDARY = {
    "fixed": "Words on the streams are\nfixed point, each in its own format.",
    "float32": "Words on the streams are\nfloat32, converted on the chip; what does not fit, infinities and"
    " NaNs saturate and are\nmarked.",
}
_WORDS = {
    "fixed": "Signed, two's complement; Qm.n has n fraction bits.",
    "float32": "IEEE 754 float32. The format is the one that the chip converts a word to, or from: in,"
    " rounded to the nearest (halves upwards) and saturated; out, rounded to the nearest (halves to even).",
}


def export_accelerator(accelerator: Accelerator, folder: Path, *, force: bool = False) -> list[Path]:
    """Write everything; the files written. A folder that holds other things is refused unless forced. What an
    earlier export wrote there and this one does not is removed; files of others stay."""
    files = {f"rtl/{name}": text for name, text in accelerator.design.files.items()}
    files |= _testbench(accelerator) | synthesis_files(accelerator.design)
    files |= {
        "docs/blocks.svg": block_diagram(accelerator.design),
        "docs/timeline.svg": timeline(accelerator.design),
        "docs/register_map.md": register_map(accelerator),
        "Makefile": makefile(accelerator.design),
        "README.md": _readme(accelerator),
    }
    return write_folder(folder, files, manifest(accelerator), manifest=MANIFEST, force=force)


def manifest(accelerator: Accelerator) -> dict[str, Any]:
    """Everything a driver needs to know: the words of both streams and their formats."""
    fixed, design = accelerator.fixed, accelerator.design
    names = entry_names(fixed.program.inputs)
    about = {
        "function": accelerator.source.request.name,
        "top": design.top,
        "numbers": accelerator.options.numbers.name,
        "boundary": accelerator.options.boundary,
        "inputs": [{"name": names[k], "format": fixed.input_formats[k].name} for k in design.input_slots],
        "outputs": [
            {"name": name, "format": form.name}
            for name, form in zip(entry_names(fixed.program.outputs), fixed.output_formats, strict=True)
        ],
        "streams": {n: asdict(s) for n, s in zip(("in", "out"), design.streams, strict=True)},
        "estimates": design.stats_dict(),
    }
    return common_manifest("rtl", accelerator.source.specialiser.model.name, about)


def register_map(accelerator: Accelerator) -> str:
    """Where every word is on the streams, and its format."""
    data = manifest(accelerator)
    about = _WORDS[accelerator.options.boundary]
    return stream_tables(about, data["inputs"], data["outputs"], accelerator.design)


def _testbench(accelerator: Accelerator) -> dict[str, str]:
    words, _ = accelerator.words(accelerator.sample(_STATES, seed=7))
    result = accelerator.boundary.run(words)
    return bench_files(accelerator.design, words, result.words, result.overflow)


def _readme(accelerator: Accelerator) -> str:
    report = error_report(accelerator, accelerator.sample(1000, seed=3))
    errors = [f"| {o.name} | {o.worst:.2e} | {o.typical:.2e} | {o.largest:.4g} |" for o in report.outputs]
    shared = accelerator.options.trig == "host"
    words = {
        "top": accelerator.design.top,
        "function": accelerator.source.request.name,
        "robot": accelerator.source.specialiser.model.name,
        "arguments": ", ".join(port.name for port in accelerator.chip.inputs),
        "host": "sines and cosines come from the host" if shared else "nothing is left to the host",
        "numbers": accelerator.options.numbers.name,
        "boundary": _BOUNDARY[accelerator.options.boundary],
        "errors": "\n".join(errors),
        "manifest": MANIFEST,
        "states": str(_STATES),
    }
    return fill("rtl", "README.md.in", words | _estimates(accelerator.design.stats))


def _estimates(stats: DesignStats) -> dict[str, str]:
    counts = (
        *("latency", "last_word", "pipelines", "word_bits", "multipliers", "multiplications"),
        *("constant_multipliers", "constant_adders", "adders", "flip_flops", "memory_bits"),
    )
    turns = f", in one of {stats.pipelines} pipelines in turn" if stats.pipelines > 1 else ""
    found = {name: str(getattr(stats, name)) for name in counts}
    return found | {"interval": f"{stats.interval:g}", "in_turn": turns}
