"""Traced programs of the residual: raw errors and Jacobian of all tasks in one sweep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from robomorph.algorithms.tree import Tree
from robomorph.errors import ArgumentError
from robomorph.ik.layout import Layout
from robomorph.ir.ops import CONST
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Tracer
from robomorph.passes.pipeline import SIMPLIFY, run_passes
from robomorph.tasks import Matrix, Scene, Task

# Per entry of the Jacobian, row-major: a constant, or the place among the entries that are computed.
Pattern = tuple[float | int, ...]


@dataclass(frozen=True)
class Residual:
    """The program (q, reference) -> (raw, jac). `jac` holds the entries of the Jacobian that are not
    constant; `pattern` says where they are: an int is a place in `jac`, a float a constant."""

    program: Program
    pattern: Pattern

    @property
    def computed(self) -> int:
        return sum(type(entry) is int for entry in self.pattern)


def trace_residual(tree: Tree, layout: Layout) -> Residual:
    """Raw errors and Jacobian of the rows, structural constants left out."""
    tracer, ports, raw, jacobian = _stacked(tree, layout)
    program = tracer.program("ik_residual", ports, {"raw": raw, "jac": jacobian})
    return _compressed(run_passes(program, SIMPLIFY))


def trace_errors(tree: Tree, layout: Layout) -> Program:
    """Raw errors alone: what a speculative step is judged by."""
    tracer, ports, raw, _ = _stacked(tree, layout)
    return run_passes(tracer.program("ik_errors", ports, {"raw": raw}), SIMPLIFY)


def _stacked(tree: Tree, layout: Layout) -> tuple[Tracer, tuple[Port, Port], list[Any], Matrix]:
    """Raw errors and Jacobian rows of all tasks."""
    tracer = Tracer()
    ports = (Port("q", (tree.nq,)), Port("reference", (layout.size.reference,)))
    values = tracer.inputs(ports)
    scene, reference = Scene(tree, values["q"]), values["reference"]
    raw: list[Any] = []
    jacobian: Matrix = []
    for task, start in zip(layout.tasks, layout.starts, strict=True):
        own = reference[start.reference : start.reference + task.size.reference]
        errors, rows = task.residual(scene, own)
        _check_sizes(task, errors, rows, tree.nv)
        raw += errors
        jacobian += rows
    _check_coordinates(scene, layout)
    return tracer, ports, raw, jacobian


def _check_sizes(task: Task, errors: list[Any], rows: Matrix, nv: int) -> None:
    """Native code trusts these numbers."""
    raw, count = task.kind.sizes or (task.size.rows, task.size.rows)
    expected = f"{raw} raw errors and a Jacobian ({count}, {nv})"
    widths = {len(row) for row in rows}
    if (len(errors), len(rows)) != (raw, count) or task.size[1:] != (raw, count) or widths != {nv}:
        raise ArgumentError(
            f"{task.title}: expected {expected}, as its kind and size say, found size {task.size[1:]}, "
            f"{len(errors)} raw errors and {len(rows)} rows of {sorted(widths)} entries"
        )


def _check_coordinates(scene: Scene, layout: Layout) -> None:
    """What tasks read of q by itself they must say: the search moves other joints by full turns at will."""
    hidden = sorted(scene.read - layout.coordinates)
    if hidden:
        titles = ", ".join(task.title for task in layout.tasks)
        raise ArgumentError(
            f"{titles}: expected tasks to list the coordinates of q that they read in `coordinates`, found "
            f"{hidden} read and not listed"
        )


def _compressed(program: Program) -> Residual:
    """The same program with the constant entries of `jac` taken out of its results."""
    raw, jac = program.outputs
    pattern: list[float | int] = []
    kept: list[int] = []
    for r in program.results[raw.size :]:
        node = program.nodes[r]
        if node.op is CONST:
            pattern.append(float(node.value))
        else:
            pattern.append(len(kept))
            kept.append(r)
    small = Program(
        program.name,
        program.inputs,
        (raw, Port(jac.name, (len(kept),))),
        program.nodes,
        (*program.results[: raw.size], *kept),
    )
    return Residual(small, tuple(pattern))
