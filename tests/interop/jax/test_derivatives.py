"""First derivatives: against differences of the robot's methods in coordinates, under transformations."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomorph import DerivativeError
from robomorph.interop.functions import FUNCTIONS
from robomorph.jax import Functions
from tests.interop.cases import (
    SOURCES,
    arguments,
    call,
    close,
    differences,
    listed,
    load,
    options,
    scaled,
    wrenches,
)

SMOOTH = [name for name, entry in FUNCTIONS.items() if not entry.undifferentiable]
HARD = [name for name, entry in FUNCTIONS.items() if entry.undifferentiable]


def normal(like: Any, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=np.shape(x)) for x in like]


def paired(a: Any, b: Any) -> float:
    return float(sum(np.sum(np.asarray(x) * np.asarray(y)) for x, y in zip(a, b, strict=True)))


@pytest.mark.parametrize(
    "case, name",
    [(case, name) for case in ("menagerie", "crane-floating") for name in SMOOTH]
    + [(case, "forward_dynamics") for case in SOURCES if case not in ("menagerie", "crane-floating")],
)
def test_forward_and_reverse_mode(case: str, name: str) -> None:
    """Along changes of coordinates that leave unit lengths, too."""
    robot = load(case)
    functions, more = Functions(robot), options(robot, name)
    given = arguments(robot, name, 3)
    along = normal(given, 1)
    expected = differences(robot, lambda *x: call(robot, name, *x, **more), given, along)
    value, found = jax.jvp(lambda *x: call(functions, name, *x, **more), tuple(given), tuple(along))
    close(value, call(robot, name, *given, **more), 1e-15)
    close(found, expected, 1e-7)
    weights = normal(expected, 2)
    _, pull = jax.vjp(lambda *x: tuple(listed(call(functions, name, *x, **more))), *given)
    back = pull(tuple(jnp.asarray(w) for w in weights))
    assert [g.shape for g in back] == [x.shape for x in given]
    assert paired(back, along) == pytest.approx(paired(weights, listed(found)))


@pytest.mark.parametrize("case", ["menagerie", "crane-floating"])
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_wrenches_have_derivatives(case: str, name: str) -> None:
    robot = load(case)
    functions, f_ext = Functions(robot), wrenches(robot)
    given = [*arguments(robot, name), f_ext]
    along = normal(given, 3)
    expected = differences(robot, lambda *x: call(robot, name, *x[:-1], f_ext=x[-1]), given, along)
    f = lambda *x: call(functions, name, *x[:-1], f_ext=x[-1])  # noqa: E731
    _, found = jax.jvp(f, tuple(given), tuple(along))
    close(found, expected, 1e-7)
    link = robot.link_names[-1]
    one = jax.grad(lambda w: call(functions, name, *given[:-1], f_ext={link: w}).sum())(f_ext[-1])
    alone = {link: f_ext[-1]}
    for k, unit in enumerate(np.eye(6)):
        ends = [call(robot, name, *given[:-1], f_ext={link: alone[link] + s * unit}).sum() for s in (-1, 1)]
        assert one[k] == pytest.approx((ends[1] - ends[0]) / 2, rel=1e-6, abs=1e-8)


def test_dynamics_against_the_robots_gradients() -> None:
    """jacfwd and jacrev of a fixed base are the robot's matrices."""
    robot = load("iiwa14")
    functions = Functions(robot)
    given = [jnp.asarray(x) for x in arguments(robot, "forward_dynamics")]
    _, *expected = robot.forward_dynamics_gradient(*given)
    for transform in (jax.jacfwd, jax.jacrev):
        found = jax.jit(transform(functions.forward_dynamics, (0, 1, 2)))(*given)
        close(list(found), expected, 1e-12)
    found = jax.jacfwd(functions.inverse_dynamics, (0, 1))(*given)
    close(list(found), list(robot.inverse_dynamics_gradient(*given)), 1e-12)
    mass = jax.jacrev(functions.inverse_dynamics, 2)(*given)
    close(mass, robot.mass_matrix(given[0]), 1e-12)


def test_a_jacobian_by_coordinates_of_a_floating_base() -> None:
    """(nv, nq): zero along the quaternion's own length, and times the rate of a step what the robot has."""
    robot = load("crane-floating")
    functions = Functions(robot)
    q, qd, tau = arguments(robot, "forward_dynamics")
    for transform in (jax.jacfwd, jax.jacrev):
        found = transform(functions.forward_dynamics)(q, qd, tau)
        assert found.shape == (robot.nv, robot.nq)
        radial = np.zeros(robot.nq)
        radial[3:7] = q[3:7]
        np.testing.assert_allclose(found @ radial, 0, atol=1e-9)
        step = 1e-6
        ends = [(robot.integrate(q, step * u), robot.integrate(q, -step * u)) for u in np.eye(robot.nv)]
        rates = np.stack([(a - b) / (2 * step) for a, b in ends], -1)
        close(found @ rates, robot.forward_dynamics_gradient(q, qd, tau).dqdd_dq, 1e-8)


def test_the_jacobian_is_that_of_kinematics() -> None:
    robot = load("menagerie")
    functions, frame = Functions(robot), robot.link_names[-1]
    q = arguments(robot, "forward_kinematics", 4)[0]
    along = normal([q], 5)[0]
    f = lambda q: functions.forward_kinematics(q, frame)[..., :3, 3]  # noqa: E731
    _, speed = jax.jvp(f, (q,), (along,))
    expected = differences(robot, lambda q: robot.forward_kinematics(q, frame)[..., :3, 3], [q], [along])
    close(speed, expected, 1e-9)


@pytest.mark.parametrize("case", ["iiwa14", "crane-floating"])
def test_gradients_under_transformations(case: str) -> None:
    robot = load(case)
    functions = Functions(robot)
    given = arguments(robot, "forward_dynamics", 5)
    weights = normal([given[1][0]], 6)[0]

    def loss(*x: Any) -> Any:
        return functions.forward_dynamics(*x) @ weights

    grads = jax.grad(loss, (0, 1, 2))
    expected = [
        np.stack(rows) for rows in zip(*(grads(*(x[k] for x in given)) for k in range(5)), strict=True)
    ]
    along = [x[0] for x in normal(given, 7)]
    change = differences(robot, lambda *x: robot.forward_dynamics(*x) @ weights, [x[0] for x in given], along)
    assert sum(float(g[0] @ d) for g, d in zip(expected, along, strict=True)) == pytest.approx(
        change[0], rel=1e-6
    )
    close(list(jax.vmap(grads)(*given)), expected, 1e-14)
    close(list(jax.jit(jax.vmap(grads))(*given)), expected, 1e-14)
    close(list(jax.grad(lambda *x: loss(*x).sum(), (0, 1, 2))(*given)), expected, 1e-14)
    close(list(jax.jit(jax.grad(lambda *x: jax.vmap(loss)(*x).sum(), (0, 1, 2)))(*given)), expected, 1e-14)
    shared = jax.vmap(grads, (0, None, None))(given[0], given[1][0], given[2][0])
    close(shared[2][0], expected[2][0], 1e-13)
    remat = jax.grad(jax.checkpoint(lambda *x: loss(*x).sum()), (0, 1, 2))(*given)
    close(list(remat), expected, 1e-14)
    linear = jax.linearize(functions.forward_dynamics, *given)[1]
    along = normal(given, 8)
    close(linear(*along), jax.jvp(functions.forward_dynamics, tuple(given), tuple(along))[1], 1e-14)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_through_a_scan(mode: str) -> None:
    """The gradient of a rollout's end by the torques along it."""
    robot = load("menagerie")
    functions = Functions(robot)
    q, qd = arguments(robot, "energy")
    torques = np.random.default_rng(3).normal(size=(6, robot.nv))

    def end(torques: Any, face: Any, xp: Any) -> Any:
        def step(qd: Any, tau: Any) -> Any:
            return qd + 0.01 * face.forward_dynamics(q, qd, tau), None

        if xp is jnp:
            return jax.lax.scan(step, jnp.asarray(qd), torques)[0] @ np.arange(1.0, robot.nv + 1)
        speed = qd
        for tau in torques:
            speed = step(speed, tau)[0]
        return speed @ np.arange(1.0, robot.nv + 1)

    transform = jax.jacfwd if mode == "forward" else jax.grad
    found = jax.jit(transform(lambda torques: end(torques, functions, jnp)))(torques)
    along, step = np.random.default_rng(4).normal(size=torques.shape), 1e-5
    ends = [end(torques + s * step * along, robot, np) for s in (-1, 1)]
    assert np.sum(found * along) == pytest.approx((ends[1] - ends[0]) / (2 * step), rel=1e-7)


def test_through_steps_of_a_floating_base() -> None:
    """A rollout's end by its start, in coordinates, and by the torques along it."""
    robot = load("crane-floating")
    functions: Any = Functions(robot)
    q, qd, _, dt = arguments(robot, "step")
    torques = np.random.default_rng(3).normal(size=(5, robot.nv))
    weights = np.random.default_rng(4).normal(size=robot.nq + robot.nv)

    def end(q: Any, qd: Any, torques: Any) -> Any:
        def step(state: Any, tau: Any) -> Any:
            return tuple(functions.step(*state, tau, dt)), None

        state, _ = jax.lax.scan(step, (q, qd), torques)
        return jnp.concatenate(state) @ weights

    def plain(q: Any, qd: Any, torques: Any) -> Any:
        for tau in torques:
            q, qd = robot.step(q, qd, tau, dt)
        return np.concatenate([q, qd]) @ weights

    given = [jnp.asarray(q), jnp.asarray(qd), torques]
    found = jax.jit(jax.grad(end, (0, 1, 2)))(*given)
    along = normal(given, 5)
    expected = differences(robot, plain, [q, qd, torques], along, step=1e-4)[0]
    assert paired(found, along) == pytest.approx(float(expected), rel=1e-7)


def test_single_precision_gradients() -> None:
    """As exact as single precision is: against the same in doubles."""
    robot = load("crane-floating")
    functions = Functions(robot)
    given = arguments(robot, "forward_dynamics", 20, dtype="float32")
    weights = normal([given[1]], 6)[0]
    grads = jax.grad(
        lambda *x: (functions.forward_dynamics(*x) * weights.astype(x[1].dtype)).sum(), (0, 1, 2)
    )
    found = grads(*given)
    assert all(g.dtype == jnp.float32 for g in found)
    wide = [x.astype(np.float64) for x in given]
    wide[0] = scaled(robot, wide[0])
    for g, e in zip(found, grads(*wide), strict=True):
        close(g, e, 3e-4)


def test_some_arguments_alone_and_mixed_dtypes() -> None:
    robot = load("iiwa14")
    functions = Functions(robot)
    q, qd, tau = arguments(robot, "forward_dynamics")
    expected = jax.jacfwd(functions.forward_dynamics, 2)(q, qd, tau)
    close(expected, robot.mass_matrix_inverse(q), 1e-12)
    single = jax.grad(lambda tau: functions.forward_dynamics(q, qd, tau).sum())(jnp.asarray(tau, jnp.float32))
    assert single.dtype == jnp.float32
    np.testing.assert_allclose(single, np.asarray(expected).sum(0), rtol=1e-3)
    zero = jax.grad(lambda t: functions.gravity_torque(jnp.ones(7)).sum() * t)(2.0)
    assert zero == pytest.approx(robot.gravity_torque(np.ones(7)).sum())


@pytest.mark.parametrize("name", HARD)
def test_results_that_are_derivatives_refuse_another(name: str) -> None:
    """Never zeros, whatever the mode and wherever it stands."""
    robot = load("iiwa14")
    functions, given = Functions(robot), arguments(robot, name)

    def f(*x: Any) -> Any:
        return listed(call(functions, name, *x))[0].sum()

    for transform in (jax.grad, jax.jacfwd, lambda f: jax.jit(jax.vmap(jax.grad(f)))):
        with pytest.raises(DerivativeError, match=f"{name}: its results are derivatives.*differentiate"):
            transform(f)(*(given if transform in (jax.grad, jax.jacfwd) else [x[None] for x in given]))
    jax.grad(lambda s: s * f(*given))(2.0)  # as a constant it may stand anywhere
    jax.grad(lambda s: s * f(jax.lax.stop_gradient(s * given[0]), *given[1:]))(1.0)
