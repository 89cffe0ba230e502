"""Speeds after friction has acted for a step, implicitly: stable however stiff it is."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

_STEPS = 50  # of Newton's method for one width
_FEW = 6  # that a good guess takes
_NARROWER = 0.1  # from one width to the next
_SHORTEST = 1e-10  # of a step of the line search
_ENOUGH = 1e-12  # of the residual, relative to the momenta


def braked(
    mass: Array, free: Array, coulomb: Array, viscous: Array, width: float, guess: Array | None = None
) -> Array:
    """The speeds v (nv,) with mass (v - free) + coulomb tanh(v / width) + viscous v = 0.

    free: speeds (nv,) that the step ends with without friction. coulomb, viscous: impulses, times the step.
    guess: speeds before the step. v is where a strictly convex function is least, so Newton's method with a
    line search finds it; narrow widths, which are nearly corners, are approached from wider ones.
    """
    if guess is not None:
        v, found = _least(mass, free, coulomb, viscous, width, guess, _FEW)
        if found:
            return v
    wide, v = max(width, float(np.abs(free).max())), free
    while True:
        v, _ = _least(mass, free, coulomb, viscous, wide, v, _STEPS)
        if wide <= width:
            return v
        wide = max(width, _NARROWER * wide)


def _least(
    mass: Array, free: Array, coulomb: Array, viscous: Array, width: float, v: Array, steps: int
) -> tuple[Array, bool]:
    """The speeds, and whether they are found."""

    def value(v: Array) -> float:
        off, size = v - free, np.abs(v) / width
        softened = size + np.log1p(np.exp(-2.0 * size))  # log cosh, and a constant
        return float(0.5 * off @ mass @ off + coulomb @ softened * width + 0.5 * viscous @ v**2)

    now = value(v)
    enough = _ENOUGH * float(np.abs(mass @ free).max() + coulomb.max())
    for _ in range(steps):
        bent = np.tanh(v / width)
        slope = mass @ (v - free) + coulomb * bent + viscous * v
        if np.abs(slope).max() <= enough:
            return v, True
        curvature = coulomb * (1.0 - bent**2) / width + viscous
        way = -np.linalg.solve(mass + np.diag(curvature), slope)
        falls, length, rounding = float(slope @ way), 1.0, 1e-14 * abs(now)
        while (then := value(v + length * way)) > now + 1e-4 * length * falls + rounding:
            length *= 0.5
            if length < _SHORTEST:
                return v, False
        v, now = v + length * way, then
    return v, False
