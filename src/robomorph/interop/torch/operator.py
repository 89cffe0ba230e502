"""Calls of kernels, as an operator of Torch's: what records, batches and differentiates sees one node.

All of its derivatives are said at the dispatcher's level of autograd. So they hold under every transform that
reaches it, forward mode included: of an operator with a formula for backward alone, Torch takes the change in
forward mode for zero without a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd import forward_ad

from robomorph.interop.torch.derivatives import Kept, backward, forward_mode
from robomorph.interop.torch.private import (
    AFTER_AUTOGRAD,
    SingleLevelFunction,
    below_autograd,
    count_of_dispatch_modes,
    forward_mode_enabled,
    forward_mode_is_enabled,
    in_forward_mode,
    is_wrapped,
    single_levels_allowed,
    tracing_state,
    transforms_are_active,
)
from robomorph.interop.torch.rooms import CONSTANT, PLAIN, Room, find_room, keep_room

_LIBRARY = torch.library.Library("robomorph", "DEF")
_LIBRARY.define(
    "call(str robot, str function, str derivative, Tensor[] tensors) -> Tensor[]",
    tags=torch.Tag.pt2_compliant_tag,
)
_OPERATOR = torch.ops.robomorph.call.default


def call(room: Room, function: str, derivative: str, *tensors: Tensor) -> Sequence[Tensor]:
    """The results of a kernel (see `rooms.py`), differentiable. Tensors have one dtype and the same batch
    dimensions."""
    if torch.compiler.is_compiling() or _is_watched(tensors):
        results: Sequence[Tensor] = _OPERATOR(room.key, function, derivative, list(tensors))
        return results
    grad = torch.is_grad_enabled() and any([tensor.requires_grad for tensor in tensors])
    if grad or in_forward_mode():
        results = Call.apply(None, room, function, derivative, *tensors)
        return results
    return room.run(function, derivative, tensors)


def _is_watched(tensors: Sequence[Tensor]) -> bool:
    """Must the call be seen by the dispatcher? Else a transform, or what records numbers as constants, would
    not know of it."""
    if transforms_are_active() or count_of_dispatch_modes() > 0:
        return True
    if tracing_state() is not None or not all(type(tensor) in PLAIN for tensor in tensors):
        return True
    # Those of a transform that is over, as `torch.func.vjp` keeps them: what they hold may be differentiated.
    return any(map(is_wrapped, tensors))


class Below(NamedTuple):
    """What the dispatcher has still to do below one level of autograd, and with which modes."""

    keyset: Any
    grad: bool
    forward_grad: bool

    def run(self, *args: Any) -> tuple[Tensor, ...]:
        """The operator without this level. A Function's forward runs without grad, but other levels below may
        track what is done: torch.func has one for each of its transforms."""
        keys = self.keyset & AFTER_AUTOGRAD
        modes = torch.set_grad_enabled(self.grad), forward_mode_enabled(self.forward_grad)
        with modes[0], modes[1], below_autograd():
            return tuple(_OPERATOR.redispatch(keys, *args))


class Call(SingleLevelFunction):
    """One call at one level of autograd: a `torch.autograd.Function` would ask torch.func for its levels, as
    the dispatcher does. below: None if there is nothing below but the kernel."""

    @staticmethod
    def forward(
        ctx: Any, below: Below | None, room: Room, function: str, derivative: str, *tensors: Tensor
    ) -> tuple[Tensor, ...]:
        if below is None:
            results = room.run(function, derivative, tensors)
        else:
            results = below.run(room.key, function, derivative, list(tensors))
        ctx.called = (room, function, derivative)
        # How many of the tensors are arguments of the function itself: its derivatives take more.
        ctx.count = {"": len(tensors), "jvp": len(tensors) // 2}.get(derivative, len(results))
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)
        return results

    @staticmethod
    def backward(ctx: Any, *weights: Tensor) -> Any:
        kept = Kept(call, ctx.called, ctx.saved_tensors, ctx.count)
        return None, None, None, None, *backward(kept, weights, ctx.needs_input_grad[4:])

    @staticmethod
    def jvp(ctx: Any, *changes: Any) -> Any:
        # Other levels may go on differentiating: what this one keeps comes to them without its own changes.
        with forward_mode_enabled(True):
            primals = [forward_ad.unpack_dual(tensor, level=0).primal for tensor in ctx.saved_tensors]
            return forward_mode(Kept(call, ctx.called, primals, ctx.count), changes[4:])


def _at_autograd(
    keyset: Any, robot: str, function: str, derivative: str, tensors: list[Tensor]
) -> list[Tensor]:
    below = Below(keyset, torch.is_grad_enabled(), forward_mode_is_enabled())
    with single_levels_allowed():
        return list(Call.apply(below, find_room(robot), function, derivative, *tensors))


def _run(robot: str, function: str, derivative: str, tensors: list[Tensor]) -> list[Tensor]:
    return list(find_room(robot).run(function, derivative, tensors))


def _shapes(robot: str, function: str, derivative: str, tensors: list[Tensor]) -> list[Tensor]:
    """What is known before anything runs."""
    if derivative == CONSTANT:
        return [torch.empty_like(tensor) for tensor in tensors]
    q = tensors[0]
    shapes = keep_room(robot).shapes(function, derivative, q.dtype)
    return [q.new_empty((*q.shape[:-1], *shape)) for shape in shapes]


def _batched(
    info: Any, dims: Any, robot: str, function: str, derivative: str, tensors: list[Tensor]
) -> tuple[list[Tensor], list[int]]:
    """Batches of vmap become the first of the batch dimensions."""
    together = [
        tensor.expand(info.batch_size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)
        for dim, tensor in zip(dims[3], tensors, strict=True)
    ]
    results = _OPERATOR(robot, function, derivative, together)
    return results, [0] * len(results)


_LIBRARY.impl("call", _run, "CPU")
_LIBRARY.impl("call", _at_autograd, "Autograd", with_keyset=True)
torch.library.register_fake("robomorph::call", _shapes, lib=_LIBRARY)
torch.library.register_vmap("robomorph::call", _batched, lib=_LIBRARY)
