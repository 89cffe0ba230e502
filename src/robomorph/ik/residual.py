"""Traced programs of the residual: poses, raw errors and Jacobian of all blocks in one sweep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from robomorph.algorithms.inputs import set_inputs
from robomorph.algorithms.kinematics import CENTER_OF_MASS as COM_SWEEPS
from robomorph.algorithms.kinematics import CENTER_OF_MASS_JACOBIAN, POSES, WorldPose
from robomorph.algorithms.sweep import WORLD, State, run
from robomorph.algorithms.tree import Tree
from robomorph.ik.layout import AXIS, CENTER_OF_MASS, POSITION, Block, Layout
from robomorph.ir.ops import CONST
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Tracer
from robomorph.passes.pipeline import SIMPLIFY, run_passes
from robomorph.spatial import Scalar, Vec3, add3, cross3, dot3, scale3, sub3

Rows = list[list[Any]]
# Per entry of the Jacobian, row-major: a constant, or the place among the entries that are computed.
Pattern = tuple[float | int, ...]


@dataclass(frozen=True)
class Residual:
    """The program (q, target) -> (raw, jac). `jac` holds the entries of the Jacobian that are not constant;
    `pattern` says where they are: an int is a place in `jac`, a float a constant."""

    program: Program
    pattern: Pattern

    @property
    def computed(self) -> int:
        return sum(type(entry) is int for entry in self.pattern)


def trace_residual(tree: Tree, layout: Layout) -> Residual:
    """Raw errors and Jacobian of the rows, structural constants left out."""
    tracer, ports, state, target = _start(tree, layout)
    raw: list[Any] = []
    rows: Rows = []
    for block, start in zip(layout.blocks, layout.starts, strict=True):
        own = target[start.target : start.target + block.size.target]
        values, jacobian = _block(state, block, own)
        raw += values
        rows += jacobian
    program = tracer.program("ik_residual", ports, {"raw": raw, "jac": rows})
    return _compressed(run_passes(program, SIMPLIFY))


def trace_errors(tree: Tree, layout: Layout) -> Program:
    """Raw errors alone: what a speculative step is judged by."""
    tracer, ports, state, target = _start(tree, layout)
    raw: list[Any] = []
    for block, start in zip(layout.blocks, layout.starts, strict=True):
        raw += _block(state, block, target[start.target : start.target + block.size.target])[0]
    return run_passes(tracer.program("ik_errors", ports, {"raw": raw}), SIMPLIFY)


def _start(tree: Tree, layout: Layout) -> tuple[Tracer, tuple[Port, Port], State, list[Any]]:
    tracer = Tracer()
    ports = (Port("q", (tree.nq,)), Port("target", (layout.target_size,)))
    values = tracer.inputs(ports)
    state = State(tree)
    set_inputs(state, {"q": values["q"]}, ())
    run(state, POSES)
    if any(block.kind == CENTER_OF_MASS for block in layout.blocks):
        run(state, (*COM_SWEEPS, *CENTER_OF_MASS_JACOBIAN))
    return tracer, ports, state, list(values["target"])


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


def _block(state: State, block: Block, target: Sequence[Scalar]) -> tuple[list[Scalar], Rows]:
    """Raw error and Jacobian rows of one block."""
    if block.kind == CENTER_OF_MASS:
        com = state.whole["com"]
        return [com[i] - target[i] for i in range(3)], [list(row) for row in state.whole["com_jacobian"]]
    assert block.frame is not None
    link, placement = state.tree.frames[block.frame]
    pose: WorldPose = state.fields["pose", link].then(placement)
    linear, angular = _columns(state, link, pose.origin)
    if block.kind == POSITION:
        return [pose.origin[i] - target[i] for i in range(3)], linear
    turn = ((target[0], target[1], target[2]), (target[3], target[4], target[5]), tuple(target[6:9]))
    if block.kind == AXIS:
        assert block.axis is not None
        return _axis_error(pose, block.axis, turn, angular)
    return _rotation_error(pose, turn, angular, block.own_axes)


def _columns(state: State, link: int, point: Vec3) -> tuple[Rows, Rows]:
    """Linear (at `point`) and angular velocity of a link per user's degree of freedom, in world axes."""
    nv = state.tree.nv
    linear: Rows = [[0.0] * nv for _ in range(3)]
    angular: Rows = [[0.0] * nv for _ in range(3)]
    for dof in state.tree.support_dofs(link) if link != WORLD else ():
        unit = state.tree.links[dof.link].joint.subspace[dof.k]
        pose: WorldPose = state.fields["pose", dof.link]
        ang = pose.vector(unit.ang)
        lin = add3(pose.vector(unit.lin), cross3(ang, sub3(point, pose.origin)))
        for i in range(3):
            linear[i][dof.user] = linear[i][dof.user] + dof.scale * lin[i]
            angular[i][dof.user] = angular[i][dof.user] + dof.scale * ang[i]
    return linear, angular


def _rotation_error(
    pose: WorldPose, turn: Sequence[Sequence[Scalar]], angular: Rows, own_axes: bool
) -> tuple[list[Scalar], Rows]:
    """The rotation from the target (`turn`, row-major) to the frame: R Rt^T in world axes, or Rt^T R in the
    target's own."""
    x, y, z = pose.axes
    raw: list[Scalar] = []
    if not own_axes:
        for i in range(3):
            raw += [x[i] * row[0] + y[i] * row[1] + z[i] * row[2] for row in turn]
        return raw, angular
    columns: list[Vec3] = [(turn[0][i], turn[1][i], turn[2][i]) for i in range(3)]
    for column in columns:
        raw += [dot3(column, axis) for axis in pose.axes]
    return raw, [_combine(column, angular) for column in columns]


def _axis_error(
    pose: WorldPose, axis: Vec3, turn: Sequence[Sequence[Scalar]], angular: Rows
) -> tuple[list[Scalar], Rows]:
    """Cosine and the two components of the sine of the angle from the wanted direction to the axis. The rows
    of `turn` are two directions normal to the wanted one, then the wanted one."""
    u, v, d = ((row[0], row[1], row[2]) for row in turn)
    world = pose.vector(axis)
    raw = [dot3(world, d), -dot3(world, v), dot3(world, u)]
    return raw, [_combine(u, angular), _combine(v, angular)]


def _combine(weights: Vec3, rows: Rows) -> list[Any]:
    columns = [scale3(1.0, (rows[0][j], rows[1][j], rows[2][j])) for j in range(len(rows[0]))]
    return [dot3(weights, column) for column in columns]
