"""The Jacobian-transpose method (JT-Serial in the paper): a step along J^T e, always taken."""

from __future__ import annotations

import math
from typing import Any

from robomorph.algorithms.tree import Tree
from robomorph.ik.layout import Layout
from robomorph.ik.methods.base import Method
from robomorph.ik.step import StepInputs, StepRule, dot
from robomorph.spatial.scalar import reciprocal

# Keeps the step finite where J^T e vanishes; far below anything that a metre or a radian squares to.
_TINY = 1e-200


def buss_rule(tree: Tree, layout: Layout) -> StepRule:
    """Buss's step: alpha = <e, J J^T e> / <J J^T e, J J^T e>, the best one for the linear model."""
    del tree, layout

    def step(problem: StepInputs) -> tuple[list[Any], Any]:
        residual, rows = problem.after_base(), problem.free
        downhill = _transpose_times(rows, residual)
        change = [dot(row, downhill) for row in rows]
        alpha = dot(residual, change) * reciprocal(dot(change, change) + _TINY)
        left = [r - alpha * c for r, c in zip(residual, change, strict=True)]
        return problem.moved([-alpha * x for x in downhill]), dot(left, left)

    return step


def fixed_rule(tree: Tree, layout: Layout) -> StepRule:
    """A fixed step: alpha = 1 / sum r^2, r the farthest each joint can be from what it moves. A joint's
    column of J is never longer than that, so alpha never overshoots."""
    total = sum(r * r for r in joint_reaches(tree, layout))
    alpha = 1.0 / total if total > 0.0 else 0.0

    def step(problem: StepInputs) -> tuple[list[Any], Any]:
        residual, rows = problem.after_base(), problem.free
        free_step = [-alpha * x for x in _transpose_times(rows, residual)]
        left = [r + dot(row, free_step) for r, row in zip(residual, rows, strict=True)]
        return problem.moved(free_step), dot(left, left)

    return step


def joint_reaches(tree: Tree, layout: Layout) -> list[float]:
    """Per degree of freedom, a bound on the length of its column of the Jacobian over all configurations."""
    squares = [0.0] * tree.nv
    for task in layout.tasks:
        for dof, bound in task.column_bounds(tree).items():
            squares[dof] += bound * bound
    return [math.sqrt(x) for x in squares]


def _transpose_times(rows: list[list[Any]], residual: list[Any]) -> list[Any]:
    return [dot(list(column), residual) for column in zip(*rows, strict=True)]


JACOBIAN_TRANSPOSE = Method("jacobian-transpose", buss_rule)
JACOBIAN_TRANSPOSE_FIXED = Method("jacobian-transpose-fixed", fixed_rule)
