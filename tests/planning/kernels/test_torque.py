"""Torque kernels: first derivatives against Pinocchio, second ones against complex steps of the first."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings

import robomorph
from robomorph import ModelError, ModelWarning, Robot
from robomorph.ir.derivatives import gradient_of
from robomorph.ir.interpret import interpret
from robomorph.planning.kernels import (
    MotionKernels,
    torque_adjoint_program,
    torque_hessian_program,
    torque_program,
)
from tests.oracle.random_trees import RandomRobot, random_robots

from .robots import FILES, NAMES, REROOTED, assert_close, derivative, random_arguments, robot, source_of

Array = npt.NDArray[Any]
STATE = ("q", "qd", "qdd")


def check_first(made: Robot, seed: int) -> None:
    """Torque and wrench derivatives against steps; the adjoint against them."""
    program, adjoint = torque_program(made, wrench=True), torque_adjoint_program(made, wrench=True)
    arguments = random_arguments(adjoint, seed)
    state = {name: arguments[name] for name in STATE}
    found = interpret(program, state)
    gradient = interpret(adjoint, arguments)
    nv, given_ = made.nv, arguments["multipliers"]
    for by, matrix in (("q", "dtau_dq"), ("qd", "dtau_dqd"), ("qdd", "mass")):
        stepped = derivative(program, state, by)
        assert_close(found[matrix], stepped["tau"])
        assert_close(found[f"dwrench_d{by}"], stepped["wrench"])
        assert_close(gradient[f"d{by}"], given_[:nv] @ stepped["tau"] + given_[nv:] @ stepped["wrench"])


def check_second(made: Robot, seed: int, *, wrench: bool) -> None:
    """All blocks against steps of the adjoint, those that are zero included."""
    adjoint = torque_adjoint_program(made, wrench=wrench)
    arguments = random_arguments(adjoint, seed)
    found = interpret(torque_hessian_program(made, wrench=wrench), arguments)
    by_q, by_qd = derivative(adjoint, arguments, "q"), derivative(adjoint, arguments, "qd")
    by_qdd = derivative(adjoint, arguments, "qdd")
    assert_close(found["qq"], by_q["dq"])
    assert_close(found["q_qd"], by_qd["dq"])
    assert_close(found["q_qd"].T, by_q["dqd"])
    assert_close(found["qd_qd"], by_qd["dqd"])
    assert_close(found["q_qdd"], by_qdd["dq"])
    assert_close(found["q_qdd"].T, by_q["dqdd"])
    for zero in (by_qdd["dqd"], by_qd["dqdd"], by_qdd["dqdd"]):
        assert np.abs(zero).max() == 0.0
    np.testing.assert_array_equal(found["qq"], found["qq"].T)
    np.testing.assert_array_equal(found["qd_qd"], found["qd_qd"].T)


@pytest.mark.parametrize("name", NAMES)
def test_first_derivatives(name: str) -> None:
    check_first(robot(name), 1)


@pytest.mark.parametrize("name", NAMES)
def test_second_derivatives(name: str) -> None:
    check_second(robot(name), 2, wrench=True)


@pytest.mark.parametrize("name", ["iiwa14", "crane"])
def test_second_derivatives_of_torques_alone(name: str) -> None:
    check_second(robot(name), 2, wrench=False)


@given(random_robots(narrow=True))
@settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
def test_random_trees(drawn: RandomRobot) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        made = robomorph.load(drawn.text, mimic=drawn.mimic)
    check_first(made, 3)
    check_second(made, 4, wrench=True)


@pytest.mark.parametrize("name", ["crane", *FILES])
def test_pinocchio_agrees(name: str) -> None:
    pytest.importorskip("pinocchio", reason="needs the package pin")
    from tests.oracle.reference import Reference, build

    made = robot(name)
    source = source_of(name)
    reference = Reference(made, build(source))
    program = torque_program(made, wrench=True)
    state = random_arguments(program, 5)
    found = interpret(program, state)
    q, qd, qdd = (state[key] for key in STATE)
    assert_close(found["tau"], reference.inverse_dynamics(q, qd, qdd), 1e-11)
    theirs = reference.inverse_dynamics_gradient(q, qd, qdd)
    assert_close(found["dtau_dq"], theirs.dq, 1e-11)
    assert_close(found["dtau_dqd"], theirs.dqd, 1e-11)
    assert_close(found["mass"], reference.mass_matrix(q), 1e-11)
    assert_close(found["wrench"], _root_wrench(reference, source, q, qd, qdd), 1e-11)


def _root_wrench(reference: Any, source: Any, q: Array, qd: Array, qdd: Array) -> Array:
    """From Pinocchio's free-flying model held still at the origin, less the weight of what is fixed there."""
    import pinocchio

    from tests.oracle.reference import build

    free = build(source, floating=True)
    free.gravity.linear = reference.model.gravity.linear
    rest = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    rates = [np.concatenate([np.zeros(6), reference.chain @ x]) for x in (qd, qdd)]
    own = np.concatenate([rest, reference.configuration(q)])
    total = pinocchio.rnea(free, free.createData(), own, *rates)[:6]
    fixed = reference.model.inertias[0]
    up = pinocchio.Motion(-reference.model.gravity.linear, np.zeros(3))
    return np.asarray(total - (fixed * up).vector)


@pytest.mark.parametrize("name", ["iiwa14", "crane", *REROOTED])
def test_the_wrench_is_weight_and_change_of_momentum(name: str) -> None:
    made = robot(name)
    program = torque_program(made, wrench=True)
    state = random_arguments(program, 7, (5,))
    q, qd, qdd = (state[key] for key in STATE)
    mass = sum(body.inertia.mass for body in made.model.bodies) + made.model.standing.mass

    def momentum(t: float) -> Array:
        """Linear, and angular about the world's origin."""
        place, rate = q + t * qd + 0.5 * t * t * qdd, qd + t * qdd
        h = made.centroidal_momentum(place, rate)
        return np.concatenate([h[:, :3], h[:, 3:] + np.cross(made.center_of_mass(place), h[:, :3])], axis=1)

    step = 1e-3
    rates = [(momentum(s) - momentum(-s)) / (2 * s) for s in (step, step / 2)]
    change = (4.0 * rates[1] - rates[0]) / 3.0
    weight = -mass * made.gravity
    lever = np.cross(made.center_of_mass(q), weight)
    expected = change + np.concatenate([np.broadcast_to(weight, lever.shape), lever], axis=1)
    assert_close(interpret(program, state)["wrench"], expected, 1e-8)


def test_the_adjoint_is_cheaper_than_reverse_mode() -> None:
    made = robot("atlas")
    by_machine = gradient_of(torque_program(made), STATE)
    state = random_arguments(by_machine, 6)
    state["multipliers"][made.nv :] = 0.0
    adjoint = torque_adjoint_program(made)
    given_ = {**state, "multipliers": state["multipliers"][: made.nv]}
    for key, value in interpret(adjoint, given_).items():
        assert_close(value, interpret(by_machine, state)[key])
    assert adjoint.cost() < 8500
    assert torque_hessian_program(made).cost() < 29000


def test_a_robot_without_masses_is_refused() -> None:
    text = (
        '<robot name="bare"><link name="a"/><link name="b"/><joint name="j" type="continuous">'
        '<parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>'
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        made = robomorph.load(text)
    with pytest.raises(ModelError, match="masses"):
        MotionKernels(made, torque=True)
