"""Programs with one sign flipped: whatever looks for mistakes must find them."""

from __future__ import annotations

from typing import Any

import pytest

from robomorph.compiler.specialise import Request, Specialiser
from robomorph.ir.ops import ADD, SUB
from robomorph.ir.program import Node, Program

_FLIPPED = {ADD: SUB, SUB: ADD}


def flipped(program: Program, share: float) -> Program:
    """The program with another sign at one sum, that share of all sums away from the first."""
    sums = [i for i, node in enumerate(program.nodes) if node.op in _FLIPPED]
    assert sums, "a program without sums has no sign to flip"
    at = sums[int(share * (len(sums) - 1))]
    nodes = list(program.nodes)
    nodes[at] = Node(_FLIPPED[nodes[at].op], nodes[at].args)
    return program.with_nodes(nodes, program.results)


def broken(monkeypatch: pytest.MonkeyPatch, algorithm: str, derivative: str | None, share: float) -> None:
    """From here on the compiler makes that mistake in all programs of an algorithm, or of its derivative."""
    right = Specialiser._trace

    def wrong(self: Specialiser, request: Request, *more: Any) -> Program | None:
        program = right(self, request, *more)
        asked = (request.algorithm, request.derivative) == (algorithm, derivative)
        return flipped(program, share) if asked and program is not None else program

    monkeypatch.setattr(Specialiser, "_trace", wrong)
