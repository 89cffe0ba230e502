"""Exported functions run where their kernels are known, and say what is missing elsewhere."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from jax import export

import robomorph
from robomorph.jax import Functions
from tests.interop.cases import arguments, load

pytest.importorskip("flatbuffers", reason="jax.export writes files with it: pip install flatbuffers")
PLAIN = ["forward_dynamics", "link_poses", "forward_dynamics_gradient"]


def exported(f: Any, *shapes: Any) -> Any:
    checks = [export.DisabledSafetyCheck.custom_call("robomorph_call")]
    return export.export(jax.jit(f), disabled_checks=checks)(*shapes)


@pytest.mark.parametrize("name", PLAIN)
def test_round_trip(name: str) -> None:
    robot = load("crane-floating")
    functions, given = Functions(robot), arguments(robot, name, 5)
    data = exported(getattr(functions, name), *given).serialize()
    found = export.deserialize(data).call(*given)
    expected = getattr(robot, name)(*given)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for a, b in zip(jax.tree.leaves(found), expected, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", ["step", "step_gradient"])
def test_steps_of_another_integrator(name: str) -> None:
    given = [np.full(7, 0.1)] * 3
    function = partial(getattr(Functions(load("iiwa14")), name), dt=0.01, integrator="semi-implicit")
    found = export.deserialize(exported(function, *given).serialize()).call(*given)
    assert type(found) is type(function(*given))


def test_an_open_batch_size() -> None:
    robot = robomorph.load("iiwa14", gravity=(0, 0, -4))
    functions = Functions(robot)
    shape = export.symbolic_shape("n, 7")
    shapes = [jax.ShapeDtypeStruct(shape, np.float64)] * 3
    whole = export.deserialize(exported(functions.forward_dynamics, *shapes).serialize())
    gradient = exported(jax.grad(lambda *x: functions.forward_dynamics(*x).sum()), *shapes)
    for batch in (1, 2, 30):
        given = arguments(robot, "forward_dynamics", batch)
        np.testing.assert_array_equal(whole.call(*given), robot.forward_dynamics(*given))
        assert gradient.call(*given).shape == (batch, 7)


def test_a_dtype_of_numpy_is_its_name() -> None:
    robot = robomorph.load("iiwa14", gravity=(0, 0, -4))
    single: Any = np.dtype("float32")
    assert robot.compile("gravity_torque", dtype=single).dtype == "float32"
    Functions(robot).prepare("gravity_torque", dtype=single)
    Functions(robot).prepare("gravity_torque", dtype=single, derivative="vjp")


OTHER = """
import sys
import jax, numpy as np
jax.config.update("jax_enable_x64", True)
from jax import export
import robomorph, robomorph.jax
function = export.deserialize(open(sys.argv[1], "rb").read())
given = [np.full(7, 0.1)] * 3
functions = robomorph.jax.Functions(robomorph.load("iiwa14"))
if sys.argv[2] == "register":
    functions.mass_matrix(given[0])  # registers the handler, but not the kernel
if sys.argv[2] == "prepare":
    functions.prepare("forward_dynamics")
try:
    print(np.asarray(function.call(*given)).tobytes().hex())
except Exception as error:
    print("refused:", error)
"""


def test_in_another_process(tmp_path: Path) -> None:
    robot = load("iiwa14")
    given = [np.full(7, 0.1)] * 3
    path = tmp_path / "forward_dynamics"
    path.write_bytes(exported(Functions(robot).forward_dynamics, *given).serialize())

    def other(how: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", OTHER, str(path), how], capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert other("prepare") == robot.forward_dynamics(*given).tobytes().hex()
    found = other("register")
    assert found.startswith("refused:"), found
    assert "no kernel for forward_dynamics (float64) of iiwa14 in this process" in found
    assert "prepare" in found


def test_what_is_missing_is_named_with_all_that_makes_it_another() -> None:
    """Wrenches and threads are parts of which kernel is called."""
    robot = load("iiwa14")
    link = robot.link_names[-1]
    given = [np.full(7, 0.1)] * 3
    functions: Any = Functions(robot, threads=2)
    traced = jax.jit(lambda *x: functions.forward_dynamics(*x, f_ext={link: np.ones(6)}))
    expected = f"forward_dynamics with f_ext on {link} (float64) of iiwa14 with threads=2"
    assert expected in traced.lower(*given).as_text()
