"""What users pass to JAX functions: checked while they are traced, then of one dtype and one batch shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from robomorph.errors import ArgumentError
from robomorph.runtime.arguments import check_shape
from robomorph.runtime.array_kinds import as_numpy


def as_array(name: str, value: Any) -> Any:
    """Whatever has numbers, in a form that JAX takes."""
    if not isinstance(value, jax.Array) and hasattr(value, "__jax_array__"):
        value = value.__jax_array__()
    if isinstance(value, jax.Array):
        return value
    if type(value) in (int, float):
        return _number(name, value)
    if isinstance(value, (list, tuple)) and any(
        isinstance(x, jax.core.Tracer) for x in jax.tree.leaves(value)
    ):
        raise ArgumentError(
            f"{name}: expected an array, found a {type(value).__name__} with numbers that JAX traces: pass"
            f" jnp.stack({name})"
        )
    array = as_numpy(name, value)
    _check_dtype(name, array)
    return array


def _number(name: str, value: Any) -> float:
    """Python's number, which takes the others' dtype: NumPy would make a double of it."""
    try:
        return float(value)
    except OverflowError as error:
        raise ArgumentError(f"{name}: expected a number that float64 holds, found a larger one") from error


def _check_dtype(name: str, array: Any) -> None:
    if array.dtype not in (np.float32, np.float64) and not jnp.issubdtype(array.dtype, jnp.integer):
        raise ArgumentError(
            f"{name}: expected float32, float64 or whole numbers, found {array.dtype}: convert it with"
            " .astype(jnp.float32)"
        )


def common_dtype(names: Sequence[str], arrays: Sequence[Any]) -> Any:
    """As jax.numpy promotes; whole numbers alone are JAX's default floats."""
    for name, array in zip(names, arrays, strict=True):
        _check_dtype(name, array)
    floats = [array for array in arrays if jnp.issubdtype(array.dtype, jnp.floating)]
    return jnp.result_type(*(floats or [float]))


def fit(
    names: Sequence[str], arrays: Sequence[Any], shapes: Sequence[tuple[int, ...]], dtype: Any
) -> list[Any]:
    """Arrays (*lead, *shape) of the dtype, their leading dimensions broadcast."""
    lead = broadcast(names, arrays, shapes)
    return [
        jnp.broadcast_to(jnp.asarray(array, dtype), (*lead, *shape))
        for array, shape in zip(arrays, shapes, strict=True)
    ]


def broadcast(
    names: Sequence[str], arrays: Sequence[Any], shapes: Sequence[tuple[int, ...]]
) -> tuple[Any, ...]:
    """The common batch shape of arrays that end in the given shapes."""
    leads = [check_shape(n, a, shape) for n, a, shape in zip(names, arrays, shapes, strict=True)]
    try:
        return tuple(jnp.broadcast_shapes(*leads))
    except ValueError:
        found = ", ".join(f"{n} {lead}" for n, lead in zip(names, leads, strict=True))
        raise ArgumentError(f"batch dimensions do not broadcast together: {found}") from None
