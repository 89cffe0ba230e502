"""Second derivatives: right, symmetric in coordinates, or refused."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomorph import DerivativeError
from robomorph.interop.coordinates import lift, tangent_of
from robomorph.jax import Functions
from tests.interop.cases import arguments, close, differences, load

CASES = ("iiwa14", "menagerie", "crane-floating", "two balls", "planar")


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
@pytest.mark.parametrize("case", CASES)
def test_hessian_of_the_dynamics(case: str, name: str) -> None:
    """Forward and reverse over reverse, against differences of the gradient in coordinates."""
    robot = load(case)
    functions, given = Functions(robot), arguments(robot, name)
    weights = np.random.default_rng(2).normal(size=robot.nv)
    grads = jax.jit(jax.grad(lambda *x: getattr(functions, name)(*x) @ weights, (0, 1, 2)))
    rng = np.random.default_rng(1)
    along = [rng.normal(size=x.shape) for x in given]
    tangential = along[0] - radial(robot, given[0], along[0])
    expected = differences(robot, lambda *x: tuple(grads(*x)), given, [tangential, *along[1:]])
    found = jax.jvp(grads, tuple(given), (tangential, *along[1:]))[1]
    close(list(found), expected, 1e-6)
    bent = jax.grad(lambda *x: sum(jnp.vdot(g, d) for g, d in zip(grads(*x), along, strict=True)), (0, 1, 2))
    reverse = bent(*given)
    forward = jax.jvp(grads, tuple(given), tuple(along))[1]
    close(list(reverse), list(forward), 1e-9)  # a Hessian in coordinates is symmetric


def radial(robot: Any, q: Any, change: Any) -> Any:
    """The part of a change of coordinates along lengths that are one: differences over normalised q do not
    see it."""
    return change - lift(np, robot.model, q, tangent_of(np, robot.model, q, change))


def test_hessian_is_a_matrix_and_batches() -> None:
    robot = load("iiwa14")
    functions = Functions(robot)
    q, qd, _ = arguments(robot, "forward_dynamics", 4)
    energy = lambda q: functions.energy(q, qd[0]).kinetic  # noqa: E731
    found = jax.jit(jax.vmap(jax.hessian(energy)))(q)
    close(found, jnp.stack([jax.hessian(energy)(x) for x in q]), 1e-13)
    close(found, jnp.swapaxes(found, 1, 2), 1e-12)
    twice = jax.vmap(jax.jacrev(jax.jacrev(energy)))(q)
    close(twice, found, 1e-12)


def test_forward_over_forward_and_third_are_refused() -> None:
    robot = load("iiwa14")
    functions, given = Functions(robot), arguments(robot, "forward_dynamics")
    f = lambda q: functions.forward_dynamics(q, *given[1:]).sum()  # noqa: E731
    with pytest.raises(
        DerivativeError, match=r"forward_dynamics are not available forward over forward.*hessian"
    ):
        jax.jacfwd(jax.jacfwd(f))(given[0])
    with pytest.raises(DerivativeError, match="forward_dynamics are not available"):
        jax.jacrev(jax.jacfwd(f))(given[0])
    with pytest.raises(DerivativeError, match="derivatives of forward_dynamics are not available"):
        jax.jacfwd(jax.hessian(f))(given[0])


def test_hessian_through_a_scan() -> None:
    """Of a rollout's end by the torques along it, against differences of its gradient."""
    robot = load("two balls")
    functions = Functions(robot)
    q, qd = arguments(robot, "energy")
    torques = np.random.default_rng(3).normal(size=(3, robot.nv))

    def end(torques: Any) -> Any:
        def step(qd: Any, tau: Any) -> Any:
            return qd + 0.1 * functions.forward_dynamics(q, qd, tau), None

        return (jax.lax.scan(step, jnp.asarray(qd), torques)[0] ** 2).sum()

    along, step = np.random.default_rng(4).normal(size=torques.shape), 1e-5
    slopes = [jax.grad(end)(torques + s * step * along) for s in (-1, 1)]
    found = jnp.tensordot(jax.jit(jax.hessian(end))(torques), along)
    close(found, (slopes[1] - slopes[0]) / (2 * step), 1e-7)
