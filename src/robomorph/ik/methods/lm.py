"""Levenberg-Marquardt: damped least squares, the damping ruled by the gain ratio."""

from __future__ import annotations

from typing import Any

from robomorph.algorithms.mass_matrix import factor, solve
from robomorph.algorithms.tree import Tree
from robomorph.ik.layout import Layout
from robomorph.ik.methods.base import Method
from robomorph.ik.step import StepInputs, StepRule, dot


def damped_rule(tree: Tree, layout: Layout) -> StepRule:
    """The smaller of the two normal equations: over rows when the robot is redundant, else over joints."""
    return _over_rows if layout.rows < tree.nv else _over_joints


def _over_rows(problem: StepInputs) -> tuple[list[Any], Any]:
    """dq = base - J^T (J J^T + lam I)^-1 (e + J base): what remains of the residual is lam times the dual."""
    rows = problem.free
    gram = [[dot(a, b) for b in rows[: i + 1]] for i, a in enumerate(rows)]
    for i in range(len(rows)):
        gram[i][i] = gram[i][i] + problem.lam
    dual = solve(factor(gram), problem.after_base())
    step = [-dot(list(column), dual) for column in zip(*rows, strict=True)]
    model = problem.lam * problem.lam * dot(dual, dual)
    return problem.moved(step), model


def _over_joints(problem: StepInputs) -> tuple[list[Any], Any]:
    """dq = base - (J^T J + lam I)^-1 J^T (e + J base)."""
    rows, residual = problem.free, problem.after_base()
    columns = [list(column) for column in zip(*rows, strict=True)]
    gram = [[dot(a, b) for b in columns[: i + 1]] for i, a in enumerate(columns)]
    for i in range(len(columns)):
        gram[i][i] = gram[i][i] + problem.lam
    step = [-x for x in solve(factor(gram), [dot(column, residual) for column in columns])]
    left = [r + dot(row, step) for r, row in zip(residual, rows, strict=True)]
    return problem.moved(step), dot(left, left)


LM = Method("lm", damped_rule, gain_ratio=True, polish=True, restarts=True, max_iterations=100)
