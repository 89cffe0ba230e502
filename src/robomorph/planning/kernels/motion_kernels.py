"""All that a planner evaluates of a robot and its tasks, as kernels and as code for native drivers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from robomorph.algorithms.registry import ALGORITHMS
from robomorph.compiler.program import Deferred
from robomorph.errors import ArgumentError
from robomorph.ir.program import Port, Program
from robomorph.naming import hint
from robomorph.planning.kernels.channel_hessian import hessian_inputs, hessian_output, trace_channel_hessian
from robomorph.planning.kernels.channels import (
    channel_count,
    channel_inputs,
    channel_outputs,
    trace_channel_values,
    trace_channels,
)
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
    trace_torque_values,
    value_outputs,
)
from robomorph.runtime.kernel import AnyKernel, Settings
from robomorph.targets.cpu.handle import NativeHandle
from robomorph.targets.cpu.host import host
from robomorph.tasks import AnyTask

if TYPE_CHECKING:
    from robomorph.robot import Robot

# Name, inputs, outputs, and what traces it.
_Entry = tuple[str, tuple[Port, ...], tuple[Port, ...], Callable[..., Program]]


class MotionKernels:
    """Kernels of one robot and a list of tasks; nothing is traced or compiled before it is asked for.
    Without `hessian` the two Hessians are left out.

    - `channel_values`: q, references -> values (C,): the tasks' bound rows, in their order;
    - `channels`: q, references -> values (C,), gradients (C, nv);
    - `channel_hessian`: q, references, multipliers (C,) -> hessian (nv, nv) of multipliers . values;
    and with `torque`
    - `torque_values`: q, qd, qdd -> tau, and with `wrench` wrench (6,);
    - `torque`: q, qd, qdd -> tau, dtau_dq, dtau_dqd, mass; with `wrench` also wrench (6,), dwrench_dq,
      dwrench_dqd, dwrench_dqdd (6, nv): what holds the robot at its root, linear first, in the world's axes
      about its origin;
    - `torque_adjoint`: q, qd, qdd, multipliers (nv, or nv + 6 with `wrench`) -> dq, dqd, dqdd (nv,): the
      gradient of multipliers . (tau, wrench);
    - `torque_hessian`: the same arguments -> its second derivatives qq, q_qd, qd_qd, q_qdd (nv, nv), rows by
      the first of the two; all others are zero.
    """

    def __init__(
        self,
        robot: Robot,
        tasks: Sequence[AnyTask] = (),
        *,
        torque: bool = False,
        wrench: bool = False,
        hessian: bool = True,
    ) -> None:
        require_flat(robot.model)
        if not isinstance(tasks, Sequence):
            raise ArgumentError(f"tasks: expected a list of tasks, found {tasks!r}")
        for task in tasks:
            _check_task(robot, task)
        self.robot, self.tasks = robot, tuple(tasks)
        self.deferred: dict[str, Deferred] = {}
        if tasks:
            self._add_channels()
        if torque or wrench:
            robot.specialiser.require_masses(ALGORITHMS["inverse_dynamics"])
            self._add_torque(wrench)
        if not hessian:
            self.deferred = {name: it for name, it in self.deferred.items() if "hessian" not in name}
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

    @property
    def handles(self) -> dict[str, NativeHandle]:
        """All of them, for this CPU in float64."""
        return {name: self.handle(name) for name in self.names}

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
        given, results = channel_inputs(nv, tasks), channel_outputs(nv, tasks)
        entries: tuple[_Entry, ...] = (
            ("channel_values", given, results[:1], trace_channel_values),
            ("channels", given, results, trace_channels),
            ("channel_hessian", hessian_inputs(nv, tasks), (hessian_output(nv),), trace_channel_hessian),
        )
        for name, inputs, outputs, trace in entries:

            def make(trace: Callable[..., Program] = trace) -> Program:
                return trace(specialiser.tree(regroup=False), tasks)

            self.deferred[name] = Deferred(name, inputs, outputs, make, known and f"{known}|{name}")

    def _add_torque(self, wrench: bool) -> None:
        specialiser, nv = self.robot.specialiser, self.robot.nv
        given = adjoint_inputs(nv, wrench)
        entries: tuple[_Entry, ...] = (
            ("torque_values", torque_inputs(nv), value_outputs(nv, wrench), trace_torque_values),
            ("torque", torque_inputs(nv), torque_outputs(nv, wrench), trace_torque),
            ("torque_adjoint", given, adjoint_outputs(nv), trace_torque_adjoint),
            ("torque_hessian", given, hessian_outputs(nv), trace_torque_hessian),
        )
        for name, inputs, outputs, trace in entries:

            def make(trace: Callable[..., Program] = trace) -> Program:
                return trace(specialiser, wrench=wrench)

            key = f"motion|{self.robot.model.digest}|{name}|{wrench}"
            self.deferred[name] = Deferred(name, inputs, outputs, make, key)


def _check_task(robot: Robot, task: object) -> None:
    if not isinstance(task, AnyTask):
        raise ArgumentError(f"task: expected a task of robomorph.tasks, found {task!r}")
    task.check(robot.model)
    if task.bound_size.rows == 0:
        raise ArgumentError(f"{task.title}: expected a task with rows that can be bounded, found none")
