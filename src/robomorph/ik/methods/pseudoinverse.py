"""The pseudoinverse method: Newton's step by the Moore-Penrose inverse, always taken (J-1-SVD in the paper).

The inverse is taken through the normal equations with a damping of 1e-12 of the largest gain: it differs from
the singular value decomposition's only where a singular value is below about 1e-6 of the largest.
"""

from __future__ import annotations

from typing import Any

from robomorph.algorithms.tree import Tree
from robomorph.ik.layout import Layout
from robomorph.ik.methods.base import Method
from robomorph.ik.methods.lm import damped_rule
from robomorph.ik.step import StepInputs, StepRule, dot

_RELATIVE_DAMPING = 1e-12


def _rule(tree: Tree, layout: Layout) -> StepRule:
    damped = damped_rule(tree, layout)

    def step(problem: StepInputs) -> tuple[list[Any], Any]:
        gain: Any = 0.0
        for row in problem.free:
            gain = gain + dot(row, row)
        lam = _RELATIVE_DAMPING * gain + 1e-30
        return damped(StepInputs(problem.jacobian, problem.residual, problem.mask, problem.base, lam))

    return step


PSEUDOINVERSE = Method("pseudoinverse", _rule)
