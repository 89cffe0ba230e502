"""What a cost is multiplied by for a solver, whose tolerances are for costs of a usual size.

The jerk of a motion falls with the fifth power of its duration: over minutes it is so small that a solver
takes any motion for the best one. As long as nothing else is asked for, a slow motion is solved as its faster
twin. And weights may be of any size.
"""

from __future__ import annotations

from robomorph.planning.problem import Problem
from robomorph.planning.spline import DEGREE

_USUAL_KNOT = 0.5  # s
_LARGEST = 1e60


def cost_scale(problem: Problem) -> float:
    """1 or more."""
    cost = problem.cost
    weight = max(cost.jerk, cost.energy, cost.time)
    if not weight:
        return 1.0
    slower = 1.0
    if not cost.energy and not cost.time:
        longest = problem.seconds * (problem.duration[1] if problem.duration is not None else 1.0)
        slower = max(1.0, longest / (len(problem.control) - DEGREE) / _USUAL_KNOT)
    return min(_LARGEST, max(1.0, slower**5 / weight))
