"""What a step is given: the state, references and weights, checked and written into the tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.mpc.layout import Layout
from robomorph.mpc.tables import Tables
from robomorph.mpc.terms import TERMINAL, Bound, Cost
from robomorph.naming import hint
from robomorph.runtime.arguments import as_array, broadcast
from robomorph.tasks import AnyTask
from robomorph.tasks.numbers import FARTHEST, finite

Array = npt.NDArray[np.float64]
Given = Mapping[Any, Any]


def read_state(layout: Layout, q: Any, qd: Any) -> tuple[Array, Array, tuple[int, ...]]:
    """q and qd (*lead, nv), float64 and finite, and their batch dimensions."""
    if type(q) is np.ndarray and type(qd) is np.ndarray and q.shape == qd.shape == (layout.nv,):
        # The common case, without an array in between. The length sees NaN, too.
        real = q.dtype.kind == qd.dtype.kind == "f"
        if real and math.hypot(*q.tolist()) < FARTHEST and math.hypot(*qd.tolist()) < FARTHEST:
            return q, qd, ()
    arrays = [as_array(name, value) for name, value in (("q", q), ("qd", qd))]
    lead = broadcast(("q", "qd"), arrays, ((layout.nv,), (layout.nv,)))
    if 0 in lead:
        raise ArgumentError(f"q: expected at least one problem, found batch dimensions {lead}")
    for name, array in zip(("q", "qd"), arrays, strict=True):
        largest = np.abs(finite(name, array, ())).max()
        if largest > FARTHEST:
            raise ArgumentError(
                f"{name}: expected numbers within {FARTHEST:g}, found {largest:g}: are they in rad, m and s?"
            )
    return arrays[0], arrays[1], lead


def read_torque(layout: Layout, value: Any, lead: tuple[int, ...]) -> Array:
    """(problems or 1, nv) torques."""
    torque = finite("offset", value, (layout.nv,))
    if torque.ndim > 1 and not _fits(torque.shape[:-1], lead):
        raise ArgumentError(f"offset: expected one{_for_each(lead)}, found shape {torque.shape}")
    if torque.ndim == 1:
        return torque.reshape(1, layout.nv)
    return np.broadcast_to(torque, (*lead, layout.nv)).reshape(-1, layout.nv)


class CallReader:
    """Writes what a call gives into tables. What the last call gave and this one does not is as the problem
    has it again: a call's answer depends on its own arguments."""

    def __init__(self, layout: Layout, tables: Tables, lead: tuple[int, ...]) -> None:
        self.layout, self.tables, self.lead = layout, tables, lead
        self._terms: dict[str, Cost | Bound] = {term.name: term for term in layout.terms}
        self._needed = [term for term in layout.terms if term.reference is None]
        self._references: set[str] = set()
        self._weights: set[str] = set()
        for term in layout.terms:
            self._restore_reference(term)

    def read(self, reference: Any, weights: Given | None) -> None:
        if reference is not None or self._references or self._needed:
            self._read_references(self._named(reference))
        if weights is not None or self._weights:
            self._read_weights({} if weights is None else weights)

    # --- references ----------------------------------------------------------------------------------

    def _named(self, reference: Any) -> dict[str, Any]:
        """By the names of terms."""
        if reference is None:
            return {}
        if isinstance(reference, Mapping):
            return {self._name(key): value for key, value in reference.items()}
        tasks = [c.name for c in self.layout.costs.values() if isinstance(c.what, AnyTask) and not c.rate]
        if len(tasks) != 1:
            raise ArgumentError(
                f"reference: expected a mapping from names to numbers, as the problem has {len(tasks)} costs "
                f"of tasks, found {type(reference).__name__}: the names are "
                f"{', '.join(map(repr, self._terms))}"
            )
        return {tasks[0]: reference}

    def _name(self, key: Any) -> str:
        """A term's name, from itself or from its task."""
        if isinstance(key, str):
            if key not in self._terms:
                raise ArgumentError(f"reference: unknown name {key!r}: {hint(key, list(self._terms))}")
            return key
        names = [name for name, term in self._terms.items() if term.what is not None and term.what == key]
        if len(names) != 1:
            found = f"{len(names)} of it" if names else "none of it"
            raise ArgumentError(
                f"reference: expected the name or the task of one cost or bound, found {found}: {key!r}"
            )
        return names[0]

    def _read_references(self, given: dict[str, Any]) -> None:
        for term in self._needed:
            if term.name not in given:
                raise ArgumentError(
                    f"reference: {term.name!r} has none of its own: expected it in reference={{...}}, found "
                    f"{list(given)}"
                )
        for name in self._references - set(given):
            self._restore_reference(self._terms[name])
        self._references = set(given)
        for name, value in given.items():
            term = self._terms[name]
            _must_take_reference(term)
            numbers = np.asarray(term.subject.read(value))
            self.tables.set_reference(term, self._spread(name, numbers))

    def _restore_reference(self, term: Cost | Bound) -> None:
        own = term.reference
        if isinstance(term, Cost) and isinstance(own, str):
            self.tables.restore_gravity(term)
        elif own is not None and not isinstance(own, str):
            self.tables.set_reference(term, own[None, None] if own.ndim == 1 else own[None])

    def _spread(self, name: str, numbers: Array) -> Array:
        """(problems or 1, nodes or 1, n) from (*batch, n) or (*batch, nodes, n)."""
        shape, lead, nodes = numbers.shape[:-1], self.lead, self.layout.nodes
        count = numbers.shape[-1]
        if shape == ():
            return numbers.reshape(1, 1, count)
        if shape == lead:
            return numbers.reshape(-1, 1, count)
        if shape == (nodes,):
            return numbers.reshape(1, nodes, count)
        if len(shape) == len(lead) + 1 and shape[-1] in (1, nodes) and _fits(shape[:-1], lead):
            whole = np.broadcast_to(numbers, (*lead, shape[-1], count))
            return np.reshape(whole, (-1, shape[-1], count))
        if _fits(shape, lead):
            return np.reshape(np.broadcast_to(numbers, (*lead, count)), (-1, 1, count))
        raise ArgumentError(
            f"reference of {name!r}: expected one, one for each of {nodes} nodes{_for_each(lead)}, found "
            f"batch dimensions {shape}"
        )

    # --- weights -------------------------------------------------------------------------------------

    def _read_weights(self, given: Given) -> None:
        if not isinstance(given, Mapping):
            raise ArgumentError(f"weights: expected a mapping from names to weights, found {given!r}")
        read = {key: self._weight(key, value) for key, value in given.items()}
        for key in self._weights - set(read):
            cost, terminal = self._weighed(key)
            self.tables.set_weight(cost, cost.terminal if terminal else cost.running, terminal=terminal)
        self._weights = set(read)
        for cost, terminal, weight in read.values():
            self.tables.set_weight(cost, weight, terminal=terminal)

    def _weighed(self, key: Any) -> tuple[Cost, bool]:
        costs = self.layout.costs
        known = {
            **{name: (cost, False) for name, cost in costs.items() if cost.running is not None},
            **{TERMINAL + name: (cost, True) for name, cost in costs.items() if cost.terminal is not None},
        }
        if key not in known:
            raise ArgumentError(f"weights: unknown name {key!r}: {hint(str(key), list(known))}")
        return known[key]

    def _weight(self, key: Any, value: Any) -> tuple[Cost, bool, Array]:
        """(n,) or (problems, n)."""
        cost, terminal = self._weighed(key)
        rows, title = cost.subject.rows, f"weight of {key!r}"
        weight = finite(title, value, ())
        if weight.ndim and weight.shape[-1] != rows:
            raise ArgumentError(f"{title}: expected a number or {rows} numbers, found shape {weight.shape}")
        if (weight < 0.0).any():
            raise ArgumentError(f"{title}: expected weights of at least 0, found {weight.min():g}")
        if weight.ndim < 2:
            return cost, terminal, np.broadcast_to(weight, (rows,))
        if not _fits(weight.shape[:-1], self.lead):
            raise ArgumentError(
                f"{title}: expected one set{_for_each(self.lead)}, found shape {weight.shape}"
            )
        return cost, terminal, np.broadcast_to(weight, (*self.lead, rows)).reshape(-1, rows)


def _must_take_reference(term: Cost | Bound) -> None:
    if term.subject.symbol == "jerk":
        raise ArgumentError(f"reference of {term.name!r}: expected none (zero), found one")
    if isinstance(term, Bound) and term.subject.symbol != "rows" and not term.moves:
        raise ArgumentError(
            f"reference of {term.name!r}: it is a bound on coordinates themselves: expected none, found one; "
            "give it a reference when it is made (problem.bound(..., reference=...))"
        )


def _fits(shape: tuple[int, ...], lead: tuple[int, ...]) -> bool:
    """Does it broadcast to these batch dimensions?"""
    try:
        return np.broadcast_shapes(shape, lead) == lead
    except ValueError:
        return False


def _for_each(lead: tuple[int, ...]) -> str:
    return f" or for each of the problems {lead}" if lead else ""
