"""A robot in one configuration, over any scalar: what tasks are computed from."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Any

from robomorph.algorithms.inputs import set_inputs
from robomorph.algorithms.kinematics import CENTER_OF_MASS, CENTER_OF_MASS_JACOBIAN
from robomorph.algorithms.path import COLUMNS, COLUMNS_OF_LINKS, PATH_POSES, REACH, columns, frame_pose, tip
from robomorph.algorithms.sweep import WORLD, State, run
from robomorph.algorithms.tree import Tree
from robomorph.algorithms.world_pose import WorldPose
from robomorph.spatial import Scalar

Matrix = list[list[Any]]


class Scene:
    """Poses, velocities per degree of freedom and the centre of mass at `q` (nq scalars of any kind: floats,
    arrays, traced expressions).

    `inward` names frames whose position is carried from the frame to the base instead of outward. The values
    are the same but for rounding; what is less work depends on what is asked for."""

    def __init__(self, tree: Tree, q: Sequence[Scalar], inward: Collection[str] = ()) -> None:
        self.tree, self._q, self._inward = tree, list(q), frozenset(inward)
        self.read: set[int] = set()  # coordinates that were asked for by themselves
        self.asked: set[str] = set()  # frames that were asked for
        self._state = State(tree)
        set_inputs(self._state, {"q": self._q}, ())

    def coordinate(self, i: int) -> Scalar:
        """The coordinate q_i itself. A task that asks for it says so in `coordinates`."""
        self.read.add(i)
        return self._q[i]

    def pose(self, frame: str) -> WorldPose:
        """Axes and origin of a frame in the world."""
        pose = frame_pose(self._placed(frame))
        if frame not in self._inward:
            return pose
        run(self._state, REACH)
        return WorldPose(pose.axes, tip(self._state))

    def columns(self, frame: str) -> tuple[Matrix, Matrix]:
        """Linear (of the frame's origin) and angular velocity of a frame per user's degree of freedom,
        (3, nv) each, in world axes."""
        self._placed(frame).fields["tip", WORLD] = self.pose(frame).origin
        run(self._state, [COLUMNS_OF_LINKS if frame in self._inward else COLUMNS])
        linear: Matrix = [[0.0] * self.tree.nv for _ in range(3)]
        angular: Matrix = [[0.0] * self.tree.nv for _ in range(3)]
        for dof, one in columns(self._state):
            for i in range(3):
                linear[i][dof.user] = linear[i][dof.user] + dof.scale * one.linear[i]
                angular[i][dof.user] = angular[i][dof.user] + dof.scale * one.angular[i]
        return linear, angular

    def _placed(self, frame: str) -> State:
        """The state, with poses of all links from the world to the frame."""
        self.asked.add(frame)
        self._state.whole["frame"] = frame
        if ("pose", self.tree.frames[frame][0]) not in self._state.fields:
            run(self._state, PATH_POSES)
        return self._state

    @cached_property
    def center_of_mass(self) -> list[Scalar]:
        """(3,) in the world, of all bodies that count (docs/conventions.md)."""
        run(self._state, CENTER_OF_MASS.formulations["sum"])
        return list(self._state.whole["com"])

    @cached_property
    def center_of_mass_jacobian(self) -> Matrix:
        """Velocity of the centre of mass per user's degree of freedom (3, nv)."""
        run(self._state, CENTER_OF_MASS_JACOBIAN.formulations["composite"])
        return [list(row) for row in self._state.whole["com_jacobian"]]
