"""From a scheduled program to LLVM text: one function per chunk, and the function that calls them."""

from __future__ import annotations

from robomorph.ir.ops import (
    ADD,
    CONST,
    COS,
    FMA,
    FMS,
    FNMA,
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
from robomorph.ir.program import Program
from robomorph.passes.layout import Layout, plan_layout
from robomorph.targets.cpu.sincos import sincos_function
from robomorph.targets.cpu.transpose import transpose_functions
from robomorph.targets.cpu.types import LaneType
from robomorph.targets.cpu.writer import Emitted, Writer

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


def emit(
    program: Program, dtype: str, lanes: int, *, fma: bool, vector_bits: int, rows: bool = True
) -> Emitted:
    """The kernel of `program` for blocks of `lanes` rows (see NativeKernel for its C signature).

    With `rows`, arrays are row-major (lanes, size). Without, they are in lane order (size, lanes), aligned to
    whole vectors, for native callers that keep their state so.
    """
    writer = _FloatWriter(program, LaneType(dtype, lanes), plan_layout(program), fma, rows)
    t = writer.outside
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
        writer.declarations(),
        "\n".join(common),
        writer.symbol,
        writer.workspace,
        program.cost() * lanes,
    )


class _FloatWriter(Writer):
    """In floating point: values are what the arrays hold."""

    def __init__(self, program: Program, t: LaneType, layout: Layout, fma: bool, rows: bool) -> None:
        super().__init__(program, t, t, layout, rows)
        self.spelling = _SPELLING if fma else {**_SPELLING, **_UNFUSED}
        # Workspace: staged inputs and outputs in lane order (where the user's are rows), then slots.
        self.out_base = program.input_size if self.staged else 0
        self.slot_base = self.out_base + program.output_size if self.staged else 0
        trig = sum(n.op is SIN for n in program.nodes) + 1
        self.trig_base = self.slot_base + layout.slot_count
        self.workspace = (self.trig_base + 2 * trig) * t.bytes
        self.sincos: dict[int, int] = {}  # the pair of places of every angle of this chunk

    def constant_number(self, i: int) -> float:
        return self.program.nodes[i].value

    def input_address(self, name: str, slot: int) -> list[str]:
        if self.staged:
            return [self.slot(name, slot)]
        return self.port_address(name, self.program.inputs, "in", slot)

    def output_address(self, name: str, entry: int) -> list[str]:
        if self.staged:
            return [self.slot(name, self.out_base + entry)]
        return self.port_address(name, self.program.outputs, "out", entry)

    def begin_chunk(self) -> list[str]:
        self.sincos = {}
        return [] if self.staged else self.base_pointers()

    def node(self, i: int, lines: list[str]) -> None:
        node, t = self.program.nodes[i], self.outside
        if node.op is SIN or node.op is COS:
            self._trig(i, lines)
            return
        values = dict(zip("abc", (self.operand(a) for a in node.args), strict=False))
        lines.append(
            self.spelling[node.op].format(
                t=t.name,
                bit=t.boolean,
                x=t.suffix,
                o=f"%v{i}",
                one=t.literal(1.0),
                zero=t.literal(0.0),
                **values,
            )
        )

    def _trig(self, i: int, lines: list[str]) -> None:
        """One call gives both functions of an angle; the second asked for is loaded."""
        node, name = self.program.nodes[i], self.t.name
        angle = node.args[0]
        if angle not in self.sincos:
            pair = self.sincos[angle] = len(self.sincos)
            lines.append(self.slot(f"%sp{angle}", self.trig_base + 2 * pair))
            lines.append(self.slot(f"%cp{angle}", self.trig_base + 2 * pair + 1))
            lines.append(f"  call void @sincos({name} {self.operand(angle)}, ptr %sp{angle}, ptr %cp{angle})")
        source = "sp" if node.op is SIN else "cp"
        lines.append(f"  %v{i} = load {name}, ptr %{source}{angle}, align {self.t.bytes}")

    def operand(self, a: int) -> str:
        node = self.program.nodes[a]
        return self.outside.literal(node.value) if node.op is CONST else f"%v{a}"
