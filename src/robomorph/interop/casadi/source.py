"""What all programs of one function for CasADi start from: the traced algorithm, over free coordinates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from robomorph.compiler.specialise import Request, Specialiser
from robomorph.interop.casadi.coordinates import normalised, tangent_rows
from robomorph.ir.derivatives import Run
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Tracer
from robomorph.targets.casadi.callee import Argument, Pattern, Values, matrix_shape

Row = dict[int, Any]  # derivatives of one entry, by the slot of the argument's entry


@dataclass(frozen=True, eq=False)
class Source:
    """A request, its program, and its arguments and results as matrices without zeros.

    An array of wrenches (n, 6) is a matrix of n columns, whose entries lie in memory as ours do. A result
    that is called like an argument gets `_next` behind its name."""

    specialiser: Specialiser
    request: Request
    program: Program
    arguments: tuple[Argument, ...]
    results: tuple[Argument, ...]

    @staticmethod
    def of(specialiser: Specialiser, request: Request) -> Source:
        program = specialiser.specialise(request).program
        arguments = tuple(Argument(port.name, _columns(port)) for port in program.inputs)
        taken = {port.name for port in program.inputs}
        results = tuple(
            Argument(f"{p.name}_next" if p.name in taken else p.name, Pattern.dense(*matrix_shape(p.shape)))
            for p in program.outputs
        )
        return Source(specialiser, request, program, arguments, results)

    def other(self, algorithm: str, outputs: Sequence[str]) -> Program:
        """The program of another algorithm for the same robot, with the same wrenches if it takes any."""
        request = replace(self.request, algorithm=algorithm, outputs=tuple(outputs), formulation=None)
        if not request.entry.wrenches:
            request = replace(request, wrench_links=())
        return self.specialiser.specialise(request).program

    def derivative(self, kind: str) -> Program:
        """The program of a derivative, see algorithms/derived.py."""
        request = replace(self.request, derivative=kind, formulation=None)
        return self.specialiser.specialise(request).program

    def unit(self, values: Values) -> Values:
        """The arguments, q normalised."""
        if "q" not in values:
            return values
        return {**values, "q": normalised(self.specialiser.model, values["q"])[0]}

    def tangents(self, values: Values) -> list[Row]:
        """By degree of freedom, how the tangent vector changes with the entries of q as given."""
        model = self.specialiser.model
        return tangent_rows(model, *normalised(model, values["q"]))


def run(tracer: Tracer, program: Program, values: Values) -> dict[str, list[Any]]:
    """The results of a program, flat by name, for arguments by name."""
    found = iter(Run(tracer, program, flat(program.inputs, values)).results)
    return {port.name: [next(found) for _ in range(port.size)] for port in program.outputs}


def flat(ports: Sequence[Port], values: Values) -> list[Any]:
    return [x for port in ports for x in values[port.name]]


def slots(arguments: Sequence[Argument]) -> Iterator[tuple[Argument, range]]:
    """Arguments with the places of their entries, laid end to end."""
    first = 0
    for argument in arguments:
        yield argument, range(first, first + len(argument.pattern.entries))
        first += len(argument.pattern.entries)


def _columns(port: Port) -> Pattern:
    rows, columns = matrix_shape(port.shape)
    return Pattern.dense(columns, rows) if len(port.shape) == 2 else Pattern.dense(rows, columns)
