"""Poses, Jacobians, centre of mass and energy."""

from __future__ import annotations

from typing import Any

import numpy as np

from robomorph.algorithms.algorithm import Algorithm
from robomorph.algorithms.inverse_dynamics import velocity_step
from robomorph.algorithms.own_forces import inertia
from robomorph.algorithms.path import (
    COLUMNS,
    COLUMNS_OF_LINKS,
    PATH_POSES,
    REACH,
    TIP_OF_POSE,
    columns,
    frame_pose,
    pose_step,
    tip,
    world_pose,
)
from robomorph.algorithms.sweep import WORLD, Site, Stage, State, Sweep
from robomorph.algorithms.textbook import Array, Textbook, times
from robomorph.algorithms.world_pose import WorldPose
from robomorph.errors import ModelError
from robomorph.spatial import ZERO3, Scalar, Vec3, add3, cross3, dot3, scale3


def _matrix(pose: WorldPose) -> list[list[Scalar]]:
    """The homogeneous 4x4."""
    rows: list[list[Scalar]] = [[*(axis[i] for axis in pose.axes), pose.origin[i]] for i in range(3)]
    return [*rows, [0.0, 0.0, 0.0, 1.0]]


def _forward_kinematics(state: State) -> None:
    state.whole["pose"] = _matrix(frame_pose(state))


def _forward_kinematics_from_tip(state: State) -> None:
    """The axes alone go outward."""
    state.whole["pose"] = _matrix(WorldPose(frame_pose(state).axes, tip(state)))


def _link_poses(state: State) -> None:
    frames = list(state.tree.frames.values())[: state.tree.sizes.links]
    state.whole["poses"] = [_matrix(state.fields["pose", body].then(placement)) for body, placement in frames]


def _jacobian(state: State) -> None:
    out: list[list[Any]] = [[0.0] * state.tree.nv for _ in range(6)]
    for dof, one in columns(state):
        for row, value in enumerate((*one.linear, *one.angular)):
            out[row][dof.user] = out[row][dof.user] + dof.scale * value
    state.whole["jacobian"] = out


def _start_moment_step(site: Site) -> None:
    site["moment"] = (site.link.inertia.mass, site.link.inertia.first)


def total_mass(state: State, asked: str = "center_of_mass") -> float:
    total = float(sum(link.inertia.mass for link in state.tree.links)) + float(state.tree.standing.mass)
    if total == 0.0:
        raise ModelError(
            f"{asked}: nothing that moves has mass, so there is no centre of mass. Give the links an "
            "<inertial>, or weld mass to one with payloads={link: (mass, com)} (--payload)."
        )
    return total


def _world_moment(state: State) -> Vec3:
    """Sum of mass times position over all links, in the world."""
    total: Vec3 = state.tree.standing.first
    for link in state.tree.links:
        pose = state.fields["pose", link.index]
        total = add3(total, add3(pose.vector(link.inertia.first), scale3(link.inertia.mass, pose.origin)))
    return total


def _center_of_mass(state: State) -> None:
    state.whole["com"] = list(scale3(1.0 / total_mass(state), _world_moment(state)))


def _carry_moment_step(site: Site) -> None:
    """Inward: mass and first moment of everything a link carries."""
    mass, first = site["moment"]
    if site.link.parent == WORLD:
        return
    up = site["X"]
    above = site.state.fields["moment", site.link.parent]
    moved = add3(up.moment_back(first), scale3(mass, up.point_back(ZERO3)))
    site.state.fields["moment", site.link.parent] = (above[0] + mass, add3(above[1], moved))


def _center_of_mass_jacobian(state: State) -> None:
    share = 1.0 / total_mass(state)
    out: list[list[Any]] = [[0.0] * state.tree.nv for _ in range(3)]
    for dof in state.tree.dofs:
        mass, first = state.fields["moment", dof.link]
        unit = state.tree.links[dof.link].joint.subspace[dof.k]
        shift = add3(scale3(mass, unit.lin), cross3(unit.ang, first))
        column = state.fields["pose", dof.link].vector(scale3(share * dof.scale, shift))
        for row in range(3):
            out[row][dof.user] = out[row][dof.user] + column[row]
    state.whole["com_jacobian"] = out


def _kinetic_step(site: Site) -> None:
    kinetic = site.link.inertia.kinetic_energy(site["v"])
    if site.link.forces:
        for own, rate in zip(inertia(site.state, site.link), site["qd"], strict=True):
            kinetic = kinetic + 0.5 * own * (rate * rate)
    site["kinetic"] = kinetic


def _energy(state: State) -> None:
    kinetic: Any = 0.0
    for link in state.tree.links:
        kinetic = kinetic + state.fields["kinetic", link.index]
    state.whole["kinetic"] = kinetic
    potential = -dot3(state.tree.gravity, _world_moment(state))
    for link in state.tree.links:
        for force in link.forces:
            potential = potential + force.potential(state.fields["q", link.index])
    state.whole["potential"] = potential


POSES: tuple[Sweep | Stage, ...] = (Stage("world", world_pose), Sweep("poses", pose_step))
# Mass and first moment of everything a link carries, in its frame.
MOMENTS: tuple[Sweep | Stage, ...] = (
    Sweep("start moments", _start_moment_step),
    Sweep("moments", _carry_moment_step, inward=True),
)
_ENERGY: tuple[Sweep | Stage, ...] = (
    *POSES,
    Sweep("velocities", velocity_step),
    Sweep("kinetic energy", _kinetic_step),
    Stage("energy", _energy),
)


def _mean(known: Textbook, values: list[Array]) -> Array:
    """Of values of the bodies, by their masses."""
    masses = [body.mass for body in known.bodies]
    total: Array = np.einsum("n,n...->...", masses, values) / sum(masses)
    return total


def _textbook_energy(known: Textbook) -> dict[str, Array]:
    moment = sum((b.mass * b.center for b in known.bodies), start=np.zeros((len(known.q), 3)))
    kinetic = 0.5 * np.einsum("bi,bi->b", known.qd, times(known.mass_matrix(), known.qd))
    return {"kinetic": kinetic, "potential": known.spring_energy() - moment @ known.gravity}


FORWARD_KINEMATICS = Algorithm(
    "forward_kinematics",
    inputs=("q",),
    outputs={"pose": (4, 4)},
    formulations={
        "chain": (*PATH_POSES, Stage("forward kinematics", _forward_kinematics)),
        "inward": (*REACH, *PATH_POSES, Stage("forward kinematics", _forward_kinematics_from_tip)),
    },
    frame=True,
    masses=False,
    title="The pose of {frame} in the world.",
    notes={"pose": "homogeneous matrix, world from frame, m"},
    doc="Pose (..., 4, 4) in the world of a link or tool frame.",
    textbook=lambda known: {"pose": known.pose(known.frame)},
)
JACOBIAN = Algorithm(
    "jacobian",
    inputs=("q",),
    outputs={"jacobian": (6, "nv")},
    formulations={
        "geometric": (*PATH_POSES, TIP_OF_POSE, COLUMNS, Stage("jacobian", _jacobian)),
        "inward": (*REACH, *PATH_POSES, COLUMNS_OF_LINKS, Stage("jacobian", _jacobian)),
    },
    frame=True,
    masses=False,
    title="The geometric Jacobian of {frame}.",
    notes={
        "jacobian": "rows: linear, then angular velocity in the world's axes, at the frame's origin",
    },
    doc="""Geometric Jacobian (..., 6, nv) of a link or tool frame: linear rows first, in the world's axes,
        at the frame's origin.""",
    textbook=lambda known: {"jacobian": known.jacobian(known.frame)},
)
LINK_POSES = Algorithm(
    "link_poses",
    inputs=("q",),
    outputs={"poses": ("links", 4, 4)},
    formulations={"chain": (*POSES, Stage("link poses", _link_poses))},
    masses=False,
    title="The poses of all links in the world.",
    notes={"poses": "homogeneous matrices, world from link, m; links in the order of the description"},
    doc="Poses (..., n_links, 4, 4) in the world of all links, in the order of `link_names`.",
    textbook=lambda known: {"poses": np.stack([known.pose(name) for name in known.links], axis=1)},
)
CENTER_OF_MASS = Algorithm(
    "center_of_mass",
    inputs=("q",),
    outputs={"com": (3,)},
    formulations={"sum": (*POSES, Stage("centre of mass", _center_of_mass))},
    regroup=False,
    title="The centre of mass of all links, in the world.",
    notes={"com": "m, in the world"},
    doc="Centre of mass (..., 3), in the world, of all that moves or stands on a root that was chosen.",
    textbook=lambda known: {"com": _mean(known, [body.center for body in known.bodies])},
)
CENTER_OF_MASS_JACOBIAN = Algorithm(
    "center_of_mass_jacobian",
    inputs=("q",),
    outputs={"com_jacobian": (3, "nv")},
    formulations={
        "composite": (*POSES, *MOMENTS, Stage("centre-of-mass jacobian", _center_of_mass_jacobian))
    },
    regroup=False,
    title="The Jacobian of the centre of mass.",
    notes={"com_jacobian": "velocity of the centre of mass by qd, in the world's axes"},
    doc="Jacobian (..., 3, nv) of the centre of mass, in the world's axes.",
    textbook=lambda known: {"com_jacobian": _mean(known, [body.linear for body in known.bodies])},
)
ENERGY = Algorithm(
    "energy",
    inputs=("q", "qd"),
    outputs={"kinetic": (), "potential": ()},
    formulations={"sum": _ENERGY},
    regroup=False,
    title="Kinetic and potential energy.",
    notes={"kinetic": "J", "potential": "J, zero at the world's origin"},
    doc="Named tuple (kinetic, potential), each (...), in joules; zero potential at the world's origin.",
    textbook=_textbook_energy,
)
