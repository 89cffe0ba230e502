"""A function in fixed point without its robot: two programs and their formats, as they are kept on disk."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from robomorph.ir.fixed import (
    FixedProgram,
    FixedResult,
    Format,
    input_words,
    interpret_fixed,
    output_reals,
)
from robomorph.ir.interpret import interpret
from robomorph.ir.ops import OPS
from robomorph.ir.program import Node, Port, Program
from robomorph.targets.fixed_point.function import FixedFunction

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Plan:
    """The host computes `host` (sines and cosines, if it gives them) from the arguments `inputs`, and with it
    `fixed` computes `outputs`."""

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    host: Program
    fixed: FixedProgram
    formulation: str
    candidates: dict[str, int | None]

    @classmethod
    def of(cls, function: FixedFunction[Any]) -> Plan:
        made, f = function.made, function
        return cls(f.inputs, f.outputs, f.host, f.fixed, made.formulation, dict(made.candidates))

    def chip_arguments(self, arguments: Mapping[str, Array]) -> dict[str, Array]:
        """What the fixed-point program takes, in real numbers: arguments, and what the host makes of them."""
        given = dict(arguments)
        if self.host.results:
            given.update(interpret(self.host, {p.name: given[p.name] for p in self.host.inputs}))
        return {port.name: given[port.name] for port in self.fixed.program.inputs}

    def interpret(self, arguments: Mapping[str, Array]) -> tuple[dict[str, Array], FixedResult]:
        """Results and words by the definition of every bit; the flags tell of arguments that do not fit as
        well."""
        words, clipped = input_words(self.fixed, self.chip_arguments(arguments))
        result = interpret_fixed(self.fixed, words)
        return output_reals(self.fixed, result.words), FixedResult(result.words, result.overflow | clipped)

    def to_bytes(self) -> bytes:
        """As JSON; numbers survive to the last bit."""
        data = {
            "inputs": _ports(self.inputs),
            "outputs": _ports(self.outputs),
            "host": _program(self.host),
            "fixed": _program(self.fixed.program),
            "formats": [[form.bits, form.frac] for form in self.fixed.formats],
            "formulation": self.formulation,
            "candidates": self.candidates,
        }
        return json.dumps(data, separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, stored: bytes) -> Plan:
        data = json.loads(stored)
        formats = tuple(Format(bits, frac) for bits, frac in data["formats"])
        return cls(
            _read_ports(data["inputs"]),
            _read_ports(data["outputs"]),
            _read_program(data["host"]),
            FixedProgram(_read_program(data["fixed"]), formats),
            data["formulation"],
            data["candidates"],
        )


def _ports(ports: tuple[Port, ...]) -> list[Any]:
    return [[port.name, list(port.shape)] for port in ports]


def _read_ports(data: list[Any]) -> tuple[Port, ...]:
    return tuple(Port(name, tuple(shape)) for name, shape in data)


def _program(program: Program) -> dict[str, Any]:
    return {
        "name": program.name,
        "inputs": _ports(program.inputs),
        "outputs": _ports(program.outputs),
        "nodes": [[node.op.name, list(node.args), node.value] for node in program.nodes],
        "results": list(program.results),
    }


def _read_program(data: dict[str, Any]) -> Program:
    return Program(
        data["name"],
        _read_ports(data["inputs"]),
        _read_ports(data["outputs"]),
        tuple(Node(OPS[op], tuple(args), value) for op, args, value in data["nodes"]),
        tuple(data["results"]),
    )
