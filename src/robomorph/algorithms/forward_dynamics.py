"""Forward dynamics: joint accelerations from torques, by the factored mass matrix or articulated bodies."""

from __future__ import annotations

import numpy as np

from robomorph.algorithms.algorithm import VECTOR, Algorithm
from robomorph.algorithms.articulated import ARTICULATED
from robomorph.algorithms.inputs import set_rates
from robomorph.algorithms.inverse_dynamics import ACCELERATIONS, BIAS, FORCES, TORQUES
from robomorph.algorithms.mass_matrix import FACTOR, solve
from robomorph.algorithms.sweep import Stage, State, Sweep
from robomorph.algorithms.textbook import Array, Textbook


def _solve_accelerations(state: State) -> None:
    left = [t - b for t, b in zip(state.whole["tau_in"], state.whole["tau"], strict=True)]
    state.whole["qdd"] = solve(state.whole["factors"], left)


def _feed_back(state: State) -> None:
    set_rates(state, "qdd", state.whole["qdd"])


FORWARD: tuple[Sweep | Stage, ...] = (*BIAS, *FACTOR, Stage("solve", _solve_accelerations))
# Inverse dynamics once more, at the accelerations found: what its gradient is taken at.
AT_ACCELERATION: tuple[Sweep | Stage, ...] = (
    Stage("feed back accelerations", _feed_back),
    ACCELERATIONS,
    FORCES,
    TORQUES,
)


def textbook_accelerations(known: Textbook) -> Array:
    """What M leaves of the torques that do not hold against velocity and gravity."""
    left = known.tau - known.inverse_dynamics(np.zeros_like(known.qd))
    return np.asarray(np.linalg.solve(known.mass_matrix(), left[..., None])[..., 0])


FORWARD_DYNAMICS = Algorithm(
    "forward_dynamics",
    inputs=("q", "qd", "tau"),
    outputs={"qdd": VECTOR},
    formulations={"crba+ltl": FORWARD, "aba": ARTICULATED},
    wrenches=True,
    inverts=True,
    needs_free_joints=frozenset({"aba"}),
    title="Joint accelerations for given joint forces.",
    doc="Joint accelerations (..., nv) under torques `tau` (..., nv).",
    textbook=lambda known: {"qdd": textbook_accelerations(known)},
)
