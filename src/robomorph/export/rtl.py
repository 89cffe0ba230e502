"""An accelerator as a folder: RTL, testbench with vectors, Makefile, register map, drawings and a README."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.accelerators.accuracy import error_report
from robomorph.export.folders import write_folder
from robomorph.ir.text import entry_names
from robomorph.report.rtl_drawing import block_diagram, timeline
from robomorph.targets.rtl.accelerator import Accelerator
from robomorph.targets.rtl.design import DesignStats
from robomorph.targets.rtl.stream import Stream
from robomorph.targets.rtl.synthesis import ultrascale_passes

Array = npt.NDArray[Any]
_MANIFEST = "design.json"
_GENERATOR = "robomorph"  # tells our manifest from another's
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
    listed = {**manifest(accelerator), "files": sorted([*files, _MANIFEST])}
    files[_MANIFEST] = json.dumps(listed, indent=2) + "\n"
    return write_folder(folder, files, _MANIFEST, ours=_is_design, force=force)


def _is_design(found: Mapping[str, Any]) -> bool:
    return bool(found.get("generator") == _GENERATOR)


def manifest(accelerator: Accelerator) -> dict[str, Any]:
    """Everything a driver needs to know: the words of both streams and their formats."""
    fixed, design = accelerator.fixed, accelerator.design
    names = entry_names(fixed.program.inputs)
    return {
        "generator": _GENERATOR,
        "function": accelerator.source.request.algorithm,
        "robot": accelerator.source.specialiser.model.name,
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
    bench = (resources.files("robomorph.targets.rtl") / "sim" / "testbench.sv").read_text()
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
    runner = (resources.files("robomorph.targets.rtl") / "synth" / "yosys.py").read_text()
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
    top = accelerator.design.top
    sources = " \\\n  ".join(f"rtl/{name}" for name in accelerator.design.files)
    return f"""\
# lint: all of Verilator's warnings. simulate: the testbench with its vectors. synthesise: Yosys, UltraScale+.
# The tools may be the system's, or those of the Python packages verilator and pyosys.
TOP := {top}
RTL := {sources}
PYTHON ?= python3
VERILATOR ?= $(shell command -v verilator || command -v verilator-cli || echo verilator)
YOSYS ?= $(shell command -v yosys || echo $(PYTHON) synth/yosys.py)
# The last of these is for the Verilator of the Python package, which was built without a compiler's help.
FLAGS := --binary --timing --assert -CFLAGS -std=c++20 -MAKEFLAGS CFG_CXXFLAGS_PCH_I=-include

.PHONY: lint simulate synthesise clean
lint:
\t$(VERILATOR) --lint-only -Wall --top-module $(TOP) $(RTL)

simulate: build/Vtestbench
\tcd sim && ../build/Vtestbench

build/Vtestbench: $(RTL) sim/testbench.sv sim/vectors.svh
\t$(VERILATOR) $(FLAGS) -Isim --Mdir build --top-module testbench sim/testbench.sv $(RTL)

synthesise: build/synthesis.txt
\tcat $<

build/synthesis.txt: $(RTL) synth/ultrascale.ys
\tmkdir -p build
\t$(YOSYS) -s synth/ultrascale.ys

clean:
\trm -rf build
"""


def _pipelines(s: DesignStats) -> str:
    return f", in one of {s.pipelines} pipelines in turn" if s.pipelines > 1 else ""


def _readme(accelerator: Accelerator) -> str:
    s = accelerator.design.stats
    report = error_report(accelerator, accelerator.sample(1000, seed=3))
    errors = "\n".join(
        f"| {o.name} | {o.worst:.2e} | {o.typical:.2e} | {o.largest:.4g} |" for o in report.outputs
    )
    arguments = ", ".join(port.name for port in accelerator.chip.inputs)
    shared = accelerator.options.trig == "host"
    host = "sines and cosines come from the host" if shared else "nothing is left to the host"
    return f"""\
# {accelerator.design.top}

{accelerator.source.request.algorithm} of {accelerator.source.specialiser.model.name},
generated by robomorph: plain SystemVerilog, no vendor primitives. Arguments: {arguments}; {host}. Numbers:
{accelerator.options.numbers.name}; products and sums are rounded to nearest and saturate; `m_axis_tuser`
marks a result in which something did, `overflow_o` stays up. {_BOUNDARY[accelerator.options.boundary]}

![blocks](docs/blocks.svg)

| from the schedule model | |
|---|---|
| cycles from the last word in to the result ready | {s.latency} |
| cycles to the last word out | {s.last_word} |
| cycles between states | {s.interval:g} |
| pipelines, which take states in turn | {s.pipelines} |
| variable multipliers ({s.word_bits} x {s.word_bits}) | {s.multipliers} for {s.multiplications} products |
| constant multipliers, by shift and add | {s.constant_multipliers}, {s.constant_adders} adders |
| adders | {s.adders} |
| flip-flops of values and stream buffers | {s.flip_flops} |
| bits in memories | {s.memory_bits} |

| output (1,000 random states against float64) | worst error | typical error | largest value |
|---|---|---|---|
{errors}

## Use
`s_axis` takes a state, `m_axis` gives a result, both AXI4-Stream with back-pressure. The words are listed in
[docs/register_map.md](docs/register_map.md) and, for programs, in `{_MANIFEST}`. `rst_ni` is active low.

    make lint        # Verilator, all warnings
    make simulate    # {_STATES} states with random pauses, compared bit by bit
    make synthesise  # Yosys, UltraScale+

## Cycles
Operations by cycle of one state; a new state starts every {s.interval:g} cycles{_pipelines(s)}.

![timeline](docs/timeline.svg)
"""
