"""Closed forms of derivatives, which compete with the programs that reverse and forward mode make.

Forward dynamics is differentiated through inverse dynamics at the accelerations found: with M x = w, weights
w of accelerations are weights -x of torques, and a change dtau leaves M^-1 (dtau - change of inverse
dynamics). Both need one more solution by what M was factored into for the accelerations.
"""

from __future__ import annotations

from robomorph.algorithms.algorithm import Parts
from robomorph.algorithms.articulated import ARTICULATED
from robomorph.algorithms.articulated_solve import SOLVE_ARTICULATED
from robomorph.algorithms.forward_dynamics import AT_ACCELERATION, FORWARD
from robomorph.algorithms.frame_derivatives import POSE_CHANGE, POSE_WEIGHTS
from robomorph.algorithms.inverse_dynamics import BIAS
from robomorph.algorithms.mass_matrix import solve
from robomorph.algorithms.sweep import Stage, State
from robomorph.algorithms.torque_adjoint import ADJOINT, TORQUE_ADJOINT
from robomorph.algorithms.torque_second import TORQUE_SECOND
from robomorph.algorithms.torque_tangent import TANGENT, TORQUE_TANGENT
from robomorph.algorithms.tree import Tree
from robomorph.algorithms.wrenches import power_of_wrenches


def _weigh_torques(state: State) -> None:
    state.whole["multipliers"] = state.whole["w_tau"]


def _by_wrenches(state: State) -> None:
    """Torques hold against external wrenches."""
    state.whole["df_ext"] = [-x for x in power_of_wrenches(state, "w")]


def _name_torques(state: State) -> None:
    state.whole["dtau"] = state.whole["change of tau"]


def _weigh_through(state: State) -> None:
    solution = solve(state.whole["factors"], state.whole["w_qdd"])
    state.whole["dtau"], state.whole["multipliers"] = solution, [-x for x in solution]


def _ask_for_weights(state: State) -> None:
    """-w: then the motions of the solution are the virtual ones."""
    state.whole["right side"] = [-w for w in state.whole["w_qdd"]]


def _weigh_through_bodies(state: State) -> None:
    solution = state.whole["solution"]
    state.whole["dtau"], state.whole["multipliers"] = [-x for x in solution], solution


def _ask_for_changes(state: State) -> None:
    changes = zip(state.whole["dtau"], state.whole["change of tau"], strict=True)
    state.whole["right side"] = [given - needed for given, needed in changes]


def _name_accelerations(state: State) -> None:
    state.whole["dqdd"] = state.whole["solution"]


def _solve(state: State) -> None:
    state.whole["solution"] = solve(state.whole["factors"], state.whole["right side"])


_SOLVE: Parts = (Stage("solve again", _solve),)
_WEIGHTS: Parts = (Stage("weights of torques", _weigh_through),)
_WEIGHTS_BY_BODIES: Parts = (
    Stage("weights", _ask_for_weights),
    *SOLVE_ARTICULATED,
    Stage("weights of torques", _weigh_through_bodies),
)
_BY_WRENCHES = Stage("derivatives by wrenches", _by_wrenches)
_AT_TORQUES: Parts = (Stage("weights", _weigh_torques),)
_NAMED: Parts = (Stage("torques", _name_torques),)


def _forward_vjp(forward: Parts, weights: Parts) -> Parts:
    return (*forward, *AT_ACCELERATION, *weights, *ADJOINT, _BY_WRENCHES)


def _forward_jvp(forward: Parts, again: Parts) -> Parts:
    rest = (Stage("what is left", _ask_for_changes), *again, Stage("accelerations", _name_accelerations))
    return (*forward, *AT_ACCELERATION, Stage("no accelerations", _hold), *TANGENT, *rest)


def _hold(state: State) -> None:
    """Accelerations are what is asked for."""
    state.whole["dqdd"] = [0.0] * state.tree.nv


# By algorithm and kind of derivative, formulations by name.
CLOSED: dict[tuple[str, str], dict[str, Parts]] = {
    ("inverse_dynamics", "vjp"): {"adjoint": (*_AT_TORQUES, *TORQUE_ADJOINT, _BY_WRENCHES)},
    ("inverse_dynamics", "second"): {"by torque": TORQUE_SECOND},
    ("inverse_dynamics", "jvp"): {"tangent": (*TORQUE_TANGENT, *_NAMED)},
    ("bias_torque", "vjp"): {"adjoint": (*BIAS, *_AT_TORQUES, *ADJOINT, _BY_WRENCHES)},
    ("bias_torque", "jvp"): {"tangent": (*BIAS, *TANGENT, *_NAMED)},
    ("forward_kinematics", "vjp"): {"wrench": POSE_WEIGHTS},
    ("forward_kinematics", "jvp"): {"velocity": POSE_CHANGE},
    ("forward_dynamics", "vjp"): {
        "adjoint": _forward_vjp(FORWARD, _WEIGHTS),
        "articulated adjoint": _forward_vjp(ARTICULATED, _WEIGHTS_BY_BODIES),
    },
    ("forward_dynamics", "jvp"): {
        "tangent": _forward_jvp(FORWARD, _SOLVE),
        "articulated tangent": _forward_jvp(ARTICULATED, SOLVE_ARTICULATED),
    },
}
# Those for trees in which no joint mimics another.
_FREE_JOINTS = frozenset({"articulated adjoint", "articulated tangent"})


def closed_forms(
    algorithm: str, derivative: str, *, wrenches: bool, tree: Tree | None = None
) -> dict[str, Parts]:
    """The closed forms of an algorithm's derivative, all or those that a tree can have. For hvp those of vjp,
    which forward mode differentiates once more. That for second derivatives knows no external wrenches."""
    if derivative == "second" and wrenches:
        return {}
    known = CLOSED.get((algorithm, "vjp" if derivative == "hvp" else derivative), {})
    coupled = tree is not None and tree.coupled
    return {name: parts for name, parts in known.items() if not (coupled and name in _FREE_JOINTS)}
