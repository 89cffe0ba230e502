"""The vjp of forward dynamics for who kept what the forward pass had found: qdd, and M^-1 or factors of M."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from robomorph.algorithms.algorithm import SQUARE, VECTOR, Algorithm, Shape
from robomorph.algorithms.inverse_dynamics import RNEA
from robomorph.algorithms.mass_matrix import FACTOR, Factors, solve
from robomorph.algorithms.registry import trace
from robomorph.algorithms.sweep import Stage, State
from robomorph.algorithms.torque_adjoint import ADJOINT
from robomorph.compiler.program import compile_program
from robomorph.ir.program import Program
from robomorph.passes.dce import dce
from robomorph.passes.pipeline import SIMPLIFY, run_passes
from robomorph.robot import Robot


def given_inverse(robot: Robot) -> Any:
    """A kernel of (q, qd, qdd, minv, w_qdd)."""

    def weigh(state: State) -> None:
        weights, nv = state.whole["w_qdd"], state.tree.nv
        rows = [state.whole["minv"][k * nv : (k + 1) * nv] for k in range(nv)]
        _set(state, [sum(m * w for m, w in zip(row, weights, strict=True)) for row in rows])

    return _compiled(_traced(robot, _vjp("minv", SQUARE, Stage("weights of torques", weigh))))


def given_factors(robot: Robot) -> Any:
    """A kernel of (q, qd, qdd, factors, w_qdd), with factors as `factors_of` gives them."""
    places = _places(robot)

    def weigh(state: State) -> None:
        nv = state.tree.nv
        lower: list[list[Any]] = [[0.0] * nv for _ in range(nv)]
        for (row, column), value in zip(places, state.whole["factors"], strict=True):
            lower[row][column] = value
        _set(state, solve(Factors(lower, [lower[k][k] for k in range(nv)]), state.whole["w_qdd"]))

    return _compiled(_traced(robot, _vjp("factors", (len(places),), Stage("weights of torques", weigh))))


def factors_of(robot: Robot) -> Any:
    """A kernel of q: what is not zero of M's factors, row by row, L below the diagonal and 1/D on it."""
    places = _places(robot)

    def pack(state: State) -> None:
        _lay_out(state)
        state.whole["factors"] = [state.whole["factors"][row][column] for row, column in places]

    return _compiled(_traced(robot, _factors((len(places),), pack)))


def _places(robot: Robot) -> list[tuple[int, int]]:
    """Row and column of each entry of the factors that is not zero in every state of the robot."""
    program = _traced(robot, _factors(SQUARE, _lay_out))
    return [divmod(k, robot.nv) for k, index in enumerate(program.results) if not program.is_zero(index)]


def _lay_out(state: State) -> None:
    lower, inverse = state.whole["factors"]
    state.whole["factors"] = [
        [*row[:k], inverse[k], *([0.0] * (len(row) - k - 1))] for k, row in enumerate(lower)
    ]


def _set(state: State, solution: list[Any]) -> None:
    state.whole["dtau"], state.whole["multipliers"] = solution, [-x for x in solution]


def _factors(shape: Shape, lay_out: Callable[[State], None]) -> Algorithm:
    return Algorithm(
        "mass_matrix_factors",
        inputs=("q",),
        outputs={"factors": shape},
        formulations={"ltl": (*FACTOR, Stage("lay out", lay_out))},
    )


def _vjp(given: str, shape: Shape, weigh: Stage) -> Algorithm:
    return Algorithm(
        f"forward_dynamics_vjp_{given}",
        inputs=("q", "qd", "qdd"),
        outputs={"dq": VECTOR, "dqd": VECTOR, "dtau": VECTOR},
        formulations={"adjoint": (*RNEA, weigh, *ADJOINT)},
        parameters={given: shape, "w_qdd": VECTOR},
    )


def _traced(robot: Robot, algorithm: Algorithm) -> Program:
    tree = robot.specialiser.tree(regroup=True)
    formulation = next(iter(algorithm.formulations))
    return run_passes(dce(trace(algorithm, tree, formulation, outputs=tuple(algorithm.outputs))), SIMPLIFY)


def _compiled(program: Program) -> Any:
    return compile_program(program, threads=1)
