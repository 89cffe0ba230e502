"""Costs and bounds of a control problem, as they were asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.mpc.quantities import Effort
from robomorph.mpc.subjects import Subject
from robomorph.tasks.numbers import per_row

Array = npt.NDArray[np.float64]
GRAVITY = "gravity"
TERMINAL = "terminal "  # before a cost's name: its weights at the last node


@dataclass(frozen=True, eq=False)
class Cost:
    """Half the weighted squares of rows: at every node but the last (running, times dt), and at the last
    (terminal); weights (rows,), None: none. reference: numbers (numbers,) or (nodes, numbers), "gravity", or
    None if every step must give them."""

    name: str
    what: Any
    rate: int
    subject: Subject
    reference: Array | str | None
    running: Array | None = None
    terminal: Array | None = None

    def joined(self, other: Cost) -> Cost:
        """This and the other as one: the same task, once running and once at the end."""
        again = self.running is not None and other.running is not None
        if again or (self.terminal is not None and other.terminal is not None):
            raise ArgumentError(f"name: there is a cost {self.name!r} already: give another name")
        if self.what != other.what or self.rate != other.rate:
            raise ArgumentError(
                f"name: a cost {self.name!r} is there, of another task ({self.subject.title}): give another "
                "name"
            )
        if other.reference is not None and not same_reference(self.reference, other.reference):
            raise ArgumentError(
                f"reference of {self.name!r}: the cost of this name has another one: leave it out, or give "
                "another name"
            )
        running = self.running if self.running is not None else other.running
        terminal = self.terminal if self.terminal is not None else other.terminal
        return replace(self, running=running, terminal=terminal)


@dataclass(frozen=True, eq=False)
class Bound:
    """Rows between bounds (rows,) at every node but 0 (torques and accelerations: at every node but the
    last). soft: inf for hard, else the weight of the squared violation. reference: numbers that the rows are
    measured from, or None if every step must give them. moves: of a joint's number, from a reference that
    steps may give."""

    name: str
    what: Any
    rate: int
    subject: Subject
    lower: Array
    upper: Array
    reference: Array | None
    soft: float
    moves: bool = False


def same_reference(a: Array | str | None, b: Array | str | None) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        return isinstance(a, str) and isinstance(b, str) and a == b
    return a is not None and b is not None and np.array_equal(a, b)


def read_weight(name: str, value: Any, rows: int) -> Array:
    """(rows,) weights, not negative."""
    weight = np.array(per_row(f"weight of {name}", value, rows))
    if (weight < 0.0).any():
        raise ArgumentError(f"weight of {name}: expected weights of at least 0, found {weight.min():g}")
    return weight


def read_soft(name: str, value: Any) -> float:
    """The weight of a soft bound's squared violation; infinity for a hard one."""
    if value is None:
        return np.inf
    weight = per_row(f"soft of {name}", value, 1)[0]
    if not weight > 0.0:
        raise ArgumentError(f"soft of {name}: expected None (hard) or a weight above 0, found {value!r}")
    return float(weight)


def read_reference(subject: Subject, what: Any, value: Any, nodes: int, name: str) -> Array | str | None:
    """Numbers (numbers,), or (nodes, numbers) if it changes along the horizon."""
    if isinstance(value, str):
        if value == GRAVITY and isinstance(what, Effort):
            return GRAVITY
        may = "numbers or 'gravity'" if isinstance(what, Effort) else "numbers"
        raise ArgumentError(f"reference of {name}: expected {may}, found {value!r}")
    if value is None:
        return None if subject.default is None else subject.default.copy()
    numbers = np.array(subject.read(value), dtype=np.float64)
    if numbers.ndim > 2 or (numbers.ndim == 2 and len(numbers) != nodes):
        raise ArgumentError(
            f"reference of {name}: expected one for all nodes, or one for each of {nodes} nodes, found a "
            f"batch {numbers.shape[:-1]}"
        )
    return numbers
