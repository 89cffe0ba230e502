"""How the bridge is found: from the robot's own methods, and without Torch."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import robomorph
from robomorph import ArgumentError
from robomorph.interop.functions import FUNCTIONS
from tests.interop.torch.package import Functions, tensors, torch


def test_every_function_is_a_method() -> None:
    functions = Functions(robomorph.load("iiwa14"))
    for name in FUNCTIONS:
        assert callable(getattr(functions, name)), name
    assert robomorph.torch.Functions is Functions and "torch" in dir(robomorph)


def test_the_robots_methods_name_it() -> None:
    robot = robomorph.load("iiwa14")
    q, qd, tau = tensors("iiwa14")
    with pytest.raises(ArgumentError, match=r"tau: .*robomorph\.torch\.Functions\(robot\)"):
        robot.forward_dynamics(q, qd, tau.requires_grad_())
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(q, qd)
        for method in (
            robot.gravity_torque,
            robot.compile("gravity_torque"),
            lambda q: robot.integrate(q, q),
        ):
            with pytest.raises(ArgumentError, match=r"q: .*tangent of forward mode.*robomorph\.torch\.Func"):
                method(dual)
        with pytest.raises(ArgumentError, match=r"q: .*tangent of forward mode"):
            robot.gravity_torque(list(dual))
        assert robot.gravity_torque(q).shape == robot.gravity_torque(list(q)).shape == (7,)
    assert robot.forward_dynamics(q.float(), qd.float(), tau.detach().float()).dtype == "float32"
    with pytest.raises(ArgumentError):
        torch.func.vmap(robot.forward_dynamics)(q[None], qd[None], tau[None])


def test_without_torch_the_extra_is_named(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('not here')\n", encoding="utf-8")
    code = (
        "import robomorph\n"
        "try: robomorph.torch\n"
        "except robomorph.MissingPackageError as error: print(type(error).__mro__[2:], error)\n"
        "robot = robomorph.load('chain:2')\n"
        "assert robot.gravity_torque([0.0, 0.0]).shape == (2,)\n"
    )
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    assert "pip install 'robomorph[torch]'" in result.stdout and "ImportError" in result.stdout


@pytest.mark.parametrize(
    "package, old, message",
    [
        (
            "torch",
            "2.5.1+cpu",
            "needs torch 2.6 or later, found 2.5.1+cpu: pip install --upgrade 'robomorph[torch]'",
        ),
        ("jax", "0.4.38", "needs jax 0.5 or later, found 0.4.38: pip install --upgrade 'robomorph[jax]'"),
    ],
)
def test_versions_that_are_too_old_are_named(package: str, old: str, message: str, tmp_path: Path) -> None:
    (tmp_path / f"{package}.py").write_text(f"__version__ = {old!r}\n", encoding="utf-8")
    code = (
        f"import robomorph\ntry: robomorph.{package}\n"
        "except robomorph.MissingPackageError as error: print(error)"
    )
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONPATH": path}
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=120
    )
    assert message in result.stdout, result.stderr


def test_a_torch_without_what_the_bridge_is_made_of() -> None:
    """Refused at once, by name."""
    code = (
        "import torch, robomorph\ndel torch._C._len_torch_dispatch_stack\n"
        "try: robomorph.torch\nexcept robomorph.MissingPackageError as error: print(error)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert "needs torch._C._len_torch_dispatch_stack, which torch 2." in found.stdout, found.stderr


def test_import_of_robomorph_does_not_import_torch() -> None:
    code = (
        "import sys, robomorph; robomorph.load('chain:2').mass_matrix([0, 0]); print('torch' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert found.stdout.strip() == "False", found.stderr
