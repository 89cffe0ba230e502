"""Values are the bits of the robot's own methods, whatever the transformation, batch and dtype."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import robomorph
from robomorph.interop.functions import FUNCTIONS
from robomorph.jax import Functions
from tests.interop.cases import SOURCES, arguments, call, listed, load, options, wrenches

BATCHES: tuple[Any, ...] = ((), (1,), (5,), (3, 7))


def same(found: Any, expected: Any) -> None:
    found, expected = listed(found), listed(expected)
    for a, b in zip(found, expected, strict=True):
        assert isinstance(a, jax.Array) and a.dtype == b.dtype
        np.testing.assert_array_equal(np.asarray(a), b)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("case", SOURCES)
def test_every_function(case: str, name: str) -> None:
    robot = load(case)
    functions, more = Functions(robot), options(robot, name)
    for batch in BATCHES:
        given = arguments(robot, name, batch)
        expected = call(robot, name, *given, **more)
        found = call(functions, name, *given, **more)
        same(found, expected)
        assert getattr(found, "_fields", None) == getattr(expected, "_fields", None)
        same(jax.jit(lambda *x: call(functions, name, *x, **more))(*given), expected)


@pytest.mark.parametrize("name", [name for name, entry in FUNCTIONS.items() if entry.wrenches])
@pytest.mark.parametrize("case", ["iiwa14", "crane-floating"])
def test_wrenches_as_an_array_and_by_name(case: str, name: str) -> None:
    robot = load(case)
    functions, given, f_ext = Functions(robot), arguments(robot, name, 4), wrenches(robot, 4)
    same(call(functions, name, *given, f_ext=f_ext), call(robot, name, *given, f_ext=f_ext))
    first, last = robot.link_names[1], robot.link_names[-1]
    by_name = {last: f_ext[0, -1], first: f_ext[:, 1]}  # neither in order nor of one batch shape
    same(call(functions, name, *given, f_ext=by_name), call(robot, name, *given, f_ext=by_name))
    traced = jax.jit(lambda *x, f_ext: call(functions, name, *x, f_ext=f_ext))
    same(traced(*given, f_ext=by_name), call(robot, name, *given, f_ext=by_name))
    nothings: tuple[Any, ...] = (None, {})
    for nothing in nothings:
        same(call(functions, name, *given, f_ext=nothing), call(robot, name, *given))


@pytest.mark.parametrize("name", ["forward_dynamics", "link_poses", "forward_dynamics_gradient"])
def test_single_precision(name: str) -> None:
    robot = load("crane-floating")
    functions = Functions(robot)
    given = arguments(robot, name, 9, dtype="float32")
    given[0] = given[0] / 1  # still float32
    expected = call(robot, name, *given)
    same(call(functions, name, *given), expected)
    jax.config.update("jax_enable_x64", False)
    same(call(functions, name, *given), expected)
    wide = [x.astype(np.float64) for x in given]
    same(call(functions, name, *wide), expected)  # JAX has no doubles then


def test_dtypes_promote_as_in_jax() -> None:
    robot = load("iiwa14")
    functions = Functions(robot)
    q, qd, tau = arguments(robot, "forward_dynamics", 3)
    single = q.astype(np.float32)
    same(functions.forward_dynamics(single, qd, tau), robot.forward_dynamics(single, qd, tau))
    whole = np.arange(7)
    same(functions.gravity_torque(whole), robot.gravity_torque(whole))  # JAX's default floats: doubles here
    same(functions.gravity_torque([0, 1, 2, 3, 4, 5, 6]), robot.gravity_torque(whole))
    mixed = functions.bias_torque(whole, np.zeros(7, np.float32))
    assert mixed.dtype == jnp.float32
    weak = functions.gravity_torque(jnp.zeros(7) * 2 + 1)
    assert weak.dtype == jnp.float64


def test_numbers_take_the_dtype_of_the_arrays_beside_them() -> None:
    """Python's, and what JAX calls weakly typed, as in `jnp.float32(1) + 0.01`."""
    robot: Any = load("iiwa14")
    functions: Any = Functions(robot)
    given = arguments(robot, "step", 3, dtype="float32")[:3]
    expected = robot.step(*given, np.float32(0.01))
    for dt in (0.01, jnp.asarray(0.01)):
        same(functions.step(*given, dt), expected)
        same(jax.jit(functions.step)(*given, dt), expected)
        with jax.disable_jit():
            same(functions.step(*given, dt), expected)
    assert functions.step(*given, np.float64(0.01)).q_next.dtype == jnp.float64
    start = tuple(map(jnp.asarray, given[:2]))
    end, _ = jax.lax.scan(lambda s, _: (tuple(functions.step(*s, given[2], 0.01)), None), start, None, 3)
    assert end[0].dtype == jnp.float32
    same(functions.step(*(x.astype(np.float64) for x in given), 1), robot.step(*map(np.float64, given), 1.0))


def test_leading_dimensions_broadcast_and_may_be_empty() -> None:
    robot = load("menagerie")
    functions = Functions(robot)
    q, qd, tau = arguments(robot, "forward_dynamics", (3, 1))
    wide = (q, qd[0], np.broadcast_to(tau, (3, 4, robot.nv)))
    same(functions.forward_dynamics(*wide), robot.forward_dynamics(*wide))
    for batch in ((0,), (3, 0)):
        given = arguments(robot, "forward_dynamics_gradient", batch)
        expected = robot.forward_dynamics_gradient(*given)
        same(functions.forward_dynamics_gradient(*given), expected)
        assert jax.vmap(functions.forward_dynamics)(*given).shape == (*batch, robot.nv)


def test_vmap_over_some_arguments_and_nested() -> None:
    robot = load("crane-floating")
    functions = Functions(robot)
    q, qd, tau = arguments(robot, "forward_dynamics", 5)
    f = functions.forward_dynamics
    same(jax.vmap(f, (None, None, 0))(q[0], qd[0], tau), robot.forward_dynamics(q[0], qd[0], tau))
    same(jax.vmap(f, (0, None, 1))(q, qd[0], tau.T), robot.forward_dynamics(q, qd[0], tau))
    nested = jax.vmap(jax.vmap(f, (None, 0, 0)), (0, None, None))
    same(jax.jit(nested)(q, qd, tau), robot.forward_dynamics(q[:, None], qd, tau))
    inner = jax.vmap(f, (0, None, 0), out_axes=1)(q, qd, np.repeat(tau[:, None], 5, 1))  # a batch of its own
    same(jnp.swapaxes(inner, 0, 1), robot.forward_dynamics(q[:, None], qd, np.repeat(tau[:, None], 5, 1)))
    many = jax.vmap(functions.forward_dynamics_gradient, (0, None, None))(q, qd[0], tau[0])
    same(many, robot.forward_dynamics_gradient(q, qd[0], tau[0]))


def test_a_scan_with_carry() -> None:
    robot = load("iiwa14")
    functions = Functions(robot)
    q, qd, _ = arguments(robot, "forward_dynamics")
    torques = np.random.default_rng(1).normal(size=(50, robot.nv))

    def step(state: Any, tau: Any) -> Any:
        q, qd = state
        qd = qd + 1e-3 * functions.forward_dynamics(q, qd, tau)
        return (q + 1e-3 * qd, qd), q

    (end, _), path = jax.jit(lambda q, qd, torques: jax.lax.scan(step, (q, qd), torques))(q, qd, torques)
    for k, tau in enumerate(torques):
        np.testing.assert_allclose(path[k], q, rtol=0, atol=1e-13)
        qd = qd + 1e-3 * robot.forward_dynamics(q, qd, tau)
        q = q + 1e-3 * qd
    np.testing.assert_allclose(end, q, rtol=0, atol=1e-13)  # XLA may join a product and a sum of ours


def test_other_transformations() -> None:
    """Branches, loops, maps, remat and donated arguments."""
    robot = load("iiwa14")
    functions = Functions(robot)
    q, qd, tau = arguments(robot, "forward_dynamics", 6)
    expected = robot.forward_dynamics(q, qd, tau)
    f = functions.forward_dynamics
    same(jax.lax.map(lambda x: f(*x), (q, qd, tau)), expected)
    same(jax.checkpoint(f)(q, qd, tau), expected)
    same(jax.jit(lambda b, *x: jax.lax.cond(b, f, lambda q, qd, tau: tau, *x))(True, q, qd, tau), expected)
    same(jax.jit(f, donate_argnums=(0, 1, 2))(*(jnp.array(x) for x in (q, qd, tau))), expected)
    twice = jax.lax.fori_loop(0, 2, lambda _, tau: f(q, qd, tau), tau)
    same(twice, robot.forward_dynamics(q, qd, expected))


def test_threads_of_one_call() -> None:
    robot = load("iiwa14")
    given = arguments(robot, "forward_dynamics", 4000)
    expected = robot.forward_dynamics(*given)
    for threads in (1, 2, None):
        same(Functions(robot, threads=threads).forward_dynamics(*given), expected)


def test_tool_frames_and_wrap() -> None:
    robot = load("iiwa14")
    functions = robomorph.jax.Functions(robot)
    (q,) = arguments(robot, "link_poses", 3)
    for frame in robot.frame_names[:2]:
        same(functions.forward_kinematics(q, frame), robot.forward_kinematics(q, frame))


def test_both_rules_of_a_step() -> None:
    robot = load("crane-floating")
    functions: Any = Functions(robot)
    given = arguments(robot, "step", 3)
    for rule in ("implicit", "semi-implicit"):
        same(functions.step(*given, integrator=rule), robot.step(*given, integrator=rule))
    f_ext = wrenches(robot, 3)
    same(functions.step(*given, f_ext=f_ext), call(robot, "step", *given, f_ext=f_ext))
    with pytest.raises(robomorph.ArgumentError, match="integrator: expected one of"):
        functions.step(*given, integrator="none")
