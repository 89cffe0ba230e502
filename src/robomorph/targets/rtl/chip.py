"""What simulation and synthesis ask of a design, whatever it computes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from robomorph.errors import TargetError
from robomorph.targets.rtl.cell_table import cell_text
from robomorph.targets.rtl.hierarchy import cells, modules
from robomorph.targets.rtl.netlist import Module
from robomorph.targets.rtl.printer import print_module
from robomorph.targets.rtl.stream import Stream


class Chip(Protocol):
    """A top level with the ports of `emit_ports`, and all files that it takes. `input_slots` are the entries
    of an input row that travel on the stream, in its order; `clock_ns` is the clock period that standard
    cells are to meet, if the chip was made for one."""

    @property
    def top(self) -> str: ...
    @property
    def files(self) -> dict[str, str]: ...
    @property
    def streams(self) -> tuple[Stream, Stream]: ...
    @property
    def input_slots(self) -> tuple[int, ...]: ...
    @property
    def clock_ns(self) -> float | None: ...


@dataclass(frozen=True)
class NetlistChip:
    """A chip from its netlist alone: every input word travels."""

    netlist: Module
    streams: tuple[Stream, Stream]

    @property
    def top(self) -> str:
        return self.netlist.name

    @property
    def clock_ns(self) -> float | None:
        return None

    @property
    def input_slots(self) -> tuple[int, ...]:
        return tuple(range(self.streams[0].words))

    @cached_property
    def files(self) -> dict[str, str]:
        return source_files(self.netlist)


def source_files(top: Module) -> dict[str, str]:
    """Every source file by name: the cells that are used, as they are, then generated modules."""
    made = {f"{module.name}.sv": print_module(module) for module in modules(top)}
    used = {f"{cell.name}.sv": cell_text(cell) for cell in cells(top)}
    for name in made.keys() & used.keys():
        raise TargetError(f"netlist: a module is named like the cell {name.removesuffix('.sv')}")
    return {**used, **made}


def digest(files: Mapping[str, str]) -> str:
    text = "\0".join(f"{name}\0{content}" for name, content in sorted(files.items()))
    return hashlib.sha256(text.encode()).hexdigest()
