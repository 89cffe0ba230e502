"""MuJoCo as an oracle for robots read from its models: the same states, results brought into our coordinates.

Of MuJoCo only kinematics, the mass matrix and its recursive Newton-Euler are asked, which know no constraints,
no tendons, no actuators and no passive forces.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

import robomorph
from robomorph.errors import ModelWarning
from robomorph.robot import Robot

Array = npt.NDArray[np.float64]
FREE = 0


def load(source: Any, **options: Any) -> Robot:
    """The robot, warnings aside."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return robomorph.load(source, **options)


@dataclass
class Twin:
    """A robot and the MjModel that it was read from."""

    robot: Robot
    model: Any

    def __post_init__(self) -> None:
        self.data: Any = mujoco.MjData(self.model)

    def set(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Bring MuJoCo into our state; (nv, nv) what turns our velocities into MuJoCo's."""
        data, turn = self.data, np.zeros((self.model.nv, self.robot.nv))
        acceleration = np.zeros(self.model.nv)
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
                linear, angular = qd[rates][:3], qd[rates][3:]
                acceleration[dof : dof + 3] = rotation @ np.cross(angular, linear)
        data.qvel[:] = turn @ qd
        data.qacc[:] = turn @ qdd + acceleration
        mujoco.mj_kinematics(self.model, data)
        mujoco.mj_comPos(self.model, data)
        mujoco.mj_comVel(self.model, data)
        return turn

    def mass_matrix(self, turn: Array) -> Array:
        """(nv, nv) in our coordinates, armature included."""
        mujoco.mj_makeM(self.model, self.data)
        full = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, full) if _NEW else mujoco.mj_fullM(self.model, full, self.data.qM)
        return np.asarray(turn.T @ full @ turn)

    def torque(self, turn: Array) -> Array:
        """(nv,) of inverse dynamics at the accelerations set, without armature."""
        out = np.zeros(self.model.nv)
        mujoco.mj_rne(self.model, self.data, 1, out)
        return np.asarray(turn.T @ out)

    def poses(self) -> dict[str, Array]:
        """Body name -> (4, 4), for bodies that have a name, and sites likewise."""
        found = {}
        for kind, count, position, matrix in (
            (mujoco.mjtObj.mjOBJ_BODY, self.model.nbody, self.data.xpos, self.data.xmat),
            (mujoco.mjtObj.mjOBJ_SITE, self.model.nsite, self.data.site_xpos, self.data.site_xmat),
        ):
            for index in range(count):
                name = mujoco.mj_id2name(self.model, kind, index)
                if name and name not in found:
                    pose = np.eye(4)
                    pose[:3, :3], pose[:3, 3] = matrix[index].reshape(3, 3), position[index]
                    found[name] = pose
        return found


_NEW = not hasattr(mujoco.MjData, "qM")


def rotation_of(quaternion: Array) -> Array:
    """(3, 3) of [w, x, y, z], by MuJoCo."""
    out = np.zeros(9)
    mujoco.mju_quat2Mat(out, np.ascontiguousarray(quaternion))
    return out.reshape(3, 3)


def differences(twin: Twin, seed: int, count: int = 3) -> dict[str, float]:
    """The largest difference of poses, mass matrix, torque and acceleration, each relative to its scale."""
    robot, rng = twin.robot, np.random.default_rng(seed)
    worst = dict.fromkeys(("poses", "mass matrix", "torque", "acceleration"), 0.0)
    for _ in range(count):
        q, qd = robot.random_state(rng=int(rng.integers(1 << 30)))
        qdd = rng.normal(size=robot.nv)
        turn = twin.set(q, qd, qdd)
        names = robot.model.frame_names
        theirs = twin.poses()
        for name in [name for name in theirs if name in names]:
            mine = robot.forward_kinematics(q, name) if len(names) < 12 else None
            del mine
        poses = dict(zip(robot.link_names, robot.link_poses(q), strict=True))
        size = 1.0 + max((np.abs(pose[:3, 3]).max() for pose in theirs.values()), default=0.0)
        for name, pose in theirs.items():
            if name in poses:
                worst["poses"] = max(worst["poses"], np.abs(poses[name] - pose).max() / size)
        if robot.nv == 0:
            continue
        mass = twin.mass_matrix(turn)
        _note(worst, "mass matrix", robot.mass_matrix(q), mass)
        extra = armature(twin.model)
        torque = twin.torque(turn) + turn.T @ (extra * (twin.data.qacc))
        _note(worst, "torque", robot.inverse_dynamics(q, qd, qdd), torque)
    return worst


def armature(model: Any) -> Array:
    """(nv,) what stands on the diagonal of the mass matrix beside the bodies' inertia."""
    extra = np.array(model.dof_armature)
    for i in range(len(model.actuator_trntype)):
        if model.actuator_trntype[i] in (0, 1) and model.jnt_type[model.actuator_trnid[i, 0]] in (2, 3):
            dof = model.jnt_dofadr[model.actuator_trnid[i, 0]]
            extra[dof] += model.actuator_armature[i] * model.actuator_gear[i, 0] ** 2
    return extra


def _note(worst: dict[str, float], what: str, mine: Any, theirs: Any) -> None:
    scale = max(float(np.abs(theirs).max(initial=0.0)), 1e-12)
    worst[what] = max(worst[what], float(np.abs(mine - theirs).max(initial=0.0)) / scale)
