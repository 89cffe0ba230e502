"""The traced programs against independent derivatives: the Jacobian, and what a step promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph.ik.layout import Layout
from robomorph.ik.methods import METHODS, Method
from robomorph.ik.residual import trace_errors, trace_residual
from robomorph.ik.step import StepInputs, StepRule, trace_step
from robomorph.ir.interpret import interpret
from robomorph.ir.verify import verify
from robomorph.tasks import Axis, CenterOfMass, Orientation, Position
from tests.ik.arms import arm

Array = npt.NDArray[Any]
FRAME = "panda_hand"
LAYOUT = Layout(
    (
        Position(FRAME),
        Orientation(FRAME),
        Orientation(FRAME, own_axes=True),
        Axis(FRAME, (0.6, 0.0, 0.8)),
        CenterOfMass(),
    )
)


def rotation(rng: np.random.Generator) -> Array:
    u, _, v = np.linalg.svd(rng.normal(size=(3, 3)))
    turn = u @ v
    return np.asarray(turn * np.linalg.det(turn))


def target_numbers(rng: np.random.Generator) -> Array:
    parts = [rng.normal(size=3), rotation(rng).ravel(), rotation(rng).ravel(), rotation(rng).ravel()]
    return np.concatenate([*parts, rng.normal(size=3)])


def rotation_vector(m: Array) -> Array:
    s = 0.5 * np.array([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]])
    sine, cosine = np.linalg.norm(s), 0.5 * (np.trace(m) - 1.0)
    return np.asarray(s * (np.arctan2(sine, cosine) / sine))


def rows_of(raw: Array) -> Array:
    """The residual's rows, as native code makes them."""
    cosine, sine = raw[21], raw[22:24]
    pointed = sine * np.arctan2(np.linalg.norm(sine), cosine) / np.linalg.norm(sine)
    turns = [rotation_vector(raw[k : k + 9].reshape(3, 3)) for k in (3, 12)]
    return np.concatenate([raw[:3], *turns, pointed, raw[24:27]])


def dense(pattern: tuple[float | int, ...], jac: Array, rows: int) -> Array:
    entries = [jac[e] if isinstance(e, int) else e for e in pattern]
    return np.array(entries).reshape(rows, -1)


@pytest.mark.parametrize("floating", [False, True])
def test_the_jacobian_is_the_derivative_of_the_cost(floating: bool) -> None:
    """J^T e against finite differences of |e|^2 / 2, block by block: exact however far the target."""
    robot, _ = arm("panda", floating)
    rng = np.random.default_rng(5)
    residual = trace_residual(robot.specialiser.tree(regroup=False), LAYOUT)
    verify(residual.program)
    q, target = robot.random_state(rng).q, target_numbers(rng)

    def rows(at: Array) -> Array:
        return rows_of(interpret(residual.program, {"q": at, "reference": target})["raw"])

    found = interpret(residual.program, {"q": q, "reference": target})
    jacobian, e = dense(residual.pattern, found["jac"], LAYOUT.rows), rows_of(found["raw"])
    step = 1e-6
    for task, start in zip(LAYOUT.tasks, LAYOUT.starts, strict=True):
        here = slice(start.rows, start.rows + task.size.rows)
        expected = np.empty(robot.nv)
        for k in range(robot.nv):
            move = np.zeros(robot.nv)
            move[k] = step
            ahead, behind = (rows(robot.integrate(q, sign * move))[here] for sign in (1, -1))
            expected[k] = (ahead @ ahead - behind @ behind) / (4.0 * step)
        assert np.allclose(jacobian[here].T @ e[here], expected, atol=1e-7), task


def test_errors_alone_are_the_same_errors() -> None:
    robot, _ = arm("panda")
    tree, rng = robot.specialiser.tree(regroup=False), np.random.default_rng(1)
    inputs = {"q": robot.random_state(rng).q, "reference": target_numbers(rng)}
    both = interpret(trace_residual(tree, LAYOUT).program, inputs)["raw"]
    alone = interpret(trace_errors(tree, LAYOUT), inputs)["raw"]
    assert np.abs(alone - both).max() <= 1e-14  # positions may be carried the other way round


def test_a_rotation_about_its_own_axes_has_an_exact_jacobian() -> None:
    """Row by row, far from the target, where the plain angular rows would be wrong."""
    robot, _ = arm("panda")
    layout = Layout((Orientation(FRAME, own_axes=True),))
    residual = trace_residual(robot.specialiser.tree(regroup=False), layout)
    rng = np.random.default_rng(8)
    q, target = robot.random_state(rng).q, rotation(rng).ravel()

    def rows(at: Array) -> Array:
        raw = interpret(residual.program, {"q": at, "reference": target})["raw"]
        return rotation_vector(raw.reshape(3, 3))

    found, e = interpret(residual.program, {"q": q, "reference": target}), rows(q)
    angle = np.linalg.norm(e)
    bend = (1.0 - 0.5 * angle / np.tan(0.5 * angle)) / angle**2
    assert angle > 1.0

    def row_of(i: int) -> StepRule:
        return lambda p: (p.jacobian[i], 0.0)

    for i in range(3):
        program = trace_step(row_of(i), "row", layout, residual.pattern, (False,) * robot.nv)
        ones = {"weights": np.ones(3), "mask": np.ones(8), "base": np.zeros(8), "lam": np.ones(1)}
        row = interpret(program, {"jac": found["jac"], "err": e, "bend": np.array([bend]), **ones})["step"]
        step = 1e-6 * np.eye(robot.nv)
        expected = [(rows(q + d)[i] - rows(q - d)[i]) / 2e-6 for d in step]
        assert np.allclose(row, expected, atol=1e-7)


def linear_problem(layout: Layout, nv: int, seed: int) -> tuple[tuple[int, ...], dict[str, Array]]:
    rng = np.random.default_rng(seed)
    pattern = tuple(range(layout.rows * nv))
    inputs = {
        "jac": rng.normal(size=layout.rows * nv),
        "err": rng.normal(size=layout.rows),
        "bend": np.full(layout.bend_count, 0.08),
        "weights": rng.uniform(0.5, 2.0, layout.rows),
        "mask": (rng.uniform(size=nv) > 0.3).astype(float),
        "base": rng.normal(size=nv),
        "lam": np.array([0.3]),
    }
    return pattern, inputs


@pytest.mark.parametrize("nv", [5, 6, 9])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_damped_step_minimises_the_damped_model(nv: int, weighted: bool) -> None:
    """Against NumPy's least squares, for more, as many and fewer joints than rows."""
    robot, _ = arm("panda")
    layout = Layout((Position(FRAME), Orientation(FRAME)), weighted)
    pattern, inputs = linear_problem(layout, nv, nv)

    class Fake:
        pass

    tree: Any = Fake()
    tree.nv = nv
    program = trace_step(METHODS["lm"].rule(tree, layout), "lm", layout, pattern, (True,) * nv)
    verify(program)
    out = interpret(program, inputs)
    w = inputs["weights"] if weighted else np.ones(6)
    jacobian, e = w[:, None] * inputs["jac"].reshape(6, nv), w * inputs["err"]
    after = e + jacobian @ inputs["base"]
    free = jacobian * inputs["mask"]
    stacked = np.vstack([free, np.sqrt(0.3) * np.eye(nv)])
    best = np.linalg.lstsq(stacked, -np.concatenate([after, np.zeros(nv)]), rcond=None)[0]
    assert np.allclose(out["step"], inputs["base"] + inputs["mask"] * best, atol=1e-9)
    assert np.isclose(out["model"][0], np.sum((e + jacobian @ out["step"]) ** 2))
    del robot


@pytest.mark.parametrize("name", [name for name in METHODS if name != "lm"])
def test_what_a_method_predicts_is_what_its_step_leaves(name: str) -> None:
    robot, _ = arm("iiwa14")
    tree = robot.specialiser.tree(regroup=False)
    layout = Layout((Position("lbr_iiwa_link_7"),))
    pattern, inputs = linear_problem(layout, 7, 3)
    inputs["mask"][:], inputs["base"][:] = 1.0, 0.0
    program = trace_step(METHODS[name].rule(tree, layout), "x", layout, pattern, (True,) * 7)
    out = interpret(program, inputs)
    jacobian, e = inputs["jac"].reshape(3, 7), inputs["err"]
    assert np.isclose(out["model"][0], np.sum((e + jacobian @ out["step"]) ** 2), atol=1e-9)
    if name == "pseudoinverse":
        assert np.allclose(out["step"], -np.linalg.pinv(jacobian) @ e, atol=1e-8)
    elif name == "speculative-newton":
        gram = jacobian @ jacobian.T
        damped = gram + 1e-6 * np.trace(gram) * np.eye(3)
        assert np.allclose(out["step"], -jacobian.T @ np.linalg.solve(damped, e), rtol=1e-9)
    elif "fixed" not in name:
        slope = jacobian @ (jacobian.T @ e)
        alpha = (e @ slope) / (slope @ slope)
        assert np.allclose(out["step"], -alpha * jacobian.T @ e)


@pytest.mark.parametrize("nv", [4, 6, 9])
@pytest.mark.parametrize("weighted", [False, True])
def test_newtons_damping_is_a_share_of_each_tasks_own_gain(nv: int, weighted: bool) -> None:
    """Against the normal equations over rows, for fewer, as many and more joints than rows; the rows of one
    task are a thousand times as long as the other's."""
    layout = Layout((Position(FRAME), Orientation(FRAME)), weighted)
    pattern, inputs = linear_problem(layout, nv, nv)
    inputs["jac"][: 3 * nv] *= 1e-3

    class Fake:
        pass

    tree: Any = Fake()
    tree.nv = nv
    program = trace_step(METHODS["speculative-newton"].rule(tree, layout), "x", layout, pattern, (True,) * nv)
    verify(program)
    out = interpret(program, inputs)
    w = inputs["weights"] if weighted else np.ones(6)
    jacobian, e = w[:, None] * inputs["jac"].reshape(6, nv), w * inputs["err"]
    free = jacobian * inputs["mask"]
    damping = np.repeat([1e-6 * np.sum(free[:3] ** 2), 1e-6 * np.sum(free[3:] ** 2)], 3)
    dual = np.linalg.solve(free @ free.T + np.diag(damping), e + jacobian @ inputs["base"])
    expected = inputs["base"] - free.T @ dual
    assert np.allclose(out["step"], expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())
    left = e + jacobian @ out["step"]
    assert np.isclose(out["model"][0], left @ left, rtol=1e-6, atol=1e-9)


def test_an_edited_method_is_never_answered_with_old_code() -> None:
    """The same name, other rules: on the same robot, and on a new one that has nothing but the disk cache."""

    def method(share: float) -> Method:
        def rule(tree: Any, layout: Any) -> StepRule:
            newton = METHODS["pseudoinverse"].rule(tree, layout)

            def step(problem: StepInputs) -> tuple[list[Any], Any]:
                whole, model = newton(problem)
                return [share * x for x in whole], model

            return step

        return Method("test-share", rule)

    q0 = np.array([0.1, 0.5, 0.2, -1.0, 0.3, 0.7, 0.0])
    target = np.array([0.5, 0.1, 0.6])
    moved = []
    try:
        for fresh in (False, True):
            robot = robomorph.load("iiwa14")
            for share in (0.01, 0.02):
                robot = robomorph.load("iiwa14") if fresh else robot
                METHODS["test-share"] = method(share)
                result = robot.inverse_kinematics(
                    target, "lbr_iiwa_link_7", q0, method="test-share", max_iterations=1
                )
                moved.append(np.linalg.norm(result.q - q0))
    finally:
        METHODS.pop("test-share", None)
    assert np.allclose(np.array(moved[1::2]) / np.array(moved[::2]), 2.0)
