"""The derivatives of kernels, as Torch asks for them: backward, forward mode, and both once more.

Four kernels differentiate each other. Of a function f with arguments x, with w for weights of its results and
t for a change of its arguments:

    f(x)        backward: vjp(x, w)                        forward mode: jvp(x, t)
    vjp(x, w)   backward, by u: jvp(x, u), hvp(x, w, u)    forward mode: hvp(x, w, t) + vjp(x, dw)
    jvp(x, t)   backward: vjp(x, w), hvp(x, w, t)          forward mode: jvp(x, dt) and an hvp for each result

Kernels differentiate by q in the tangent space, Torch by coordinates. What is between the two is done in
Torch's own operations, which differentiate and batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from robomorph.errors import DerivativeError
from robomorph.interop.coordinates import bracket_transposed, tangent_of, tangent_transposed
from robomorph.interop.functions import function_named
from robomorph.interop.torch.rooms import PULL, Room, name_of

Tensors = Sequence[Tensor]
Grads = Sequence[Tensor | None]


class Kept:
    """A call of a kernel that is to be differentiated: its first `count` tensors are its arguments x, those
    `beside` the weights or steps that a derivative takes. call: as in `operator.py`, differentiable again."""

    def __init__(
        self, call: Callable[..., Tensors], called: tuple[Room, str, str], tensors: Tensors, count: int
    ) -> None:
        self.room, self.function, self.derivative = called
        function_named(name_of(self.function)).require_derivative()
        self._call, self.tensors = call, tensors
        self.x, self.beside = tensors[:count], tensors[count:]

    def call(self, derivative: str, *beside: Tensor, x: Tensors | None = None) -> Tensors:
        return self._call(self.room, self.function, derivative, *(self.x if x is None else x), *beside)

    def by_coordinates(self, gradients: Tensors) -> Tensors:
        """Derivatives by x, that by q from the tangent space."""
        if self.room.flat:
            return gradients
        return tangent_transposed(torch, self.room.model, self.x[0], gradients[0]), *gradients[1:]

    def steps(self, changes: Tensors) -> Tensors:
        """Changes of x, that of q to the tangent space."""
        if self.room.flat:
            return changes
        return tangent_of(torch, self.room.model, self.x[0], changes[0]), *changes[1:]

    def twice(self, weights: Tensors, steps: Tensors, by_q: Callable[[], Tensor]) -> Tensors:
        """The derivative by x of how weighted results change along `steps`. An hvp is the derivative along
        them of that by x: where the order counts, the two differ. by_q: what the vjp gives for q."""
        first, *others = self.call("hvp", *weights, *steps)
        if not self.room.flat:
            first = first + bracket_transposed(torch, self.room.model, steps[0], by_q())
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
    count, lead = len(kept.x), kept.x[0].shape[:-1]
    linear = kept.call("jvp", *changes[count:])
    shapes = [result.shape[len(lead) :] for result in linear]
    sizes = [shape.numel() for shape in shapes]
    ones = torch.eye(sum(sizes), dtype=linear[0].dtype).split(sizes, dim=1)
    picks = [
        one.reshape(len(one), *(1,) * len(lead), *shape).expand(len(one), *lead, *shape)
        for one, shape in zip(ones, shapes, strict=True)
    ]
    spread = [t.expand(sum(sizes), *t.shape) for t in (*kept.x, *kept.steps(changes[:count]))]
    along = kept.call("hvp", *picks, *spread[count:], x=spread[:count])
    rates = [
        (a * t).reshape(*a.shape[: len(lead) + 1], -1).sum(-1)
        for a, t in zip(along, kept.beside, strict=True)
    ]
    curved = torch.stack(rates).sum(0).movedim(0, -1).split(sizes, dim=-1)
    return [a + b.reshape(a.shape) for a, b in zip(linear, curved, strict=True)]


def _third(kept: Kept) -> DerivativeError:
    return DerivativeError(
        f"{name_of(kept.function)}: third derivatives are not available, only first and second ones:"
        " differentiate once less"
    )


_BACKWARD = {"": _value_backward, "vjp": _vjp_backward, "jvp": _jvp_backward}
_FORWARD = {"": _value_forward, "vjp": _vjp_forward, "jvp": _jvp_forward}


def backward(kept: Kept, weights: Tensors, needs: Sequence[bool]) -> Grads:
    """The derivatives by a call's tensors, for weights of its results."""
    if kept.derivative not in _BACKWARD:
        raise _third(kept)
    return _BACKWARD[kept.derivative](kept, weights, needs)


def forward_mode(kept: Kept, changes: Grads) -> tuple[Tensor, ...]:
    """How a call's results change with its tensors; None: not at all."""
    if kept.derivative not in _FORWARD:
        raise _third(kept)
    filled = [
        torch.zeros_like(tensor) if change is None else change
        for tensor, change in zip(kept.tensors, changes, strict=True)
    ]
    return tuple(_FORWARD[kept.derivative](kept, filled))
