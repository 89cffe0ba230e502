"""What calls return besides bare arrays: it pickles, copies and compares."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robomorph.ir.program import Port

Array = npt.NDArray[Any]


class Result:
    """What every named tuple of results adds to a tuple: it is equal to a tuple of the same arrays (shapes
    and numbers; NaN equals NaN), and pickles by the names of its fields. Not hashable: arrays can change."""

    __slots__ = ()

    _fields: tuple[str, ...]

    def __eq__(self, other: object) -> bool:
        return equal_tuples(self, other)

    def __ne__(self, other: object) -> bool:
        return not equal_tuples(self, other)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, (type(self).__name__, self._fields, tuple(self))  # type: ignore[arg-type]


def result_type(name: str, outputs: Sequence[Port]) -> type[tuple[Any, ...]] | None:
    """A named tuple class for several outputs; None for one, which is returned bare."""
    if len(outputs) == 1:
        return None
    words = "".join(word.capitalize() for word in name.split("_"))
    return _result_class(words, tuple(port.name for port in outputs))


@cache
def _result_class(name: str, fields: tuple[str, ...]) -> type[tuple[Any, ...]]:
    return type(name, (Result, namedtuple(name, fields)), {"__slots__": (), "__module__": __name__})


def _remake(name: str, fields: tuple[str, ...], values: Iterable[Any]) -> Any:
    return _result_class(name, fields)(*values)


def equal_tuples(a: Any, b: object) -> bool:
    """Tuples of arrays, with the same names if both have names."""
    if not isinstance(b, tuple) or getattr(b, "_fields", a._fields) != a._fields:
        return False
    return equal_arrays(a, b)


def equal_arrays(a: Sequence[Any], b: Sequence[Any]) -> bool:
    """The same shapes and numbers, NaN among them. Arrays of a device are equal only to themselves: to
    compare them would move them."""
    return len(a) == len(b) and all(map(_equal, a, b))


def _equal(a: Any, b: Any) -> bool:
    if a is b:
        return True
    on_host = all(isinstance(x, (np.ndarray, np.generic, int, float)) for x in (a, b))
    return on_host and bool(np.array_equal(a, b, equal_nan=True))


@dataclass(frozen=True, eq=False)
class JointLimits:
    """Limits in the order of the coordinates (lower, upper: (nq,), rad or m) and of the degrees of
    freedom (velocity, effort: (nv,)); infinite where the description gives none. Equal if all numbers are."""

    lower: Array
    upper: Array
    velocity: Array
    effort: Array

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JointLimits):
            return NotImplemented
        return equal_arrays(list(vars(self).values()), list(vars(other).values()))

    __hash__ = None  # type: ignore[assignment]


class RandomState(NamedTuple):
    """A configuration (..., nq) inside the limits and a velocity (..., nv). Equal if all numbers are."""

    q: Array
    qd: Array

    def __eq__(self, other: object) -> bool:
        return equal_tuples(self, other)

    def __ne__(self, other: object) -> bool:
        return not equal_tuples(self, other)

    def __hash__(self) -> int:
        raise TypeError("unhashable type: 'RandomState': arrays can change")
