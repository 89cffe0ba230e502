"""Momentum about the centre of mass, in the world's axes, and the matrix that gives it from qd.

Places are taken from the origin of the first link, not from the world's: how far away a floating base is then
costs no digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robomorph.algorithms.algorithm import SIX, Algorithm
from robomorph.algorithms.inverse_dynamics import MOMENTA, VELOCITIES
from robomorph.algorithms.kinematics import MOMENTS, total_mass
from robomorph.algorithms.mass_matrix import COMPOSITES
from robomorph.algorithms.sweep import WORLD, Site, Stage, State, Sweep
from robomorph.algorithms.textbook import Array, Textbook, times
from robomorph.algorithms.world_pose import WorldPose
from robomorph.spatial import ZERO3, Vec3, add3, cross3, scale3, sub3


def _place_roots(state: State) -> None:
    """Where each link that hangs on the world has its origin, from the first one's; in the world's axes."""
    first: Vec3 | None = None
    for link in state.tree.links:
        if link.parent == WORLD:
            origin = state.fields["X", link.index].point_back(ZERO3)
            first = origin if first is None else first
            state.fields["place", link.index] = ZERO3 if origin is first else sub3(origin, first)
    state.whole["first origin"] = first


def _carry_momentum_step(site: Site) -> None:
    site.send("momentum", site["X"].force_back(site["momentum"]))


def _root_center(state: State) -> Vec3:
    """The centre of mass from the first link's origin, by the moments gathered at the roots."""
    standing = state.tree.standing
    total: Vec3 = ZERO3
    if standing.mass:
        total = sub3(standing.first, scale3(standing.mass, state.whole["first origin"]))
    for link in state.tree.links:
        if link.parent == WORLD:
            mass, first = state.fields["moment", link.index]
            turned = state.fields["X", link.index].moment_back(first)
            total = add3(total, add3(turned, scale3(mass, state.fields["place", link.index])))
    return scale3(1.0 / total_mass(state, "centroidal_momentum"), total)


def _momentum(state: State) -> None:
    lin: Vec3 = ZERO3
    ang: Vec3 = ZERO3
    for link in state.tree.links:
        if link.parent == WORLD:
            x, momentum = state.fields["X", link.index], state.fields["momentum", link.index]
            push = x.moment_back(momentum.lin)
            lin = add3(lin, push)
            arm = cross3(state.fields["place", link.index], push)
            ang = add3(ang, add3(x.moment_back(momentum.ang), arm))
    ang = sub3(ang, cross3(_root_center(state), lin))
    state.whole["momentum"] = [*lin, *ang]


def _pose_step(site: Site) -> None:
    if site.link.parent == WORLD:
        site["pose"] = WorldPose(WorldPose().then(site["X"]).axes, site["place"])
    else:
        site["pose"] = site.parent("pose").then(site["X"])


def _matrix(state: State) -> None:
    center = _root_center(state)
    out: list[list[Any]] = [[0.0] * state.tree.nv for _ in range(6)]
    for dof in state.tree.dofs:
        pose, reaction = state.fields["pose", dof.link], state.fields["reaction", dof.link][dof.k]
        lin = pose.vector(reaction.lin)
        ang = add3(pose.vector(reaction.ang), cross3(sub3(pose.origin, center), lin))
        for row, value in enumerate((*lin, *ang)):
            out[row][dof.user] = out[row][dof.user] + dof.scale * value
    state.whole["momentum_matrix"] = out


_ROOTS = Stage("roots", _place_roots)
_CARRY: tuple[Sweep | Stage, ...] = (
    _ROOTS,
    VELOCITIES,
    MOMENTA,
    Sweep("carry momenta", _carry_momentum_step, inward=True),
    *MOMENTS,
    Stage("centroidal momentum", _momentum),
)
_COMPOSITE: tuple[Sweep | Stage, ...] = (
    _ROOTS,
    Sweep("poses", _pose_step),
    *COMPOSITES,
    *MOMENTS,
    Stage("centroidal momentum matrix", _matrix),
)


def _textbook_matrix(known: Textbook) -> Array:
    """(B, 6, nv): momentum and its moment about the centre of mass, summed over bodies."""
    mass = sum(body.mass for body in known.bodies)
    center = sum(body.mass * body.center for body in known.bodies) / mass
    total = np.zeros((len(known.qd), 6, known.qd.shape[-1]))
    for body in known.bodies:
        push, arm = body.mass * body.linear, body.center - center
        total[:, :3] += push
        total[:, 3:] += body.tensor @ body.angular + np.cross(arm[:, :, None], push, axis=1)
    return total


CENTROIDAL_MOMENTUM = Algorithm(
    "centroidal_momentum",
    inputs=("q", "qd"),
    outputs={"momentum": SIX},
    formulations={"carry": _CARRY},
    regroup=False,
    title="The momentum about the centre of mass.",
    notes={"momentum": "linear (kg m/s), then angular (kg m^2/s), in the world's axes"},
    doc="""Momentum (..., 6) of all moving bodies: linear (kg m/s), then angular about the centre of mass
        (kg m^2/s), in the world's axes.""",
    textbook=lambda known: {"momentum": times(_textbook_matrix(known), known.qd)},
)
CENTROIDAL_MOMENTUM_MATRIX = Algorithm(
    "centroidal_momentum_matrix",
    inputs=("q",),
    outputs={"momentum_matrix": (6, "nv")},
    formulations={"composite": _COMPOSITE},
    regroup=False,
    title="The matrix that times qd is the momentum about the centre of mass.",
    notes={"momentum_matrix": "rows: linear, then angular momentum by qd, in the world's axes"},
    doc="The matrix (..., 6, nv) that times qd is `centroidal_momentum`.",
    textbook=lambda known: {"momentum_matrix": _textbook_matrix(known)},
)
