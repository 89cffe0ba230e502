"""Several devices: values and derivatives inside and outside of shard_map are those of one device.

In a process of its own, as JAX asks once how many devices it has.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import jax
import numpy as np
import pytest

from robomorph.jax import Functions
from tests.interop.cases import arguments, load

TWO_DEVICES = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}


def agree(found: Any, expected: Any) -> None:
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-9)


def check_shard_map(case: str, check: dict[str, bool]) -> None:
    """Torques that all devices share get the sum of what every device adds to their gradient."""
    f, given = Functions(load(case)).forward_dynamics, arguments(load(case), "forward_dynamics", 4)
    q, qd, tau = given
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("batch",))
    rows, same = jax.sharding.PartitionSpec("batch"), jax.sharding.PartitionSpec()

    def over(g: Any, takes: Any, gives: Any) -> Any:
        return jax.jit(jax.shard_map(g, mesh=mesh, in_specs=takes, out_specs=gives, **check))

    def loss(*x: Any) -> Any:
        return (f(*x) ** 2).sum()

    def whole(*x: Any) -> Any:
        return jax.lax.psum(loss(*x), "batch")

    agree(over(f, (rows,) * 3, rows)(*given), f(*given))
    agree(over(f, (rows, rows, same), rows)(q, qd, tau[0]), f(q, qd, tau[0]))
    agree(
        over(lambda *x: jax.jvp(f, x, x)[1], (rows,) * 3, rows)(*given), jax.jvp(f, (*given,), (*given,))[1]
    )
    for which, shared in ((0, (q[0], qd, tau)), (2, (q, qd, tau[0]))):
        takes = tuple(same if k == which else rows for k in range(3))
        expected = jax.grad(loss, (0, 1, 2))(*shared)
        agree(jax.grad(over(whole, takes, same), (0, 1, 2))(*shared), expected)
        bent = jax.jvp(jax.grad(over(whole, takes, same), (0, 1, 2)), shared, shared)[1]
        agree(bent, jax.jvp(jax.grad(loss, (0, 1, 2)), shared, shared)[1])
        if not check:  # JAX then sums over the mesh by itself
            agree(over(jax.grad(loss, (0, 1, 2)), takes, takes)(*shared), expected)


def check_arrays_on_two_devices() -> None:
    robot = load("crane-floating")
    f, given = Functions(robot).forward_dynamics, arguments(robot, "forward_dynamics", 4)
    agree(jax.pmap(f)(*(x[:2] for x in given)), f(*(x[:2] for x in given)))
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("batch",))
    rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("batch"))
    placed = [jax.device_put(x, rows) for x in given]
    grads = jax.grad(lambda *x: f(*x).sum(), (0, 1, 2))
    agree(jax.jit(f)(*placed), f(*given))
    agree(jax.jit(grads)(*placed), grads(*given))


@pytest.mark.skipif(not hasattr(jax, "shard_map"), reason="this JAX has no jax.shard_map: pip install jax")
@pytest.mark.parametrize("check", ["{}", "{'check_vma': False}"])
@pytest.mark.parametrize("case", ["iiwa14", "crane-floating"])
def test_shard_map(case: str, check: str) -> None:
    alone(f"check_shard_map({case!r}, {check})")


def test_arrays_on_two_devices() -> None:
    alone("check_arrays_on_two_devices()")


def alone(call: str) -> None:
    code = f"import jax; jax.config.update('jax_enable_x64', True); import {__name__} as m; m.{call}"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, env=TWO_DEVICES
    )
    assert done.returncode == 0, done.stderr
