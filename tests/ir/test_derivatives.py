"""Derivatives of programs against differences: every operation, both modes, second order."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from robomorph.errors import ProgramError
from robomorph.ir.derivatives import Run, gradient_of, hessian_of, jacobian_of
from robomorph.ir.interpret import interpret
from robomorph.ir.ops import OPS, SQRT
from robomorph.ir.program import Node, Port, Program
from robomorph.ir.trace import Tracer
from robomorph.ir.verify import verify
from robomorph.passes.pipeline import SIMPLIFY, run_passes
from robomorph.spatial import atan2
from tests.oracle.random_programs import arguments, random_programs

Array = npt.NDArray[Any]
QUIET = settings(max_examples=300, deadline=None, database=None, suppress_health_check=list(HealthCheck))
STEP = 1e-4


def results(program: Program, values: dict[str, Array]) -> Array:
    """(..., entries)"""
    with np.errstate(all="ignore"):
        out = interpret(program, values)
    lead = np.shape(values["b"])
    return np.concatenate([out[port.name].reshape(*lead, -1) for port in program.outputs], axis=-1)


def differences(program: Program, values: dict[str, Array]) -> tuple[Array, Array]:
    """(entries, 4) central differences of fourth order, and how far those of half the step are away."""

    def estimate(step: float) -> Array:
        offsets = step * np.array([-2.0, -1.0, 1.0, 2.0])[:, None, None] * np.eye(4)
        moved = {name: np.broadcast_to(x, (4, 4, *np.shape(x))) for name, x in values.items()}
        moved["a"], moved["b"] = moved["a"] + offsets[..., :3], moved["b"] + offsets[..., 3]
        y = results(program, moved)
        weights = np.array([1.0, -8.0, 8.0, -1.0]) / (12.0 * step)
        slopes: Array = np.tensordot(weights, y, axes=1).T
        return slopes

    with np.errstate(all="ignore"):
        whole, half = estimate(STEP), estimate(STEP / 2)
        return half, np.abs(whole - half)


def one_operation(name: str) -> Program:
    """The operation on sums of squares, so that roots exist and second derivatives do not vanish."""
    op = OPS[name]
    inputs = [Node(OPS["input"], (), float(k)) for k in range(4)]
    squares = [Node(OPS["mul"], (k, k)) for k in range(3)]
    nodes = [*inputs, *squares, Node(op, tuple(range(4, 4 + op.arity)))]
    nodes.append(Node(OPS["mul"], (len(nodes) - 1, 3)))
    last = len(nodes) - 1
    ports = (Port("a", (3,)), Port("b", ()))
    return Program(
        name, ports, (Port("y", (2, 2)), Port("z", ())), tuple(nodes), (last, last - 1, last, 4, 3)
    )


def assert_second_order(program: Program, values: dict[str, Array]) -> None:
    """The gradient against differences of the program, the Hessian against differences of the gradient."""
    weights = np.linspace(0.5, 1.5, program.output_size)
    gradient, jacobian = gradient_of(program, ("a", "b")), jacobian_of(program, ("a", "b"))
    for made in (gradient, jacobian):
        verify(made)
    expected, doubt = differences(program, values)
    with np.errstate(all="ignore"):
        full = interpret(jacobian, values)
        own = interpret(gradient, {**values, "multipliers": weights})
    rows = np.concatenate(
        [
            np.concatenate([full["dy_da"].reshape(4, 3), full["dy_db"].reshape(4, 1)], axis=1),
            np.concatenate([full["dz_da"].reshape(1, 3), full["dz_db"].reshape(1, 1)], axis=1),
        ]
    )
    close(rows, expected, doubt)
    close(np.append(own["da"], own["db"]), weights @ expected, weights @ doubt)
    slope = Program("slope", gradient.inputs, gradient.outputs, gradient.nodes, gradient.results)
    second, doubt = differences(slope, {**values, "multipliers": weights})
    for upper in (True, False):
        hessian = run_passes(hessian_of(program, ("a", "b"), upper=upper), SIMPLIFY)
        with np.errstate(all="ignore"):
            close(interpret(hessian, {**values, "multipliers": weights})["hessian"], second, doubt)


def close(found: Array, expected: Array, doubt: Array) -> None:
    with np.errstate(all="ignore"):
        size = 1.0 + np.abs(expected)
        sure = np.isfinite(expected) & (doubt <= 1e-6 * size) & (np.abs(expected) < 1e6)
        assert (np.abs(found - expected)[sure] <= 1e-5 * size[sure]).all()


@pytest.mark.parametrize("name", [name for name, op in OPS.items() if op.arity])
def test_every_operation(name: str) -> None:
    program = one_operation(name)
    for seed in range(5):
        values = {key: x[0] for key, x in arguments(seed, 1).items()}
        expected, doubt = differences(program, values)
        assert (doubt <= 1e-6 * (1.0 + np.abs(expected))).all()
        assert_second_order(program, values)


@pytest.mark.parametrize("name", ["sin", "cos", "sqrt", "recip"])
def test_functions_of_what_cancels(name: str) -> None:
    """u - u is zero while it is traced, but its change, of two parts, is not seen to be."""
    inputs = [Node(OPS["input"], (), float(k)) for k in range(4)]
    one = Node(OPS["const"], (), 1.0)  # 4
    cancelled = [Node(OPS["recip"], (0,)), Node(OPS["sub"], (5, 5)), Node(OPS["add"], (6, 4))]
    nodes = (*inputs, one, *cancelled, Node(OPS[name], (7,)), Node(OPS["mul"], (8, 3)))
    ports, outputs = (Port("a", (3,)), Port("b", ())), (Port("y", (2, 2)), Port("z", ()))
    program = Program(name, ports, outputs, nodes, (9, 8, 9, 7, 3))
    assert_second_order(program, {key: x[0] for key, x in arguments(1, 1).items()})


@pytest.mark.parametrize("name", ["sin", "cos", "sqrt", "recip"])
def test_changes_of_inputs_that_are_plain_numbers(name: str) -> None:
    """As rates are where a robot is at rest: f(x) b, at x = 0.25, along x."""
    inputs = (Node(OPS["input"], (), 0.0), Node(OPS["input"], (), 1.0))
    nodes = (*inputs, Node(OPS[name], (0,)), Node(OPS["mul"], (2, 1)))
    program = Program(name, (Port("x", ()), Port("b", ())), (Port("y", ()),), nodes, (3,))
    tracer, x, step = Tracer(), 0.25, 1e-6
    b = tracer.inputs((Port("b", ()),))["b"][0]
    (change,) = Run(tracer, program, [x, b]).push({0: {"x": 1.0}})
    made = tracer.program("change", (Port("b", ()),), {"y": [change["x"]]}, {"y": ()})
    found = interpret(made, {"b": np.array(3.0)})["y"]
    more, less = (
        interpret(program, {"x": np.array(p), "b": np.array(3.0)})["y"] for p in (x + step, x - step)
    )
    np.testing.assert_allclose(found, (more - less) / (2 * step), rtol=1e-8)


@QUIET
@given(random_programs(longest=15), st.integers(0, 2**32 - 1))
def test_random_programs(program: Program, seed: int) -> None:
    # Roots of negative numbers and of zero have no derivative, and NaN spreads.
    assume(all(node.op is not SQRT for node in program.nodes))
    values = {key: x[0] for key, x in arguments(seed, 1).items()}
    assume(np.isfinite(every_value(program, values)).all())  # nor have divisions by zero
    assert_second_order(program, values)


def every_value(program: Program, values: dict[str, Array]) -> Array:
    """Of all nodes."""
    count = len(program.nodes)
    everything = Program("all", program.inputs, (Port("all", (count,)),), program.nodes, tuple(range(count)))
    with np.errstate(all="ignore"):
        return interpret(everything, values)["all"]


def test_structural_zeros_and_symmetry_cost_nothing() -> None:
    program = one_operation("add")
    hessian = run_passes(hessian_of(program, ("a", "b")), SIMPLIFY)
    assert hessian.nonzeros()["hessian"] < 16
    entries = np.reshape(hessian.results, (4, 4))
    np.testing.assert_array_equal(entries, entries.T)


@pytest.mark.parametrize("simple", [False, True])
@pytest.mark.parametrize("point", [(1.0, 1.0), (1.0, -1.0), (-0.5, 0.5), (-2.0, -2.0), (0.0, 1.0), (3.0, 0)])
def test_angles_have_derivatives_on_diagonals_and_axes(point: tuple[float, float], simple: bool) -> None:
    """Where atan2 goes from one form to the other: minimum and maximum of a pair that is equal."""
    tracer = Tracer()
    ports = (Port("y", ()), Port("x", ()))
    given = tracer.inputs(ports)
    traced = tracer.program("angle", ports, {"angle": atan2(given["y"][0], given["x"][0])}, {"angle": ()})
    program = run_passes(traced, SIMPLIFY) if simple else traced
    values = {"y": np.array(point[0]), "x": np.array(point[1]), "multipliers": np.ones(1)}
    pulled = interpret(gradient_of(program, ["y", "x"]), values)
    pushed = interpret(jacobian_of(program, ["y", "x"]), values)
    bent = interpret(hessian_of(program, ["y", "x"]), values)["hessian"]
    y, x = point
    square = x * x + y * y
    slopes = np.array([x, -y]) / square
    assert np.abs(np.array([pulled["dy"], pulled["dx"]]) - slopes).max() < 1e-13
    assert np.abs(np.array([pushed["dangle_dy"], pushed["dangle_dx"]]) - slopes).max() < 1e-13
    mixed = (y * y - x * x) / square**2
    expected = [[-2.0 * x * y / square**2, mixed], [mixed, 2.0 * x * y / square**2]]
    assert np.abs(bent - np.array(expected)).max() < 1e-11


def test_unknown_inputs_are_named() -> None:
    with pytest.raises(ProgramError, match=r"no input 'c' to differentiate by: \['a', 'b'\]"):
        gradient_of(one_operation("mul"), ["c"])
