"""Second derivatives in all four orders of modes, and that third ones are refused."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from robomorph import DerivativeError
from robomorph.interop.functions import FUNCTIONS
from tests.interop.cases import SOURCES, close, listed, load, options
from tests.interop.torch.package import Functions, leaves, normal, tensors, torch, unit_length

SMOOTH = [name for name, entry in FUNCTIONS.items() if not entry.undifferentiable]
MODES = {"reverse": torch.func.jacrev, "forward": torch.func.jacfwd}


@pytest.mark.parametrize("case", SOURCES)
def test_gradgradcheck(case: str) -> None:
    """Torch's own differences of our first derivatives: reverse over reverse and forward over reverse."""
    f = Functions(load(case)).inverse_dynamics
    inputs = leaves(tensors(case, batch=(2,)))
    weights = normal(inputs[1], 1)

    def normalised(q: Any, qd: Any, qdd: Any) -> Any:
        return f(unit_length(case, q), qd, qdd)

    assert torch.autograd.gradgradcheck(
        normalised, inputs, leaves(weights), check_fwd_over_rev=True, atol=1e-4, rtol=1e-4
    )


def hessian(loss: Any, outer: str, inner: str, given: list[Any]) -> list[Any]:
    every = tuple(range(len(given)))
    rows = MODES[outer](MODES[inner](loss, every), every)(*given)
    return [block.detach().numpy() for row in rows for block in row]


@pytest.mark.parametrize("case", ["iiwa14", "menagerie", "crane-floating"])
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "forward_kinematics", "energy"])
def test_all_orders_of_modes_agree_with_differences(case: str, name: str) -> None:
    """By coordinates: what is differenced is the gradient, with q normalised before it."""
    robot = load(case)
    function, more = getattr(Functions(robot), name), options(robot, name)
    given = tensors(case, name)

    def loss(*x: Any) -> Any:
        results = listed(function(unit_length(case, x[0]), *x[1:], **more))
        return sum((y.square() * (1 + torch.arange(y.numel()).reshape(y.shape))).sum() for y in results)

    found = {modes: hessian(loss, *modes, given) for modes in product(MODES, MODES)}
    for other in found.values():
        close(other, found["reverse", "reverse"], 1e-10)
    along, gradient = normal(given, 2), torch.func.grad(loss, tuple(range(len(given))))
    ends = [gradient(*(x + s * 1e-5 * d for x, d in zip(given, along, strict=True))) for s in (-1, 1)]
    expected = [(b - a) / 2e-5 for a, b in zip(*ends, strict=True)]
    change = torch.func.jvp(gradient, tuple(given), tuple(along))[1]
    close([x.numpy() for x in change], [x.numpy() for x in expected], 1e-6)


@pytest.mark.parametrize("case", ["two balls", "planar", "crane-floating"])
def test_without_a_normalisation_of_ones_own(case: str) -> None:
    """The function of coordinates is that of normalised ones, also twice."""
    f, given = Functions(load(case)).forward_dynamics, tensors(case)
    bare: Any = lambda q: f(q, *given[1:]).square().sum()  # noqa: E731
    own: Any = lambda q: bare(unit_length(case, q))  # noqa: E731
    for modes in product(MODES, MODES):
        close(hessian(bare, *modes, given[:1]), hessian(own, "reverse", "reverse", given[:1]), 1e-9)


@pytest.mark.parametrize("case", ["iiwa14", "crane-floating"])
@pytest.mark.parametrize("changed", ["q", "qd", "weights"])
def test_forward_mode_over_a_plain_backward(case: str, changed: str) -> None:
    """The tangent of a gradient, taken without create_graph: the cheapest product with a Hessian."""
    f, (q, qd, tau) = Functions(load(case)).forward_dynamics, tensors(case, batch=2)
    (along,) = normal({"q": q, "qd": qd, "weights": tau}[changed], 1)
    ones = torch.ones_like(tau)

    def slope(q: Any, qd: Any, weights: Any) -> Any:
        return torch.func.vjp(lambda q: f(q, qd, tau), q)[1](weights)[0]

    primals = (q, qd, ones)
    tangents = [
        along if name == changed else 0 * x for name, x in zip(("q", "qd", "weights"), primals, strict=True)
    ]
    expected = torch.func.jvp(slope, primals, tuple(tangents))[1]
    one = torch.autograd.forward_ad
    with one.dual_level():
        given = [x.clone() for x in primals]
        given[0].requires_grad_()
        place = ("q", "qd", "weights").index(changed)
        given[place] = one.make_dual(given[place], along)
        (found,) = torch.autograd.grad(f(given[0], given[1], tau), given[0], given[2])
        close(one.unpack_dual(found).tangent.numpy(), expected.numpy(), 1e-12)


@pytest.mark.parametrize("case", ["iiwa14", "crane-floating"])
@pytest.mark.parametrize("changed", ["q", "weights"])
def test_what_vjp_returns_is_differentiated_from_outside(case: str, changed: str) -> None:
    """It runs after its transform is over: by a plain backward, and by dual numbers."""
    f, (q, qd, tau) = Functions(load(case)).forward_dynamics, tensors(case, batch=2)
    given = {"q": q, "weights": torch.ones_like(tau)}
    along, other = normal(given[changed], 1)[0], normal(q, 2)[0]

    def slope(changing: Any) -> Any:
        now = {**given, changed: changing}
        return torch.func.vjp(lambda q: f(q, qd, tau), now["q"])[1](now["weights"])[0]

    expected = torch.func.jvp(slope, (given[changed],), (along,))[1]
    one = torch.autograd.forward_ad
    with one.dual_level():
        close(
            one.unpack_dual(slope(one.make_dual(given[changed], along))).tangent.numpy(),
            expected.numpy(),
            1e-12,
        )
    (leaf,) = leaves([given[changed]])
    (found,) = torch.autograd.grad((slope(leaf) * other).sum(), leaf)
    assert float((found * along).sum()) == pytest.approx(float((expected * other).sum()), rel=1e-9)


@pytest.mark.parametrize("case", ["iiwa14", "crane-floating", "planar"])
def test_products_by_a_double_backward(case: str) -> None:
    """What is linear in a second derivative's weights and steps may be differentiated by these:
    `functional.hvp` does, and so does the gradient of a gradient's product by the vector in it."""
    f, (q, qd, tau) = Functions(load(case)).forward_dynamics, tensors(case, batch=2)
    (along,) = normal(q, 1)

    def loss(q: Any) -> Any:
        return f(q, qd, tau).square().sum()

    _, expected = torch.func.jvp(torch.func.grad(loss), (q,), (along,))
    for times in (torch.autograd.functional.hvp, torch.autograd.functional.vhp):
        close(times(loss, q, along)[1].numpy(), expected.numpy(), 1e-11)
    vector, (weights,) = along.clone().requires_grad_(), leaves(normal(tau, 2))
    leaf = q.clone().requires_grad_()
    (slope,) = torch.autograd.grad(f(leaf, qd, tau), leaf, weights, create_graph=True)
    (bent,) = torch.autograd.grad((slope * vector).sum(), leaf, create_graph=True)
    (other,) = normal(q, 3)
    found = torch.autograd.grad((bent * other).sum(), (vector, weights), retain_graph=True)

    def curved(vector: Any, weights: Any) -> Any:
        pulled = lambda q: torch.func.vjp(lambda q: f(q, qd, tau), q)[1](weights)[0]  # noqa: E731
        return (torch.func.jvp(pulled, (q,), (other,))[1] * vector).sum()

    close(
        [x.numpy() for x in found],
        [x.numpy() for x in torch.func.grad(curved, (0, 1))(vector.detach(), weights.detach())],
        1e-10,
    )
    with pytest.raises(DerivativeError, match="third derivatives are not available"):
        (bent * other).sum().backward()

    def product_with_hessian(weights: Any) -> Any:
        (slope,) = torch.autograd.grad(f(leaf, qd, tau), leaf, weights, create_graph=True)
        return torch.autograd.grad((slope * along).sum(), leaf)[0]

    one = torch.autograd.forward_ad
    with one.dual_level():
        change = one.unpack_dual(product_with_hessian(one.make_dual(weights.detach(), tau))).tangent
    close(change.numpy(), product_with_hessian(tau).numpy(), 1e-10)


@pytest.mark.parametrize("inner", MODES)
def test_empty_batches(inner: str) -> None:
    """Torch's own jacrev of jacfwd does not take them."""
    f, (q, qd, tau) = (
        Functions(load("crane-floating")).forward_dynamics,
        tensors("crane-floating", batch=(2, 0)),
    )
    twice = torch.func.jacfwd(MODES[inner](lambda q: f(q, qd, tau).square().sum()))(q)
    assert twice.shape == (*q.shape, *q.shape)
    assert torch.autograd.functional.hvp(lambda q: f(q, qd, tau).square().sum(), q, q)[1].shape == q.shape


@pytest.mark.parametrize("name", SMOOTH)
def test_every_function_twice(name: str) -> None:
    """Double backward is the change in forward mode of the gradient."""
    robot = load("menagerie")
    function, more = getattr(Functions(robot), name), options(robot, name)
    given = tensors("menagerie", name, 2)
    inputs, along = leaves(given), normal(given, 3)
    results = listed(function(*inputs, **more))
    weights = normal(results, 4)
    first = torch.autograd.grad(results, inputs, weights, create_graph=True)
    total = sum((g * d).sum() for g, d in zip(first, along, strict=True))
    constant = not total.requires_grad
    second = [0 * x for x in given] if constant else torch.autograd.grad(total, inputs)

    def gradient(*x: Any) -> Any:
        pull = torch.func.vjp(lambda *x: tuple(listed(function(*x, **more))), *x)[1]
        return pull(tuple(weights))

    (along_too,) = [
        torch.func.jvp(
            lambda *x: sum((g * d).sum() for g, d in zip(gradient(*x), along, strict=True)),
            tuple(given),
            tuple(normal(given, 5)),
        )[1]
    ]
    dual = sum(float((s * d).sum()) for s, d in zip(second, normal(given, 5), strict=True))
    assert float(along_too) == pytest.approx(dual, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("outer", ["backward", *MODES])
def test_third_derivatives_are_refused(outer: str) -> None:
    f, given = Functions(load("iiwa14")).forward_dynamics, tensors("iiwa14")
    twice = torch.func.grad(lambda q: torch.func.grad(lambda q: f(q, *given[1:]).sum())(q).square().sum())
    refused = pytest.raises(DerivativeError, match="forward_dynamics: third derivatives are not available")
    if outer == "backward":
        q = given[0].requires_grad_()
        for _ in range(2):
            (total,) = torch.autograd.grad(f(q, *given[1:]).sum(), q, create_graph=True)
        (second,) = torch.autograd.grad(total.square().sum(), q, create_graph=True)
        with refused:
            second.sum().backward()
        return
    with refused:
        MODES[outer](twice)(given[0])


def test_a_training_loss_of_gradients() -> None:
    """create_graph inside a loss: never None or zeros."""
    f = Functions(load("iiwa14")).inverse_dynamics
    q, qd, qdd = leaves(tensors("iiwa14", batch=4))
    (slope,) = torch.autograd.grad(f(q, qd, qdd).sum(), q, create_graph=True)
    slope.square().sum().backward()
    assert all(x.grad.abs().sum() > 0 for x in (q, qd, qdd))
