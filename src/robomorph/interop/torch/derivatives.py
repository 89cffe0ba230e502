"""The derivatives of kernels, as Torch asks for them: backward, forward mode, and both once more.

Four kernels differentiate each other. Of a function f with arguments x, with w for weights of its results and
t for a change of its arguments:

    f(x)        backward: vjp(x, w)                        forward mode: jvp(x, t)
    vjp(x, w)   backward, by u: jvp(x, u), hvp(x, w, u)    forward mode: hvp(x, w, t) + vjp(x, dw)
    jvp(x, t)   backward: vjp(x, w), hvp(x, w, t)          forward mode: jvp(x, dt) and an hvp for each result
    hvp(x, w, t), which is linear in w and t: by these alone, as third derivatives would be those by x

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
from robomorph.interop.torch.private import in_forward_mode
from robomorph.interop.torch.rooms import CONSTANT, PULL, Room, name_of

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
        x = self.x if x is None else x
        if derivative == "hvp":  # who differentiates it by x meets this and is refused
            x = self._call(self.room, self.function, CONSTANT, *x)
        return self._call(self.room, self.function, derivative, *x, *beside)

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

    def bent(self, weights: Tensors, steps: Tensors, by_q: Callable[[], Tensor]) -> Tensors:
        """What gives, times a tangent vector, how weighted results change along `steps`, then along that
        vector. An hvp is it in the other order, and along rotations the two differ. by_q: q's of the vjp."""
        first, *others = self.call("hvp", *weights, *steps)
        if not self.room.flat:
            first = first + bracket_transposed(torch, self.room.model, steps[0], by_q())
        return first, *others

    def twice(self, weights: Tensors, steps: Tensors, by_q: Callable[[], Tensor]) -> Tensors:
        """The derivative by x of how weighted results change along `steps`."""
        return self.by_coordinates(self.bent(weights, steps, by_q))

    def curved(self, results: Tensors, first: Tensors, then: Tensors) -> list[Tensor]:
        """How results of these shapes change along tangent vectors `first`, then along others: for every
        entry an hvp, with weights that pick it, in one more batch dimension."""
        count, lead = len(self.x), self.x[0].shape[:-1]
        shapes = [result.shape[len(lead) :] for result in results]
        sizes = [shape.numel() for shape in shapes]
        ones = torch.eye(sum(sizes), dtype=results[0].dtype, device="cpu").split(sizes, dim=1)
        picks = [
            one.reshape(len(one), *(1,) * len(lead), *shape).expand(len(one), *lead, *shape)
            for one, shape in zip(ones, shapes, strict=True)
        ]
        spread = [t.expand(sum(sizes), *t.shape) for t in (*self.x, *then)]
        along = self.call("hvp", *picks, *spread[count:], x=spread[:count])
        place = len(lead) + 1
        rates = [
            (a * t).reshape(*a.shape[:place], a.shape[place:].numel()).sum(-1)
            for a, t in zip(along, first, strict=True)
        ]
        parts = torch.stack(rates).sum(0).movedim(0, -1).split(sizes, dim=-1)
        return [part.reshape(*lead, *shape) for part, shape in zip(parts, shapes, strict=True)]


# --- backward: weights of a call's results in, derivatives by its tensors out ----------------------------


def _value_backward(kept: Kept, weights: Tensors, needs: Sequence[bool]) -> Grads:
    if not torch.is_grad_enabled() and not in_forward_mode():  # nobody will differentiate this
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


def _hvp_backward(kept: Kept, along: Tensors, needs: Sequence[bool]) -> Grads:
    count = len(kept.x)
    weights, steps = kept.beside[:-count], kept.beside[-count:]
    by_x: Grads = [torch.zeros_like(x) for x in kept.x]  # for `CONSTANT`, which refuses
    by_weights: Grads = [None] * len(weights)
    by_steps: Grads = [None] * count
    if any(needs[count:-count]):
        by_weights = kept.curved(weights, along, steps)
    if any(needs[-count:]):
        by_steps = kept.bent(weights, along, lambda: kept.call("vjp", *weights)[0])
    return *by_x, *by_weights, *by_steps


# --- forward mode: changes of a call's tensors in, changes of its results out ----------------------------


def _value_forward(kept: Kept, changes: Tensors) -> Tensors:
    return kept.call("jvp", *kept.steps(changes))


def _vjp_forward(kept: Kept, changes: Tensors) -> Tensors:
    count = len(kept.x)
    along = kept.call("hvp", *kept.beside, *kept.steps(changes[:count]))
    return [a + b for a, b in zip(along, kept.call("vjp", *changes[count:]), strict=True)]


def _jvp_forward(kept: Kept, changes: Tensors) -> Tensors:
    count = len(kept.x)
    linear = kept.call("jvp", *changes[count:])
    curved = kept.curved(linear, kept.beside, kept.steps(changes[:count]))
    return [a + b for a, b in zip(linear, curved, strict=True)]


def _hvp_forward(kept: Kept, changes: Tensors) -> Tensors:
    """x does not change: `CONSTANT` refuses that it does."""
    count = len(kept.x)
    weighted = kept.call("hvp", *changes[count:-count], *kept.beside[-count:])
    stepped = kept.call("hvp", *kept.beside[:-count], *changes[-count:])
    return [a + b for a, b in zip(weighted, stepped, strict=True)]


def _third(kept: Kept) -> DerivativeError:
    return DerivativeError(
        f"{name_of(kept.function)}: third derivatives are not available, only first and second ones:"
        " differentiate once less"
    )


_BACKWARD = {"": _value_backward, "vjp": _vjp_backward, "jvp": _jvp_backward, "hvp": _hvp_backward}
_FORWARD = {"": _value_forward, "vjp": _vjp_forward, "jvp": _jvp_forward, "hvp": _hvp_forward}


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
