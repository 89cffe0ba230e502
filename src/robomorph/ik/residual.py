"""Traced programs of the residual: raw errors and Jacobian of all tasks in one program.

The position of a frame can be carried outward with its axes, or inward without them. Both are traced, and the
shorter program is kept: errors of a position alone take a third of the operations inward.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from robomorph.algorithms.tree import Tree
from robomorph.compiler.specialise import no_collection
from robomorph.errors import ArgumentError
from robomorph.ik.layout import Layout
from robomorph.ir.ops import CONST
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Tracer
from robomorph.passes.fuse import fuse
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
    return _compressed(_cheapest(tree, layout, "ik_residual", ("raw", "jac")))


def trace_errors(tree: Tree, layout: Layout) -> Program:
    """Raw errors alone: what a speculative step is judged by."""
    return _cheapest(tree, layout, "ik_errors", ("raw",))


def _cheapest(tree: Tree, layout: Layout, name: str, outputs: Sequence[str]) -> Program:
    """The program with the fewest instructions: the positions of all frames outward, all inward, and from the
    better of the two what changing one frame at a time gains."""

    def traced(inward: frozenset[str]) -> tuple[Program, frozenset[str]]:
        return _traced(tree, layout, name, outputs, inward)[0], inward

    def cost(found: tuple[Program, frozenset[str]]) -> int:
        # Not operations: outward more of them are fused, which long chains feel.
        return sum(fuse(found[0]).counts().values())

    with no_collection():
        outward, frames = _traced(tree, layout, name, outputs, frozenset())
        best = outward, frozenset[str]()
        if frames:
            best = min(best, traced(frames), key=cost)
        for frame in sorted(frames) if len(frames) > 1 else ():
            best = min(best, traced(best[1] ^ {frame}), key=cost)
    return best[0]


def _traced(
    tree: Tree, layout: Layout, name: str, outputs: Sequence[str], inward: frozenset[str]
) -> tuple[Program, frozenset[str]]:
    """The program, with positions of frames in `inward` carried inward, and the frames that tasks ask for."""
    tracer = Tracer()
    ports = (Port("q", (tree.nq,)), Port("reference", (layout.size.reference,)))
    values = tracer.inputs(ports)
    scene, reference = Scene(tree, values["q"], inward), values["reference"]
    raw: list[Any] = []
    jacobian: Matrix = []
    for task, start in zip(layout.tasks, layout.starts, strict=True):
        own = reference[start.reference : start.reference + task.size.reference]
        errors, rows = task.residual(scene, own)
        _check_sizes(task, errors, rows, tree.nv)
        raw += errors
        jacobian += rows
    _check_coordinates(scene, layout)
    results = {"raw": raw, "jac": jacobian}
    program = tracer.program(name, ports, {output: results[output] for output in outputs})
    return run_passes(program, SIMPLIFY), frozenset(scene.asked)


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
