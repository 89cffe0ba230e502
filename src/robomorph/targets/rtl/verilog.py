"""SystemVerilog that generated modules are written with: declarations, what a phase selects, instances."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping


def phase_width(interval: int) -> int:
    return max(1, (interval - 1).bit_length())


def declared_first(lines: Iterable[str]) -> list[str]:
    """A module's lines with its declarations before everything else: the standard wants every signal declared
    before it is used, and strict tools insist."""
    declared: list[str] = []
    rest: list[str] = []
    for line in lines:
        (declared if line.startswith("  logic ") else rest).append(line)
    return [*declared, *rest]


def selector(name: str, turns: Mapping[int, str], interval: int, phase_signal: str = "phase_i") -> list[str]:
    """`name` is the source of its phase; the last source needs no test."""
    by_source: dict[str, list[int]] = defaultdict(list)
    for phase, source in turns.items():
        by_source[source].append(phase)
    sources = list(by_source.items())
    if len(sources) == 1:
        return [f"  assign {name} = {sources[0][0]};"]
    bits = phase_width(interval)
    lines = ["  always_comb begin", f"    case ({phase_signal})"]
    for source, phases in sources[:-1]:
        label = ", ".join(f"{bits}'d{p}" for p in phases)
        lines.append(f"      {label}: {name} = {source};")
    return [*lines, f"      default: {name} = {sources[-1][0]};", "    endcase", "  end"]


def instance(cell: str, name: str, parameters: Mapping[str, object], ports: Mapping[str, str]) -> str:
    values = ", ".join(f".{key}({value})" for key, value in parameters.items())
    wires = ", ".join(f".{key}({value})" for key, value in ports.items())
    return f"  {cell} #({values}) {name} ({wires});"
