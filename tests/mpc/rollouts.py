"""Steps of motions by Pinocchio and formulas of textbooks, and what a problem costs along them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tests.oracle.reference import Reference

Array = npt.NDArray[np.float64]


def step(reference: Reference, integrator: str, dt: float, q: Array, v: Array, tau: Array) -> Any:
    """(q, v) after a step with torques held."""

    def f(x: Array) -> Array:
        n = len(x) // 2
        return np.concatenate([x[n:], reference.forward_dynamics(x[:n], x[n:], tau)])

    x = np.concatenate([q, v])
    if integrator == "euler":
        after = v + dt * f(x)[len(q) :]
        return q + dt * after, after
    k1 = f(x)
    k2 = f(x + dt / 2 * k1)
    if integrator == "midpoint":
        return np.split(x + dt * k2, 2)
    k3 = f(x + dt / 2 * k2)
    k4 = f(x + dt * k3)
    return np.split(x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4), 2)


def roll(reference: Reference, integrator: str, dt: float, q: Array, v: Array, torques: Array) -> Any:
    """q, v (N+1, nv) and accelerations at the nodes (N, nv)."""
    qs, vs, accelerations = [q], [v], []
    for tau in torques:
        accelerations.append(reference.forward_dynamics(qs[-1], vs[-1], tau))
        after = step(reference, integrator, dt, qs[-1], vs[-1], tau)
        qs.append(after[0])
        vs.append(after[1])
    return np.array(qs), np.array(vs), np.array(accelerations)
