"""What derivative kernels should answer: products with differences (docs/derivatives.md says of what).

vjp and jvp come from differences of the values, hvp from those of vjp, all second derivatives from those of
jvp: who asks for the latter two has checked vjp and jvp before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robomorph.verify.differences import Differences, Noise
from robomorph.verify.states import Values
from robomorph.verify.subject import Function

Array = npt.NDArray[Any]

# What is to be differenced for a derivative; the others are made of the values.
SOURCES = {"hvp": "vjp", "second": "jvp"}


class Found(NamedTuple):
    """Results by name, and how far off those that come from differences may be by rounding alone."""

    results: Values
    noise: dict[str, Noise]


def pulled(do: Differences, values: Function, at: Values, inputs: Sequence[str]) -> Found:
    """vjp: weights w_<result> of the results, derivatives d<input> of the sum."""

    def weighted(given: Values) -> Values:
        found = values(given)
        return {"sum": np.asarray(sum(_dots(given[f"w_{name}"], value) for name, value in found.items()))}

    results = {f"d{name}": do.by_entries(weighted, at, name)["sum"] for name in inputs}
    # The terms of a sum are rounded, however small it is.
    terms = {name: at[f"w_{name}"] * value for name, value in values(at).items()}
    return Found(results, {f"d{name}": do.noise(terms, at, name) for name in inputs})


def pushed(do: Differences, values: Function, at: Values, inputs: Sequence[str]) -> Found:
    """jvp: changes d<input>, of all results d<result>."""
    here = values(at)
    return _together(do, values, at, {name: at[f"d{name}"] for name in inputs}, here, "d")


def bent(do: Differences, vjp: Function, at: Values, inputs: Sequence[str]) -> Found:
    """hvp: the change of vjp along v_<input>."""
    return _together(do, vjp, at, {name: at[f"v_{name}"] for name in inputs}, vjp(at), "")


def _together(
    do: Differences, function: Function, at: Values, directions: Values, here: Values, prefix: str
) -> Found:
    """The change of results with several inputs that move: the sum over the inputs, each by its own step."""
    results = {f"{prefix}{name}": np.zeros(value.shape) for name, value in here.items()}
    size, lost = 0.0, 0.0
    for by, direction in directions.items():
        for name, value in do.along(function, at, by, direction[None]).items():
            results[f"{prefix}{name}"] += value[..., 0]
        noise = do.noise(here, at, by)
        size, lost = max(size, noise.size), lost + noise.lost
    return Found(results, dict.fromkeys(results, Noise(size, lost)))


def second(do: Differences, jvp: Function, at: Values, inputs: Sequence[str]) -> Found:
    """All second derivatives d2<result>_d<a>_d<b>: of jvp along every entry of a, by every entry of b."""
    found = Found({}, {})
    for i, a in enumerate(inputs):
        shape = do.change_shape(at, a)
        size = int(np.prod(shape, dtype=int))
        given = _along_entries(do, at, a, size, inputs)
        for b in inputs[i:]:
            noise = do.noise(jvp(given), given, b)
            for result, value in do.by_entries(jvp, given, b).items():
                # (size * B, *result, *b) -> (B, *result, *a, *b)
                own = value.ndim - len(do.change_shape(at, b))
                split = (len(value) // len(at[a]), len(at[a]), *value.shape[1:])
                rows = np.moveaxis(value.reshape(split), 0, own)
                rows = rows[(slice(None),) * own + (slice(size),)]
                name = f"d2{result[1:]}_d{a}_d{b}"
                found.results[name] = rows.reshape((*rows.shape[:own], *shape, *rows.shape[own + 1 :]))
                found.noise[name] = noise
    return found


def _along_entries(do: Differences, at: Values, by: str, size: int, inputs: Sequence[str]) -> Values:
    """The arguments of a jvp (size * B, ...) along every entry of one input; an input without any has one
    direction, that of no change."""
    count, batch = max(size, 1), len(at[by])
    given = {name: np.concatenate([value] * count) for name, value in at.items()}
    for name in inputs:
        given[f"d{name}"] = np.zeros((count * batch, *do.change_shape(at, name)))
    if size:
        given[f"d{by}"] = np.repeat(np.eye(size), batch, axis=0).reshape(given[f"d{by}"].shape)
    return given


def _dots(a: Array, b: Array) -> Array:
    """(B,) sums of the products of the entries of each state."""
    return np.asarray((a * b).reshape(len(a), -1).sum(axis=1))
