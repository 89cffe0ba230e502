"""Costs and bounds of a controller as data for C++: where each one's numbers are, and its name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robomorph.mpc.layout import ROWS, SYMBOLS, Layout
from robomorph.mpc.terms import GRAVITY, Bound, Cost
from robomorph.targets.cpp.package import comment_text, identifier

Array = npt.NDArray[np.float64]
# In the order of native code.
QUANTITIES = (*SYMBOLS, ROWS, "jerk")


@dataclass(frozen=True, eq=False)
class ControlTerm:
    """One cost or bound. name: as an identifier, no other has it. own: (1 or nodes, numbers), its reference
    as the problem has it. places: offsets of its numbers among those of all terms, by field of the C++
    structure."""

    term: Cost | Bound
    name: str
    own: Array
    places: dict[str, int]

    @property
    def is_bound(self) -> bool:
        return isinstance(self.term, Bound)

    @property
    def takes_reference(self) -> bool:
        """May a caller set it? Bounds on coordinates themselves and jerk have none."""
        term = self.term
        moves = isinstance(term, Cost) or term.moves or term.subject.symbol == ROWS
        return moves and term.subject.symbol != "jerk"

    @property
    def running(self) -> Array | None:
        return self.term.running if isinstance(self.term, Cost) else None

    @property
    def terminal(self) -> Array | None:
        return self.term.terminal if isinstance(self.term, Cost) else None

    @property
    def gravity(self) -> bool:
        reference = self.term.reference
        return isinstance(reference, str) and reference == GRAVITY

    @property
    def weights(self) -> list[Array]:
        return [weight for weight in (self.running, self.terminal) if weight is not None]

    @property
    def about(self) -> str:
        """What its numbers are, for a comment."""
        subject = self.term.subject
        rows = ", ".join(subject.names) if len(subject.names) <= 12 else f"{len(subject.names)} rows"
        return comment_text(f"{subject.title}: {rows} ({subject.unit})")


@dataclass(frozen=True, eq=False)
class ControlTerms:
    """All of a problem. numbers, weights, bounds, joints: of all terms, one after the other, as they are at
    first."""

    terms: tuple[ControlTerm, ...]
    numbers: Array
    weights: Array
    bounds: Array
    joints: tuple[int, ...]
    count: int  # numbers of joints' references at all nodes


def control_terms(layout: Layout) -> ControlTerms:
    """The terms of a problem, laid out for C++."""
    made: list[ControlTerm] = []
    numbers: list[Array] = []
    weights: list[Array] = []
    bounds: list[Array] = []
    joints: list[int] = []
    count = 0
    for term in layout.terms:
        own = np.zeros((1, term.subject.numbers))
        if isinstance(term.reference, np.ndarray):
            own = np.atleast_2d(term.reference)
        rows = term.subject.symbol == ROWS
        place = layout.places.get(term.name)
        places = {
            "joints_at": len(joints),
            "numbers_at": place.references.start if place else count,
            "rows_at": place.rows.start if place else 0,
            "own_at": sum(part.size for part in numbers),
            "weights_at": sum(part.size for part in weights),
            "bounds_at": sum(part.size for part in bounds),
        }
        one = ControlTerm(term, _free(term.name, made), own, places)
        made.append(one)
        numbers.append(own)
        weights += one.weights
        bounds += [term.lower, term.upper] if isinstance(term, Bound) and not rows else []
        joints += term.subject.joints
        count += 0 if rows else layout.nodes * term.subject.numbers
    return ControlTerms(tuple(made), _flat(numbers), _flat(weights), _flat(bounds), tuple(joints), count)


def _flat(parts: list[Array]) -> Array:
    return np.concatenate([np.ravel(part) for part in parts]) if parts else np.zeros(0)


def _free(name: str, made: list[ControlTerm]) -> str:
    """An identifier that no other term has."""
    taken = {term.name for term in made}
    base = identifier(name).lower()
    names = (base, *(f"{base}_{k}" for k in range(2, len(taken) + 3)))
    return next(candidate for candidate in names if candidate not in taken)
