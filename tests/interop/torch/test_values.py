"""Values are the bits of the robot's own methods, whatever the transformation, batch and dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph.interop.functions import FUNCTIONS
from tests.interop.cases import SOURCES, arguments, load, options, wrenches
from tests.interop.torch.package import Functions, same, tensors, torch

BATCHES: tuple[Any, ...] = ((), (1,), (5,), (3, 7))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("case", SOURCES)
def test_every_function(case: str, name: str) -> None:
    robot = load(case)
    functions, more = Functions(robot), options(robot, name)
    for dtype in ("float64", "float32"):
        for batch in BATCHES:
            given = arguments(robot, name, batch, dtype=dtype)
            expected = getattr(robot, name)(*given, **more)
            found = getattr(functions, name)(*map(torch.from_numpy, given), **more)
            same(found, expected)
            assert getattr(found, "_fields", None) == getattr(expected, "_fields", None)


@pytest.mark.parametrize("name", [name for name, entry in FUNCTIONS.items() if entry.wrenches])
@pytest.mark.parametrize("case", ["iiwa14", "crane-floating"])
def test_wrenches_as_an_array_and_by_name(case: str, name: str) -> None:
    robot = load(case)
    function, given = getattr(Functions(robot), name), tensors(case, name, 4)
    arrays = [x.numpy() for x in given]
    f_ext = wrenches(robot, 4)
    expected = getattr(robot, name)(*arrays, f_ext=f_ext)
    same(function(*given, f_ext=torch.from_numpy(f_ext)), expected)
    first, last = robot.link_names[1], robot.link_names[-1]
    by_name = {last: f_ext[0, -1], first: f_ext[:, 1]}  # neither in order nor of one batch shape
    some = {link: torch.from_numpy(w) for link, w in by_name.items()}
    same(function(*given, f_ext=some), getattr(robot, name)(*arrays, f_ext=by_name))
    nothing: Any
    for nothing in (None, {}):
        same(function(*given, f_ext=nothing), getattr(robot, name)(*arrays))


def test_mixed_dtypes_are_promoted() -> None:
    robot = load("iiwa14")
    functions = Functions(robot)
    q, qd, tau = tensors("iiwa14")
    found = functions.forward_dynamics(q.float(), qd, tau)
    same(found, robot.forward_dynamics(q.float().numpy(), qd.numpy(), tau.numpy()))
    single, link = torch.ones(6, dtype=torch.float32), robot.link_names[-1]
    wide = functions.inverse_dynamics(q.float(), qd.float(), tau.float(), {link: single.double()})
    assert wide.dtype == torch.float64
    narrow = functions.inverse_dynamics(q.float(), qd.float(), tau.float(), {link: single})
    assert narrow.dtype == torch.float32


def test_leading_dimensions_broadcast_and_may_be_empty() -> None:
    robot = load("menagerie")
    functions = Functions(robot)
    q, qd, tau = tensors("menagerie", batch=(3, 1))
    wide = (q, qd[0], tau.expand(3, 4, robot.nv))
    same(functions.forward_dynamics(*wide), robot.forward_dynamics(*(x.numpy() for x in wide)))
    for batch in ((0,), (3, 0)):
        given = tensors("menagerie", batch=batch)
        expected = robot.forward_dynamics_gradient(*(x.numpy() for x in given))
        same(functions.forward_dynamics_gradient(*given), expected)
        leaf = given[0].requires_grad_()
        functions.forward_dynamics(*given).sum().backward()
        assert leaf.grad.shape == leaf.shape


def _strided(x: Any) -> Any:
    wide = torch.zeros(*x.shape[:-1], 2 * x.shape[-1], dtype=x.dtype)
    wide[..., ::2] = x
    return wide[..., ::2]


def _misaligned(x: Any) -> Any:
    raw = torch.zeros(x.numel() * 8 + 4, dtype=torch.uint8)
    view = torch.from_numpy(np.frombuffer(raw.numpy()[4:], dtype=np.float64).reshape(x.shape))
    return view.copy_(x)


VIEWS: dict[str, Any] = {
    "strided": _strided,
    "transposed": lambda x: x.T.contiguous().T,
    "flipped": lambda x: x.flip(0).flip(0),
    "expanded": lambda x: x[:1].expand(4, -1),
    "negated": lambda x: torch._neg_view(-x),
    "imaginary": lambda x: torch.complex(x, -x).conj().imag,
    "parameter": lambda x: torch.nn.Parameter(x),
    "misaligned": _misaligned,
    "view of a leaf": lambda x: x.repeat(2, 1).requires_grad_()[1::2][:4],
}


@pytest.mark.parametrize("view", VIEWS)
def test_views(view: str) -> None:
    robot = load("crane-floating")
    functions = Functions(robot)
    given = [VIEWS[view](x) for x in tensors("crane-floating", batch=4)]
    same(
        functions.forward_dynamics(*given),
        robot.forward_dynamics(*(x.detach().numpy(force=True) for x in given)),
    )


def test_vmap_over_some_arguments_and_nested() -> None:
    robot = load("crane-floating")
    f = Functions(robot).forward_dynamics
    q, qd, tau = tensors("crane-floating", batch=5)
    n = [x.numpy() for x in (q, qd, tau)]
    vmap = torch.func.vmap
    same(vmap(f, (None, None, 0))(q[0], qd[0], tau), robot.forward_dynamics(n[0][0], n[1][0], n[2]))
    same(vmap(f, (0, None, 1))(q, qd[0], tau.T), robot.forward_dynamics(n[0], n[1][0], n[2]))
    nested = vmap(vmap(f, (None, 0, 0)), (0, None, None))
    same(nested(q, qd, tau), robot.forward_dynamics(n[0][:, None], n[1], n[2]))
    inner = vmap(f, (0, None, 0), out_dims=1)(q, qd, tau[:, None].repeat(1, 5, 1))  # a batch of its own
    same(inner.transpose(0, 1).contiguous(), robot.forward_dynamics(n[0][:, None], n[1], n[2][:, None]))
    chunks = vmap(f, chunk_size=2)(q, qd, tau)
    same(chunks, robot.forward_dynamics(*n))
    energy = vmap(Functions(robot).energy)(q, qd)
    same(energy, robot.energy(n[0], n[1]))
    assert energy._fields == ("kinetic", "potential")


def test_threads_of_one_call() -> None:
    robot = load("iiwa14")
    given = tensors("iiwa14", batch=4000)
    expected = robot.forward_dynamics(*(x.numpy() for x in given))
    for threads in (1, 2, None):
        same(Functions(robot, threads=threads).forward_dynamics(*given), expected)


def test_results_are_tensors_of_their_own() -> None:
    """They may be changed, and do not change with a later call."""
    functions = Functions(load("iiwa14"))
    given = tensors("iiwa14", batch=3)
    first = functions.forward_dynamics(*given)
    kept = first.clone()
    functions.forward_dynamics(*(2 * x for x in given))
    assert torch.equal(first, kept)
    first += 1.0
    with torch.inference_mode():
        inside = functions.forward_dynamics(*given)
    assert inside.is_inference() or torch.equal(inside, kept)
    with torch.no_grad():
        assert not functions.forward_dynamics(given[0].requires_grad_(), *given[1:]).requires_grad


def test_prepare_compiles() -> None:
    robot = robomorph.load("chain:2")
    functions = Functions(robot)
    functions.prepare("forward_dynamics", dtype=torch.float32, derivative="vjp")
    functions.prepare("inverse_dynamics", f_ext={"link_1": None})
    functions.prepare("jacobian", frame="link_1")
    with pytest.raises(robomorph.ArgumentError, match=r"dtype: expected torch\.float32"):
        functions.prepare("energy", dtype="float32")
