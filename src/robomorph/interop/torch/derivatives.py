"""The derivatives of kernels, as Torch asks for them: backward, forward mode, and both once more.

Four kernels differentiate each other. Of a function f with arguments x, with w for weights of its results and
t for a change of its arguments:

    f(x)        backward: vjp(x, w)                        forward mode: jvp(x, t)
    vjp(x, w)   backward, by u: jvp(x, u), hvp(x, w, u)    forward mode: hvp(x, w, t) + vjp(x, dw)
    jvp(x, t)   backward: vjp(x, w), hvp(x, w, t)          forward mode: jvp(x, dt) and an hvp for each result

Kernels differentiate by q in the tangent space, Torch by coordinates: `geometry.py` is between the two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from robomorph.errors import DerivativeError
from robomorph.interop.functions import function_named
from robomorph.interop.torch.geometry import bracket, to_coordinates, to_tangent
from robomorph.interop.torch.rooms import PULL, Room, Tensor, name_of

Tensors = Sequence[Tensor]
Grads = Sequence[Tensor | None]
Call = Callable[..., Tensors]


class Kept:
    """A call of a kernel that is to be differentiated: its arguments x, and `beside`, the weights or steps that
    a derivative takes. `call` calls other kernels, so that they are differentiable in their turn."""

    def __init__(self, ctx: Any, tensors: Tensors, call: Call) -> None:
        self.robot, self.function, self.derivative = ctx.called
        function_named(name_of(self.function)).require_derivative()
        self.room: Room = ctx.room
        self.tensors, self.x, self.beside = tensors, tensors[: ctx.count], tensors[ctx.count :]
        self._call = call

    def call(self, derivative: str, *tensors: Tensor) -> Tensors:
        return self._call(self.robot, self.function, derivative, *self.x, *tensors)

    def by_coordinates(self, gradients: Tensors) -> Tensors:
        """Derivatives by x, that by q from the tangent space."""
        if self.room.flat:
            return gradients
        return to_coordinates(self.room.model, self.x[0], gradients[0]), *gradients[1:]

    def steps(self, changes: Tensors) -> Tensors:
        """Changes of x, that of q to the tangent space."""
        if self.room.flat:
            return changes
        return to_tangent(self.room.model, self.x[0], changes[0]), *changes[1:]

    def twice(self, weights: Tensors, steps: Tensors, by_q: Callable[[], Tensor]) -> Tensors:
        """The derivative by x of how weighted results change along `steps`. An hvp is the derivative along
        them of that by x: where the order counts, the two differ. by_q: what the vjp gives for q."""
        first, *others = self.call("hvp", *weights, *steps)
        if not self.room.flat:
            first = first + bracket(self.room.model, steps[0], by_q())
        return self.by_coordinates((first, *others))


# --- backward: weights of a call's results in, derivatives by its tensors out ----------------------------


def _value_backward(kept: Kept, weights: Tensors, needs: Sequence[bool]) -> Grads:
    if not torch.is_grad_enabled():  # nobody will differentiate this
        return kept.call(PULL, *weights)
    return kept.by_coordinates(kept.call("vjp", *weights))


def _vjp_backward(kept: Kept, steps: Tensors, needs: Sequence[bool]) -> Grads:
    weights, count = kept.beside, len(kept.x)
    by_x: Grads = [None] * count
    by_weights: Grads = [None] * len(weights)
    if any(needs[:count]):
        by_x = kept.twice(weights, steps, lambda: kept.call("vjp", *weights)[0])
    if any(needs[count:]):
        by_weights = kept.call("jvp", *steps)
    return *by_x, *by_weights


def _jvp_backward(kept: Kept, weights: Tensors, needs: Sequence[bool]) -> Grads:
    by_x: Grads = [None] * len(kept.x)
    by_steps = kept.call("vjp", *weights)
    if any(needs[: len(kept.x)]):
        by_x = kept.twice(weights, kept.beside, lambda: by_steps[0])
    return *by_x, *by_steps


# --- forward mode: changes of a call's tensors in, changes of its results out ----------------------------


def _value_forward(kept: Kept, changes: Tensors) -> Tensors:
    return kept.call("jvp", *kept.steps(changes))


def _vjp_forward(kept: Kept, changes: Tensors) -> Tensors:
    count = len(kept.x)
    along = kept.call("hvp", *kept.beside, *kept.steps(changes[:count]))
    return [a + b for a, b in zip(along, kept.call("vjp", *changes[count:]), strict=True)]


def _jvp_forward(kept: Kept, changes: Tensors) -> Tensors:
    """For every entry of the results an hvp, with weights that pick it: one more batch dimension."""
    count = len(kept.x)
    linear = kept.call("jvp", *changes[count:])
    lead = kept.x[0].shape[:-1]
    shapes = [tuple(result.shape[len(lead) :]) for result in linear]
    sizes = [torch.Size(shape).numel() for shape in shapes]
    picks = torch.eye(sum(sizes), dtype=linear[0].dtype).split(sizes, dim=1)
    weights = [
        pick.reshape(len(pick), *(1,) * len(lead), *shape).expand(len(pick), *lead, *shape)
        for pick, shape in zip(picks, shapes, strict=True)
    ]
    spread = [t.expand(sum(sizes), *t.shape) for t in (*kept.x, *kept.steps(changes[:count]))]
    x, steps = spread[:count], spread[count:]
    along = kept._call(kept.robot, kept.function, "hvp", *x, *weights, *steps)
    rates = [
        (a * t).reshape(*a.shape[: len(lead) + 1], -1).sum(-1)
        for a, t in zip(along, kept.beside, strict=True)
    ]
    rate = torch.stack(rates).sum(0).movedim(0, -1).split(sizes, dim=-1)
    return [a + b.reshape(a.shape) for a, b in zip(linear, rate, strict=True)]


def _third(kept: Kept, *_: Any) -> Grads:
    raise DerivativeError(
        f"{name_of(kept.function)}: third derivatives are not available, only first and second ones:"
        " differentiate once less"
    )


_BACKWARD: dict[str, Callable[[Kept, Tensors, Sequence[bool]], Grads]] = {
    "": _value_backward,
    "vjp": _vjp_backward,
    "jvp": _jvp_backward,
}
_FORWARD: dict[str, Callable[[Kept, Tensors], Any]] = {
    "": _value_forward,
    "vjp": _vjp_forward,
    "jvp": _jvp_forward,
}


def backward(kept: Kept, weights: Tensors, needs: Sequence[bool]) -> Grads:
    """The derivatives by a call's tensors, for weights of its results."""
    return _BACKWARD.get(kept.derivative, _third)(kept, weights, needs)


def forward_mode(kept: Kept, changes: Grads) -> tuple[Tensor, ...]:
    """How a call's results change with its tensors; None: not at all."""
    filled = [
        torch.zeros_like(tensor) if change is None else change
        for tensor, change in zip(kept.tensors, changes, strict=True)
    ]
    return tuple(_FORWARD.get(kept.derivative, _third)(kept, filled))
