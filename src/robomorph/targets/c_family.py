"""The one printer for languages that look like C: C++, CUDA, OpenCL.

A language is a `Dialect`: a table of spellings. Where values that outlive a block are found (arguments,
results, workspace) is up to the target, which spells them out in a `Places`. Both are data: the printer calls
nobody back. It turns a chunk of a scheduled program into statements; what surrounds them (signatures,
barriers, loops) is the target's.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

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
    SUB,
    Op,
)
from robomorph.ir.program import Port, Program
from robomorph.passes.layout import Layout

# Expressions over {a} {b} {c}; {one} is the literal 1. Every dialect starts from these.
COMMON: dict[Op, str] = {
    ADD: "{a} + {b}",
    SUB: "{a} - {b}",
    MUL: "{a} * {b}",
    NEG: "-{a}",
    RECIP: "{one} / {a}",
    MIN: "({a} <= {b} || {a} != {a}) ? {a} : {b}",  # NaN if either is, as fmin would not have it
    MAX: "({a} >= {b} || {a} != {a}) ? {a} : {b}",
    SELECT: "({a} >= 0) ? {b} : {c}",
}


@dataclass(frozen=True)
class Dialect:
    """How one language spells values and operations.

    value: the type of a value. dtype: the precision in which constants are written ("float32", "float64").
    spelling: an expression per operation, over {a} {b} {c} {one}; sines and cosines are not in it. sincos:
    statements that declare and set {s} and {c}, the sine and cosine of {a}; {t} is `value`. name_inputs: read
    an argument once into a local name, or spell its place wherever it is used. cast: the type that constants
    are converted to, if they need it.
    """

    name: str
    value: str
    dtype: str
    spelling: Mapping[Op, str]
    sincos: str
    declare: str = "const {t} {o} = {e};"
    name_inputs: bool = True
    cast: str = ""

    def literal(self, value: float) -> str:
        """A constant that rounds to `value`. A negative one is in brackets, so that it may stand anywhere in
        an expression."""
        text = _number(value, self.dtype)
        return f"{self.cast}({text})" if self.cast or text.startswith("-") else text


@dataclass(frozen=True)
class Places:
    """How every flat entry of the arguments and of the results is spelled, and the name of the workspace."""

    inputs: Sequence[str]
    outputs: Sequence[str]
    work: str


@dataclass(frozen=True)
class Block:
    """The statements of one chunk, and the flat entries and slots it touches."""

    lines: tuple[str, ...]
    reads: tuple[int, ...]  # flat input entries, rising
    writes: tuple[int, ...]  # flat output entries, rising
    uses_slots: bool


def _number(value: float, dtype: str) -> str:
    """A C constant that rounds to `value` in `dtype`, with the suffix f for float32."""
    single = dtype == "float32"
    text = str(np.float32(value)) if single else repr(float(value))
    if not any(mark in text for mark in ".e"):
        text += ".0"
    return f"{text}f" if single else text


def fused(fma: str) -> dict[Op, str]:
    """Spellings of the fused operations by a function such as ``fma``."""
    return {
        FMA: f"{fma}({{a}}, {{b}}, {{c}})",
        FMS: f"{fma}({{a}}, {{b}}, -{{c}})",
        FNMA: f"{fma}(-{{a}}, {{b}}, {{c}})",
    }


UNFUSED: dict[Op, str] = {FMA: "{a} * {b} + {c}", FMS: "{a} * {b} - {c}", FNMA: "{c} - {a} * {b}"}


class BlockPrinter:
    """Prints the chunks of one program in one dialect. Output entries in `skip` are left to the target;
    `comments` stand before the nodes they are about."""

    def __init__(
        self,
        program: Program,
        layout: Layout,
        dialect: Dialect,
        places: Places,
        skip: Collection[int] = frozenset(),
        comments: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        self.comments = comments
        self.program, self.layout, self.dialect, self.places = program, layout, dialect, places
        self.results: dict[int, list[int]] = {}
        for k, r in enumerate(program.results):
            if k not in skip:
                self.results.setdefault(r, []).append(k)

    def block(self, c: int) -> Block:
        """The statements of chunk `c`: what it needs from earlier chunks is read from slots."""
        writer = _BlockWriter(self)
        for i in self.layout.chunks[c]:
            writer.node(i)
        return Block(
            tuple(writer.lines), tuple(sorted(writer.reads)), tuple(sorted(writer.writes)), writer.uses_slots
        )


class _BlockWriter:
    """State while one chunk is printed: what is already named in it."""

    def __init__(self, printer: BlockPrinter) -> None:
        self.printer, self.program, self.dialect = printer, printer.program, printer.dialect
        self.lines: list[str] = []
        self.reads: set[int] = set()
        self.writes: set[int] = set()
        self.uses_slots = False
        self.named: set[int] = set()
        self.angles: set[int] = set()

    def node(self, i: int) -> None:
        """Compute node `i`, and keep it where it is wanted later."""
        node = self.program.nodes[i]
        if i in self.printer.comments:
            self.lines.append(f"// {self.printer.comments[i]}")
        if node.op is SIN or node.op is COS:
            self._trigonometry(i)
        elif node.op is not CONST and node.op is not INPUT:
            operands = {key: self.operand(a) for key, a in zip("abc", node.args, strict=False)}
            text = self.dialect.spelling[node.op].format(one=self.dialect.literal(1.0), **operands)
            self._declare(i, text)
        self._keep(i)

    def operand(self, a: int) -> str:
        """The name or spelling of a value; whatever is not yet known in this block is fetched first."""
        node = self.program.nodes[a]
        if node.op is CONST:
            return self.dialect.literal(node.value)
        if node.op is INPUT:
            return self._input(a)
        if a not in self.named:
            self.uses_slots = True
            self._declare(a, self._slot(self.printer.layout.slots[a]))
        return self.name(a)

    def name(self, i: int) -> str:
        """A sine is named by its angle, an argument by its place, any other value by its number."""
        node = self.program.nodes[i]
        if node.op is SIN or node.op is COS:
            return f"{node.op.name}_{self._angle_name(node.args[0])}"
        return f"v{i}"

    def _angle_name(self, angle: int) -> str:
        node = self.program.nodes[angle]
        if node.op is INPUT:
            port, entry = port_of(self.program.inputs, int(node.value))
            return f"{port.name}{entry}"
        return f"v{angle}"

    def _input(self, a: int) -> str:
        entry = int(self.program.nodes[a].value)
        self.reads.add(entry)
        place = self.printer.places.inputs[entry]
        if not self.dialect.name_inputs:
            return place
        if a not in self.named:
            self._declare(a, place)
        return self.name(a)

    def _slot(self, slot: int) -> str:
        return f"{self.printer.places.work}[{slot}]"

    def _declare(self, i: int, expression: str) -> None:
        self.named.add(i)
        self.lines.append(self.dialect.declare.format(t=self.dialect.value, o=self.name(i), e=expression))

    def _trigonometry(self, i: int) -> None:
        """One call gives both functions of an angle."""
        angle = self.program.nodes[i].args[0]
        if angle not in self.angles:
            self.angles.add(angle)
            a, tail = self.operand(angle), self._angle_name(angle)
            names = {"s": f"sin_{tail}", "c": f"cos_{tail}"}
            self.lines.append(self.dialect.sincos.format(t=self.dialect.value, a=a, **names))
        self.named.add(i)

    def _keep(self, i: int) -> None:
        slot = self.printer.layout.slots.get(i)
        if slot is not None:
            self.uses_slots = True
            self.lines.append(f"{self._slot(slot)} = {self.operand(i)};")
        for entry in self.printer.results.get(i, ()):
            self.writes.add(entry)
            self.lines.append(f"{self.printer.places.outputs[entry]} = {self.operand(i)};")


def port_of(ports: tuple[Port, ...], entry: int) -> tuple[Port, int]:
    """The port that holds a flat entry, and the entry's place in it."""
    for port in ports:
        if entry < port.size:
            return port, entry
        entry -= port.size
    raise AssertionError("entry outside all ports")
