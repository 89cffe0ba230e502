"""What all code for the CPU has in common, whatever its numbers are: chunks, where values live between them,
and the function that calls them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

from robomorph.ir.ops import CONST, INPUT
from robomorph.ir.program import Port, Program
from robomorph.passes.layout import Layout
from robomorph.targets.cpu.transpose import load_lanes, staged_columns, store_lanes
from robomorph.targets.cpu.types import LaneType


@dataclass(frozen=True, slots=True)
class Emitted:
    """LLVM text in pieces, the symbol to call, and the bytes of workspace it needs."""

    main: str
    chunks: tuple[str, ...]
    declarations: tuple[str, ...]  # of the chunks
    common: str  # what every module needs
    symbol: str
    workspace: int
    flops: int  # arithmetic of one call, all lanes together
    blocks: int = 1  # the function `several` does so many calls at once; 1: there is none

    @property
    def several(self) -> str:
        return f"{self.symbol}_several"

    @property
    def text(self) -> str:
        """Everything as one module."""
        return self.modules(1)[0]

    def modules(self, count: int) -> list[str]:
        """The same code as `count` modules that may be compiled apart and linked."""
        groups = [self.chunks[k::count] for k in range(count)]
        out = ["\n\n".join([*group, self.common]) + "\n" for group in groups]
        elsewhere = [d for c, d in enumerate(self.declarations) if c % count]
        out[0] = "\n\n".join([self.main, *elsewhere, out[0]])
        return out


class Lanes(Protocol):
    """The type of a value: one number per lane."""

    @property
    def name(self) -> str:
        """As LLVM spells it."""

    @property
    def bytes(self) -> int:
        """Its size in memory."""


class Writer(ABC):
    """Code for one program. Values are of type `t`; the arrays of a call hold numbers of type `outside`, in
    rows or, without `rows`, in lane order."""

    def __init__(self, program: Program, t: Lanes, outside: LaneType, layout: Layout, rows: bool) -> None:
        self.program, self.t, self.outside, self.layout = program, t, outside, layout
        self.symbol = f"robomorph_{program.name}_x{outside.lanes}"
        # Rows are brought into lane order, and results back, by way of the workspace.
        self.staged = rows and outside.lanes > 1
        self.slot_base = 0  # where values that cross a cut begin, as a multiple of their size
        self.results: dict[int, list[int]] = {}
        for k in self.stored_entries():
            self.results.setdefault(program.results[k], []).append(k)

    # --- what kinds of numbers differ in ------------------------------------------------------------

    @abstractmethod
    def node(self, i: int, lines: list[str]) -> None:
        """Computes node i, neither a constant nor an input, as %v<i>."""

    @abstractmethod
    def operand(self, a: int) -> str:
        """The value of a node: its name, or the constant."""

    @abstractmethod
    def input_address(self, name: str, slot: int) -> list[str]:
        """Where the value of an input entry is."""

    @abstractmethod
    def output_address(self, name: str, entry: int) -> list[str]:
        """Where the value of a result entry goes."""

    @abstractmethod
    def constant_number(self, i: int) -> float:
        """The number that a constant node stands for in results."""

    def begin_chunk(self) -> list[str]:
        """What comes before the nodes of a chunk."""
        return []

    def end_chunk(self) -> list[str]:
        """What comes after them."""
        return []

    # --- addresses -------------------------------------------------------------------------------

    def slot(self, name: str, index: int) -> str:
        return f"  {name} = getelementptr {self.t.name}, ptr %ws, i64 {index}"

    def port_address(self, name: str, ports: tuple[Port, ...], side: str, index: int) -> list[str]:
        """Address of a flat entry in arrays that are in lane order as they are."""
        for p, port in enumerate(ports):
            if index < port.size:
                return [f"  {name} = getelementptr {self.outside.name}, ptr %{side}{p}, i64 {index}"]
            index -= port.size
        raise AssertionError("entry outside all ports")

    def base_pointers(self) -> list[str]:
        lines = []
        for side, ports in (("in", self.program.inputs), ("out", self.program.outputs)):
            for p in range(len(ports)):
                lines.append(f"  %{side}{p}a = getelementptr ptr, ptr %{side}, i64 {p}")
                lines.append(f"  %{side}{p} = load ptr, ptr %{side}{p}a")
        return lines

    # --- chunks ----------------------------------------------------------------------------------

    def chunk_function(self, c: int) -> str:
        """One chunk: loads what it needs from before, computes, stores what is needed after."""
        arguments = ", ".join(f"ptr noalias %{name}" for name in ("in", "out", "ws"))
        lines = [f"define dso_local void @chunk{c}({arguments}) noinline #0 {{"]
        lines += self.begin_chunk()
        chunk = self.layout.chunks[c]
        here: set[int] = set()
        for i in chunk:
            self._fetch(i, chunk, here, lines)
            if self.program.nodes[i].op is INPUT:
                self._load_input(i, lines)
            elif self.program.nodes[i].op is not CONST:
                self.node(i, lines)
            here.add(i)
            self._keep(i, lines)
        return "\n".join([*lines, *self.end_chunk(), "  ret void", "}"])

    def declarations(self) -> tuple[str, ...]:
        count = len(self.layout.chunks)
        return tuple(f"declare dso_local void @chunk{c}(ptr, ptr, ptr)" for c in range(count))

    def _fetch(self, i: int, chunk: range, here: set[int], lines: list[str]) -> None:
        """Load arguments that were computed in an earlier chunk."""
        for a in self.program.nodes[i].args:
            if a in here or a in chunk:
                continue
            node = self.program.nodes[a]
            here.add(a)
            if node.op is INPUT:
                self._load_input(a, lines)
            elif node.op is not CONST:
                lines.append(self.slot(f"%p{a}", self.slot_base + self.layout.slots[a]))
                lines.append(f"  %v{a} = load {self.t.name}, ptr %p{a}, align {self.t.bytes}")

    def _load_input(self, i: int, lines: list[str]) -> None:
        lines += self.input_address(f"%p{i}", int(self.program.nodes[i].value))
        lines.append(f"  %v{i} = load {self.t.name}, ptr %p{i}, align {self.t.bytes}")

    def _keep(self, i: int, lines: list[str]) -> None:
        """Store a value that later chunks read, or that is a result."""
        if i in self.layout.slots:
            lines.append(self.slot(f"%k{i}", self.slot_base + self.layout.slots[i]))
            lines.append(f"  store {self.t.name} {self.operand(i)}, ptr %k{i}, align {self.t.bytes}")
        for entry in self.results.get(i, ()):
            lines += self.output_address(f"%o{entry}", entry)
            lines.append(f"  store {self.t.name} {self.operand(i)}, ptr %o{entry}, align {self.t.bytes}")

    # --- results ---------------------------------------------------------------------------------

    def constants(self, first: int, size: int) -> list[float | None]:
        """Values of result entries that are constants, None for the others."""
        entries = self.program.results[first : first + size]
        constant = (self.program.nodes[r].op is CONST for r in entries)
        return [self.constant_number(r) if c else None for r, c in zip(entries, constant, strict=True)]

    def stored_entries(self) -> list[int]:
        """Result entries that chunks store; staged ports write constant tiles on their own."""
        if not self.staged:
            return list(range(self.program.output_size))
        entries: list[int] = []
        first = 0
        for port in self.program.outputs:
            columns = staged_columns(self.outside, port.size, self.constants(first, port.size))
            entries += [first + c for c in sorted(columns)]
            first += port.size
        return entries

    # --- the whole -------------------------------------------------------------------------------

    def load_rows(self) -> list[str]:
        """Rows into the workspace, in lane order, one number of each lane after the other."""
        lines: list[str] = []
        slot = 0
        for p, port in enumerate(self.program.inputs):
            lines += load_lanes(self.outside, f"%in{p}", port.size, slot)
            slot += port.size
        return lines

    def store_rows(self) -> list[str]:
        """Rows from where the workspace has results, behind the arguments."""
        lines: list[str] = []
        entry, base = 0, self.program.input_size
        for p, port in enumerate(self.program.outputs):
            constants = self.constants(entry, port.size)
            lines += store_lanes(self.outside, f"%out{p}", port.size, base + entry, constants)
            entry += port.size
        return lines

    def main_function(self) -> str:
        lines = [f"define void @{self.symbol}(ptr %in, ptr %out, ptr %ws) #0 {{"]
        if self.staged:
            lines += [*self.base_pointers(), *self.load_rows()]
        for c in range(len(self.layout.chunks)):
            lines.append(f"  call void @chunk{c}(ptr %in, ptr %out, ptr %ws)")
        if self.staged:
            lines += self.store_rows()
        return "\n".join([*lines, "  ret void", "}"])
