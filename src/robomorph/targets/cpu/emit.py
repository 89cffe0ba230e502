"""From a scheduled program to LLVM text: one function per chunk, and the function that calls them."""

from __future__ import annotations

from dataclasses import dataclass

from robomorph.ir.ops import (
    ADD,
    CONST,
    COS,
    FMA,
    FMS,
    FNMA,
    INPUT,
    MAX,
    MIN,
    MUL,
    NEG,
    RECIP,
    SELECT,
    SIN,
    SQRT,
    SUB,
    Op,
)
from robomorph.ir.program import Port, Program
from robomorph.passes.layout import Layout, plan_layout
from robomorph.targets.cpu.sincos import sincos_function
from robomorph.targets.cpu.transpose import load_lanes, staged_columns, store_lanes, transpose_functions
from robomorph.targets.cpu.types import LaneType

# The one of two that compares so, or NaN if the first is; a NaN in the second compares as nothing.
_BETTER = (
    "  {{o}}w = fcmp {compare} {{t}} {{a}}, {{b}}\n  {{o}}n = fcmp uno {{t}} {{a}}, {{a}}\n"
    "  {{o}}k = or {{bit}} {{o}}w, {{o}}n\n  {{o}} = select {{bit}} {{o}}k, {{t}} {{a}}, {{t}} {{b}}"
)
# How each operation is spelled: {t} type, {bit} a truth per lane, {x} intrinsic suffix, {o} result,
# {a} {b} {c} arguments.
_SPELLING: dict[Op, str] = {
    ADD: "  {o} = fadd {t} {a}, {b}",
    SUB: "  {o} = fsub {t} {a}, {b}",
    MUL: "  {o} = fmul {t} {a}, {b}",
    NEG: "  {o} = fneg {t} {a}",
    RECIP: "  {o} = fdiv {t} {one}, {a}",
    SQRT: "  {o} = call {t} @llvm.sqrt.{x}({t} {a})",
    MIN: _BETTER.format(compare="ole"),
    MAX: _BETTER.format(compare="oge"),
    SELECT: "  {o}k = fcmp oge {t} {a}, {zero}\n  {o} = select {bit} {o}k, {t} {b}, {t} {c}",
    FMA: "  {o} = call {t} @llvm.fma.{x}({t} {a}, {t} {b}, {t} {c})",
    FMS: "  {o}n = fneg {t} {c}\n  {o} = call {t} @llvm.fma.{x}({t} {a}, {t} {b}, {t} {o}n)",
    FNMA: "  {o}n = fneg {t} {a}\n  {o} = call {t} @llvm.fma.{x}({t} {o}n, {t} {b}, {t} {c})",
}
# On a CPU without fused multiply-add the same nodes are two operations.
_UNFUSED: dict[Op, str] = {
    FMA: "  {o}m = fmul {t} {a}, {b}\n  {o} = fadd {t} {o}m, {c}",
    FMS: "  {o}m = fmul {t} {a}, {b}\n  {o} = fsub {t} {o}m, {c}",
    FNMA: "  {o}m = fmul {t} {a}, {b}\n  {o} = fsub {t} {c}, {o}m",
}


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


def emit(
    program: Program, dtype: str, lanes: int, *, fma: bool, vector_bits: int, rows: bool = True
) -> Emitted:
    """The kernel of `program` for blocks of `lanes` rows (see NativeKernel for its C signature).

    With `rows`, arrays are row-major (lanes, size). Without, they are in lane order (size, lanes), aligned to
    whole vectors, for native callers that keep their state so.
    """
    writer = _Writer(program, LaneType(dtype, lanes), plan_layout(program), fma, rows)
    t = writer.t
    count = len(writer.layout.chunks)
    # Trigonometry is in the first chunk, which shares a module with the main function.
    main = [writer.main_function(), sincos_function(t), transpose_functions(t) if writer.staged else ""]
    # Without it LLVM leaves the stack as the caller had it, and spilled vectors may straddle cache lines.
    realign = '"stackrealign" ' if lanes > 1 else ""
    common = [
        f"declare {t.name} @llvm.fma.{t.suffix}({t.name}, {t.name}, {t.name})",
        f"declare {t.name} @llvm.sqrt.{t.suffix}({t.name})",
        f'attributes #0 = {{ nounwind {realign}"min-legal-vector-width"="{vector_bits}" }}',
    ]
    return Emitted(
        "\n\n".join(filter(None, main)),
        tuple(writer.chunk_function(c) for c in range(count)),
        tuple(f"declare dso_local void @chunk{c}(ptr, ptr, ptr)" for c in range(count)),
        "\n".join(common),
        writer.symbol,
        writer.workspace,
        program.cost() * lanes,
    )


class _Writer:
    def __init__(self, program: Program, t: LaneType, layout: Layout, fma: bool, rows: bool) -> None:
        self.program, self.t, self.layout = program, t, layout
        self.symbol = f"robomorph_{program.name}_x{t.lanes}"
        self.spelling = _SPELLING if fma else {**_SPELLING, **_UNFUSED}
        # Workspace: staged inputs and outputs in lane order (where the user's are rows), then slots.
        self.staged = rows and t.lanes > 1
        self.out_base = program.input_size if self.staged else 0
        self.slot_base = self.out_base + program.output_size if self.staged else 0
        trig = sum(n.op is SIN for n in program.nodes) + 1
        self.trig_base = self.slot_base + layout.slot_count
        self.workspace = (self.trig_base + 2 * trig) * t.bytes
        self.results: dict[int, list[int]] = {}
        for k in self._stored_entries():
            self.results.setdefault(program.results[k], []).append(k)

    def _constants(self, first: int, size: int) -> list[float | None]:
        """Values of result entries that are constants, None for the others."""
        nodes = (self.program.nodes[r] for r in self.program.results[first : first + size])
        return [node.value if node.op is CONST else None for node in nodes]

    def _stored_entries(self) -> list[int]:
        """Result entries that chunks store; staged ports write constant tiles on their own."""
        if not self.staged:
            return list(range(self.program.output_size))
        entries: list[int] = []
        first = 0
        for port in self.program.outputs:
            columns = staged_columns(self.t, port.size, self._constants(first, port.size))
            entries += [first + c for c in sorted(columns)]
            first += port.size
        return entries

    # --- addresses -------------------------------------------------------------------------------

    def _slot(self, name: str, index: int) -> str:
        return f"  {name} = getelementptr {self.t.name}, ptr %ws, i64 {index}"

    def _port_address(self, name: str, ports: tuple[Port, ...], side: str, index: int) -> list[str]:
        """Address of a flat entry in arrays that are in lane order as they are."""
        for p, port in enumerate(ports):
            if index < port.size:
                return [f"  {name} = getelementptr {self.t.name}, ptr %{side}{p}, i64 {index}"]
            index -= port.size
        raise AssertionError("entry outside all ports")

    def _input_address(self, name: str, slot: int) -> list[str]:
        if self.staged:
            return [self._slot(name, slot)]
        return self._port_address(name, self.program.inputs, "in", slot)

    def _output_address(self, name: str, entry: int) -> list[str]:
        if self.staged:
            return [self._slot(name, self.out_base + entry)]
        return self._port_address(name, self.program.outputs, "out", entry)

    def _base_pointers(self) -> list[str]:
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
        if not self.staged:
            lines += self._base_pointers()
        chunk = self.layout.chunks[c]
        here: set[int] = set()
        sincos: dict[int, int] = {}
        for i in chunk:
            self._fetch(i, chunk, here, lines)
            self._node(i, sincos, lines)
            here.add(i)
            self._keep(i, lines)
        return "\n".join([*lines, "  ret void", "}"])

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
                lines.append(self._slot(f"%p{a}", self.slot_base + self.layout.slots[a]))
                lines.append(f"  %v{a} = load {self.t.name}, ptr %p{a}, align {self.t.bytes}")

    def _load_input(self, i: int, lines: list[str]) -> None:
        lines += self._input_address(f"%p{i}", int(self.program.nodes[i].value))
        lines.append(f"  %v{i} = load {self.t.name}, ptr %p{i}, align {self.t.bytes}")

    def _node(self, i: int, sincos: dict[int, int], lines: list[str]) -> None:
        node = self.program.nodes[i]
        if node.op is CONST:
            return
        if node.op is INPUT:
            self._load_input(i, lines)
            return
        if node.op is SIN or node.op is COS:
            self._trig(i, sincos, lines)
            return
        values = dict(zip("abc", (self._operand(a) for a in node.args), strict=False))
        lines.append(
            self.spelling[node.op].format(
                t=self.t.name,
                bit=self.t.boolean,
                x=self.t.suffix,
                o=f"%v{i}",
                one=self.t.literal(1.0),
                zero=self.t.literal(0.0),
                **values,
            )
        )

    def _trig(self, i: int, sincos: dict[int, int], lines: list[str]) -> None:
        """One call gives both functions of an angle; the second asked for is loaded."""
        node = self.program.nodes[i]
        angle = node.args[0]
        if angle not in sincos:
            pair = sincos[angle] = len(sincos)
            lines.append(self._slot(f"%sp{angle}", self.trig_base + 2 * pair))
            lines.append(self._slot(f"%cp{angle}", self.trig_base + 2 * pair + 1))
            lines.append(
                f"  call void @sincos({self.t.name} {self._operand(angle)}, ptr %sp{angle}, ptr %cp{angle})"
            )
        source = "sp" if node.op is SIN else "cp"
        lines.append(f"  %v{i} = load {self.t.name}, ptr %{source}{angle}, align {self.t.bytes}")

    def _operand(self, a: int) -> str:
        node = self.program.nodes[a]
        return self.t.literal(node.value) if node.op is CONST else f"%v{a}"

    def _keep(self, i: int, lines: list[str]) -> None:
        """Store a value that later chunks read, or that is a result."""
        if i in self.layout.slots:
            lines.append(self._slot(f"%k{i}", self.slot_base + self.layout.slots[i]))
            lines.append(f"  store {self.t.name} {self._operand(i)}, ptr %k{i}, align {self.t.bytes}")
        for entry in self.results.get(i, ()):
            lines += self._output_address(f"%o{entry}", entry)
            lines.append(f"  store {self.t.name} {self._operand(i)}, ptr %o{entry}, align {self.t.bytes}")

    # --- the whole -------------------------------------------------------------------------------

    def main_function(self) -> str:
        lines = [f"define void @{self.symbol}(ptr %in, ptr %out, ptr %ws) #0 {{"]
        if self.staged:
            lines += self._base_pointers()
            slot = 0
            for p, port in enumerate(self.program.inputs):
                lines += load_lanes(self.t, f"%in{p}", port.size, slot)
                slot += port.size
        for c in range(len(self.layout.chunks)):
            lines.append(f"  call void @chunk{c}(ptr %in, ptr %out, ptr %ws)")
        if self.staged:
            entry = 0
            for p, port in enumerate(self.program.outputs):
                constants = self._constants(entry, port.size)
                lines += store_lanes(self.t, f"%out{p}", port.size, self.out_base + entry, constants)
                entry += port.size
        return "\n".join([*lines, "  ret void", "}"])
