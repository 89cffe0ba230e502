"""Sweeps: the one form in which algorithms over the tree are written.

An algorithm is a list of sweeps. A sweep is a step function and an order over the links, all of them or those
on the way to a frame: outward (parents first) or inward (children first), and for gradients also over
columns. A step sees one `Site`: it reads fields of its own link and of the parent, writes its own, and may
send a contribution to the parent. Running all steps on traced scalars gives the flat program; whoever wants
to know where each step begins and ends pulls `visits` one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from robomorph.algorithms.tree import Dof, Tree, TreeLink
from robomorph.spatial import Motion

WORLD = -1
# What a sum begins with, from a scalar that is there (None: nothing yet) and the one that is added.
Begin = Callable[[Any, Any], Any]


class State:
    """Named values per link, and per link and column (an internal degree of freedom). Sums of what links send
    begin with the first that comes, or with what `begin` makes of every scalar."""

    def __init__(self, tree: Tree, begin: Begin | None = None) -> None:
        self.tree, self.begin = tree, begin
        self.fields: dict[tuple[str, int], Any] = {}
        self.columns: dict[tuple[str, int, int], Any] = {}
        # Results of stages that are not sweeps over links (matrices, vectors over the user's
        # degrees of freedom).
        self.whole: dict[str, Any] = {}

    def accumulate(self, have: Any, value: Any) -> Any:
        """What a link has been sent so far (None: nothing) and what is sent now."""
        if self.begin is None:
            return value if have is None else have + value
        given = [None] * len(value.scalars()) if have is None else have.scalars()
        pairs = zip(given, value.scalars(), strict=True)
        return type(value).of([self.begin(h, v) for h, v in pairs]) + value


@dataclass(frozen=True, slots=True)
class Site:
    """One link, and in a sweep over columns one degree of freedom, as a step sees it."""

    state: State
    link: TreeLink
    column: Dof | None = None

    def __getitem__(self, name: str) -> Any:
        return self.state.fields[name, self.link.index]

    def __setitem__(self, name: str, value: Any) -> None:
        self.state.fields[name, self.link.index] = value

    def parent(self, name: str) -> Any:
        """A field of the parent; the world's fields are set before the sweep."""
        return self.state.fields[name, self.link.parent]

    def send(self, name: str, value: Any) -> None:
        """Add to a field of the parent. What is sent to the world is dropped."""
        if self.link.parent != WORLD:
            key = (name, self.link.parent)
            self.state.fields[key] = self.state.fields[key] + value

    @property
    def own_column(self) -> bool:
        """Does the column belong to this link's own joint?"""
        assert self.column is not None
        return self.column.link == self.link.index

    @property
    def column_motion(self) -> Motion:
        """The unit motion of the column's degree of freedom, in the frame of the link that owns it."""
        assert self.column is not None
        return self.state.tree.links[self.column.link].joint.subspace[self.column.k]

    def column_get(self, name: str, default: Any = None) -> Any:
        assert self.column is not None
        return self.state.columns.get((name, self.link.index, self.column.index), default)

    def column_set(self, name: str, value: Any) -> None:
        assert self.column is not None
        self.state.columns[name, self.link.index, self.column.index] = value

    def column_parent(self, name: str, default: Any) -> Any:
        """The parent's value in this column; `default` where the parent does not depend on it."""
        assert self.column is not None
        return self.state.columns.get((name, self.link.parent, self.column.index), default)

    def column_send(self, name: str, value: Any) -> None:
        """Add to the parent's value in this column."""
        assert self.column is not None
        if self.link.parent != WORLD:
            key = (name, self.link.parent, self.column.index)
            self.state.columns[key] = self.state.accumulate(self.state.columns.get(key), value)


Step = Callable[[Site], None]
Columns = Callable[[Tree, int], Iterable[Dof]]
Links = Callable[[State], Sequence[int]]


@dataclass(frozen=True, slots=True)
class Sweep:
    """A step and its order. `columns` lists the columns visited at each link, if any; `links` the links that
    are visited, outward: all of them by default."""

    name: str
    step: Step
    inward: bool = False
    columns: Columns | None = None
    links: Links | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """Work on whole vectors and matrices between sweeps, such as a factorisation."""

    name: str
    work: Callable[[State], None]


class Visit(NamedTuple):
    """What is to be done next: a sweep's step at one site, or the whole work of a stage (no site)."""

    part: Sweep | Stage
    site: Site | None
    work: Callable[[], None]


def visits(state: State, parts: Iterable[Sweep | Stage]) -> Iterator[Visit]:
    """All visits of sweeps and stages, in order; whoever pulls them does the work of each before the next."""
    for part in parts:
        if isinstance(part, Stage):
            yield Visit(part, None, partial(part.work, state))
            continue
        tree = state.tree
        links = tree.links if part.links is None else [tree.links[i] for i in part.links(state)]
        for link in reversed(links) if part.inward else links:
            columns = (None,) if part.columns is None else part.columns(tree, link.index)
            for column in columns:
                site = Site(state, link, column)
                yield Visit(part, site, partial(part.step, site))


def run(state: State, parts: Iterable[Sweep | Stage]) -> None:
    """Run sweeps and stages in order on one state."""
    for visit in visits(state, parts):
        visit.work()


def support_columns(tree: Tree, link: int) -> Iterable[Dof]:
    """Columns on which the motion of a link depends: its own joint's and its ancestors'."""
    return tree.support_dofs(link)


def related_columns(tree: Tree, link: int) -> Iterable[Dof]:
    """Columns on which the force through a link's joint depends: ancestors', its own and descendants'."""
    yield from tree.support_dofs(link)
    for member in tree.subtree[link][1:]:
        yield from tree.link_dofs[member]
