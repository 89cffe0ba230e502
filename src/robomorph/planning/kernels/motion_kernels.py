"""All that a planner evaluates of a robot and its tasks, as kernels and as code for native drivers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from robomorph.algorithms.registry import ALGORITHMS
from robomorph.compiler.program import Deferred
from robomorph.errors import ArgumentError
from robomorph.ir.program import Program
from robomorph.naming import hint
from robomorph.planning.kernels.channel_hessian import hessian_inputs, hessian_output, trace_channel_hessian
from robomorph.planning.kernels.channels import channel_count, channel_inputs, channel_outputs, trace_channels
from robomorph.planning.kernels.joints import require_flat
from robomorph.planning.kernels.torque import (
    adjoint_inputs,
    adjoint_outputs,
    hessian_outputs,
    torque_inputs,
    torque_outputs,
    trace_torque,
    trace_torque_adjoint,
    trace_torque_hessian,
)
from robomorph.planning.kernels.values import first_output
from robomorph.runtime.kernel import AnyKernel, Settings
from robomorph.targets.cpu.handle import NativeHandle
from robomorph.targets.cpu.host import host
from robomorph.tasks import AnyTask

if TYPE_CHECKING:
    from robomorph.robot import Robot


class MotionKernels:
    """Kernels of one robot and a list of tasks; nothing is traced or compiled before it is asked for.

    - `channels`: q, references -> values (C,), gradients (C, nv): the tasks' bound rows, in their order;
    - `channel_values`: the values alone;
    - `channel_hessian`: q, references, multipliers (C,) -> hessian (nv, nv) of multipliers . values;
    and with `torque`
    - `torque`: q, qd, qdd -> tau, dtau_dq, dtau_dqd, mass; with `wrench` also wrench (6,), dwrench_dq,
      dwrench_dqd, dwrench_dqdd (6, nv): what the root exerts on all that moves, linear first, in the world's
      axes about its origin;
    - `torque_values`: q, qd, qdd -> tau;
    - `torque_adjoint`: q, qd, qdd, multipliers (nv, or nv + 6 with `wrench`) -> dq, dqd, dqdd (nv,): the
      gradient of multipliers . (tau, wrench);
    - `torque_hessian`: the same arguments -> its second derivatives qq, q_qd, qd_qd, q_qdd (nv, nv), rows by
      the first of the two; all others are zero.
    """

    def __init__(
        self, robot: Robot, tasks: Sequence[AnyTask] = (), *, torque: bool = False, wrench: bool = False
    ) -> None:
        require_flat(robot.model)
        for task in tasks:
            _check_task(robot, task)
        self.robot, self.tasks = robot, tuple(tasks)
        self.deferred: dict[str, Deferred] = {}
        if tasks:
            self._add_channels()
        if torque or wrench:
            robot.specialiser.require_masses(ALGORITHMS["inverse_dynamics"])
            self._add_torque(wrench)
        for name, full in (("channel_values", "channels"), ("torque_values", "torque")):
            if full in self.deferred:
                self.deferred[name] = _values(name, self.deferred[full])
        self._kernels: dict[Any, AnyKernel] = {}
        self._handles: dict[Any, NativeHandle] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.deferred)

    @property
    def channels(self) -> int:
        return channel_count(self.tasks)

    def program(self, name: str) -> Program:
        """The simplified program of one kernel."""
        return self._deferred(name).program

    def kernel(
        self,
        name: str,
        target: str = "cpu",
        *,
        dtype: str = "float64",
        threads: int = 0,
        check_finite: bool = True,
        options: Mapping[str, Any] | None = None,
    ) -> AnyKernel:
        """One kernel, called with arrays of any leading batch dimensions; made once."""
        key = (name, target, dtype, threads, check_finite, repr(options))
        if key not in self._kernels:
            settings = Settings(threads, check_finite, options or {})
            self._kernels[key] = self._deferred(name).kernel(target, dtype, settings)
        return self._kernels[key]

    def handle(self, name: str, *, lanes: int | None = None, dtype: str = "float64") -> NativeHandle:
        """Code of one kernel for native drivers, in lane order; `lanes` by default what suits this CPU."""
        count = host().lanes(dtype) if lanes is None else lanes
        key = (name, count, dtype)
        if key not in self._handles:
            self._handles[key] = self._deferred(name).lanes(count, dtype)
        return self._handles[key]

    def _deferred(self, name: str) -> Deferred:
        if name not in self.deferred:
            raise ArgumentError(f"kernel: unknown name {name!r}: {hint(name, list(self.deferred))}")
        return self.deferred[name]

    def _add_channels(self) -> None:
        nv, tasks, specialiser = self.robot.nv, self.tasks, self.robot.specialiser
        # A task of the caller's may change while its name stays: it is known by its program alone.
        own = all(
            type(part).__module__.startswith("robomorph.tasks.") for t in tasks for part in (t, *t.parts)
        )
        known = f"motion|{self.robot.model.digest}|{tasks!r}" if own else None
        self.deferred["channels"] = Deferred(
            "channels",
            channel_inputs(nv, tasks),
            channel_outputs(nv, tasks),
            lambda: trace_channels(specialiser.tree(regroup=False), tasks),
            known and f"{known}|channels",
        )
        self.deferred["channel_hessian"] = Deferred(
            "channel_hessian",
            hessian_inputs(nv, tasks),
            (hessian_output(nv),),
            lambda: trace_channel_hessian(specialiser.tree(regroup=False), tasks),
            known and f"{known}|hessian",
        )

    def _add_torque(self, wrench: bool) -> None:
        specialiser, nv = self.robot.specialiser, self.robot.nv
        given = adjoint_inputs(nv, wrench)
        for name, inputs, outputs, make in (
            ("torque", torque_inputs(nv), torque_outputs(nv, wrench), trace_torque),
            ("torque_adjoint", given, adjoint_outputs(nv), trace_torque_adjoint),
            ("torque_hessian", given, hessian_outputs(nv), trace_torque_hessian),
        ):
            key = f"motion|{self.robot.model.digest}|{name}|{wrench}"

            def made(make: Any = make) -> Program:
                program: Program = make(specialiser, wrench=wrench)
                return program

            self.deferred[name] = Deferred(name, inputs, outputs, made, key)


def _values(name: str, full: Deferred) -> Deferred:
    key = None if full.key is None else f"{full.key}|values"
    return Deferred(name, full.inputs, full.outputs[:1], lambda: first_output(full.program, name), key)


def _check_task(robot: Robot, task: object) -> None:
    if not isinstance(task, AnyTask):
        raise ArgumentError(f"task: expected a task of robomorph.tasks, found {task!r}")
    task.check(robot.model)
    if task.bound_size.rows == 0:
        raise ArgumentError(f"{task.title}: expected a task with rows that can be bounded, found none")
