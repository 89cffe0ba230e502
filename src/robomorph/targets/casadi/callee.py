"""What CasADi is told of a function: names, sparsity patterns, and the program behind them.

CasADi's matrices are columns laid end to end, of which it keeps the entries of a pattern. So the program of
a callee has exactly those entries for results, in that order: its code writes straight into CasADi's memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Tracer
from robomorph.passes.pipeline import SIMPLIFY, run_passes

Values = Mapping[str, Sequence[Any]]  # scalars by the name of an argument or a result, column by column


@dataclass(frozen=True, slots=True)
class Pattern:
    """Where a matrix may be other than zero. entries: places `column * rows + row`, ascending."""

    rows: int
    columns: int
    entries: tuple[int, ...]

    @staticmethod
    def dense(rows: int, columns: int) -> Pattern:
        return Pattern(rows, columns, tuple(range(rows * columns)))

    @staticmethod
    def empty(rows: int, columns: int) -> Pattern:
        return Pattern(rows, columns, ())

    @property
    def size(self) -> int:
        return self.rows * self.columns

    @property
    def compressed(self) -> tuple[int, ...]:
        """As CasADi's interface has it: rows, columns, where each column begins (and the last ends), the row
        of every entry."""
        starts = [0] * (self.columns + 1)
        for place in self.entries:
            starts[place // self.rows + 1] += 1
        for column in range(self.columns):
            starts[column + 1] += starts[column]
        return (self.rows, self.columns, *starts, *(place % self.rows for place in self.entries))


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument or a result: its name and its pattern."""

    name: str
    pattern: Pattern

    def renamed(self, prefix: str) -> Argument:
        return Argument(f"{prefix}{self.name}", self.pattern)

    def unread(self, prefix: str) -> Argument:
        """One of the same size of which nothing is read or written."""
        return Argument(f"{prefix}{self.name}", Pattern.empty(self.pattern.rows, self.pattern.columns))


@dataclass(frozen=True, slots=True)
class Callee:
    """A function for CasADi. `program` has a port (entries,) of the same name for every argument and result
    that has any; arguments with an empty pattern are not read."""

    name: str
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    program: Program

    @property
    def used_inputs(self) -> tuple[int, ...]:
        """The places of arguments with a port, in the order of the ports."""
        return _used(self.inputs)

    @property
    def used_outputs(self) -> tuple[int, ...]:
        return _used(self.outputs)


def _used(arguments: Sequence[Argument]) -> tuple[int, ...]:
    return tuple(k for k, argument in enumerate(arguments) if argument.pattern.entries)


def make_callee(
    name: str,
    inputs: Sequence[Argument],
    outputs: Sequence[Argument],
    compute: Callable[[Tracer, Values], Values],
    *,
    fixed: bool = False,
) -> Callee:
    """Trace `compute`: by name the entries of its arguments' patterns -> for each of `outputs` those of its
    pattern. Of these patterns the entries are kept that the simplified program does not know to be zero, or
    all if they are `fixed`."""
    tracer = Tracer()
    ports = [Port(a.name, (len(a.pattern.entries),)) for a in inputs if a.pattern.entries]
    results = compute(tracer, {**{a.name: [] for a in inputs}, **tracer.inputs(ports)})
    wanted = {a.name: results[a.name] for a in outputs if a.pattern.entries}
    shapes = {a.name: (len(a.pattern.entries),) for a in outputs}
    program = run_passes(tracer.program(name, ports, wanted, shapes), SIMPLIFY)
    if fixed:
        return Callee(name, tuple(inputs), tuple(outputs), program)
    return _without_zeros(name, inputs, outputs, program)


def _without_zeros(
    name: str, inputs: Sequence[Argument], outputs: Sequence[Argument], program: Program
) -> Callee:
    found: list[Argument] = []
    ports: list[Port] = []
    kept: list[int] = []
    first = 0
    for argument in outputs:
        pattern = argument.pattern
        nodes = program.results[first : first + len(pattern.entries)]
        first += len(nodes)
        own = [(e, r) for e, r in zip(pattern.entries, nodes, strict=True) if not program.is_zero(r)]
        entries = tuple(entry for entry, _ in own)
        found.append(Argument(argument.name, Pattern(pattern.rows, pattern.columns, entries)))
        if own:
            ports.append(Port(argument.name, (len(own),)))
            kept += [node for _, node in own]
    made = Program(name, program.inputs, tuple(ports), program.nodes, tuple(kept))
    return Callee(name, tuple(inputs), tuple(found), made)


def matrix_shape(shape: Sequence[int]) -> tuple[int, int]:
    """Rows and columns of an array as a CasADi matrix: a vector is a column, and matrices of a stack stand
    side by side."""
    if len(shape) < 2:
        return (shape[0] if shape else 1), 1
    stacked = 1
    for count in shape[:-2]:
        stacked *= count
    return shape[-2], stacked * shape[-1]


def in_columns(shape: Sequence[int], values: Sequence[Any]) -> list[Any]:
    """The entries of an array, given row-major, in the order of its CasADi matrix."""
    if len(shape) < 2 or not values:
        return list(values)
    rows, width = shape[-2], shape[-1]
    blocks = range(0, len(values), rows * width)
    return [values[b + r * width + c] for b in blocks for c in range(width) for r in range(rows)]
