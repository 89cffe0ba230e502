"""Poses, Jacobians, centre of mass and energy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from robomorph.algorithms.inverse_dynamics import velocity_step
from robomorph.algorithms.sweep import WORLD, Site, Stage, State, Sweep
from robomorph.errors import ModelError
from robomorph.spatial import ZERO3, Scalar, Transform, Translation, Vec3, add3, cross3, dot3, scale3, sub3

_UNIT: tuple[Vec3, Vec3, Vec3] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True, slots=True)
class WorldPose:
    """Axes (as columns) and origin of a frame in the world."""

    axes: tuple[Vec3, Vec3, Vec3] = _UNIT
    origin: Vec3 = ZERO3

    def vector(self, v: Vec3) -> Vec3:
        """A free vector of the frame, in the world's axes."""
        x, y, z = self.axes
        return add3(add3(scale3(v[0], x), scale3(v[1], y)), scale3(v[2], z))

    def then(self, transform: Transform) -> WorldPose:
        """The pose of the frame that `transform` leads to."""
        axes, origin = self.axes, self.origin
        for move in transform.moves:
            if isinstance(move, Translation):
                origin = add3(origin, WorldPose(axes).vector(move.offset))
            else:
                # Each new axis is a combination of the old ones: rows of the move's matrix.
                rows = [move.back(unit) for unit in _UNIT]
                axes = tuple(WorldPose(axes).vector(row) for row in rows)  # type: ignore[assignment]
        return WorldPose(axes, origin)


def _target(state: State) -> tuple[int, Transform]:
    return state.tree.frames[state.whole["frame"]]


def _path_poses(state: State) -> dict[int, WorldPose]:
    """Poses of the links from the root to the target frame's; the others are not needed."""
    link, _ = _target(state)
    if ("pose", link) in state.fields:  # somebody has them already
        return {i: state.fields["pose", i] for i in (WORLD, *(state.tree.support[link] if link >= 0 else ()))}
    poses = {WORLD: WorldPose()}
    for i in state.tree.support[link] if link != WORLD else ():
        poses[i] = poses[state.tree.links[i].parent].then(state.fields["X", i])
    return poses


def _matrix(pose: WorldPose) -> list[list[Scalar]]:
    """The homogeneous 4x4."""
    rows: list[list[Scalar]] = [[*(axis[i] for axis in pose.axes), pose.origin[i]] for i in range(3)]
    return [*rows, [0.0, 0.0, 0.0, 1.0]]


def _forward_kinematics(state: State) -> None:
    link, placement = _target(state)
    state.whole["pose"] = _matrix(_path_poses(state)[link].then(placement))


def _link_poses(state: State) -> None:
    frames = list(state.tree.frames.values())[: state.tree.sizes.links]
    state.whole["poses"] = [_matrix(state.fields["pose", body].then(placement)) for body, placement in frames]


def _jacobian(state: State) -> None:
    link, placement = _target(state)
    poses = _path_poses(state)
    point = poses[link].then(placement).origin
    out: list[list[Any]] = [[0.0] * state.tree.nv for _ in range(6)]
    for dof in state.tree.support_dofs(link) if link != WORLD else ():
        unit = state.tree.links[dof.link].joint.subspace[dof.k]
        pose = poses[dof.link]
        ang = pose.vector(unit.ang)
        lin = add3(pose.vector(unit.lin), cross3(ang, sub3(point, pose.origin)))
        for row, value in enumerate((*lin, *ang)):
            out[row][dof.user] = out[row][dof.user] + dof.scale * value
    state.whole["jacobian"] = out


def _pose_step(site: Site) -> None:
    site["pose"] = site.parent("pose").then(site["X"])


def _world_pose(state: State) -> None:
    state.fields["pose", WORLD] = WorldPose()


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
    site["kinetic"] = site.link.inertia.kinetic_energy(site["v"])


def _energy(state: State) -> None:
    kinetic: Any = 0.0
    for link in state.tree.links:
        kinetic = kinetic + state.fields["kinetic", link.index]
    state.whole["kinetic"] = kinetic
    state.whole["potential"] = -dot3(state.tree.gravity, _world_moment(state))


POSES: tuple[Sweep | Stage, ...] = (Stage("world", _world_pose), Sweep("poses", _pose_step))
FORWARD_KINEMATICS: tuple[Sweep | Stage, ...] = (Stage("forward kinematics", _forward_kinematics),)
JACOBIAN: tuple[Sweep | Stage, ...] = (Stage("jacobian", _jacobian),)
LINK_POSES: tuple[Sweep | Stage, ...] = (*POSES, Stage("link poses", _link_poses))
CENTER_OF_MASS: tuple[Sweep | Stage, ...] = (*POSES, Stage("centre of mass", _center_of_mass))
# Mass and first moment of everything a link carries, in its frame.
MOMENTS: tuple[Sweep | Stage, ...] = (
    Sweep("start moments", _start_moment_step),
    Sweep("moments", _carry_moment_step, inward=True),
)
CENTER_OF_MASS_JACOBIAN: tuple[Sweep | Stage, ...] = (
    *POSES,
    *MOMENTS,
    Stage("centre-of-mass jacobian", _center_of_mass_jacobian),
)
ENERGY: tuple[Sweep | Stage, ...] = (
    *POSES,
    Sweep("velocities", velocity_step),
    Sweep("kinetic energy", _kinetic_step),
    Stage("energy", _energy),
)
