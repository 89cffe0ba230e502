"""Where sweeps meet what joints ask for by themselves (joint_forces.py): one sum per joint.

Links whose joints ask for nothing leave no trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from robomorph.algorithms.joint_forces import Rows, add_rows
from robomorph.algorithms.sweep import State
from robomorph.algorithms.tree import TreeLink
from robomorph.spatial import Scalar


def at_rest(state: State, link: TreeLink, torques: Sequence[Scalar]) -> list[Scalar]:
    """`torques` of a link's joint, and what it asks for at zero acceleration."""
    out = list(torques)
    for force in link.forces:
        own = force.at_rest(link.joint, state.fields["q", link.index], state.fields["qd", link.index])
        out = [a + b for a, b in zip(out, own, strict=True)]
    return out


def with_own(state: State, link: TreeLink, torques: Sequence[Scalar]) -> list[Scalar]:
    """`torques` of a link's joint, and what it asks for; accelerations count where there are any."""
    out = at_rest(state, link, torques)
    accelerations = state.fields.get(("qdd", link.index))
    if not link.forces or accelerations is None:
        return out
    return [t + m * a for t, m, a in zip(out, inertia(state, link), accelerations, strict=True)]


def inertia(state: State, link: TreeLink) -> list[Scalar]:
    """What a link's joint adds to the diagonal of the mass matrix."""
    total: list[Scalar] = [0.0] * link.joint.nv
    for force in link.forces:
        own = force.inertia(link.joint, state.fields.get(("qd", link.index), []))
        total = [a + b for a, b in zip(total, own, strict=True)]
    return total


def position_slopes(link: TreeLink) -> Rows | None:
    """Derivatives by the joint's own place; None: all zero."""
    return _sum(force.position_slopes(link.joint) for force in link.forces)


def rate_slopes(state: State, link: TreeLink) -> Rows | None:
    """Derivatives by the joint's own rates; None: all zero."""
    if not link.forces:
        return None
    qd, qdd = state.fields["qd", link.index], state.fields.get(("qdd", link.index))
    return _sum(force.rate_slopes(link.joint, qd, qdd) for force in link.forces)


def swaying(state: State, link: TreeLink) -> Rows | None:
    """The Coriolis matrix of what the joint asks for; None: all zero."""
    if not link.forces:
        return None
    qd = state.fields["qd", link.index]
    return _sum(force.swaying(link.joint, qd) for force in link.forces)


def rate_curvature(state: State, link: TreeLink, weights: Sequence[Scalar]) -> Rows | None:
    """Second derivatives by the joint's own rates of its forces times `weights`; None: all zero."""
    if not link.forces:
        return None
    qd = state.fields["qd", link.index]
    return _sum(force.rate_curvature(link.joint, qd, weights) for force in link.forces)


def transposed_times(rows: Rows | None, weights: Sequence[Scalar]) -> list[Scalar] | None:
    """rows^T weights."""
    if rows is None:
        return None
    out: list[Scalar] = [0.0] * len(weights)
    for row, weight in zip(rows, weights, strict=True):
        out = [a + weight * x for a, x in zip(out, row, strict=True)]
    return out


def times(rows: Rows | None, values: Sequence[Scalar]) -> list[Scalar] | None:
    """rows times values."""
    return None if rows is None else [_dot(row, values) for row in rows]


def _dot(row: Sequence[Scalar], values: Sequence[Scalar]) -> Scalar:
    total: Scalar = 0.0
    for a, b in zip(row, values, strict=True):
        total = total + a * b
    return total


def _sum(parts: Iterable[Rows | None]) -> Rows | None:
    total: Rows | None = None
    for rows in parts:
        if rows is not None:
            total = rows if total is None else add_rows(total, rows)
    return total
