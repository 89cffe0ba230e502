"""How the pose of one frame changes, and what weights of its entries make of every joint.

A change of configuration moves the frame like a velocity: its axes turn. Weights of the pose's entries are a
wrench at the frame, which is carried to the root like any other.
"""

from __future__ import annotations

from robomorph.algorithms.algorithm import Parts
from robomorph.algorithms.frame_motion import frame_motion
from robomorph.algorithms.inputs import set_rates, user_vector
from robomorph.algorithms.path import PATH_POSES, frame_pose, path, target
from robomorph.algorithms.sweep import Stage, State
from robomorph.spatial import Force, Scalar, Vec3, add3, cross3, dot3


def _move(state: State) -> None:
    set_rates(state, "qd", state.whole["dq"])


def _change_pose(state: State) -> None:
    motion = frame_motion(state, accelerate=False)
    turned = [cross3(motion.spin, axis) for axis in frame_pose(state).axes]
    rows: list[list[Scalar]] = [[*(axis[i] for axis in turned), motion.velocity[i]] for i in range(3)]
    state.whole["dpose"] = [*rows, [0.0] * 4]


def _weigh_pose(state: State) -> None:
    weights, axes = state.whole["w_pose"], frame_pose(state).axes
    columns: list[Vec3] = [(weights[c], weights[4 + c], weights[8 + c]) for c in range(4)]
    moment: Vec3 = (0.0, 0.0, 0.0)
    for axis, column in zip(axes, columns, strict=False):
        moment = add3(moment, cross3(axis, column))
    own = [tuple(dot3(axis, x) for axis in axes) for x in (moment, columns[3])]
    _, placement = target(state)
    force = placement.force_back(Force.of([*own[0], *own[1]]))
    by_dof: list[Scalar] = [0.0] * len(state.tree.dofs)
    for i in reversed(path(state)):
        for dof in state.tree.link_dofs[i]:
            by_dof[dof.index] = force.dot(state.tree.links[i].joint.subspace[dof.k])
        force = state.fields["X", i].force_back(force)
    state.whole["dq"] = user_vector(state.tree, by_dof)


POSE_CHANGE: Parts = (Stage("rates", _move), *PATH_POSES, Stage("change of the pose", _change_pose))
POSE_WEIGHTS: Parts = (*PATH_POSES, Stage("wrench at the frame", _weigh_pose))
