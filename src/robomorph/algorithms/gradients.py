"""Analytical gradients of inverse and forward dynamics; two formulations of the inner one compete."""

from __future__ import annotations

import numpy as np

from robomorph.algorithms.algorithm import SQUARE, VECTOR, Algorithm
from robomorph.algorithms.forward_dynamics import AT_ACCELERATION, FORWARD, textbook_accelerations
from robomorph.algorithms.gradient_columns import COLUMNS
from robomorph.algorithms.gradient_composite import COMPOSITE
from robomorph.algorithms.inverse_dynamics import RNEA
from robomorph.algorithms.mass_matrix import COMPOSITES, INVERT, MINV, solve
from robomorph.algorithms.sweep import Stage, State


def _solve_gradients(state: State) -> None:
    """dqdd/du = -M^-1 dtau/du, column by column."""
    n = state.tree.nv
    for name in ("dq", "dqd"):
        inner = state.whole[f"dtau_{name}"]
        columns = [solve(state.whole["factors"], [-inner[i][j] for i in range(n)]) for j in range(n)]
        state.whole[f"dqdd_{name}"] = [[columns[j][i] for j in range(n)] for i in range(n)]


_SOLVE = Stage("solve gradients", _solve_gradients)

INVERSE_DYNAMICS_GRADIENT = Algorithm(
    "inverse_dynamics_gradient",
    inputs=("q", "qd", "qdd"),
    outputs={"dtau_dq": SQUARE, "dtau_dqd": SQUARE},
    formulations={"composite": RNEA + COMPOSITES + COMPOSITE, "columns": RNEA + COLUMNS},
    wrenches=True,
    title="Derivatives of the joint forces with respect to positions and velocities.",
    notes={"dtau_dq": "[i][j] = d tau_i / d q_j", "dtau_dqd": "[i][j] = d tau_i / d qd_j"},
    doc="Named tuple (dtau_dq, dtau_dqd), each (..., nv, nv), row i for torque i.",
    derivatives={"dtau_dq": ("inverse_dynamics", "q"), "dtau_dqd": ("inverse_dynamics", "qd")},
)
FORWARD_DYNAMICS_GRADIENT = Algorithm(
    "forward_dynamics_gradient",
    inputs=("q", "qd", "tau"),
    outputs={"qdd": VECTOR, "dqdd_dq": SQUARE, "dqdd_dqd": SQUARE, "minv": SQUARE},
    formulations={
        "composite": (*FORWARD, *AT_ACCELERATION, *COMPOSITE, _SOLVE, INVERT),
        "columns": (*FORWARD, *AT_ACCELERATION, *COLUMNS, _SOLVE, INVERT),
    },
    wrenches=True,
    inverts=True,
    title="Joint accelerations and their derivatives.",
    notes={
        "dqdd_dq": "[i][j] = d qdd_i / d q_j",
        "dqdd_dqd": "[i][j] = d qdd_i / d qd_j",
        "minv": MINV,
    },
    doc="""Named tuple (qdd, dqdd_dq, dqdd_dqd, minv): accelerations (..., nv) and their derivatives
        (..., nv, nv); minv is the derivative with respect to tau.""",
    textbook=lambda known: {
        "qdd": textbook_accelerations(known),
        "minv": np.linalg.inv(known.mass_matrix()),
    },
    derivatives={"dqdd_dq": ("forward_dynamics", "q"), "dqdd_dqd": ("forward_dynamics", "qd")},
)
