"""First derivatives: against differences of the robot's methods in coordinates, in every mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robomorph import DerivativeError
from robomorph.interop.functions import FUNCTIONS
from tests.interop.cases import SOURCES, close, differences, listed, load, options, wrenches
from tests.interop.torch.package import Functions, leaves, normal, tensors, torch, unit_length

SMOOTH = [name for name, entry in FUNCTIONS.items() if not entry.undifferentiable]
HARD = [name for name, entry in FUNCTIONS.items() if entry.undifferentiable]


@pytest.mark.parametrize(
    "case, name",
    [(case, name) for case in ("menagerie", "crane-floating") for name in SMOOTH]
    + [(case, "forward_dynamics") for case in SOURCES if case not in ("menagerie", "crane-floating")],
)
def test_forward_and_reverse_mode(case: str, name: str) -> None:
    """Along changes of coordinates that leave unit lengths, too."""
    robot = load(case)
    more, given = options(robot, name), tensors(case, name, 3)
    function: Any = lambda *x: tuple(listed(getattr(Functions(robot), name)(*x, **more)))  # noqa: E731
    along = normal(given, 1)
    expected = differences(
        robot,
        lambda *x: getattr(robot, name)(*x, **more),
        [x.numpy() for x in given],
        [x.numpy() for x in along],
    )
    _, found = torch.func.jvp(function, tuple(given), tuple(along))
    close([x.numpy() for x in found], expected, 1e-7)
    weights = normal(found, 2)
    total = sum(float((w * f).sum()) for w, f in zip(weights, found, strict=True))
    inputs = leaves(given)
    plain = torch.autograd.grad(function(*inputs), inputs, weights)
    again = torch.autograd.grad(function(*inputs), inputs, weights, create_graph=True)
    transformed = torch.func.vjp(function, *given)[1](tuple(weights))
    for back in (plain, again, transformed):
        assert [g.shape for g in back] == [x.shape for x in given]
        changes = [float((g.detach() * d).sum()) for g, d in zip(back, along, strict=True)]
        assert sum(changes) == pytest.approx(total)
        close([g.detach().numpy() for g in back], [g.numpy() for g in plain], 1e-12)


@pytest.mark.parametrize("case", SOURCES)
@pytest.mark.parametrize("batch", [(), (2,)])
def test_gradcheck(case: str, batch: tuple[int, ...]) -> None:
    """Torch's own differences, forward mode included. What they change is normalised first: kernels refuse
    other lengths than one."""
    robot = load(case)
    functions = Functions(robot)

    def f(q: Any, qd: Any, tau: Any) -> Any:
        return functions.forward_dynamics(unit_length(case, q), qd, tau)

    q, qd, tau = leaves(tensors(case, batch=batch))
    scale = 1e-3 * (1 + float(f(q, qd, tau).detach().abs().max()))
    assert torch.autograd.gradcheck(f, (q, qd, tau), check_forward_ad=True, atol=scale, rtol=1e-4)


@pytest.mark.parametrize("case", ["iiwa14", "crane-floating"])
def test_every_transform(case: str) -> None:
    """jacrev, jacfwd, grad, vmap and dual numbers agree with backward."""
    f = Functions(load(case)).forward_dynamics
    given = tensors(case, batch=3)
    rows = [torch.autograd.functional.jacobian(f, tuple(x[k] for x in given)) for k in range(3)]
    expected = [torch.stack([row[i] for row in rows]).numpy() for i in range(3)]
    for transform in (torch.func.jacrev, torch.func.jacfwd):
        found = torch.func.vmap(transform(f, (0, 1, 2)))(*given)
        close([x.numpy() for x in found], expected, 1e-11)
    summed = torch.func.vmap(torch.func.grad(lambda *x: f(*x).sum(), (0, 1, 2)))(*given)
    close([x.numpy() for x in summed], [x.sum(1) for x in expected], 1e-11)
    along = normal(given, 4)
    with torch.autograd.forward_ad.dual_level():
        duals = [torch.autograd.forward_ad.make_dual(x, d) for x, d in zip(given, along, strict=True)]
        change = torch.autograd.forward_ad.unpack_dual(f(*duals)).tangent
    whole = sum(np.einsum("bij,bj->bi", e, d.numpy()) for e, d in zip(expected, along, strict=True))
    close(change.numpy(), whole, 1e-11)
    one = torch.autograd.forward_ad
    with one.dual_level():  # the others do not change
        part = one.unpack_dual(f(given[0], one.make_dual(given[1], along[1]), given[2])).tangent
    close(part.numpy(), np.einsum("bij,bj->bi", expected[1], along[1].numpy()), 1e-11)


@pytest.mark.parametrize("case", ["menagerie", "crane-floating"])
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_wrenches_have_derivatives(case: str, name: str) -> None:
    robot = load(case)
    function, f_ext = getattr(Functions(robot), name), torch.from_numpy(wrenches(robot))
    given = [*tensors(case, name), f_ext]
    along = normal(given, 3)
    arrays, steps = [x.numpy() for x in given], [x.numpy() for x in along]
    expected = differences(robot, lambda *x: getattr(robot, name)(*x[:-1], f_ext=x[-1]), arrays, steps)
    whole: Any = lambda *x: function(*x[:-1], f_ext=x[-1])  # noqa: E731
    close(torch.func.jvp(whole, tuple(given), tuple(along))[1].numpy(), expected, 1e-7)
    inputs = leaves(given)
    link = robot.link_names[-1]
    (back,) = torch.autograd.grad(whole(*inputs).sum(), inputs[-1:])
    alone = f_ext[-1].clone().requires_grad_()
    by_name = dict(zip(robot.link_names, f_ext, strict=True)) | {link: alone}
    (one,) = torch.autograd.grad(function(*given[:-1], f_ext=by_name).sum(), alone)
    close(one.numpy(), back[-1].numpy(), 1e-12)


def test_dynamics_against_the_robots_gradients() -> None:
    robot = load("iiwa14")
    functions, given = Functions(robot), tensors("iiwa14")
    arrays = [x.numpy() for x in given]
    _, *expected = robot.forward_dynamics_gradient(*arrays)
    for transform in (torch.func.jacfwd, torch.func.jacrev):
        found = transform(functions.forward_dynamics, (0, 1, 2))(*given)
        close([x.numpy() for x in found], expected, 1e-11)
    found = torch.func.jacfwd(functions.inverse_dynamics, (0, 1))(*given)
    close([x.numpy() for x in found], list(robot.inverse_dynamics_gradient(*arrays)), 1e-11)


def test_arguments_that_broadcast_gather_their_gradients() -> None:
    robot = load("iiwa14")
    f = Functions(robot).forward_dynamics
    q, qd, tau = tensors("iiwa14", batch=(4, 3))
    shared = leaves([q[0, 0], qd[:, :1], tau])
    weights = normal(tau, 5)[0]
    found = torch.autograd.grad((f(*shared) * weights).sum(), shared)
    wide = leaves([x.expand(4, 3, -1) for x in shared])
    q_grad, qd_grad, tau_grad = torch.autograd.grad((f(*wide) * weights).sum(), wide)
    expected = [q_grad.sum((0, 1)), qd_grad.sum(1, keepdim=True), tau_grad]
    close([x.numpy() for x in found], [x.numpy() for x in expected], 1e-12)


def test_through_a_rollout() -> None:
    """The gradient of a motion's end by the torques along it."""
    robot = load("iiwa14")
    functions = Functions(robot)
    q, qd, _ = tensors("iiwa14")
    (torques,) = normal(torch.zeros(8, robot.nv, dtype=torch.float64), 6)

    def end(torques: Any, f: Any) -> Any:
        a, v = q, qd
        for tau in torques:
            v = v + 0.01 * f(a, v, tau)
            a = a + 0.01 * v
        return (a * v).sum()

    leaf = torques.clone().requires_grad_()
    (found,) = torch.autograd.grad(end(leaf, functions.forward_dynamics), leaf)
    (along,) = normal(torques, 7)
    ends = [
        float(end(torques + s * 1e-6 * along, lambda *x: torch.from_numpy(robot.forward_dynamics(*x))))
        for s in (-1, 1)
    ]
    assert float((found * along).sum()) == pytest.approx((ends[1] - ends[0]) / 2e-6, rel=1e-6)


def test_single_precision_gradients() -> None:
    f = Functions(load("crane-floating")).forward_dynamics
    narrow = leaves(tensors("crane-floating", batch=20, dtype="float32"))
    wide = leaves([x.detach().double() for x in narrow])
    wide[0] = unit_length("crane-floating", wide[0].detach()).requires_grad_()
    found, expected = (torch.autograd.grad(f(*x).sum(), x) for x in (narrow, wide))
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == torch.float32
        close(a.numpy(), b.numpy(), 3e-4)
    mixed = leaves([narrow[0].detach(), *(x.detach() for x in wide[1:])])
    assert [g.dtype for g in torch.autograd.grad(f(*mixed).sum(), mixed)] == [x.dtype for x in mixed]


@pytest.mark.parametrize("name", HARD)
def test_results_that_are_derivatives_refuse_another(name: str) -> None:
    """Never zeros, whatever the mode."""
    function, given = getattr(Functions(load("iiwa14")), name), tensors("iiwa14", name)
    f: Any = lambda *x: listed(function(*x))[0].sum()  # noqa: E731
    refused = pytest.raises(DerivativeError, match=f"{name}: its results are derivatives.*differentiate")
    for transform in (torch.func.grad, torch.func.jacfwd, torch.func.jacrev):
        with refused:
            transform(f)(*given)
    inputs = leaves(given)
    with refused:
        f(*inputs).backward()
    assert f(*inputs).detach().isfinite()  # as a constant it may stand anywhere
