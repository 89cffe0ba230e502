"""The Coriolis matrix C of which C qd is the velocity torque and dM/dt - 2 C is skew-symmetric.

With the composite inertia I and velocity map D of everything joint i carries (gradient_composite.py), and
dS = v x S how a joint's unit motion S changes as its link moves,
    C_ij = S_i . (D_i S_j / 2 + I_i dS_j)   for i carried by j (or i = j)
    C_ij = S_i . (D_j S_j / 2 + I_j dS_j)   for i nearer the root than j
(Echeandia and Wensing, 2021). For joints with one degree of freedom these are Christoffel's symbols. C is
linear in the velocities, so they are halved once, where they enter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from robomorph.algorithms.algorithm import SQUARE, Algorithm
from robomorph.algorithms.gradient_composite import VELOCITY_MAPS, velocity_map
from robomorph.algorithms.inputs import user_matrix
from robomorph.algorithms.inverse_dynamics import MOMENTA, VELOCITIES
from robomorph.algorithms.mass_matrix import COMPOSITES
from robomorph.algorithms.own_forces import swaying
from robomorph.algorithms.sweep import Site, Stage, State, Sweep
from robomorph.algorithms.textbook import Array, Textbook, times
from robomorph.algorithms.tree import Dof
from robomorph.spatial import Force, Vec3, dot3

Entries = dict[tuple[int, int], Any]


def _halve_step(site: Site) -> None:
    site["qd"] = [0.5 * x for x in site["qd"]]


def _start_step(site: Site) -> None:
    site["D"] = velocity_map(site.link.inertia, site["v"], site["momentum"])
    site["dS"] = [site["v"].cross(unit).scaled(2.0) for unit in site.link.joint.subspace]


def _ways(state: State, dof: Dof, force: Force, reaction: Force, moment: Vec3) -> Iterator[Any]:
    """Each link from the dof's to the root, with three forces in its frame."""
    here = state.tree.links[dof.link]
    while True:
        yield here, force, reaction, moment
        if here.parent < 0:
            return
        x = state.fields["X", here.index]
        force, reaction, moment = x.force_back(force), x.force_back(reaction), x.moment_back(moment)
        here = state.tree.links[here.parent]


def _entries(state: State) -> None:
    tree, fields = state.tree, state.fields
    entries: Entries = {}
    for dof in tree.dofs:
        unit = tree.links[dof.link].joint.subspace[dof.k]
        composite, half = fields["composite", dof.link], fields["D", dof.link]
        force = half.apply(unit) + composite.apply(fields["dS", dof.link][dof.k])
        reaction, moment = fields["reaction", dof.link][dof.k], half.apply_transposed(unit)
        for here, down, back, turn in _ways(state, dof, force, reaction, moment):
            for other in tree.link_dofs[here.index]:
                axis = here.joint.subspace[other.k]
                entries[other.index, dof.index] = down.dot(axis)
                if here.index != dof.link:
                    change = fields["dS", here.index][other.k]
                    entries[dof.index, other.index] = dot3(turn, axis.ang) + back.dot(change)
    for link in tree.links:
        rows, dofs = swaying(state, link), tree.link_dofs[link.index]
        for i, row in zip(dofs, rows or (), strict=rows is not None):
            for j, value in zip(dofs, row, strict=True):
                entries[i.index, j.index] = entries[i.index, j.index] + 2.0 * value  # of halved rates
    state.whole["coriolis"] = user_matrix(tree, entries)


CORIOLIS: tuple[Sweep | Stage, ...] = (
    Sweep("halve rates", _halve_step),
    VELOCITIES,
    MOMENTA,
    *COMPOSITES,
    Sweep("axis rates", _start_step),
    VELOCITY_MAPS,
    Stage("coriolis entries", _entries),
)


def _textbook(known: Textbook) -> Mapping[str, Array]:
    """J^T (m dJ/dt) over bodies, and of a turning one (w x I - I w x - (I w) x) / 2, whose symmetric part is
    half of dI/dt."""
    total = known.coriolis_of_armature()
    for body in known.bodies:
        spin = times(body.angular, known.qd)
        w = _skew(spin)
        turning = 0.5 * (w @ body.tensor - body.tensor @ w - _skew(times(body.tensor, spin)))
        total += body.mass * body.linear.transpose(0, 2, 1) @ body.linear_rate
        moment = body.tensor @ body.angular_rate + turning @ body.angular
        total += body.angular.transpose(0, 2, 1) @ moment
    return {"coriolis": total}


def _skew(vector: Array) -> Array:
    """(B, 3, 3) with _skew(a) b = a x b."""
    return np.asarray(np.cross(vector[:, None, :], np.eye(3)).transpose(0, 2, 1))


CORIOLIS_MATRIX = Algorithm(
    "coriolis_matrix",
    inputs=("q", "qd"),
    outputs={"coriolis": SQUARE},
    formulations={"composite": CORIOLIS},
    title="The Coriolis matrix C of C qd, with dM/dt - 2 C skew-symmetric.",
    notes={"coriolis": "C(q, qd), row i for joint force i"},
    doc="C (..., nv, nv) with C qd + gravity torque = bias torque and dM/dt - 2 C skew-symmetric.",
    textbook=_textbook,
)
