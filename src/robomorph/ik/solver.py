"""A compiled solver: programs for one robot and one kind of problem, and the native search on them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robomorph.compiler.program import compile_lanes, stored_lanes
from robomorph.ik.devices import CPU, Search, make_search
from robomorph.ik.joints import bounds, maskable, step_joints
from robomorph.ik.layout import Layout
from robomorph.ik.methods import METHODS
from robomorph.ik.options import FIRST, Options
from robomorph.ik.residual import Residual, trace_errors, trace_residual
from robomorph.ik.step import trace_step
from robomorph.ik.trig import trace_trig, without_trig
from robomorph.ir.program import Program
from robomorph.runtime import _native
from robomorph.targets.cpu.handle import NativeHandle
from robomorph.targets.cpu.host import host

if TYPE_CHECKING:
    from robomorph.robot import Robot

Array = npt.NDArray[Any]
# The cache knows these and the tasks of this package by name: their source is part of its key. A rule or a
# task of the caller's may change while its name stays, so it is traced anew and known by its program.
_OWN_RULES = frozenset(method.rule for method in METHODS.values())


@dataclass(frozen=True)
class RowRules:
    """Weights, tolerances (1 / tolerance, 0: not judged) and group of every row of the residual."""

    weights: tuple[float, ...]
    inverse_tolerance: tuple[float, ...]
    group: tuple[int, ...]


class Raw(NamedTuple):
    """What the native search returns, one row a problem (with every start: one more dimension)."""

    q: Array
    success: Array
    position_error: Array
    rotation_error: Array
    iterations: Array
    starts: Array


class Solver:
    """Solves problems of one kind. Nothing is compiled before the first call."""

    def __init__(self, robot: Robot, layout: Layout, rows: RowRules, options: Options) -> None:
        self.robot, self.layout, self.rows, self.options = robot, layout, rows, options
        self._plans: dict[int, Any] = {}
        self._codes: list[NativeHandle] = []
        self._residual: Residual | None = None
        self._still: Solver | None = None
        self.joints = step_joints(robot.model, options.fixed, layout.coordinates)
        self.lower, self.upper = bounds(robot.model, options.fixed, options.limits)
        self._search: Search | None = None if options.on == CPU else make_search(self)

    def solve(self, reference: Array, start: Array, posture: Array, threads: int = 0) -> Raw:
        """reference (n, layout.size.reference), start and posture (n, nq): C-contiguous float64."""
        if self._search is not None:
            # What a device found is judged here, in float64, by the residual that the CPU's search uses.
            found = self._search(reference, start)
            judged = self.evaluate(reference, found.q, posture, threads)
            return judged._replace(iterations=found.iterations)
        single = (self.options.starts == 1 and len(reference) == 1) or self.options.speculations > 0
        lanes = 1 if single else host().lanes("float64")
        plan = self._plans.get(lanes)
        if plan is None:
            plan = self._plans[lanes] = self._make_plan(lanes)
        return Raw(*_native.ik_solve(plan, reference, start, posture, threads))

    def evaluate(self, reference: Array, q: Array, posture: Array | None = None, threads: int = 1) -> Raw:
        """The errors at `q` (n, nq) as they are, without a step. With a posture, joints that are back after a
        turn go to where they are nearest to it."""
        if self._still is None:
            options = replace(
                self.options,
                choice=FIRST,
                polish=False,
                starts=1,
                candidates=1,
                max_iterations=0,
                speculations=0,
                on=CPU,
            )
            self._still = Solver(self.robot, self.layout, self.rows, options)
        return self._still.solve(reference, q, q if posture is None else posture, threads)

    def traced(self, what: str) -> Program:
        """A program of the search: "residual", "step" or "errors"."""
        return self._step() if what == "step" else self._program(what, lanes=0)

    # --- compilation ---------------------------------------------------------------------------------

    def _traced(self) -> Residual:
        if self._residual is None:
            tree = self.robot.specialiser.tree(regroup=False)
            self._residual = trace_residual(tree, self.layout)
        return self._residual

    def _code(self, what: str, lanes: int) -> NativeHandle:
        code = None if self._is_foreign(what) else stored_lanes(self._key(what), lanes)
        if code is None:
            key = None if self._is_foreign(what) else self._key(what)
            note = self._traced().computed if what == "residual" else 0
            code = compile_lanes(self._program(what, lanes), lanes, key=key, note=note)
        self._codes.append(code)  # keeps the machine code alive
        return code

    def _is_foreign(self, what: str) -> bool:
        """Is a program made by code that is not of this package? It is known by its own text alone."""
        if what == "step" and self.options.rule.rule not in _OWN_RULES:
            return True
        own = (type(task).__module__.startswith("robomorph.tasks.") for task in self.layout.tasks)
        return what != "trig" and not all(own)

    def _key(self, what: str) -> str:
        name = f"{self.options.rule.name}|{self._maskable()}" if what == "step" else ""
        return f"ik|{self.robot.model.digest}|{self.layout!r}|{what}|{name}"

    def _program(self, what: str, lanes: int) -> Program:
        if what == "residual":
            program = self._traced().program
            return without_trig(program) if lanes == 1 else program
        if what == "trig":
            return trace_trig()
        if what == "errors":
            return trace_errors(self.robot.specialiser.tree(regroup=False), self.layout)
        return self._step()

    def _step(self) -> Program:
        method, tree = self.options.rule, self.robot.specialiser.tree(regroup=False)
        name = method.name.replace("-", "_")
        rule = method.rule(tree, self.layout)
        return trace_step(rule, name, self.layout, self._traced().pattern, self._maskable())

    def _make_plan(self, lanes: int) -> Any:
        options = self.options
        residual, step = self._code("residual", lanes), self._code("step", lanes)
        wide = host().lanes("float64")
        errors = self._code("errors", wide) if options.speculations else None
        trig = self._code("trig", wide) if lanes == 1 else None
        workspace = max(c.workspace for c in (residual, step, errors, trig) if c is not None)
        robot, layout, rows = self.robot, self.layout, self.rows
        places = [joint.q for joint in self.joints]
        return _native.ik_plan(
            lanes=lanes,
            residual=residual.address,
            step=step.address,
            errors=errors.address if errors else 0,
            trig=trig.address if trig else 0,
            workspace=workspace,
            sizes=(
                robot.nq,
                robot.nv,
                layout.size.reference,
                layout.size.raw,
                layout.rows,
                residual.note,
                layout.bend_count,
            ),
            blocks=np.array(layout.native_blocks(), np.int32),
            joints=np.array(self.joints, np.int32).reshape(-1, 5),
            limits=np.stack([self.lower[places], self.upper[places]], axis=-1),
            weights=np.array(rows.weights),
            tolerance=np.array(rows.inverse_tolerance),
            group=np.array(rows.group, np.int32),
            gain_ratio=options.rule.gain_ratio,
            polish=options.polish,
            speculations=options.speculations,
            # A single length is the step itself.
            longest_share=options.rule.longest_share if options.speculations > 1 else 1.0,
            relaxation=options.rule.relaxation,
            wide_lanes=wide,
            choice=options.choice,
            max_starts=options.starts,
            candidates=options.candidates,
            max_iterations=options.max_iterations,
            near_enough=options.near_enough,
            seed=options.seed,
        )

    def _maskable(self) -> tuple[bool, ...]:
        return maskable(self.joints, self.robot.nv, self.lower, self.upper)
