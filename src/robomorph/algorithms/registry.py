"""Every algorithm, in the order in which tables and exported code have them.

A new algorithm is one file, which says all of it (`algorithm.py`), and its entry here.
"""

from __future__ import annotations

from robomorph.algorithms.algorithm import Algorithm, Parts
from robomorph.algorithms.centroidal import CENTROIDAL_MOMENTUM, CENTROIDAL_MOMENTUM_MATRIX
from robomorph.algorithms.coriolis import CORIOLIS_MATRIX
from robomorph.algorithms.forward_dynamics import FORWARD_DYNAMICS
from robomorph.algorithms.frame_motion import FRAME_ACCELERATION, FRAME_VELOCITY, JACOBIAN_RATE
from robomorph.algorithms.gradients import FORWARD_DYNAMICS_GRADIENT, INVERSE_DYNAMICS_GRADIENT
from robomorph.algorithms.gravity import GRAVITY_TORQUE
from robomorph.algorithms.inverse_dynamics import BIAS_TORQUE, INVERSE_DYNAMICS
from robomorph.algorithms.kinematics import (
    CENTER_OF_MASS,
    CENTER_OF_MASS_JACOBIAN,
    ENERGY,
    FORWARD_KINEMATICS,
    JACOBIAN,
    LINK_POSES,
)
from robomorph.algorithms.mass_matrix import MASS_MATRIX, MASS_MATRIX_INVERSE
from robomorph.algorithms.step import (
    SEMI_IMPLICIT_STEP,
    SEMI_IMPLICIT_STEP_GRADIENT,
    STEP,
    STEP_GRADIENT,
)
from robomorph.algorithms.tracing import begin, trace

__all__ = ["ALGORITHMS", "Algorithm", "Parts", "begin", "state_algorithms", "trace"]

ALGORITHMS: dict[str, Algorithm] = {
    a.name: a
    for a in (
        INVERSE_DYNAMICS,
        BIAS_TORQUE,
        GRAVITY_TORQUE,
        CORIOLIS_MATRIX,
        MASS_MATRIX,
        MASS_MATRIX_INVERSE,
        FORWARD_DYNAMICS,
        INVERSE_DYNAMICS_GRADIENT,
        FORWARD_DYNAMICS_GRADIENT,
        STEP,
        STEP_GRADIENT,
        SEMI_IMPLICIT_STEP,
        SEMI_IMPLICIT_STEP_GRADIENT,
        FORWARD_KINEMATICS,
        JACOBIAN,
        LINK_POSES,
        FRAME_VELOCITY,
        FRAME_ACCELERATION,
        JACOBIAN_RATE,
        CENTER_OF_MASS,
        CENTER_OF_MASS_JACOBIAN,
        CENTROIDAL_MOMENTUM,
        CENTROIDAL_MOMENTUM_MATRIX,
        ENERGY,
    )
}


def state_algorithms() -> dict[str, Algorithm]:
    """Those that a state alone decides: what is made, checked and exported where nothing is named."""
    return {name: entry for name, entry in ALGORITHMS.items() if entry.takes_states_alone}
