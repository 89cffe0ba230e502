"""An accelerator as a folder: RTL, testbench with vectors, Makefile, register map, drawings and a README."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.accelerators.accuracy import error_report
from robomorph.export.folders import write_folder
from robomorph.export.manifest import manifest as common_manifest
from robomorph.ir.text import entry_names
from robomorph.report.rtl_drawing import block_diagram, timeline
from robomorph.targets.rtl.accelerator import Accelerator
from robomorph.targets.rtl.design import DesignStats
from robomorph.targets.rtl.stream import Stream
from robomorph.targets.rtl.synthesis import ultrascale_passes
from robomorph.targets.templates import fill, source_file

Array = npt.NDArray[Any]
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
    files |= _testbench(accelerator) | _synthesis(accelerator)
    files |= {
        "docs/blocks.svg": block_diagram(accelerator.design),
        "docs/timeline.svg": timeline(accelerator.design),
        "docs/register_map.md": register_map(accelerator),
        "Makefile": _makefile(accelerator),
        "README.md": _readme(accelerator),
    }
    return write_folder(folder, files, manifest(accelerator), manifest=MANIFEST, force=force)


def manifest(accelerator: Accelerator) -> dict[str, Any]:
    """Everything a driver needs to know: the words of both streams and their formats."""
    fixed, design = accelerator.fixed, accelerator.design
    names = entry_names(fixed.program.inputs)
    about = {
        "function": accelerator.source.request.algorithm,
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
    lines = ["# Words on the streams", "", _WORDS[accelerator.options.boundary], ""]
    for title, entries, stream in (
        ("s_axis (in)", data["inputs"], accelerator.design.streams[0]),
        ("m_axis (out)", data["outputs"], accelerator.design.streams[1]),
    ):
        lines += [f"## {title}", "", "| word | beat | bits | signal | format |", "|---|---|---|---|---|"]
        for k, entry in enumerate(entries):
            beat, lane = divmod(k, stream.lanes)
            low = lane * stream.container
            bits = f"{low + stream.container - 1}:{low}"
            lines.append(f"| {k} | {beat} | {bits} | `{entry['name']}` | {entry['format']} |")
        lines.append("")
    return "\n".join(lines)


def _testbench(accelerator: Accelerator) -> dict[str, str]:
    design = accelerator.design
    source, sink = design.streams
    words, _ = accelerator.words(accelerator.sample(_STATES, seed=7))
    result = accelerator.boundary.run(words)
    macros = {
        "RM_TOP": design.top,
        "RM_STATES": _STATES,
        "RM_CONTAINER": source.container,
        "RM_LANES_IN": source.lanes,
        "RM_BEATS_IN": source.beats,
        "RM_LANES_OUT": sink.lanes,
        "RM_BEATS_OUT": sink.beats,
    }
    bench = source_file("rtl", "sim/testbench.sv")
    return {
        "sim/testbench.sv": bench,
        "sim/vectors.svh": "".join(f"`define {name} {value}\n" for name, value in macros.items()),
        "sim/stimulus.hex": _beats(words[:, list(design.input_slots)], source, None),
        "sim/expected.hex": _beats(result.words, sink, result.overflow),
    }


def _synthesis(accelerator: Accelerator) -> dict[str, str]:
    """A script for Yosys, and a stand-in for its program."""
    design = accelerator.design
    script = [
        *(f"read_verilog -sv -D SYNTHESIS rtl/{name}" for name in design.files),
        f"hierarchy -check -top {design.top}",
        *ultrascale_passes(design.top),
        f"tee -o build/synthesis.txt stat -top {design.top}",
    ]
    runner = source_file("rtl", "synth/yosys.py")
    return {"synth/ultrascale.ys": "\n".join(script) + "\n", "synth/yosys.py": runner}


def _beats(words: Array, stream: Stream, flags: Array | None) -> str:
    """Beats as hexadecimal lines; flags, if any, go above the data."""
    mask = (1 << stream.container) - 1
    lines = []
    for n, row in enumerate(words):
        padded = np.zeros(stream.beats * stream.lanes, np.int64)
        padded[: len(row)] = row
        for beat in padded.reshape(stream.beats, stream.lanes):
            value = sum((int(w) & mask) << (k * stream.container) for k, w in enumerate(beat))
            if flags is not None:
                value |= int(flags[n]) << stream.data_bits
            lines.append(f"{value:x}")
    return "\n".join(lines) + "\n"


def _makefile(accelerator: Accelerator) -> str:
    sources = " \\\n  ".join(f"rtl/{name}" for name in accelerator.design.files)
    return fill("rtl", "Makefile.in", {"top": accelerator.design.top, "sources": sources})


def _readme(accelerator: Accelerator) -> str:
    report = error_report(accelerator, accelerator.sample(1000, seed=3))
    errors = [f"| {o.name} | {o.worst:.2e} | {o.typical:.2e} | {o.largest:.4g} |" for o in report.outputs]
    shared = accelerator.options.trig == "host"
    words = {
        "top": accelerator.design.top,
        "function": accelerator.source.request.algorithm,
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
