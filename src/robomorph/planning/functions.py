"""The functions of a motion, on arrays: channels of tasks, torques, and their derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from robomorph.compiler.program import compile_program
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Tracer
from robomorph.passes.pipeline import SIMPLIFY, run_passes
from robomorph.planning.problem import Array, Bools
from robomorph.tasks import AnyTask, Scene

if TYPE_CHECKING:
    from robomorph.robot import Robot


class Torque(NamedTuple):
    """tau (..., nv), its derivatives by q and qd, and by qdd: the mass matrix (..., nv, nv)."""

    tau: Array
    by_q: Array
    by_qd: Array
    mass: Array


@dataclass(frozen=True)
class ChannelList:
    """Rows of tasks: `rows[i]` are those wanted of the bound rows of `tasks[i]`."""

    tasks: tuple[AnyTask, ...]
    rows: tuple[tuple[int, ...], ...]

    @property
    def count(self) -> int:
        return sum(len(rows) for rows in self.rows)


class Functions:
    """Channels and torques of one robot."""

    def __init__(self, robot: Robot, channels: ChannelList, torque: bool) -> None:
        self.robot, self.list = robot, channels
        self._channels, pattern = _channel_kernel(robot, channels)
        nv = robot.nv
        self.pattern: Bools = np.concatenate([pattern, np.ones((nv if torque else 0, nv), bool)])
        self._step = 1e-6

    def channels(self, q: Array, references: Array) -> tuple[Array, Array]:
        """Values (..., C) and gradients (..., C, nv) at q (..., nv)."""
        if not self.list.count:
            return np.zeros((*q.shape[:-1], 0)), np.zeros((*q.shape[:-1], 0, q.shape[-1]))
        found = self._channels(q, references)
        return found.values, found.gradients

    def channels_hessian(self, q: Array, references: Array, multipliers: Array) -> Array:
        """(..., nv, nv): second derivative of multipliers (..., C) . channels."""
        columns = []
        for j in range(q.shape[-1]):
            step = np.zeros(q.shape[-1])
            step[j] = self._step
            ahead, back = (self.channels(q + side * step, references)[1] for side in (1, -1))
            columns.append(np.einsum("...c,...cj->...j", multipliers, ahead - back) / (2 * self._step))
        hessian = np.stack(columns, axis=-1)
        return np.asarray((hessian + np.swapaxes(hessian, -1, -2)) / 2.0)

    def torque(self, q: Array, qd: Array, qdd: Array) -> Torque:
        gradient = self.robot.inverse_dynamics_gradient(q, qd, qdd)
        tau = self.robot.inverse_dynamics(q, qd, qdd)
        return Torque(tau, gradient.dtau_dq, gradient.dtau_dqd, self.robot.mass_matrix(q))

    def torque_hessian(self, q: Array, qd: Array, qdd: Array, multipliers: Array) -> Array:
        """(..., 3 nv, 3 nv): second derivative of multipliers (..., nv) . tau by (q, qd, qdd)."""
        nv = q.shape[-1]
        columns = []
        for j in range(3 * nv):
            step = np.zeros((3, nv))
            step.flat[j] = self._step
            ahead, back = (
                self._adjoint(q + side * step[0], qd + side * step[1], qdd + side * step[2], multipliers)
                for side in (1, -1)
            )
            columns.append((ahead - back) / (2 * self._step))
        hessian = np.stack(columns, axis=-1)
        return np.asarray((hessian + np.swapaxes(hessian, -1, -2)) / 2.0)

    def _adjoint(self, q: Array, qd: Array, qdd: Array, multipliers: Array) -> Array:
        found = self.torque(q, qd, qdd)
        parts = [np.einsum("...i,...ij->...j", multipliers, part) for part in found[1:]]
        return np.concatenate(parts, axis=-1)


def _channel_kernel(robot: Robot, channels: ChannelList) -> tuple[Any, Bools]:
    tracer, tree = Tracer(), robot.specialiser.tree(regroup=False)
    sizes = [task.size.reference for task in channels.tasks]
    ports = [Port("q", (robot.nq,)), Port("references", (max(1, sum(sizes)),))]
    inputs = tracer.inputs(ports)
    scene, first = Scene(tree, inputs["q"]), 0
    values: list[Any] = []
    gradients: list[Sequence[Any]] = []
    for task, rows, size in zip(channels.tasks, channels.rows, sizes, strict=True):
        value, jacobian = task.bound_rows(scene, inputs["references"][first : first + size])
        values += [value[row] for row in rows]
        gradients += [jacobian[row] for row in rows]
        first += size
    if not values:
        return None, np.zeros((0, robot.nv), bool)
    program = tracer.program("plan_channels", ports, {"values": values, "gradients": gradients})
    program = run_passes(program, SIMPLIFY)
    return compile_program(program, check_finite=False), _pattern(program, "gradients")


def _pattern(program: Program, output: str) -> Bools:
    """Which entries of an output are not the constant zero."""
    first = 0
    for port in program.outputs:
        if port.name == output:
            found = [not program.is_zero(r) for r in program.results[first : first + port.size]]
            return np.array(found).reshape(port.shape)
        first += port.size
    raise KeyError(output)
