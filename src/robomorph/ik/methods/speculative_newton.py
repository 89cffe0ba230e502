"""Speculative Newton: Quick-IK's search over lengths, along the step of the damped normal equations instead
of the gradient. Ours, not the paper's.

Lengths go up to twice the step: far from the target more than the whole of it is often best. Damping is a
share of what the joints can do for each task, the sum of its rows' squared lengths: the same search for a
robot of any size, and for any units of the tasks beside each other.
"""

from __future__ import annotations

from typing import Any

from robomorph.algorithms.mass_matrix import factor, solve
from robomorph.algorithms.tree import Tree
from robomorph.ik.layout import Layout
from robomorph.ik.methods.base import Method
from robomorph.ik.step import StepInputs, StepRule, dot
from robomorph.spatial.scalar import reciprocal

_RELATIVE_DAMPING = 1e-6
# Keeps the step finite where no joint moves a task at all; far below any other damping.
_TINY = 1e-30


def newton_rule(tree: Tree, layout: Layout, share: float = _RELATIVE_DAMPING) -> StepRule:
    """The smaller of the two normal equations: over rows when the robot is redundant, else over joints."""
    step = _over_rows if layout.rows < tree.nv else _over_joints

    def damped(problem: StepInputs) -> tuple[list[Any], Any]:
        damping: list[Any] = []
        for task, start in zip(layout.tasks, layout.starts, strict=True):
            gain: Any = _TINY
            for row in problem.free[start.rows : start.rows + task.size.rows]:
                gain = gain + share * dot(row, row)
            damping += [gain] * task.size.rows
        return step(problem, damping)

    return damped


def _over_rows(problem: StepInputs, damping: list[Any]) -> tuple[list[Any], Any]:
    """dq = base - J^T w with (J J^T + D) w = e + J base: what remains of the residual is D w."""
    rows = problem.free
    gram = [[dot(a, b) for b in rows[: i + 1]] for i, a in enumerate(rows)]
    for i, d in enumerate(damping):
        gram[i][i] = gram[i][i] + d
    dual = solve(factor(gram), problem.after_base())
    left = [d * w for d, w in zip(damping, dual, strict=True)]
    return problem.moved([-dot(list(column), dual) for column in zip(*rows, strict=True)]), dot(left, left)


def _over_joints(problem: StepInputs, damping: list[Any]) -> tuple[list[Any], Any]:
    """The same step as dq = base - (J^T D^-1 J + I)^-1 J^T D^-1 (e + J base)."""
    rows, residual = problem.free, problem.after_base()
    weights = [reciprocal(d) for d in damping]
    columns = [list(column) for column in zip(*rows, strict=True)]
    weighted = [[w * x for w, x in zip(weights, column, strict=True)] for column in columns]
    gram = [[dot(a, b) for b in columns[: i + 1]] for i, a in enumerate(weighted)]
    for i in range(len(columns)):
        gram[i][i] = gram[i][i] + 1.0
    step = [-x for x in solve(factor(gram), [dot(column, residual) for column in weighted])]
    left = [r + dot(row, step) for r, row in zip(residual, rows, strict=True)]
    return problem.moved(step), dot(left, left)


SPECULATIVE_NEWTON = Method(
    "speculative-newton", newton_rule, speculative=True, speculations=16, longest_share=2.0
)
