"""Speculative searches on a GPU: a block of threads per problem, whole solves in one launch."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError, TargetError
from robomorph.ik.devices import Found
from robomorph.ik.joints import SCALAR
from robomorph.ik.methods import METHODS, Method
from robomorph.ik.options import FIRST
from robomorph.targets.gpu.device import Executable
from robomorph.targets.gpu.devices import open_gpu
from robomorph.targets.gpu.dialect import GpuDialect
from robomorph.targets.gpu.group_source import OPT_IN_SHARED
from robomorph.targets.gpu.launch import LaunchPlan
from robomorph.targets.gpu.search_source import SearchPrograms, SearchRules, search_plan
from robomorph.tasks.kinds import LINEAR

if TYPE_CHECKING:
    from robomorph.ik.solver import Solver

Array = npt.NDArray[Any]
DTYPE = "float64"


def make_search(solver: Solver) -> GpuSearch:
    refuse(solver)
    return GpuSearch(solver)


class GpuSearch:
    """A solver's search on a GPU; built by the first call."""

    def __init__(self, solver: Solver) -> None:
        self.solver = solver
        self._built: Executable | None = None
        self._lock = threading.Lock()

    def __call__(self, reference: Array, start: Array) -> Found:
        q, counts = np.empty_like(start), np.empty((len(start), 1))
        if len(start):
            self._executable().run([reference, start], [q, counts])
        return Found(q, counts[:, 0].astype(np.int32))

    def _executable(self) -> Executable:
        with self._lock:
            if self._built is None:
                device = open_gpu(self.solver.options.on)
                if not device.supports(DTYPE):
                    raise TargetError(f'{device.name} has no double precision: use on="cpu"')
                self._built = device.build(make_plan(self.solver, device.dialect, device.shared_limit))
            return self._built


def make_plan(solver: Solver, dialect: GpuDialect, shared_limit: int = OPT_IN_SHARED) -> LaunchPlan:
    """Source and tables of a solver's search; no device is needed."""
    programs = SearchPrograms(*(solver.traced(what) for what in ("residual", "step", "errors")))
    return search_plan(programs, _rules(solver), dialect, DTYPE, shared_limit=shared_limit)


def _rules(solver: Solver) -> SearchRules:
    robot, rows, options = solver.robot, solver.rows, solver.options
    dofs, free = [-1] * robot.nq, np.ones(robot.nv)
    ends = [*(joint.v for joint in solver.joints[1:]), robot.nv]
    for joint, end in zip(solver.joints, ends, strict=True):
        if joint.held:
            free[joint.v : end] = 0.0
        else:
            dofs[joint.q] = joint.v
    return SearchRules(
        dofs=tuple(dofs),
        lower=solver.lower,
        upper=solver.upper,
        free=free,
        weights=rows.weights,
        inverse_tolerance=rows.inverse_tolerance,
        group=rows.group,
        speculations=options.speculations,
        max_iterations=options.max_iterations,
    )


def refuse(solver: Solver) -> None:
    """Name what a GPU does not take, why, and what to do."""
    options, on = solver.options, solver.options.on
    method = options.rule
    if not _runs(method):
        known = ", ".join(f'"{m.name}"' for m in METHODS.values() if _runs(m))
        raise ArgumentError(
            f"method: {on} runs methods that try many lengths of every step ({known}), found "
            f'"{method.name}": name one of them, or use on="cpu"'
        )
    if options.choice != FIRST:
        raise ArgumentError(f'solutions: {on} finds one, from q0: leave `solutions` out, or use on="cpu"')
    if options.starts > 1:
        raise ArgumentError(
            f"starts: {on} starts from q0 alone, found {options.starts}: leave `starts` out, pass other "
            'starts as a batch of q0, or use on="cpu"'
        )
    _refuse_tasks(solver)
    _refuse_joints(solver)


def _runs(method: Method) -> bool:
    """Does the kernel's loop do what the method asks for?"""
    plain = method.longest_share == 1.0 and method.relaxation == 0.0
    return method.speculative and plain and not (method.gain_ratio or method.polish or method.restarts)


def _refuse_tasks(solver: Solver) -> None:
    for task in solver.layout.tasks:
        if task.kind.native != LINEAR.native:
            raise ArgumentError(
                f"target: {solver.options.on} takes targets whose errors are differences (positions, centres "
                f'of mass, postures), found {task.title}: leave it out, or use on="cpu"'
            )


def _refuse_joints(solver: Solver) -> None:
    for joint in solver.joints:
        if joint.kind != SCALAR and not joint.held:
            name = solver.robot.coordinate_names[joint.q]
            raise ArgumentError(
                f"{solver.options.on} moves joints whose coordinates add, found {name}: fix its joint with "
                '`fixed`, or use on="cpu"'
            )
