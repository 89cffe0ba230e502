"""Designs in simulation: Verilator makes C++ of them, built once per design and kept in the kernel cache."""

from __future__ import annotations

import ctypes
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import TargetError
from robomorph.runtime.cache import default_cache
from robomorph.targets.rtl.chip import Chip, digest
from robomorph.targets.rtl.tools import find_compiler, find_verilator, run_tool, verilator_env

Array = npt.NDArray[Any]
_SMALL = 1_500_000  # bytes of C++ that are compiled as one file
_SLOWEST = 1e-3  # bits a cycle, below which nobody would wait for a run
# Bytes after which a larger design starts the next file, without and with optimisation, which is slow.
_GROUPS = (8_000_000, 4_000_000)
# Small functions, and expressions that are not deeply nested: over others compilers take long, and gigabytes.
_SPLIT = "--output-split 20000 --output-split-cfuncs 500 --comp-limit-parens 40"
_VERILATE = tuple(f"--cc -Wall -O3 --assert --x-assign fast --x-initial fast {_SPLIT}".split())
_FAILURES = {
    -1: "nothing moved on either stream for {quiet:,} cycles",
    -2: "the result stream ended in the wrong place",
    -3: "an assertion failed",
}


@dataclass(frozen=True)
class Run:
    """Result words (n, output_words), overflow flags (n,), and per state the cycle that accepted its last
    word, that first offered its result, and that offered its last word. `link_cycles`: when the last bit of
    the results has passed the link to the host."""

    words: Array
    overflow: Array
    accepted: Array
    ready: Array
    finished: Array
    cycles: int
    sticky_overflow: bool
    link_cycles: float = 0.0

    @property
    def latency(self) -> Array:
        return np.asarray(self.ready - self.accepted)

    @property
    def last_word(self) -> Array:
        return np.asarray(self.finished - self.accepted)


class Simulation:
    """A design that runs. With `trace`, waveforms can be written; with `optimise`, it builds three times
    longer and runs several times faster, which pays from some ten thousand states on."""

    def __init__(self, design: Chip, *, trace: bool = False, optimise: bool = False) -> None:
        self.design, self.trace = design, trace
        self._library = _load(_built(design, trace, optimise))

    def run(
        self,
        words: Array,
        *,
        pause_in: int = 0,
        pause_out: int = 0,
        seed: int = 1,
        one_by_one: bool = False,
        link: tuple[float, float] = (0.0, 0.0),
        waveform: Path | None = None,
        quiet: int = 100_000,
    ) -> Run:
        """Stream input words (n, input_size) through the design. `pause_in` and `pause_out` are percentages
        of cycles in which a stream rests; `one_by_one` sends each state after the last one's result. `link`:
        bits a cycle that a link to the host carries in and out, 0 for all at once; beats wait for it. It has
        failed if nothing moves on either stream for `quiet` cycles."""
        _check_link(link)
        self._check_waveform(waveform)
        chosen = np.ascontiguousarray(words[:, list(self.design.input_slots)], np.int32)
        n, out_words = len(chosen), self.design.streams[1].words
        out = np.zeros((n, out_words), np.int32)
        flags = np.zeros(n, np.uint8)
        times = np.full((3, n), -1, np.int64)
        sticky, link_done = np.zeros(2, np.int32), np.zeros(1)
        cycles = self._library.rm_run(
            n,
            chosen.ctypes.data,
            out.ctypes.data,
            flags.ctypes.data,
            times[0].ctypes.data,
            times[1].ctypes.data,
            times[2].ctypes.data,
            pause_in,
            pause_out,
            *link,
            seed,
            int(one_by_one),
            str(waveform or "").encode(),
            sticky.ctypes.data,
            link_done.ctypes.data,
            quiet,
        )
        if cycles < 0 or sticky[1]:
            why = _FAILURES.get(cycles, "input stream out of step").format(quiet=quiet)
            raise TargetError(f"rtl: the simulation failed: {why}")
        words_out, flagged = out.astype(np.int64), flags.astype(bool)
        accepted, ready, finished = times
        last, stuck = float(link_done[0]), bool(sticky[0])
        return Run(words_out, flagged, accepted, ready, finished, cycles, stuck, last)

    def _check_waveform(self, waveform: Path | None) -> None:
        if waveform is not None and not self.trace:
            raise TargetError("rtl: this simulation was built without waveforms: make it with trace=True")
        if waveform is not None:
            _check_writable(waveform)


def _check_link(link: tuple[float, float]) -> None:
    if any(not 0.0 <= bits < float("inf") or 0.0 < bits < _SLOWEST for bits in link):
        raise TargetError(f"link: expected 0 or at least {_SLOWEST} bits a cycle, found {link}")


def _check_writable(path: Path) -> None:
    """Verilator says nothing about a file that it cannot open."""
    try:
        path.open("wb").close()
    except OSError as error:
        raise TargetError(f"waveform: cannot write {path}: {error.strerror}") from None


def lint(design: Chip) -> str:
    """Verilator's warnings, all of them on; empty for a clean design."""
    tool = find_verilator()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        write_files(design, place)
        options = ["--lint-only", "-Wall", "-Wno-fatal", "--top-module", design.top]
        command: list[str | Path] = [tool.binary, *options, *design.files]
        said = run_tool(command, cwd=place, env=verilator_env(tool))
        return "\n".join(line for line in said.splitlines() if not line.startswith("- ")).strip()


def write_files(design: Chip, folder: Path) -> None:
    for name, text in design.files.items():
        (folder / name).write_text(text)


def _built(design: Chip, trace: bool, optimise: bool) -> bytes:
    """The shared library of a design, from the cache or built now."""
    harness = (resources.files("robomorph.targets.rtl") / "sim" / "harness.cpp").read_text()
    tool, compiler = find_verilator(), find_compiler()
    how = (trace, optimise, _VERILATE, _version(tool.binary), compiler, _defines(design, trace))
    key = "\0".join(["rtl-simulation", digest(design.files), harness, repr(how)])
    cached = default_cache().get(key)
    if cached is None:
        with tempfile.TemporaryDirectory() as folder:
            cached = _build(design, harness, Path(folder), trace, optimise)
        default_cache().put(key, cached)
    return cached


@cache
def _version(binary: Path) -> str:
    return run_tool([binary, "--version"], cwd=Path.cwd()).strip()


def _build(design: Chip, harness: str, place: Path, trace: bool, optimise: bool) -> bytes:
    tool, compiler = find_verilator(), find_compiler()
    write_files(design, place)
    (place / "harness.cpp").write_text(harness)
    command: list[str | Path] = [tool.binary, *_VERILATE, "--Mdir", "made", "--top-module", design.top]
    command += ["--trace-vcd", *design.files] if trace else [*design.files]
    run_tool(command, cwd=place, env=verilator_env(tool))
    includes = [f"-I{tool.include}", f"-I{tool.include / 'vltstd'}", f"-I{place / 'made'}"]
    base: list[str | Path] = [compiler, "-std=c++20", "-fPIC", "-w", *_defines(design, trace), *includes]
    jobs: dict[Path, list[str | Path]] = {}
    for name, sources in _gathered(place, _GROUPS[optimise]).items():
        # What runs once (Verilator calls it slow) is not worth optimising.
        gathered = place / f"{name}.cpp"
        gathered.write_text("".join(f'#include "{source.name}"\n' for source in sources))
        effort = "-O1" if optimise and not name.startswith("slow") else "-O0"
        jobs[place / f"{name}.o"] = [*base, effort, "-c", gathered]
    with ThreadPoolExecutor(max(1, os.cpu_count() or 1)) as pool:
        waits = [pool.submit(run_tool, [*job, "-o", target], cwd=place) for target, job in jobs.items()]
        support = _support(place, trace)
        for wait in waits:
            wait.result()
    library = place / "design.so"
    run_tool([compiler, "-shared", "-o", library, *jobs, *support, "-lpthread"], cwd=place)
    return library.read_bytes()


def _gathered(place: Path, most: int) -> dict[str, list[Path]]:
    """Verilator's files and the harness in few groups, to be compiled as one file each: in small ones most of
    the time goes to the headers, and several large ones are compiled at once."""
    sources = [*sorted((place / "made").glob("*.cpp")), place / "harness.cpp"]
    if sum(source.stat().st_size for source in sources) < _SMALL:
        return {"whole": sources}
    groups: dict[str, list[Path]] = {}
    for kind in ("fast", "slow"):
        size = number = 0
        for source in sources:
            if source.stem.endswith("__Slow") == (kind == "slow"):
                if size > most:
                    size, number = 0, number + 1
                groups.setdefault(f"{kind}{number}", []).append(source)
                size += source.stat().st_size
    return groups


def _support(place: Path, trace: bool) -> list[Path]:
    """Verilator's own library, compiled once; two files as one, as most of the time goes to headers."""
    objects: list[Path] = []
    for names in (("verilated", "verilated_threads"), *([("verilated_vcd_c",)] if trace else [])):
        objects.append(place / f"support_{names[0]}.o")
        objects[-1].write_bytes(_support_object(names, trace))
    return objects


@cache
def _support_object(names: tuple[str, ...], trace: bool) -> bytes:
    tool, compiler = find_verilator(), find_compiler()
    key = "\0".join(["rtl-support", *names, _version(tool.binary), compiler, str(trace)])
    stored = default_cache().get(key)
    if stored is None:
        flags = ["-std=c++20", "-O1", "-fPIC", "-w", f"-DVM_TRACE={int(trace)}", "-DVERILATOR=1"]
        includes = [f"-I{tool.include}", f"-I{tool.include / 'vltstd'}"]
        with tempfile.TemporaryDirectory() as folder:
            target, source = Path(folder) / "support.o", Path(folder) / "support.cpp"
            source.write_text("".join(f'#include "{name}.cpp"\n' for name in names))
            run_tool([compiler, *flags, *includes, "-c", source, "-o", target], cwd=Path(folder))
            stored = target.read_bytes()
        default_cache().put(key, stored)
    return stored


def _defines(design: Chip, trace: bool) -> list[str]:
    source, sink = design.streams
    values = {
        "RM_TOP": design.top,
        "RM_TRACE": int(trace),
        "RM_CONTAINER": source.container,
        "RM_WORDS_IN": source.words,
        "RM_LANES_IN": source.lanes,
        "RM_BEATS_IN": source.beats,
        "RM_WORDS_OUT": sink.words,
        "RM_LANES_OUT": sink.lanes,
        "RM_BEATS_OUT": sink.beats,
        "VM_COVERAGE": 0,
        "VM_SC": 0,
        "VM_TRACE": int(trace),
        "VM_TRACE_VCD": int(trace),
        "VERILATOR": 1,
    }
    return [f"-D{name}={value}" for name, value in values.items()]


def _load(library: bytes) -> ctypes.CDLL:
    """Open a library from memory, by way of a file that is gone afterwards."""
    with tempfile.NamedTemporaryFile(suffix=".so") as file:
        file.write(library)
        file.flush()
        loaded = ctypes.CDLL(file.name)
    loaded.rm_run.restype = ctypes.c_longlong
    pointer = ctypes.c_void_p
    loaded.rm_run.argtypes = [
        ctypes.c_longlong,
        *[pointer] * 6,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_double,
        ctypes.c_double,
        ctypes.c_ulonglong,
        ctypes.c_int,
        ctypes.c_char_p,
        pointer,
        pointer,
        ctypes.c_longlong,
    ]
    return loaded
