"""torch.compile: one graph, the same numbers, whatever is transformed inside."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.interop.cases import close, listed, load
from tests.interop.torch.package import Functions, leaves, normal, same, tensors, torch

CASES = ["iiwa14", "crane-floating"]


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing compiled before, and nothing left."""
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    torch.compiler.reset()
    yield
    torch.compiler.reset()


def compiled(function: Any, backend: str = "aot_eager", **options: Any) -> Any:
    return torch.compile(function, fullgraph=True, backend=backend, **options)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_values_and_gradients(case: str, dtype: str) -> None:
    robot = load(case)
    f, given = Functions(robot).forward_dynamics, tensors(case, batch=3, dtype=dtype)
    fast = compiled(f)
    same(fast(*given), robot.forward_dynamics(*(x.numpy() for x in given)))
    inputs, weights = leaves(given), normal(given[1], 1)
    found = torch.autograd.grad(fast(*inputs), inputs, weights)
    expected = torch.autograd.grad(f(*inputs), inputs, weights)
    close([x.numpy() for x in found], [x.numpy() for x in expected], 1e-12 if dtype == "float64" else 1e-5)


@pytest.mark.skipif(
    shutil.which("g++") is None, reason="inductor needs a C++ compiler, and g++ is not on the path"
)
def test_inductor() -> None:
    f = Functions(load("crane-floating")).forward_dynamics
    loss: Any = lambda *x: (2 * f(*x).tanh()).square().sum()  # noqa: E731
    inputs = leaves(tensors("crane-floating", batch=3))
    found = torch.autograd.grad(compiled(loss, "inductor")(*inputs), inputs)
    close([x.numpy() for x in found], [x.numpy() for x in torch.autograd.grad(loss(*inputs), inputs)], 1e-12)


def test_batches_of_any_size_by_one_graph() -> None:
    robot = load("iiwa14")
    count = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    fast = compiled(Functions(robot).forward_dynamics, count, dynamic=True)
    for batch in (2, 3, 5, 8):
        given = tensors("iiwa14", batch=batch)
        same(fast(*given), robot.forward_dynamics(*(x.numpy() for x in given)))
    assert count.frame_count == 1


@pytest.mark.parametrize("name", ["energy", "forward_kinematics", "inverse_dynamics_gradient", "mass_matrix"])
def test_other_functions(name: str) -> None:
    robot = load("crane-floating")
    more = {"frame": robot.link_names[-1]} if name == "forward_kinematics" else {}
    given = tensors("crane-floating", name, 3)
    functions = Functions(robot)
    fast = compiled(lambda *x: getattr(functions, name)(*x, **more))
    same(fast(*given), getattr(robot, name)(*(x.numpy() for x in given), **more))


def test_wrenches_numbers_and_broadcasting() -> None:
    robot = load("iiwa14")
    functions, link = Functions(robot), robot.link_names[-1]
    q, qd, tau = tensors("iiwa14", batch=(2, 3))
    wrench = torch.ones(6, dtype=torch.float64)
    fast = compiled(lambda q, qd, tau, w: functions.forward_dynamics(q, qd, tau, {link: w}))
    expected = robot.forward_dynamics(q.numpy(), qd[0].numpy(), tau.numpy(), {link: wrench.numpy()})
    same(fast(q, qd[0], tau, wrench), expected)


@pytest.mark.parametrize("case", CASES)
def test_transforms_inside(case: str) -> None:
    f, given = Functions(load(case)).forward_dynamics, tensors(case, batch=2)
    loss: Any = lambda *x: f(*x).square().sum()  # noqa: E731
    func = torch.func
    one = tuple(x[0] for x in given)
    for transformed, inputs in (
        (func.vmap(f), given),
        (func.grad(loss), one),
        (func.vmap(func.grad(loss, (0, 1, 2))), given),
        (func.jacrev(f), one),
        (func.jacfwd(f), one),
        (lambda *x: func.jvp(f, x, x)[1], one),
        (func.hessian(loss), one),
        (func.jacrev(func.grad(loss)), one),
    ):
        found, expected = compiled(transformed)(*inputs), transformed(*inputs)
        close([x.numpy() for x in listed(found)], [x.numpy() for x in listed(expected)], 1e-11)


def test_a_double_backward_is_refused() -> None:
    """Torch does not differentiate compiled gradients; it says so."""
    inputs = leaves(tensors("iiwa14"))
    result = compiled(Functions(load("iiwa14")).forward_dynamics)(*inputs)
    (slope,) = torch.autograd.grad(result.sum(), inputs[:1], create_graph=True)
    with pytest.raises(RuntimeError, match="double backward"):
        slope.sum().backward()


def test_derivatives_of_derivatives_are_refused() -> None:
    functions, given = Functions(load("iiwa14")), tensors("iiwa14")
    loss: Any = lambda *x: functions.forward_dynamics_gradient(*x).minv.sum()  # noqa: E731
    for fast in (compiled(torch.func.grad(loss)), compiled(torch.func.jacfwd(loss))):
        with pytest.raises(Exception, match="forward_dynamics_gradient: its results are derivatives"):
            fast(*given)
    with pytest.raises(Exception, match="forward_dynamics_gradient: its results are derivatives"):
        compiled(loss)(*leaves(given)).backward()


def test_recorded_programs() -> None:
    """make_fx, torch.export and torch.jit.trace record the call, not its numbers."""
    from torch.fx.experimental.proxy_tensor import make_fx

    robot = load("iiwa14")
    functions, given = Functions(robot), tensors("iiwa14", batch=3)
    f: Any = lambda q, qd, tau: functions.forward_dynamics(q, qd, tau)  # noqa: E731
    other = [x.flip(0) for x in given]
    expected = robot.forward_dynamics(*(x.numpy() for x in other))
    for mode in ("real", "fake", "symbolic"):
        same(make_fx(f, tracing_mode=mode)(*given)(*other), expected)

    class Module(torch.nn.Module):
        def forward(self, q: Any, qd: Any, tau: Any) -> Any:
            return f(q, qd, tau)

    same(torch.export.export(Module(), tuple(given)).module()(*other), expected)
    same(torch.jit.trace(f, tuple(given))(*other), expected)


EXPORTED = """
import sys
import numpy as np
import robomorph, robomorph.torch, torch
program = torch.export.load(sys.argv[1])
functions = robomorph.torch.Functions(robomorph.load("iiwa14"))
energy = program.module()(torch.ones(5, 7, dtype=torch.float64), torch.ones(5, 7, dtype=torch.float64))
print(type(energy).__name__, energy.kinetic.detach().numpy().tobytes().hex())
"""


def test_exported_programs_with_named_results_are_saved(tmp_path: Path) -> None:
    """And run in another process, with batches of another size."""

    class Module(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.functions = Functions(load("iiwa14"))

        def forward(self, q: Any, qd: Any) -> Any:
            return self.functions.energy(q, qd)

    batch = {0: torch.export.Dim("batch", min=1, max=100)}
    given = tuple(tensors("iiwa14", "energy", 3))
    program = torch.export.export(Module(), given, dynamic_shapes=(batch, batch))
    torch.export.save(program, tmp_path / "energy.pt2")
    done = subprocess.run(
        [sys.executable, "-c", EXPORTED, str(tmp_path / "energy.pt2")],
        capture_output=True,
        text=True,
        timeout=300,
    )
    expected = load("iiwa14").energy(np.ones((5, 7)), np.ones((5, 7))).kinetic
    assert done.stdout.split() == ["Energy", expected.tobytes().hex()], done.stderr


def test_a_meta_tensor_has_no_memory() -> None:
    from robomorph import ArgumentError

    f = Functions(load("iiwa14")).forward_dynamics
    with pytest.raises(ArgumentError, match="q: expected a tensor in the CPU's memory, found one on meta"):
        f(*(x.to("meta") for x in tensors("iiwa14")))


def test_operator_check() -> None:
    """Torch's own check of operators: schema, shapes, autograd."""
    functions, given = Functions(load("iiwa14")), leaves(tensors("iiwa14", batch=3))
    for tensors_, derivative in ((given, ""), ([*given, given[1].detach()], "vjp"), (2 * given, "jvp")):
        torch.library.opcheck(
            torch.ops.robomorph.call.default,
            (functions._room.key, "forward_dynamics\x1f", derivative, tensors_),
        )
