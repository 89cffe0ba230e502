"""What every step program starts from: the weighted Jacobian and residual as traced scalars.

A step program maps (jac, err, bend, weights, mask, base, lam) to (step, model). `mask` is 1 for joints that
are free and 0 for joints that are held; `base` is a displacement given beforehand: what a held joint
moves, or the pull of a free one towards a posture. `model` is the squared residual that the linear
model predicts after the step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from robomorph.ik.layout import Layout
from robomorph.ik.residual import Pattern
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Expr, Tracer
from robomorph.passes.pipeline import SIMPLIFY, run_passes
from robomorph.spatial import Scalar
from robomorph.tasks import Matrix


@dataclass(frozen=True)
class StepInputs:
    """The linear problem around the present configuration: rows (m, nv) and residual (m,), weighted."""

    jacobian: Matrix
    residual: list[Any]
    mask: list[Any]
    base: list[Any]
    lam: Any

    @property
    def free(self) -> Matrix:
        """The Jacobian with the columns of held joints at zero."""
        return [[x * m for x, m in zip(row, self.mask, strict=True)] for row in self.jacobian]

    def after_base(self) -> list[Any]:
        """The residual that the linear model predicts after the displacement `base`."""
        return [r + dot(row, self.base) for r, row in zip(self.residual, self.jacobian, strict=True)]

    def moved(self, free_step: list[Any]) -> list[Any]:
        """The whole step: `base`, and `free_step` where joints are free."""
        return [b + m * x for b, m, x in zip(self.base, self.mask, free_step, strict=True)]


# (step (nv,), model) from a linear problem.
StepRule = Callable[[StepInputs], tuple[list[Any], Any]]


def trace_step(
    rule: StepRule, name: str, layout: Layout, pattern: Pattern, maskable: tuple[bool, ...]
) -> Program:
    """The program of one method's step. Joints that can never be held (`maskable` False: neither limited nor
    fixed) are free by construction, which saves a multiplication for each entry of the Jacobian."""
    nv = len(maskable)
    tracer = Tracer()
    ports = step_ports(layout, nv, sum(type(entry) is int for entry in pattern))
    values = tracer.inputs(ports)
    mask: list[Any] = [m if can else 1.0 for m, can in zip(values["mask"], maskable, strict=True)]
    step, model = rule(_linear_problem(layout, pattern, values, mask))
    program = tracer.program(f"ik_{name}", ports, {"step": step, "model": [model]})
    return run_passes(program, SIMPLIFY)


def step_ports(layout: Layout, nv: int, computed: int) -> tuple[Port, ...]:
    sizes = {
        "jac": computed,
        "err": layout.rows,
        "bend": layout.bend_count,
        "weights": layout.rows,
        "mask": nv,
        "base": nv,
        "lam": 1,
    }
    return tuple(Port(name, (size,)) for name, size in sizes.items())


def _linear_problem(
    layout: Layout, pattern: Pattern, values: Mapping[str, list[Expr]], mask: list[Any]
) -> StepInputs:
    jac, nv = values["jac"], len(mask)
    entries: list[Any] = [jac[entry] if type(entry) is int else entry for entry in pattern]
    rows: Matrix = [entries[i * nv : (i + 1) * nv] for i in range(layout.rows)]
    residual: list[Any] = list(values["err"])
    for task, start, bend in zip(layout.tasks, layout.starts, layout.bends, strict=True):
        if bend >= 0:
            here = slice(start.rows, start.rows + task.size.rows)
            rows[here] = _bent(rows[here], residual[here], values["bend"][bend])
    if layout.weighted:
        weights = values["weights"]
        rows = [[w * x for x in row] for w, row in zip(weights, rows, strict=True)]
        residual = [w * r for w, r in zip(weights, residual, strict=True)]
    return StepInputs(rows, residual, mask, list(values["base"]), values["lam"][0])


def _bent(rows: Matrix, e: list[Any], k: Scalar) -> Matrix:
    """The exact derivative of a rotation vector e: (I - [e]x/2 + k [e]x^2) times the angular rows."""

    def cross(v: list[Any]) -> list[Any]:
        return [e[1] * v[2] - e[2] * v[1], e[2] * v[0] - e[0] * v[2], e[0] * v[1] - e[1] * v[0]]

    columns = []
    for column in zip(*rows, strict=True):
        once = cross(list(column))
        twice = cross(once)
        columns.append([v - 0.5 * a + k * b for v, a, b in zip(column, once, twice, strict=True)])
    return [list(row) for row in zip(*columns, strict=True)]


def dot(a: list[Any], b: list[Any]) -> Any:
    total: Any = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total
