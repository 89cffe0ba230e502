"""A robot in one configuration, over any scalar: what tasks are computed from."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from robomorph.algorithms.inputs import set_inputs
from robomorph.algorithms.kinematics import CENTER_OF_MASS, CENTER_OF_MASS_JACOBIAN, POSES
from robomorph.algorithms.sweep import WORLD, State, run
from robomorph.algorithms.tree import Tree
from robomorph.algorithms.world_pose import WorldPose
from robomorph.spatial import Scalar, add3, cross3, sub3

Matrix = list[list[Any]]


class Scene:
    """Poses, velocities per degree of freedom and the centre of mass at `q` (nq scalars of any kind: floats,
    arrays, traced expressions)."""

    def __init__(self, tree: Tree, q: Sequence[Scalar]) -> None:
        self.tree, self._q = tree, list(q)
        self.read: set[int] = set()  # coordinates that were asked for by themselves
        self._state = State(tree)
        set_inputs(self._state, {"q": self._q}, ())
        run(self._state, POSES)

    def coordinate(self, i: int) -> Scalar:
        """The coordinate q_i itself. A task that asks for it says so in `coordinates`."""
        self.read.add(i)
        return self._q[i]

    def pose(self, frame: str) -> WorldPose:
        """Axes and origin of a frame in the world."""
        link, placement = self.tree.frames[frame]
        pose: WorldPose = self._state.fields["pose", link]
        return pose.then(placement)

    def columns(self, frame: str) -> tuple[Matrix, Matrix]:
        """Linear (of the frame's origin) and angular velocity of a frame per user's degree of freedom,
        (3, nv) each, in world axes."""
        link, _ = self.tree.frames[frame]
        point = self.pose(frame).origin
        linear: Matrix = [[0.0] * self.tree.nv for _ in range(3)]
        angular: Matrix = [[0.0] * self.tree.nv for _ in range(3)]
        for dof in self.tree.support_dofs(link) if link != WORLD else ():
            unit = self.tree.links[dof.link].joint.subspace[dof.k]
            pose: WorldPose = self._state.fields["pose", dof.link]
            ang = pose.vector(unit.ang)
            lin = add3(pose.vector(unit.lin), cross3(ang, sub3(point, pose.origin)))
            for i in range(3):
                linear[i][dof.user] = linear[i][dof.user] + dof.scale * lin[i]
                angular[i][dof.user] = angular[i][dof.user] + dof.scale * ang[i]
        return linear, angular

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
