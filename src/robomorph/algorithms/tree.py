"""The tree that algorithms walk: links in internal frames, with constants ready to fold.

Internal frames have each joint's axis as z. They are chosen (frames.py) so that the constant part of
every transform is sparse; outputs are always given in the user's frames.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from robomorph.algorithms.frames import FramePlan, cos_sin, zxz
from robomorph.algorithms.joint_forces import JointForce, joint_forces
from robomorph.model import Inertia, Model, Pose
from robomorph.model.joints import JOINT_TYPES, JointType
from robomorph.model.manifolds.base import Array
from robomorph.spatial import BodyInertia, Move, Symmetric, Transform, Translation, Turn, Vec3


@dataclass(frozen=True, slots=True)
class Coupling:
    """How a joint's own coordinate follows the user's: own = scale * user + offset (mimic joints)."""

    scale: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class TreeLink:
    """One moving body in its internal frame."""

    index: int
    parent: int  # -1: the world
    joint: JointType
    placement: tuple[Move, ...]  # constant moves from the parent's internal frame to the joint frame
    turn: float  # constant angle about z handed to the joint
    inertia: BodyInertia  # in the internal frame; regrouped if the tree is
    q_start: int  # first coordinate of the user's configuration that this joint reads
    v_start: int  # first user degree of freedom
    d_start: int  # first internal degree of freedom (differs from v_start after mimic joints)
    coupling: Coupling
    forces: tuple[JointForce, ...] = ()  # what the joint asks for by itself


@dataclass(frozen=True, slots=True)
class Dof:
    """One internal degree of freedom: the k-th of a link's joint, and the user's it belongs to."""

    index: int
    link: int
    k: int
    user: int
    scale: float


class Start(NamedTuple):
    """First coordinate and first degree of freedom of a joint, in the user's vectors."""

    nq: int
    nv: int


class Sizes(NamedTuple):
    """Coordinates and degrees of freedom of the user's vectors, and the links of the description."""

    nq: int
    nv: int
    links: int


@dataclass(frozen=True)
class Tree:
    """A robot for algorithms. `frames` maps a user frame name to (link, pose in its internal frame), the
    description's links first."""

    links: tuple[TreeLink, ...]
    gravity: Vec3
    sizes: Sizes
    frames: dict[str, tuple[int, Transform]]
    standing: BodyInertia = field(default_factory=BodyInertia)  # fixed to the world, and part of the robot

    @property
    def nq(self) -> int:
        return self.sizes.nq

    @property
    def nv(self) -> int:
        return self.sizes.nv

    @cached_property
    def dofs(self) -> tuple[Dof, ...]:
        out: list[Dof] = []
        for link in self.links:
            for k in range(link.joint.nv):
                out.append(Dof(len(out), link.index, k, link.v_start + k, link.coupling.scale))
        return tuple(out)

    @cached_property
    def link_dofs(self) -> tuple[tuple[Dof, ...], ...]:
        """The internal degrees of freedom of each link's joint."""
        return tuple(self.dofs[link.d_start : link.d_start + link.joint.nv] for link in self.links)

    @cached_property
    def support(self) -> tuple[tuple[int, ...], ...]:
        """For each link, the links from the root to itself."""
        paths: list[tuple[int, ...]] = []
        for link in self.links:
            paths.append(((*paths[link.parent],) if link.parent >= 0 else ()) + (link.index,))
        return tuple(paths)

    @cached_property
    def subtree(self) -> tuple[tuple[int, ...], ...]:
        """For each link, itself and everything it carries."""
        members: list[list[int]] = [[] for _ in self.links]
        for path in self.support:
            for ancestor in path:
                members[ancestor].append(path[-1])
        return tuple(map(tuple, members))

    def support_dofs(self, link: int) -> Iterator[Dof]:
        for ancestor in self.support[link]:
            yield from self.link_dofs[ancestor]

    @property
    def coupled(self) -> bool:
        """Do several joints share a degree of freedom (mimic)?"""
        return len(self.dofs) != self.nv


def build_tree(model: Model, plan: FramePlan, *, regroup: bool) -> Tree:
    """The tree of `model` in the frames of `plan`; with `regroup`, inertial parameters that no torque
    can tell apart are moved towards the root (see docs/algorithms.md)."""
    inertias = [_internal_inertia(b.inertia, plan.to_internal[i]) for i, b in enumerate(model.bodies)]
    if regroup:
        inertias = _regrouped(model, plan, inertias)
    starts = coordinate_starts(model)
    links: list[TreeLink] = []
    first_dof = 0
    for i, body in enumerate(model.bodies):
        joint = JOINT_TYPES[body.kind]
        source = i if body.mimic is None else body.mimic[0]
        coupling = Coupling() if body.mimic is None else Coupling(*body.mimic[1:])
        links.append(
            TreeLink(
                i,
                body.parent,
                joint,
                plan.placements[i],
                plan.turns[i],
                inertias[i],
                *starts[source],
                first_dof,
                coupling,
                joint_forces(body, model.passive),
            )
        )
        first_dof += joint.nv
    frames = {f.name: (f.body, pose_transform(_in_internal(f.placement, f.body, plan))) for f in model.frames}
    gravity = tuple(float(g) for g in model.gravity)
    standing = _internal_inertia(model.standing, Pose.identity())
    sizes = model_sizes(model)
    return Tree(tuple(links), (gravity[0], gravity[1], gravity[2]), sizes, frames, standing)


def coordinate_starts(model: Model) -> dict[int, Start]:
    """For each body with coordinates of its own, its first coordinate and first degree of freedom."""
    starts: dict[int, Start] = {}
    nq = nv = 0
    for i, body in enumerate(model.bodies):
        if body.mimic is None:
            starts[i] = Start(nq, nv)
            nq, nv = nq + JOINT_TYPES[body.kind].nq, nv + JOINT_TYPES[body.kind].nv
    return starts


def model_sizes(model: Model) -> Sizes:
    free = [JOINT_TYPES[body.kind] for body in model.bodies if body.mimic is None]
    nq, nv = sum(joint.nq for joint in free), sum(joint.nv for joint in free)
    return Sizes(nq, nv, len(model.link_names))


def pose_transform(pose: Pose) -> Transform:
    """A constant transform to a frame with the given pose."""
    moves = turns_of(pose.rotation)
    offset = tuple(float(x) for x in pose.translation)
    translation: tuple[Move, ...] = (Translation((offset[0], offset[1], offset[2])),) if any(offset) else ()
    return Transform(translation + moves)


def turns_of(rotation: Array) -> tuple[Move, ...]:
    """A constant rotation as turns about z, x and z; trivial ones left out, right angles exact."""
    a, b, c = zxz(rotation)
    pairs = ((2, cos_sin(a)), (0, cos_sin(b)), (2, cos_sin(c)))
    return tuple(Turn(axis, *cs) for axis, cs in pairs if cs != (1.0, 0.0))


def _in_internal(placement: Pose, body: int, plan: FramePlan) -> Pose:
    return placement if body < 0 else plan.to_internal[body].compose(placement)


def _internal_inertia(inertia: Inertia, to_internal: Pose) -> BodyInertia:
    moved = inertia.moved(to_internal)
    first = moved.first_moment
    return BodyInertia(
        float(moved.mass),
        (float(first[0]), float(first[1]), float(first[2])),
        Symmetric.from_rows(moved.tensor_at_origin.tolist()),
    )


def _regrouped(model: Model, plan: FramePlan, inertias: list[BodyInertia]) -> list[BodyInertia]:
    out = list(inertias)
    for i in reversed(range(len(out))):
        body = model.bodies[i]
        joint = JOINT_TYPES[body.kind]
        kept, moved = joint.regroup(out[i])
        out[i] = kept
        if body.parent >= 0:
            at_rest = Transform(plan.placements[i]).then(joint.transform(joint.neutral(), plan.turns[i]))
            out[body.parent] = out[body.parent] + at_rest.inertia_back(moved)
    return [_without_noise(inertia) for inertia in out]


def _without_noise(inertia: BodyInertia) -> BodyInertia:
    """Entries that are rounding noise beside the largest of their kind become exact zeros."""
    groups = ((inertia.mass,), inertia.first, inertia.second.scalars())
    clean: list[float] = []
    for group in groups:
        size = max(abs(float(x)) for x in group)
        clean += [0.0 if abs(float(x)) <= 1e-15 * size else float(x) for x in group]
    return BodyInertia.of(clean)
