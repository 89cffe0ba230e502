"""Functions in other processes, which make their own kernels or find them in the cache."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from typing import Any

import numpy as np

from robomorph.jax import Functions
from tests.interop.cases import arguments, load


def work(functions: Any, given: list[Any]) -> tuple[Any, Any]:
    import jax

    jax.config.update("jax_enable_x64", True)
    value = functions.forward_dynamics(*given)
    gradient = jax.grad(lambda *x: functions.forward_dynamics(*x).sum())(*given)
    return np.asarray(value), np.asarray(gradient)


def test_spawned_workers() -> None:
    robot = load("iiwa14")
    functions = Functions(robot)
    states = [arguments(robot, "forward_dynamics", 3, seed=k) for k in range(3)]
    here = [work(functions, given) for given in states]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        there = pool.starmap(work, [(functions, given) for given in states])
    for found, expected in zip(there, here, strict=True):
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_array_equal(found[1], expected[1])


MISSING = """
import sys
sys.modules["jax"] = None  # as if it were not installed
import robomorph
try:
    import robomorph.jax
except robomorph.RobomorphError as error:
    assert isinstance(error, ImportError) and isinstance(error, robomorph.MissingPackageError)
    assert "pip install 'robomorph[jax]'" in str(error), error
    print("named")
try:
    robomorph.jax
except ImportError:
    print("named")
print(robomorph.load("iiwa14").nv)
"""


def test_without_jax() -> None:
    done = subprocess.run([sys.executable, "-c", MISSING], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["named", "named", "7"], done.stderr


def test_robomorph_alone_does_not_import_jax() -> None:
    code = "import sys, robomorph; robomorph.load('iiwa14').neutral; print('jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "False", done.stderr


REFUSED = """
import warnings
import numpy as np
import robomorph, robomorph.jax
from robomorph.interop.jax import target
target.xla_handler = lambda minor: None  # as good as a handler of a version that JAX does not know
functions = robomorph.jax.Functions(robomorph.load("iiwa14"))
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    functions.prepare("gravity_torque")
print(*[kind.category.__name__ for kind in told], functions.gravity_torque(np.zeros(7)).shape)
"""


def test_a_handler_that_is_refused_before_jax_has_started() -> None:
    """JAX takes any handler then, and its platform would not start."""
    done = subprocess.run([sys.executable, "-c", REFUSED], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "FallbackWarning (7,)", done.stderr
