"""Derivatives by central differences of robomorph's own functions, in the tangent space."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph import Robot

Array = npt.NDArray[Any]
STEP = 1e-5  # balances truncation (h^2) and rounding (1e-16 / h): about 1e-9 of the largest value


def by_configuration(robot: Robot, function: Callable[[Array], Array], q: Array) -> Array:
    """d function / dq, (m, nv), at one configuration; `function` takes (n, nq) and returns (n, m)."""
    steps = STEP * np.eye(robot.nv)
    ahead, behind = (function(robot.integrate(q, sign * steps)) for sign in (1.0, -1.0))
    return np.asarray((ahead - behind).T / (2 * STEP))


def by_vector(function: Callable[[Array], Array], x: Array) -> Array:
    """d function / dx, (m, n), for a plain vector."""
    steps = STEP * np.eye(len(x))
    return np.asarray((function(x + steps) - function(x - steps)).T / (2 * STEP))
