"""External forces as users give them: a mapping from link names to wrenches, or an array for all links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from robomorph.errors import ArgumentError
from robomorph.naming import hint
from robomorph.runtime.arguments import as_array, broadcast, common_dtype
from robomorph.runtime.array_kinds import FLOAT64, Array

_MOST_ORDERS = 1000  # remembered; more are sorted anew each time


class WrenchReader:
    """Reads `f_ext` for the links of one robot. The order of each set of names is worked out once."""

    def __init__(self, links: tuple[str, ...]) -> None:
        self._links = links
        self._orders: dict[tuple[Any, ...], tuple[str, ...]] = {}

    def read(self, value: Any) -> tuple[tuple[str, ...], Any]:
        """The links that wrenches act on, in the robot's order, and an array (..., n, 6): one kernel however
        a mapping is ordered. An empty mapping means no wrenches."""
        if type(value) is not dict and not isinstance(value, Mapping):
            return self._links, value
        names = tuple(value)
        order = self._orders.get(names)
        if order is None:
            order = self._sorted(names)
        return (order, _stacked(order, value)) if order else ((), None)

    def _sorted(self, names: tuple[Any, ...]) -> tuple[str, ...]:
        for name in names:
            if name not in self._links:
                raise ArgumentError(f"f_ext: unknown link {name!r}: {hint(str(name), list(self._links))}")
        order = tuple(sorted(names, key=self._links.index))
        if len(self._orders) < _MOST_ORDERS:
            self._orders[names] = order
        return order


def _stacked(names: tuple[str, ...], wrenches: Mapping[str, Any]) -> Array:
    """Wrenches (..., 6) by name as one array (..., n, 6)."""
    arrays = [_wrench(name, wrenches[name]) for name in names]
    shape = arrays[0].shape
    if shape[-1:] == (6,):
        if len(arrays) == 1:
            return arrays[0][..., None, :]
        if len(shape) == 1 and all(a.shape == shape for a in arrays):
            return np.concatenate(arrays).reshape(-1, 6)
    lead = broadcast([f"f_ext[{name!r}]" for name in names], arrays, [(6,)] * len(arrays))
    stacked = np.empty((*lead, len(arrays), 6), common_dtype(arrays))
    for k, array in enumerate(arrays):
        stacked[..., k, :] = array
    return stacked


def _wrench(name: str, value: Any) -> Array:
    plain = type(value) is np.ndarray and value.dtype == FLOAT64
    return value if plain else as_array(f"f_ext[{name!r}]", value)
