"""Forward dynamics: joint accelerations from torques, by the factored mass matrix."""

from __future__ import annotations

from robomorph.algorithms.inputs import set_rates
from robomorph.algorithms.inverse_dynamics import ACCELERATIONS, BIAS, FORCES, TORQUES
from robomorph.algorithms.mass_matrix import FACTOR, solve
from robomorph.algorithms.sweep import Stage, State, Sweep


def _solve_accelerations(state: State) -> None:
    left = [t - b for t, b in zip(state.whole["tau_in"], state.whole["tau"], strict=True)]
    state.whole["qdd"] = solve(state.whole["factors"], left)


def _feed_back(state: State) -> None:
    set_rates(state, "qdd", state.whole["qdd"])


def _solve_gradients(state: State) -> None:
    """dqdd/du = -M^-1 dtau/du, column by column."""
    n = state.tree.nv
    for name in ("dq", "dqd"):
        inner = state.whole[f"dtau_{name}"]
        columns = [solve(state.whole["factors"], [-inner[i][j] for i in range(n)]) for j in range(n)]
        state.whole[f"dqdd_{name}"] = [[columns[j][i] for j in range(n)] for i in range(n)]


FORWARD: tuple[Sweep | Stage, ...] = (*BIAS, *FACTOR, Stage("solve", _solve_accelerations))
# Inverse dynamics once more, at the accelerations found: what its gradient is taken at.
AT_ACCELERATION: tuple[Sweep | Stage, ...] = (
    Stage("feed back accelerations", _feed_back),
    ACCELERATIONS,
    FORCES,
    TORQUES,
)
SOLVE_GRADIENTS: tuple[Sweep | Stage, ...] = (Stage("solve gradients", _solve_gradients),)
