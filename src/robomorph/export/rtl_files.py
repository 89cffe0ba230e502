"""What every exported chip brings along: testbench with vectors, Makefile, a script for synthesis, and the
table of its streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.targets.rtl.chip import Chip
from robomorph.targets.rtl.stream import Stream
from robomorph.targets.rtl.synthesis import ultrascale_passes
from robomorph.targets.templates import fill, source_file

Array = npt.NDArray[Any]


def bench_files(
    design: Chip, words: Array, results: Array, flags: Array, quiet: int | None = None
) -> dict[str, str]:
    """The testbench; input words (n, input_size) and the results (n, output_words) and flags (n,) that they
    should give. It gives up after `quiet` cycles without a beat, if that is not what it has."""
    source, sink = design.streams
    macros = {
        "RM_TOP": design.top,
        "RM_STATES": len(words),
        "RM_CONTAINER": source.container,
        "RM_LANES_IN": source.lanes,
        "RM_BEATS_IN": source.beats,
        "RM_LANES_OUT": sink.lanes,
        "RM_BEATS_OUT": sink.beats,
        **({} if quiet is None else {"RM_TOO_LONG": quiet}),
    }
    return {
        "sim/testbench.sv": source_file("rtl", "sim/testbench.sv"),
        "sim/vectors.svh": "".join(f"`define {name} {value}\n" for name, value in macros.items()),
        "sim/stimulus.hex": _beats(words[:, list(design.input_slots)], source, None),
        "sim/expected.hex": _beats(results, sink, flags),
    }


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


def synthesis_files(design: Chip) -> dict[str, str]:
    """A script for Yosys, and a stand-in for its program."""
    script = [
        *(f"read_verilog -sv -D SYNTHESIS rtl/{name}" for name in design.files),
        f"hierarchy -check -top {design.top}",
        *ultrascale_passes(design.top),
        f"tee -o build/synthesis.txt stat -top {design.top}",
    ]
    runner = source_file("rtl", "synth/yosys.py")
    return {"synth/ultrascale.ys": "\n".join(script) + "\n", "synth/yosys.py": runner}


def makefile(design: Chip) -> str:
    sources = " \\\n  ".join(f"rtl/{name}" for name in design.files)
    return fill("rtl", "Makefile.in", {"top": design.top, "sources": sources})


def stream_tables(
    about: str, inputs: Sequence[Mapping[str, str]], outputs: Sequence[Mapping[str, str]], design: Chip
) -> str:
    """Where every word is on the streams, and its format."""
    lines = ["# Words on the streams", "", about, ""]
    for title, entries, stream in (
        ("s_axis (in)", inputs, design.streams[0]),
        ("m_axis (out)", outputs, design.streams[1]),
    ):
        lines += [f"## {title}", "", "| word | beat | bits | signal | format |", "|---|---|---|---|---|"]
        for k, entry in enumerate(entries):
            beat, lane = divmod(k, stream.lanes)
            low = lane * stream.container
            bits = f"{low + stream.container - 1}:{low}"
            lines.append(f"| {k} | {beat} | {bits} | `{entry['name']}` | {entry['format']} |")
        lines.append("")
    return "\n".join(lines)
