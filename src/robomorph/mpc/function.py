"""A caller's own rows: a plain function of q and qd."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robomorph.errors import ArgumentError
from robomorph.given.numbers import whole_number

_MOST_ROWS = 1000


@dataclass(frozen=True)
class Function:
    """Rows f(q, qd) as a cost or a bound, differentiated by machine.

    f: takes q and qd, arrays (nv,) of scalars of our own, and gives `rows` scalars. They know + - * and the
    functions of `robomorph.spatial` (sin, cos, sqrt, reciprocal, minimum, maximum, select, atan2, ...): f
    cannot ask for their value. A square root at zero and a division by zero have no derivative: keep away
    from them. The reference is subtracted from the rows; it is zero where none is given."""

    f: Callable[[Any, Any], Any]
    rows: int
    name: str = "function"
    unit: str = ""

    def __post_init__(self) -> None:
        if not callable(self.f):
            raise ArgumentError(f"function: expected a function of (q, qd), found {self.f!r}")
        if not isinstance(self.name, str) or not isinstance(self.unit, str):
            raise ArgumentError(
                f"function: expected words as name and unit, found {self.name!r}, {self.unit!r}"
            )
        object.__setattr__(self, "rows", whole_number("rows", self.rows, 1, _MOST_ROWS))

    @property
    def title(self) -> str:
        return self.name

    def evaluate(self, q: Sequence[Any], qd: Sequence[Any]) -> list[Any]:
        """The rows at q and qd, scalars of any kind."""
        try:
            found = self.f(np.array(q, dtype=object), np.array(qd, dtype=object))
            rows = list(np.asarray(found, dtype=object).ravel())
        except (AttributeError, TypeError, ValueError) as error:
            raise ArgumentError(
                f"{self.title}: not a function over scalars of our own: {error}. Use + - * and the functions "
                "of robomorph.spatial, without asking a scalar for its value"
            ) from error
        except (LookupError, ArithmeticError) as error:
            raise ArgumentError(
                f"{self.title}: its function fails with {type(error).__name__}: {error}. Expected a function "
                f"of q and qd, arrays of {len(q)} scalars"
            ) from error
        if len(rows) != self.rows:
            raise ArgumentError(f"{self.title}: expected {self.rows} rows, as `rows` says, found {len(rows)}")
        return rows
