"""Kinematics of one frame as sweeps over the links from the world to it; no other link is touched.

Outward go poses, and with the tip a column of the Jacobian per degree of freedom. Inward goes the tip: its
position in every link's frame, in the world's at the end. With those, columns need no origins.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from robomorph.algorithms.reach import Column, column, column_of_link, reach
from robomorph.algorithms.sweep import WORLD, Site, Stage, State, Sweep
from robomorph.algorithms.tree import Dof, Tree
from robomorph.algorithms.world_pose import WorldPose
from robomorph.spatial import ZERO3, Transform, Vec3


def target(state: State) -> tuple[int, Transform]:
    """The link that the frame is fixed to, and the transform to the frame."""
    return state.tree.frames[state.whole["frame"]]


def path(state: State) -> Sequence[int]:
    """The links from the world to the frame, outward."""
    link, _ = target(state)
    return () if link == WORLD else state.tree.support[link]


def pose_step(site: Site) -> None:
    """Outward: a link's pose in the world."""
    site["pose"] = site.parent("pose").then(site["X"])


def world_pose(state: State) -> None:
    state.fields["pose", WORLD] = WorldPose()


def frame_pose(state: State) -> WorldPose:
    """The frame's pose in the world, once its link's is known."""
    link, placement = target(state)
    pose: WorldPose = state.fields["pose", link]
    return pose.then(placement)


def tip(state: State) -> Vec3:
    """The frame's origin in the world, once it is known."""
    found: Vec3 = state.fields["tip", WORLD]
    return found


def _tip_of_pose(state: State) -> None:
    state.fields["tip", WORLD] = frame_pose(state).origin


def _tip_of_frame(state: State) -> None:
    """The frame's origin in the frame of its link: where the way inward begins."""
    link, placement = target(state)
    state.fields["tip", link] = reach(placement, ZERO3)


def _reach_step(site: Site) -> None:
    site.state.fields["tip", site.link.parent] = reach(site["X"], site["tip"])


def _own_columns(tree: Tree, link: int) -> Iterable[Dof]:
    return tree.link_dofs[link]


def _column_step(site: Site) -> None:
    site.column_set("J", column(site["pose"], site.column_motion, tip(site.state)))


def _column_of_link_step(site: Site) -> None:
    site.column_set("J", column_of_link(site["pose"], site.column_motion, site["tip"]))


def columns(state: State) -> list[tuple[Dof, Column]]:
    """What the column sweep left, per internal degree of freedom on the path."""
    dofs = [dof for link in path(state) for dof in state.tree.link_dofs[link]]
    return [(dof, state.columns["J", dof.link, dof.index]) for dof in dofs]


# Poses of the path's links, in fields "pose".
PATH_POSES: tuple[Sweep | Stage, ...] = (
    Stage("world", world_pose),
    Sweep("poses", pose_step, links=path),
)
# The tip in the frames of the path's links and of the world, in fields "tip".
REACH: tuple[Sweep | Stage, ...] = (
    Stage("tip", _tip_of_frame),
    Sweep("reach", _reach_step, inward=True, links=path),
)
TIP_OF_POSE = Stage("tip", _tip_of_pose)
# Columns of the Jacobian, in columns "J": once the tip is known in the world, or by REACH in every link.
COLUMNS = Sweep("columns", _column_step, columns=_own_columns, links=path)
COLUMNS_OF_LINKS = Sweep("columns", _column_of_link_step, columns=_own_columns, links=path)
