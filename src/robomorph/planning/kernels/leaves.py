"""What tasks make of the poses of frames: a program over poses instead of joints, and its gradient.

A task reads a scene. In this one, poses of frames and the centre of mass are inputs, called leaves. How
leaves depend on the joints is the same for all tasks and known in closed form (channel_hessian.py); what a
task does with them is differentiated by machine, so a new task needs no code here. Whatever else a task may
compute from q stays a function of q, and is differentiated along.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from robomorph.algorithms.tree import Tree
from robomorph.algorithms.world_pose import WorldPose
from robomorph.ir.derivatives import gradient_of
from robomorph.ir.ops import INPUT
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Tracer
from robomorph.passes.pipeline import SIMPLIFY, run_passes
from robomorph.planning.kernels.channels import bound_rows, channel_inputs
from robomorph.spatial import Scalar
from robomorph.tasks import AnyTask, Scene

_POSE, _POINT = 12, 3  # numbers of a pose: three axes, then the origin


class _LeafScene(Scene):
    """A scene whose poses and centre of mass are inputs of the tracer, from slot `first` on."""

    def __init__(self, tree: Tree, q: Sequence[Scalar], tracer: Tracer, first: int) -> None:
        super().__init__(tree, q)
        self.tracer, self.first, self.count = tracer, first, 0
        self.frames: dict[str, int] = {}  # first leaf of a frame
        self.mass_point: int | None = None  # first leaf of the centre of mass

    def _leaves(self, count: int) -> tuple[int, list[Any]]:
        start, self.count = self.count, self.count + count
        return start, self._at(start, count)

    def _at(self, start: int, count: int) -> list[Any]:
        return [self.tracer.input(self.first + start + k) for k in range(count)]

    def pose(self, frame: str) -> WorldPose:
        if frame not in self.frames:
            self.frames[frame], _ = self._leaves(_POSE)
        x = self._at(self.frames[frame], _POSE)
        return WorldPose(((x[0], x[1], x[2]), (x[3], x[4], x[5]), (x[6], x[7], x[8])), (x[9], x[10], x[11]))

    @cached_property
    def center_of_mass(self) -> list[Scalar]:
        self.mass_point, values = self._leaves(_POINT)
        return values


@dataclass(frozen=True)
class Leaves:
    """Where the leaves are, and the program (q, references, leaves, multipliers) -> (dq, dleaves): the
    gradient of multipliers . values."""

    frames: dict[str, int]
    mass_point: int | None
    gradient: Program

    @cached_property
    def bent(self) -> bool:
        """Does the gradient depend on the leaves or on q, so that values are not linear in the leaves?"""
        q, references, leaves, _ = self.gradient.inputs
        first = q.size + references.size
        moving = {*range(q.size), *range(first, first + leaves.size)}
        return any(node.op is INPUT and int(node.value) in moving for node in self.gradient.nodes)


def trace_leaves(tree: Tree, tasks: Sequence[AnyTask]) -> Leaves:
    """The gradient of all tasks' bound rows with respect to what they read."""
    tracer = Tracer()
    ports: tuple[Port, ...] = channel_inputs(tree.nv, tasks)
    inputs = tracer.inputs(ports)
    scene = _LeafScene(tree, inputs["q"], tracer, sum(port.size for port in ports))
    values, _ = bound_rows(scene, tasks, inputs["references"])
    ports = (*ports, Port("leaves", (scene.count,)))
    program = run_passes(tracer.program("leaves", ports, {"values": values}), SIMPLIFY)
    gradient = run_passes(gradient_of(program, ("q", "leaves")), SIMPLIFY)
    return Leaves(scene.frames, scene.mass_point, gradient)
