"""Forward kinematics, the Jacobian and inverse dynamics by parallel prefix: little depth for more work.

A sweep from the root to a tip takes as many steps as there are links on the way. Products and sums along all
ways of a tree can be had in the logarithm of that: links are cut by their depth in the tree into blocks of 1,
2, 4, ... levels, and what is known of a block's first half is joined to its second half, all links at once.
For this all vectors are in the world's frame, where nothing needs to be transformed on its way; that, and up
to half a join per link and doubling, is the price. So these formulations are kept apart from those that
compete by work, and taken only where depth decides: in thread groups of a GPU, and in hardware that shares
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from robomorph.algorithms.inverse_dynamics import GATHER
from robomorph.algorithms.kinematics import POSES
from robomorph.algorithms.own_forces import with_own
from robomorph.algorithms.path import PATH_POSES
from robomorph.algorithms.sweep import WORLD, Stage, State, Sweep
from robomorph.algorithms.tree import Tree
from robomorph.algorithms.world_pose import WorldPose
from robomorph.spatial import ZERO3, Force, Motion, Vec3, add3, cross3, dot3

T = TypeVar("T")
_Join = Callable[[T, T], T]


def from_root(tree: Tree, values: Sequence[T], join: _Join[T]) -> list[T]:
    """Per link, the values from the first link to itself, joined in that order."""
    out = list(values)
    for span in _doublings(tree):
        before = list(out)
        for link, way in enumerate(tree.support):
            block = (len(way) - 1) // span
            if block % 2:
                out[link] = join(before[way[block * span - 1]], before[link])
    return out


def from_tips(tree: Tree, values: Sequence[T], join: _Join[T]) -> list[T]:
    """Per link, the sum of its own value and those of all it carries; the order of joins is free."""
    out = list(values)
    for span in _doublings(tree):
        before = list(out)
        for link, way in enumerate(tree.support):
            if (len(way) - 1) % span or ((len(way) - 1) // span) % 2 == 0:
                continue
            for above in way[len(way) - 1 - span : -1]:  # the half block before this one
                out[above] = join(out[above], before[link])
    return out


def _doublings(tree: Tree) -> list[int]:
    """1, 2, 4, ... below the length of the longest way."""
    longest = max((len(way) for way in tree.support), default=0)
    return [1 << k for k in range(max(0, longest - 1).bit_length())]


def _turned(a: WorldPose, b: WorldPose) -> WorldPose:
    """Rotations alone, one after the other."""
    x, y, z = (a.vector(axis) for axis in b.axes)
    return WorldPose((x, y, z))


def _poses(state: State) -> None:
    """Rotations by a product, then origins by a sum of steps in the world's axes."""
    tree = state.tree
    own = [WorldPose().then(state.fields["X", link.index]) for link in tree.links]
    turns = from_root(tree, [WorldPose(pose.axes) for pose in own], _turned)
    steps = [
        pose.origin if link.parent == WORLD else turns[link.parent].vector(pose.origin)
        for link, pose in zip(tree.links, own, strict=True)
    ]
    origins = from_root(tree, steps, add3)
    state.fields["pose", WORLD] = WorldPose()
    for link, turn, origin in zip(tree.links, turns, origins, strict=True):
        state.fields["pose", link.index] = WorldPose(turn.axes, origin)


def _motions(state: State) -> None:
    """Velocities and accelerations in the world, about its origin: sums over the joints on the way."""
    tree, fields = state.tree, state.fields
    across: list[Motion] = []
    driven: list[Motion] = []
    for link in tree.links:
        fields["S", link.index] = units = [
            _motion_out(fields["pose", link.index], unit) for unit in link.joint.subspace
        ]
        across.append(_combined(units, fields["qd", link.index]))
        driven.append(_combined(units, fields["qdd", link.index]))
    velocities = from_root(tree, across, Motion.__add__)
    own = [a + v.cross(j) for a, v, j in zip(driven, velocities, across, strict=True)]
    start = fields["a", WORLD]
    for link, v, a in zip(tree.links, velocities, from_root(tree, own, Motion.__add__), strict=True):
        fields["v", link.index], fields["a", link.index] = v, a + start


def _torques(state: State) -> None:
    """Each link's own force, seen from its frame, where inertias are constant; then sums from the tips."""
    tree, fields = state.tree, state.fields
    forces: list[Force] = []
    for link in tree.links:
        pose = fields["pose", link.index]
        v, a = (_motion_in(pose, fields[name, link.index]) for name in ("v", "a"))
        force = link.inertia.apply(a) + v.cross_force(link.inertia.apply(v))
        external = fields.get(("f_ext", link.index))
        forces.append(_force_out(pose, force if external is None else force - external))
    for link, total in zip(tree.links, from_tips(tree, forces, Force.__add__), strict=True):
        tau = [total.dot(unit) for unit in fields["S", link.index]]
        fields["tau", link.index] = with_own(state, link, tau)


def _combined(units: Sequence[Motion], rates: Sequence[object]) -> Motion:
    total = Motion()
    for unit, rate in zip(units, rates, strict=True):
        total = total + unit.scaled(rate)
    return total


def _motion_out(pose: WorldPose, m: Motion) -> Motion:
    """A motion of a frame, in the world's axes about the world's origin."""
    ang = pose.vector(m.ang)
    return Motion(ang, add3(pose.vector(m.lin), cross3(pose.origin, ang)))


def _motion_in(pose: WorldPose, m: Motion) -> Motion:
    return Motion(_inward(pose, m.ang), _inward(pose, add3(m.lin, cross3(m.ang, pose.origin))))


def _force_out(pose: WorldPose, f: Force) -> Force:
    lin = pose.vector(f.lin)
    return Force(add3(pose.vector(f.ang), cross3(pose.origin, lin)), lin)


def _inward(pose: WorldPose, v: Vec3) -> Vec3:
    """A vector of the world, in the frame's axes."""
    x, y, z = pose.axes
    return (dot3(x, v), dot3(y, v), dot3(z, v)) if v is not ZERO3 else ZERO3


_POSES = Stage("poses by prefix", _poses)
_DYNAMICS: tuple[Sweep | Stage, ...] = (
    _POSES,
    Stage("motions by prefix", _motions),
    Stage("torques by prefix", _torques),
    GATHER,
)
_FROM_POSES = ("forward_kinematics", "link_poses", "jacobian")
NAME = "prefix"


def shallow_formulations(
    name: str, formulations: Mapping[str, tuple[Sweep | Stage, ...]]
) -> dict[str, tuple[Sweep | Stage, ...]]:
    """What the algorithm `name` has beside its formulations where depth decides; for most nothing."""
    if name == "inverse_dynamics":
        return {NAME: _DYNAMICS}
    if name in _FROM_POSES:
        after = [part for part in next(iter(formulations.values())) if part not in (*POSES, *PATH_POSES)]
        return {NAME: (_POSES, *after)}
    return {}
