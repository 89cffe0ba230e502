"""Calls inside of `jax.shard_map`, where JAX's types tell along which axes of a mesh values vary.

Its derivatives are read off these types: what varies is summed over the devices where a gradient is taken by
a value that all of them share. So operands are first made to vary along the same axes, and results vary as
they do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
from jax.sharding import PartitionSpec


def _axes(kind: Any) -> frozenset[Any]:
    """The axes that values of this type vary along: none outside of `shard_map`, or if JAX does not tell."""
    manual = getattr(kind, "manual_axis_type", None)  # since 0.10; before it, `vma`, and before 0.6 nothing
    axes: frozenset[Any] = getattr(kind, "vma", frozenset()) if manual is None else manual.varying
    return axes


def vary_alike(operands: Sequence[Any]) -> list[Any]:
    """The operands, each varying along all axes that any of them does."""
    own = [_axes(jax.typeof(operand)) for operand in operands] if hasattr(jax, "typeof") else []
    if not any(own):
        return list(operands)
    every = frozenset().union(*own)
    return [_vary(x, tuple(every - axes)) for x, axes in zip(operands, own, strict=True)]


def _vary(operand: Any, axes: tuple[Any, ...]) -> Any:
    if not axes:
        return operand
    if hasattr(jax.lax, "pcast"):
        return jax.lax.pcast(operand, axes, to="varying")
    return jax.lax.pvary(operand, axes)


def result_type(operand: Any, shape: tuple[Any, ...], dtype: Any) -> Any:
    """The type of a result that varies as an operand of this type does."""
    if not _axes(operand):
        return jax.core.ShapedArray(shape, dtype)
    whole = operand.sharding.update(spec=PartitionSpec(*(None,) * len(shape)))
    return operand.update(shape=shape, dtype=dtype, weak_type=False, sharding=whole)
