"""What users pass to JAX functions: checked while they are traced, of one dtype and one batch shape afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from robomorph.errors import ArgumentError
from robomorph.ir.program import Port
from robomorph.runtime.arguments import check_shape

_REAL = (np.dtype(np.float32), np.dtype(np.float64))


def as_array(name: str, value: Any) -> Any:
    """Whatever has numbers, as JAX or NumPy take it."""
    if isinstance(value, jax.Array):
        return value
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{name}: expected an array of numbers, found {value!r} ({error})") from None
    if array.dtype.kind not in "fiu":
        raise ArgumentError(f"{name}: expected an array of real numbers, found dtype {array.dtype}")
    return array


def check_dtype(name: str, array: Any) -> None:
    dtype = array.dtype
    if dtype not in _REAL and not jnp.issubdtype(dtype, jnp.integer):
        raise ArgumentError(
            f"{name}: expected float32, float64 or whole numbers, found {dtype}: convert it with .astype(jnp.float32)"
        )


def common_dtype(arrays: Sequence[Any]) -> Any:
    """As jax.numpy promotes; whole numbers alone are JAX's default floats."""
    return jnp.result_type(*arrays, jnp.float32) if arrays else jnp.float32


def fit(names: Sequence[str], arrays: Sequence[Any], shapes: Sequence[tuple[int, ...]], dtype: Any) -> list[Any]:
    """Arrays (*lead, *shape) of the dtype, their leading dimensions broadcast."""
    leads = [check_shape(n, a, shape) for n, a, shape in zip(names, arrays, shapes, strict=True)]
    try:
        lead = jnp.broadcast_shapes(*leads)
    except ValueError:
        found = ", ".join(f"{n} {lead}" for n, lead in zip(names, leads, strict=True))
        raise ArgumentError(f"batch dimensions do not broadcast together: {found}") from None
    return [
        jnp.broadcast_to(jnp.asarray(a, dtype), (*lead, *shape)) for a, shape in zip(arrays, shapes, strict=True)
    ]
