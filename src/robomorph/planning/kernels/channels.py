"""Kinematic channels: the bound rows of any list of tasks with their gradients, in one program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robomorph.algorithms.tree import Tree
from robomorph.errors import ArgumentError
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Tracer
from robomorph.passes.dce import dce
from robomorph.passes.pipeline import SIMPLIFY, run_passes
from robomorph.tasks import AnyTask, Matrix, Scene
from robomorph.tasks.base import split


def channel_inputs(nv: int, tasks: Sequence[AnyTask]) -> tuple[Port, Port]:
    """Configuration (nv,) and the references of all tasks, one after the other."""
    return Port("q", (nv,)), Port("references", (sum(task.size.reference for task in tasks),))


def channel_outputs(nv: int, tasks: Sequence[AnyTask]) -> tuple[Port, Port]:
    """Values (C,) and gradients (C, nv)."""
    count = channel_count(tasks)
    return Port("values", (count,)), Port("gradients", (count, nv))


def channel_count(tasks: Sequence[AnyTask]) -> int:
    return sum(task.bound_size.rows for task in tasks)


def trace_channels(tree: Tree, tasks: Sequence[AnyTask]) -> Program:
    """(q, references) -> values (C,) of the bound rows of all tasks, and their gradients (C, nv)."""
    tracer = Tracer()
    ports = channel_inputs(tree.nv, tasks)
    inputs = tracer.inputs(ports)
    values, gradients = bound_rows(Scene(tree, inputs["q"]), tasks, inputs["references"])
    shapes = {port.name: port.shape for port in channel_outputs(tree.nv, tasks)}
    results = {"values": values, "gradients": gradients}
    return run_passes(tracer.program("channels", ports, results, shapes), SIMPLIFY)


def trace_channel_values(tree: Tree, tasks: Sequence[AnyTask]) -> Program:
    """(q, references) -> values (C,) alone: what a trial step is judged by."""
    program = trace_channels(tree, tasks)
    values = program.outputs[0]
    kept = program.results[: values.size]
    return dce(Program("channel_values", program.inputs, (values,), program.nodes, kept))


def bound_rows(scene: Scene, tasks: Sequence[AnyTask], references: Sequence[Any]) -> tuple[list[Any], Matrix]:
    """The rows of all tasks in one scene, so that what they share is computed once."""
    values: list[Any] = []
    gradients: Matrix = []
    owns = split(references, [task.size.reference for task in tasks])
    for task, own in zip(tasks, owns, strict=True):
        rows, jacobian = task.bound_rows(scene, own)
        _check_sizes(task, rows, jacobian, scene.tree.nv)
        values += rows
        gradients += jacobian
    return values, gradients


def _check_sizes(task: AnyTask, rows: list[Any], jacobian: Matrix, nv: int) -> None:
    """Native code trusts these numbers."""
    count = task.bound_size.rows
    widths = {len(row) for row in jacobian}
    if (len(rows), len(jacobian)) != (count, count) or widths != {nv}:
        raise ArgumentError(
            f"{task.title}: expected {count} bound rows, as its bound_size says, and a Jacobian "
            f"({count}, {nv}), found {len(rows)} rows and {len(jacobian)} of {sorted(widths)} entries"
        )
