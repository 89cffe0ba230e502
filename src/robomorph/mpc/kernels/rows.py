"""All rows of a control problem at one node, with exact derivatives, in one program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robomorph.algorithms.tree import Tree
from robomorph.errors import ArgumentError
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Tracer
from robomorph.mpc.kernels.pieces import Piece, Rows, State
from robomorph.passes.pipeline import SIMPLIFY, run_passes
from robomorph.tasks import Scene
from robomorph.tasks.base import split


def row_count(pieces: Sequence[Piece]) -> int:
    return sum(piece.rows for piece in pieces)


def reference_count(pieces: Sequence[Piece]) -> int:
    return sum(piece.references for piece in pieces)


def any_moving(pieces: Sequence[Piece]) -> bool:
    """Do rows depend on qd?"""
    return any(piece.moving for piece in pieces)


def row_inputs(nv: int, pieces: Sequence[Piece]) -> tuple[Port, ...]:
    """q, qd if a row depends on it (nv,), and the references of all pieces one after the other."""
    states = ("q", "qd") if any_moving(pieces) else ("q",)
    return (*(Port(name, (nv,)) for name in states), Port("references", (reference_count(pieces),)))


def row_outputs(nv: int, pieces: Sequence[Piece]) -> tuple[Port, ...]:
    """Values (rows,), their derivatives by q and, if rows depend on it, by qd (rows, nv)."""
    rows = row_count(pieces)
    slopes = ("dq", "dqd") if any_moving(pieces) else ("dq",)
    return (Port("values", (rows,)), *(Port(name, (rows, nv)) for name in slopes))


def trace_rows(tree: Tree, pieces: Sequence[Piece]) -> Program:
    """(q, [qd,] references) -> values, dq, [dqd]."""
    tracer = Tracer()
    ports = row_inputs(tree.nv, pieces)
    inputs = tracer.inputs(ports)
    q = inputs["q"]
    # Without qd among the ports nothing reads it.
    state = State(tracer, Scene(tree, q), q, inputs.get("qd", [0.0] * tree.nv))
    found = [
        _checked(piece, piece.trace(state, own), tree.nv)
        for piece, own in zip(
            pieces, split(inputs["references"], [piece.references for piece in pieces]), strict=True
        )
    ]
    results: dict[str, Any] = {
        "values": [value for rows in found for value in rows.values],
        "dq": [row for rows in found for row in rows.dq],
    }
    if any_moving(pieces):
        results["dqd"] = [row for rows in found for row in rows.dqd or [[0.0] * tree.nv for _ in rows.values]]
    shapes = {port.name: port.shape for port in row_outputs(tree.nv, pieces)}
    return run_passes(tracer.program("control_rows", ports, results, shapes), SIMPLIFY)


def _checked(piece: Piece, rows: Rows, nv: int) -> Rows:
    """Native code trusts these numbers."""
    widths = {len(row) for row in (*rows.dq, *(rows.dqd or ()))}
    if (len(rows.values), len(rows.dq)) != (piece.rows, piece.rows) or widths - {nv}:
        raise ArgumentError(
            f"{piece.title}: expected {piece.rows} rows, as its size says, and a Jacobian ({piece.rows}, "
            f"{nv}), found {len(rows.values)} rows and {len(rows.dq)} of {sorted(widths)} entries"
        )
    return rows
