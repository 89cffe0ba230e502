"""Derivative kernels against Pinocchio's matrices, and second derivatives against differences of our
gradients, which Pinocchio confirms: fast states, float32, batches of any size, single results, no weights."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

pytest.importorskip("pinocchio")

import robomorph
from robomorph import ModelWarning, Robot
from robomorph.model.robots import builtin_urdf
from tests.oracle.chains import WITH_BALLS, chain
from tests.oracle.crane import CRANE
from tests.oracle.reference import Reference, build

Array = npt.NDArray[Any]
URDF = {name: (builtin_urdf(name) or b"").decode() for name in ("iiwa14", "hyq", "atlas")}
SOURCES = {
    "iiwa14": (URDF["iiwa14"], False),
    "hyq": (URDF["hyq"], False),
    "hyq floating": (URDF["hyq"], True),
    "atlas floating": (URDF["atlas"], True),
    "crane floating": (CRANE, True),
    "ball shoulder": (chain(*WITH_BALLS["ball shoulder"]), False),
}
STATES = 4


@cache
def load(case: str) -> tuple[Robot, Reference]:
    text, floating = SOURCES[case]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        robot = robomorph.load(text, floating_base=floating)
    return robot, Reference(robot, build(text, floating=floating))


def states(robot: Robot, speed: float) -> tuple[Array, Array, Array, Array]:
    """q, and rates, accelerations or torques, and weights; speed scales rates and their squares the next."""
    rng = np.random.default_rng(1)
    qd, x, w = rng.normal(size=(3, STATES, robot.nv))
    return robot.random_state(rng, STATES).q, speed * qd, speed**2 * x, w


def theirs(case: str, algorithm: str, q: Array, qd: Array, x: Array) -> list[Array]:
    """The matrices (STATES, nv, nv) by all three arguments."""
    _, reference = load(case)
    rows: list[tuple[Array, ...]] = []
    for state in zip(q, qd, x, strict=True):
        if algorithm == "inverse_dynamics":
            by = reference.inverse_dynamics_gradient(*state)
            rows.append((by.dq, by.dqd, reference.mass_matrix(state[0])))
        else:
            by = reference.forward_dynamics_gradient(*state)
            rows.append((by.dq, by.dqd, reference.mass_matrix_inverse(state[0])))
    return [np.stack(column) for column in zip(*rows, strict=True)]


def close(found: Array, expected: Array, tolerance: float) -> None:
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * float(np.abs(expected).max()))


@pytest.mark.parametrize("speed", [0.0, 1.0, 50.0])
@pytest.mark.parametrize("algorithm", ["inverse_dynamics", "forward_dynamics"])
@pytest.mark.parametrize("case", SOURCES)
def test_products_with_pinocchios_matrices(case: str, algorithm: str, speed: float) -> None:
    robot, _ = load(case)
    q, qd, x, w = states(robot, speed)
    matrices = theirs(case, algorithm, q, qd, x)
    back = robot.compile(algorithm, derivative="vjp", target="interpreter")(q, qd, x, w)
    along = robot.compile(algorithm, derivative="jvp", target="interpreter")
    nothing = np.zeros_like(w)
    for k, (name, matrix) in enumerate(zip(back._fields, matrices, strict=True)):
        tolerance = 1e-9 if algorithm == "forward_dynamics" else 1e-11
        close(back[k], np.einsum("bi,bij->bj", w, matrix), tolerance)
        change = [w if j == k else nothing for j in range(3)]
        close(along(q, qd, x, *change), np.einsum("bij,bj->bi", matrix, w), tolerance)
        assert name == f"d{('q', 'qd', 'qdd' if algorithm == 'inverse_dynamics' else 'tau')[k]}"


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("derivative", ["vjp", "jvp", "hvp"])
def test_compiled_kernels_of_any_batch(derivative: str, dtype: str) -> None:
    """Odd sizes, several dimensions, one state: what the interpreter defines, to the last digits."""
    robot, _ = load("hyq floating")
    rng = np.random.default_rng(2)
    wishes: dict[str, Any] = {"derivative": derivative, "f_ext": ("lf_lowerleg",)}
    kernel = robot.compile("forward_dynamics", dtype=dtype, **wishes)
    defined = robot.compile("forward_dynamics", target="interpreter", **wishes)
    for lead in ((), (1,), (3,), (2, 7), (33,)):
        q = robot.random_state(rng, lead).q
        rest = [rng.normal(size=(*lead, *port.shape)) for port in kernel.inputs[1:]]
        given = [a.astype(dtype) for a in (q, *rest)]
        found, expected = kernel(*given), defined(*(a.astype(np.float64) for a in given))
        for a, b in zip(_listed(found), _listed(expected), strict=True):
            assert a.dtype == dtype
            close(a, b, 1e-10 if dtype == "float64" else 5e-3)


def _listed(result: Any) -> list[Array]:
    return list(result) if isinstance(result, tuple) else [result]


def test_no_weights_and_no_changes_give_zero() -> None:
    robot, _ = load("atlas floating")
    q, qd, x, w = states(robot, 3.0)
    nothing = np.zeros_like(w)
    for algorithm in ("inverse_dynamics", "forward_dynamics"):
        back = robot.compile(algorithm, derivative="vjp")(q, qd, x, nothing)
        assert all(not np.any(a) for a in back)
        assert not np.any(robot.compile(algorithm, derivative="jvp")(q, qd, x, *[nothing] * 3))


def test_single_results_of_several() -> None:
    """Weights of the results that are asked for, and no others."""
    robot, _ = load("iiwa14")
    q, qd, *_ = states(robot, 1.0)
    w = np.random.default_rng(3).normal(size=STATES)
    both = robot.compile("energy", derivative="vjp")(q, qd, w, np.zeros_like(w))
    one = robot.compile("energy", outputs=("kinetic",), derivative="vjp")
    assert [port.name for port in one.inputs] == ["q", "qd", "w_kinetic"]
    for a, b in zip(one(q, qd, w), both, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-14 * max(1.0, float(np.abs(b).max())))


@pytest.mark.parametrize("algorithm", ["inverse_dynamics", "forward_dynamics"])
def test_hvp_is_symmetric_where_coordinates_add(algorithm: str) -> None:
    robot, _ = load("hyq")
    q, qd, x, w = states(robot, 5.0)
    kernel = robot.compile(algorithm, derivative="hvp", target="interpreter")
    rng = np.random.default_rng(4)
    one, other = (list(rng.normal(size=(3, STATES, robot.nv))) for _ in range(2))
    a = sum((h * v).sum() for h, v in zip(kernel(q, qd, x, w, *one), other, strict=True))
    b = sum((h * v).sum() for h, v in zip(kernel(q, qd, x, w, *other), one, strict=True))
    assert abs(a - b) <= 1e-10 * abs(a)


@pytest.mark.parametrize(
    ("case", "algorithm"),
    [
        ("iiwa14", "inverse_dynamics"),
        ("iiwa14", "forward_dynamics"),
        ("hyq", "inverse_dynamics"),
        ("hyq", "forward_dynamics"),
        ("hyq floating", "inverse_dynamics"),
        ("ball shoulder", "inverse_dynamics"),
        ("ball shoulder", "forward_dynamics"),
    ],
)
def test_second_derivatives_are_differences_of_gradients(case: str, algorithm: str) -> None:
    """[i][j][k]: how the gradient's entry [i][j] changes along `integrate`, by its k-th direction."""
    robot, _ = load(case)
    q, qd, x, _ = (a[0] for a in states(robot, 2.0))
    found = robot.compile(algorithm, derivative="second", target="interpreter")(q, qd, x)
    last = "qdd" if algorithm == "inverse_dynamics" else "tau"
    result = "tau" if algorithm == "inverse_dynamics" else "qdd"
    for k, along in enumerate(("q", "qd", last)):
        differences = _difference(case, algorithm, (q, qd, x), k)
        for by, expected in zip(("q", "qd", last), differences, strict=True):
            name = f"d2{result}_d{by}_d{along}"
            if name in found._fields:
                scale = max(float(np.abs(d).max()) for d in differences)
                np.testing.assert_allclose(getattr(found, name), expected, rtol=0, atol=2e-6 * scale)


def _difference(case: str, algorithm: str, at: tuple[Array, ...], k: int) -> list[Array]:
    """(nv, nv, nv) each: changes of Pinocchio's matrices along the tangent directions of argument k."""
    robot, _ = load(case)
    step = 1e-5

    def moved(sign: float) -> list[Array]:
        steps = sign * step * np.eye(robot.nv)
        rows = [np.broadcast_to(a, (robot.nv, len(a))) for a in at]
        rows[k] = robot.integrate(rows[0], steps) if k == 0 else rows[k] + steps
        return theirs(case, algorithm, *rows)

    return [np.moveaxis((a - b) / (2 * step), 0, -1) for a, b in zip(moved(1.0), moved(-1.0), strict=True)]
