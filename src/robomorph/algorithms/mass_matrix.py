"""The mass matrix by composite rigid bodies (CRBA), its factors and its inverse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from robomorph.algorithms.algorithm import SQUARE, Algorithm
from robomorph.algorithms.inputs import user_matrix
from robomorph.algorithms.own_forces import inertia
from robomorph.algorithms.sweep import Site, Stage, State, Sweep
from robomorph.spatial import Scalar
from robomorph.spatial.scalar import reciprocal

Matrix = list[list[Any]]


class Factors(NamedTuple):
    """M = L^T D L: the strictly lower part of the unit triangular L, and 1/D."""

    lower: Matrix
    inverse: list[Any]


def start_composite_step(site: Site) -> None:
    site["composite"] = site.link.inertia


def composite_step(site: Site) -> None:
    """Inward: everything a link carries, as one rigid body in its frame."""
    site.send("composite", site["X"].inertia_back(site["composite"]))


def start_reaction_step(site: Site) -> None:
    """The force that accelerates the composite body along each axis of its own joint."""
    site["reaction"] = [site["composite"].apply(unit) for unit in site.link.joint.subspace]


def _mass_entries(state: State) -> None:
    """Each joint's reaction, carried towards the root and projected on every joint it meets."""
    tree = state.tree
    entries: dict[tuple[int, int], Scalar] = {}
    for link in tree.links:
        for dof, force in zip(tree.link_dofs[link.index], state.fields["reaction", link.index], strict=True):
            here = link
            while True:
                for other in tree.link_dofs[here.index]:
                    value = force.dot(here.joint.subspace[other.k])
                    entries[dof.index, other.index] = value
                    entries[other.index, dof.index] = value
                if here.parent < 0:
                    break
                force = state.fields["X", here.index].force_back(force)
                here = tree.links[here.parent]
            if link.forces:
                own = (dof.index, dof.index)
                entries[own] = entries[own] + inertia(state, link)[dof.k]
    state.whole["mass"] = user_matrix(tree, entries)


def factor(mass: Sequence[Sequence[Scalar]]) -> Factors:
    """The factors of a symmetric positive definite matrix.

    Eliminating from the last joint to the first keeps the zeros of a tree: no fill-in.
    """
    n = len(mass)
    m = [list(row[: i + 1]) for i, row in enumerate(mass)]
    lower: Matrix = [[0.0] * n for _ in range(n)]
    inverse: list[Any] = [0.0] * n
    for k in reversed(range(n)):
        inverse[k] = reciprocal(m[k][k])
        row = m[k][:k]
        for i in range(k):
            lower[k][i] = row[i] * inverse[k]
        for i in range(k):
            for j in range(i + 1):
                m[i][j] = m[i][j] - lower[k][i] * row[j]
    return Factors(lower, inverse)


def solve(factors: Factors, rhs: Sequence[Scalar]) -> list[Scalar]:
    """x with L^T D L x = rhs."""
    lower, inverse = factors
    n = len(rhs)
    x = list(rhs)
    for k in reversed(range(n)):
        for i in range(k):
            x[i] = x[i] - lower[k][i] * x[k]
    for k in range(n):
        x[k] = x[k] * inverse[k]
        for i in range(k):
            x[k] = x[k] - lower[k][i] * x[i]
    return x


def invert(factors: Factors) -> Matrix:
    """M^-1 = W D^-1 W^T with W the inverse of L; the result is symmetric entry by entry."""
    lower, inverse = factors
    n = len(inverse)
    w: Matrix = [[0.0] * n for _ in range(n)]
    for j in range(n):
        w[j][j] = 1.0
        for i in range(j + 1, n):
            total: Any = 0.0
            for k in range(j, i):
                total = total - lower[i][k] * w[k][j]
            w[i][j] = total
    scaled = [[w[i][k] * inverse[k] for k in range(n)] for i in range(n)]
    out: Matrix = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            total = 0.0
            for k in range(j + 1):
                total = total + scaled[i][k] * w[j][k]
            out[i][j] = out[j][i] = total
    return out


def _factor_stage(state: State) -> None:
    state.whole["factors"] = factor(state.whole["mass"])


def _invert_stage(state: State) -> None:
    state.whole["minv"] = invert(state.whole["factors"])


COMPOSITES: tuple[Sweep | Stage, ...] = (
    Sweep("start composites", start_composite_step),
    Sweep("composites", composite_step, inward=True),
    Sweep("reactions", start_reaction_step),
)
CRBA: tuple[Sweep | Stage, ...] = (*COMPOSITES, Stage("mass matrix", _mass_entries))
FACTOR: tuple[Sweep | Stage, ...] = (*CRBA, Stage("factor", _factor_stage))
INVERT = Stage("invert", _invert_stage)

MASS_MATRIX = Algorithm(
    "mass_matrix",
    inputs=("q",),
    outputs={"mass": SQUARE},
    formulations={"crba": CRBA},
    title="The joint-space mass matrix.",
    notes={"mass": "mass matrix M(q), symmetric"},
    doc="Mass matrix (..., nv, nv), symmetric.",
    textbook=lambda known: {"mass": known.mass_matrix()},
)
MINV = "inverse of M(q), which is dqdd/dtau"
MASS_MATRIX_INVERSE = Algorithm(
    "mass_matrix_inverse",
    inputs=("q",),
    outputs={"minv": SQUARE},
    formulations={"crba+ltl": (*FACTOR, INVERT)},
    inverts=True,
    title="The inverse of the joint-space mass matrix.",
    notes={"minv": MINV},
    doc="Inverse of the mass matrix (..., nv, nv), symmetric.",
    textbook=lambda known: {"minv": np.linalg.inv(known.mass_matrix())},
)
