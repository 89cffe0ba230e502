"""Programs for CasADi against NumPy kernels and finite differences, for every function and kind of joint.

The finite differences are of whole matrices, so an entry that a pattern lacks is a wrong zero here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph import ArgumentError, Robot
from robomorph.interop.functions import FUNCTIONS
from robomorph.targets.casadi.callee import Callee, Pattern
from tests.interop.casadi.dense import as_matrix, callees, differences, evaluate
from tests.interop.cases import Array, arguments, call, listed, load, options, scaled

CASES = ("iiwa14", "menagerie", "crane-floating", "two balls", "planar")
DIFFERENTIABLE = [name for name, entry in FUNCTIONS.items() if not entry.undifferentiable]
STATES = 3


def state(robot: Robot, name: str, value: Callee, length: float = 1.0, seed: int = 0) -> dict[str, Array]:
    """Arguments by name, quaternions of another length than one on request."""
    given = arguments(robot, name, STATES, seed)
    given[0] = scaled(robot, given[0], length)
    known = dict(zip((*FUNCTIONS[name].inputs, *FUNCTIONS[name].parameters), given, strict=True))
    rng = np.random.default_rng(7)
    return {
        a.name: known[a.name].reshape(STATES, -1)
        if a.name in known
        else rng.normal(size=(STATES, a.pattern.size))
        for a in value.inputs
    }


def near(found: Array, expected: Array, scale: float, tolerance: float, what: str) -> None:
    worst = float(np.abs(found - expected).max(initial=0.0))
    assert worst <= tolerance * max(scale, 1.0), f"{what}: {worst:.1e} of {scale:.1e}"


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("case", CASES)
def test_values_are_those_of_numpy(case: str, name: str) -> None:
    robot = load(case)
    (value,) = callees(robot, name, 0)
    given = arguments(robot, name, STATES)
    expected = [np.asarray(x) for x in listed(call(robot, name, *given, **options(robot, name)))]
    for length in (1.0, 1.7):
        found = evaluate(value, state(robot, name, value, length))
        for result, wanted in zip(value.outputs, expected, strict=True):
            matrix = as_matrix(result, found[result.name])
            if wanted.ndim > 3:  # a stack of matrices stands side by side
                blocks = wanted.shape[1]
                matrix = np.stack(np.split(matrix, blocks, axis=-1), axis=1)
            scale = float(np.abs(wanted).max())
            near(matrix.reshape(wanted.shape), wanted, scale, 1e-12, f"{name}: {result.name}")


@pytest.mark.parametrize("name", DIFFERENTIABLE)
@pytest.mark.parametrize("case", CASES)
def test_first_derivatives_are_differences(case: str, name: str) -> None:
    robot = load(case)
    value, first = callees(robot, name, 1, f_ext=[robot.link_names[-1]])
    given = state(robot, name, value, 1.3)
    by_differences = differences(value, given)
    unread = {a.name: np.zeros((STATES, a.pattern.size)) for a in value.outputs}
    found = evaluate(first, {**given, **{f"out_{n}": x for n, x in unread.items()}})
    scale = max(float(np.abs(x).max(initial=0.0)) for x in by_differences.values())
    for (result, argument), wanted in by_differences.items():
        block = next(a for a in first.outputs if a.name == f"jac_{result}_{argument}")
        assert (block.pattern.rows, block.pattern.columns) == wanted.shape[1:]
        matrix = as_matrix(block, found[block.name])
        near(matrix, wanted, scale, 1e-7, f"d {result} / d {argument}")


@pytest.mark.parametrize("name", [name for name in DIFFERENTIABLE if name != "semi_implicit_step"])
@pytest.mark.parametrize("case", ["iiwa14", "crane-floating", "planar"])
def test_second_derivatives_are_differences(case: str, name: str) -> None:
    robot = load(case)
    value, first, adjoint, second = callees(robot, name, 2, f_ext=[robot.link_names[-1]])
    given = state(robot, name, value, 0.8)
    rng = np.random.default_rng(3)
    weights = {f"adj_{a.name}": rng.normal(size=(STATES, a.pattern.size)) for a in value.outputs}
    full = {**given, **weights}
    pulled = evaluate(adjoint, full)
    jacobian = evaluate(first, given)
    for argument in value.inputs:
        total: Any = 0.0
        for result in value.outputs:
            block = next(a for a in first.outputs if a.name == f"jac_{result.name}_{argument.name}")
            matrix = as_matrix(block, jacobian[block.name])
            total = total + np.einsum("bij,bi->bj", matrix, weights[f"adj_{result.name}"])
        scale = float(np.abs(total).max(initial=0.0))
        near(pulled[f"adj_{argument.name}"], total, scale, 1e-10, f"w d{name} / d {argument.name}")
    by_differences = differences(adjoint, full)
    found = evaluate(second, full)
    scale = max(float(np.abs(x).max(initial=0.0)) for x in by_differences.values())
    known = {a.name: a for a in second.outputs}
    for (result_name, argument_name), wanted in by_differences.items():
        block = known[f"jac_{result_name}_{argument_name}"]
        near(as_matrix(block, found[block.name]), wanted, scale, 1e-7, block.name)


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_joints_with_armature_damping_friction_and_springs(name: str) -> None:
    """What a robot's dynamics are made of is in the closed forms, too."""
    robot = robomorph.load("iiwa14", passive=True, armature=0.3, damping=0.7, friction=0.2, stiffness=1.5)
    value, first = callees(robot, name, 1)
    given = state(robot, name, value)
    assert np.abs(evaluate(value, given)[value.outputs[0].name] - _plain(name, given)).max() > 0.1
    found = evaluate(first, given)
    for (result, argument), wanted in differences(value, given, 1e-4).items():
        block = next(a for a in first.outputs if a.name == f"jac_{result}_{argument}")
        matrix = as_matrix(block, found[block.name])
        near(matrix, wanted, float(np.abs(wanted).max()), 1e-6, f"d {result} / d {argument}")


def _plain(name: str, given: dict[str, Array]) -> Array:
    return np.asarray(getattr(load("iiwa14"), name)(*given.values()))


@pytest.mark.parametrize("case", CASES)
def test_the_length_of_quaternions_does_not_count(case: str) -> None:
    """Radial derivatives are zero, and those of the coordinates shrink with the length."""
    robot = load(case)
    value, first = callees(robot, "inverse_dynamics", 1)
    block = next(a for a in first.outputs if a.name == "jac_tau_q")
    small, large = (state(robot, "inverse_dynamics", value, length) for length in (1.0, 4.0))
    for given in (small, large):
        matrix = as_matrix(block, evaluate(first, given)["jac_tau_q"])
        radial = given["q"] - scaled(robot, given["q"], 0.0)
        if radial.any():
            change = np.einsum("bij,bj->bi", matrix, radial)
            near(change, np.zeros_like(change), float(np.abs(matrix).max()), 1e-11, "along the length")
    one, four = (as_matrix(block, evaluate(first, x)["jac_tau_q"]) for x in (small, large))
    turning = (small["q"] != large["q"]).any(axis=0)
    near(four[..., turning] * 4.0, one[..., turning], float(np.abs(one).max()), 1e-11, "shrinks")
    near(four[..., ~turning], one[..., ~turning], float(np.abs(one).max()), 1e-11, "stays")


@pytest.mark.parametrize("case", CASES)
def test_shapes_are_those_that_casadi_asks_for(case: str) -> None:
    robot = load(case)
    value, first, adjoint, second = callees(robot, "forward_dynamics", 2, f_ext=True)
    names = [a.name for a in value.inputs]
    assert names == ["q", "qd", "tau", "f_ext"]
    assert value.inputs[3].pattern == Pattern.dense(6, len(robot.link_names))
    assert [a.name for a in first.inputs] == [*names, "out_qdd"]
    assert [a.name for a in adjoint.inputs] == [*names, "out_qdd", "adj_qdd"]
    assert [a.pattern for a in adjoint.outputs] == [a.pattern for a in value.inputs], "CasADi holds to it"
    outs = [f"out_adj_{name}" for name in names]
    assert [a.name for a in second.inputs] == [*names, "out_qdd", "adj_qdd", *outs]
    assert len(second.outputs) == len(adjoint.outputs) * len(adjoint.inputs)
    for callee in (value, first, adjoint, second):
        for argument in (*callee.inputs, *callee.outputs):
            assert list(argument.pattern.entries) == sorted(set(argument.pattern.entries))
            assert not argument.pattern.entries or argument.pattern.entries[-1] < argument.pattern.size


def test_patterns_as_casadi_reads_them() -> None:
    pattern = Pattern(3, 4, (1, 2, 6, 11))
    assert pattern.compressed == (3, 4, 0, 2, 2, 3, 4, 1, 2, 0, 2)
    assert Pattern.empty(2, 0).compressed == (2, 0, 0) and Pattern.dense(1, 1).compressed == (1, 1, 0, 1, 0)


@pytest.mark.parametrize("order", [-1, 3, "2"])
def test_orders_are_refused(order: Any) -> None:
    with pytest.raises(ArgumentError, match="derivatives: expected their highest order, 0, 1 or 2"):
        callees(load("iiwa14"), "energy", order)
