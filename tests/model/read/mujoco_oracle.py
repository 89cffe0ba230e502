"""MuJoCo as an oracle for robots read from its models: the same states, results in our coordinates.

Of MuJoCo only kinematics, the mass matrix and its recursive Newton-Euler are asked, which know no
constraints, no actuators and no passive forces.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import mujoco
import numpy as np
import numpy.typing as npt

import robomorph
from robomorph.errors import ModelWarning
from robomorph.robot import Robot
from robomorph.verify.reference import Reference

Array = npt.NDArray[np.float64]
_HAS_QM = hasattr(mujoco.MjData, "qM")


def load(source: Any, **options: Any) -> Robot:
    """The robot, warnings aside."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return robomorph.load(source, **options)


def mj_model(source: str | os.PathLike[str]) -> Any:
    """MuJoCo's own model of MJCF text or a file, without the log that it writes into the current folder."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda message: None)
    try:
        if isinstance(source, str) and "<" in source:
            return mujoco.MjModel.from_xml_string(source)
        return mujoco.MjModel.from_xml_path(os.fspath(source))
    finally:
        mujoco.set_mju_user_warning(before)


class Expected(NamedTuple):
    """MuJoCo's answers at one state, in our coordinates."""

    poses: dict[str, Array]
    mass_matrix: Array
    torque: Array


@dataclass
class Twin:
    """A robot and the MjModel that it was read from."""

    robot: Robot
    model: Any

    def __post_init__(self) -> None:
        if hasattr(self.model, "tendon_armature"):  # a tendon's inertia is in the mass matrix, too
            self.model.tendon_armature[:] = 0.0
        self.data: Any = mujoco.MjData(self.model)

    def expected(self, q: Array, qd: Array, qdd: Array) -> Expected:
        """Poses of bodies and sites that have names, the mass matrix and the torque of inverse dynamics."""
        turn = self._set(q, qd, qdd)
        mass = np.zeros((self.model.nv, self.model.nv))
        getattr(mujoco, "mj_makeM", mujoco.mj_crb)(self.model, self.data)
        if _HAS_QM:
            mujoco.mj_fullM(self.model, mass, self.data.qM)
        else:
            mujoco.mj_fullM(self.model, self.data, mass)
        torque, bias = np.zeros(self.model.nv), np.zeros(self.model.nv)
        mujoco.mj_rne(self.model, self.data, 0, bias)
        torque = bias + mass @ self.data.qacc
        return Expected(self._poses(), turn.T @ mass @ turn, turn.T @ torque)

    def _set(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Bring MuJoCo into our state; (nv, nv) what turns our velocities into MuJoCo's: those of a free
        joint are linear in the world's axes there."""
        data, turn = self.data, np.zeros((self.model.nv, self.robot.nv))
        more = np.zeros(self.model.nv)
        for body in self.robot.model.bodies:
            at, dof = self.robot.model.addresses[body.joint_name]
            mine, rates = self.robot.coordinates(body.joint_name)
            size = rates.stop - rates.start
            values = np.array(q[mine])
            turn[dof : dof + size, rates] = np.eye(size)
            if body.kind in ("spherical", "floating"):
                values[-4:] = np.roll(values[-4:], 1)
            data.qpos[at : at + len(values)] = values
            if body.kind == "floating":
                rotation = rotation_of(values[-4:])
                turn[dof : dof + 3, rates.start : rates.start + 3] = rotation
                more[dof : dof + 3] = rotation @ np.cross(qd[rates][3:], qd[rates][:3])
        data.qvel[:] = turn @ qd
        data.qacc[:] = turn @ qdd + more
        mujoco.mj_kinematics(self.model, data)
        mujoco.mj_comPos(self.model, data)
        mujoco.mj_comVel(self.model, data)
        return turn

    def _poses(self) -> dict[str, Array]:
        found: dict[str, Array] = {}
        kinds, data = mujoco.mjtObj, self.data
        for kind, count, position, matrix in (
            (kinds.mjOBJ_BODY, self.model.nbody, data.xpos, data.xmat),
            (kinds.mjOBJ_SITE, self.model.nsite, data.site_xpos, data.site_xmat),
        ):
            for index in range(count):
                name = mujoco.mj_id2name(self.model, kind, index)
                if name:
                    pose = np.eye(4)
                    pose[:3, :3], pose[:3, 3] = matrix[index].reshape(3, 3), position[index]
                    found[f"{name}_site" if name in found else name] = pose
        return found


def rotation_of(quaternion: Array) -> Array:
    """(3, 3) of [w, x, y, z], by MuJoCo."""
    out = np.zeros(9)
    mujoco.mju_quat2Mat(out, np.ascontiguousarray(quaternion))
    return out.reshape(3, 3)


def states(robot: Robot, seed: int, count: int) -> list[tuple[Array, Array, Array]]:
    """Configurations of any size, limits or not, velocities and accelerations."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(count):
        q = rng.normal(size=robot.nq)
        for body in robot.model.bodies:
            if body.kind in ("spherical", "floating"):
                end = robot.coordinates(body.joint_name)[0].stop
                q[end - 4 : end] /= np.linalg.norm(q[end - 4 : end])
        out.append((q, rng.normal(size=robot.nv), rng.normal(size=robot.nv)))
    return out


def differences(
    robot: Robot, model: Any, seed: int = 0, count: int = 2, *, compiled: bool = True
) -> dict[str, float]:
    """The largest difference of each quantity, relative to its scale. compiled: by kernels, forward dynamics
    among them; otherwise by the textbook's formulas, which need no compilation."""
    twin, worst = Twin(robot, model), dict.fromkeys(("poses", "mass matrix", "torque", "acceleration"), 0.0)
    textbook = Reference(robot)
    for q, qd, qdd in states(robot, seed, count):
        wanted = twin.expected(q, qd, qdd)
        names = robot.model.frame_names
        assert set(wanted.poses) <= set(names), "bodies or sites are missing"
        size = max((float(np.abs(pose[:3, 3]).max()) for pose in wanted.poses.values()), default=0.0) + 1e-3
        mine = frame_poses(textbook, q)
        if compiled:
            mine |= dict(zip(robot.link_names, robot.link_poses(q), strict=True))
        for name, pose in wanted.poses.items():
            error = np.abs(mine[name] - pose).max(axis=1)
            worst["poses"] = max(worst["poses"], error[:3].max() / max(size, 1.0))
        if robot.nv == 0:
            continue
        if compiled:
            _note(worst, "mass matrix", robot.mass_matrix(q), wanted.mass_matrix)
            _note(worst, "torque", robot.inverse_dynamics(q, qd, qdd), wanted.torque)
            _note(worst, "acceleration", robot.forward_dynamics(q, qd, wanted.torque), qdd)
        else:
            _note(worst, "mass matrix", textbook.mass_matrix(q[None])[0], wanted.mass_matrix)
            _note(worst, "torque", textbook.inverse_dynamics(q[None], qd[None], qdd[None])[0], wanted.torque)
    return worst


def frame_poses(textbook: Reference, q: Array) -> dict[str, Array]:
    """(4, 4) of every frame, by name."""
    bodies, found = textbook.bodies(q[None]), {}
    for frame in textbook.robot.model.frames:
        pose = np.eye(4)
        if frame.body >= 0:
            pose[:3, :3], pose[:3, 3] = bodies.rotation[frame.body][0], bodies.origin[frame.body][0]
        found[frame.name] = pose @ frame.placement.matrix
    return found


def _note(worst: dict[str, float], what: str, mine: Any, theirs: Any) -> None:
    scale = max(float(np.abs(theirs).max(initial=0.0)), 1e-12)
    worst[what] = max(worst[what], float(np.abs(mine - theirs).max(initial=0.0)) / scale)
