"""The functions that are compared: the whole family, with the outputs asked of every contestant."""

from __future__ import annotations

from dataclasses import dataclass

from robomorph.algorithms.registry import ALGORITHMS


@dataclass(frozen=True)
class Function:
    """One function of the contest. Its arguments are those of our algorithm of that name."""

    name: str
    outputs: tuple[str, ...]

    @property
    def arguments(self) -> tuple[str, ...]:
        return ALGORITHMS[self.name].inputs

    @property
    def about_frame(self) -> bool:
        return ALGORITHMS[self.name].frame


INVERSE_DYNAMICS = Function("inverse_dynamics", ("tau",))
MASS_MATRIX = Function("mass_matrix", ("mass",))
MASS_MATRIX_INVERSE = Function("mass_matrix_inverse", ("minv",))
FORWARD_DYNAMICS = Function("forward_dynamics", ("qdd",))
INVERSE_DYNAMICS_GRADIENT = Function("inverse_dynamics_gradient", ("dtau_dq", "dtau_dqd"))
FORWARD_DYNAMICS_GRADIENT = Function("forward_dynamics_gradient", ("qdd", "dqdd_dq", "dqdd_dqd"))
FORWARD_KINEMATICS = Function("forward_kinematics", ("pose",))
JACOBIAN = Function("jacobian", ("jacobian",))

# Solved, not evaluated: contestants are solvers, and no function of theirs is compared.
INVERSE_KINEMATICS = "inverse_kinematics"
MOTION_PLANNING = "motion_planning"
PREDICTIVE_CONTROL = "model_predictive_control"

FAMILY = (
    INVERSE_DYNAMICS,
    MASS_MATRIX,
    MASS_MATRIX_INVERSE,
    FORWARD_DYNAMICS,
    INVERSE_DYNAMICS_GRADIENT,
    FORWARD_DYNAMICS_GRADIENT,
    FORWARD_KINEMATICS,
    JACOBIAN,
)
