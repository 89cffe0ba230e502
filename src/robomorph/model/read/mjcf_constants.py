"""Where MuJoCo's accelerations are not those of the numbers that a model has.

Its integrator "discrete" makes them those of a step. And it goes on with what it kept of the model when it
was compiled, though the numbers have changed: the mass matrix of a body that stands in the world and carries
none is a constant diagonal if its joints are along its main axes, and the diagonal is the one that was noted
until mj_setConst is called.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..notes import DISCRETE_STEPS, STALE_MASSES, Notes, Place
from .mjcf_actuators import Motors
from .mjcf_arrays import Arrays
from .mjcf_joints import BALL, FREE, SLIDE
from .mjcf_names import Names
from .mjcf_poses import pose_of

_DISCRETE = 4  # of MuJoCo's mjtIntegrator
_ROUNDING = 1e-8  # relative: of frames that the compiler takes for the same


def check_integrator(arrays: Arrays, notes: Notes) -> None:
    """Note the integrator of MuJoCo 4 that changes the accelerations themselves."""
    if int(arrays.option("integrator")) == _DISCRETE:
        notes.add(DISCRETE_STEPS, Place(arrays.label, 0, "<option>"), 'integrator="discrete"')


def check_constants(arrays: Arrays, names: Names, motors: Motors, notes: Notes) -> None:
    """Note every body whose masses are to MuJoCo those of before a change."""
    for body in range(1, arrays.count("nbody")):
        first, count = int(arrays["body_dofadr"][body]), int(arrays["body_dofnum"][body])
        if count == 0 or not arrays["dof_simplenum"][first]:
            continue
        kept = np.diag(arrays["dof_M0"][first : first + count])
        now = _mass_matrix(arrays, body, motors)
        if not np.abs(now - kept).max() <= _ROUNDING * np.abs(kept).max():
            place = Place(arrays.label, 0, f'<body name="{names.bodies[body]}">')
            detail = f"inertias {np.diag(now).tolist()}, to MuJoCo {np.diag(kept).tolist()}"
            notes.add(STALE_MASSES, place, detail)


def _mass_matrix(arrays: Arrays, body: int, motors: Motors) -> Array:
    """(n, n) of the joints of a body that stands in the world and carries none, where all are at `ref`."""
    first, count = int(arrays["body_jntadr"][body]), int(arrays["body_jntnum"][body])
    own = pose_of(arrays, "body_i", body)
    tensor = own.rotation @ np.diag(arrays["body_inertia"][body]) @ own.rotation.T
    turns, slides, armature = [], [], []
    for joint in range(first, first + count):
        about, along = _motions(arrays, joint, own.translation)
        turns += [*about]
        slides += [*along]
        more = motors.armature.get(joint, 0.0)
        start = int(arrays["jnt_dofadr"][joint])
        armature += [value + more for value in arrays["dof_armature"][start : start + len(about)]]
    w, v = np.array(turns), np.array(slides)
    mass = float(arrays["body_mass"][body])
    return np.array(w @ tensor @ w.T + mass * v @ v.T + np.diag(armature))


def _motions(arrays: Arrays, joint: int, centre: Array) -> tuple[Array, Array]:
    """(n, 3) angular velocities of a joint's unit speeds, and (n, 3) linear ones of the centre of mass, in
    the body's axes."""
    kind, still, frame = int(arrays["jnt_type"][joint]), np.zeros((1, 3)), np.eye(3)
    axis: Array = arrays["jnt_axis"][joint][None]
    arm = centre - arrays["jnt_pos"][joint]
    if kind == SLIDE:
        return still, axis
    if kind == FREE:
        return np.vstack([np.zeros((3, 3)), frame]), np.vstack([frame, np.cross(frame, centre)])
    turns = frame if kind == BALL else axis
    return turns, np.cross(turns, arm)
