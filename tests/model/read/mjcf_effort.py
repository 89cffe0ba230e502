"""Limits of a robot's model against the ranges of MuJoCo's joints and the forces of its actuators."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from robomorph.robot import Robot

_TRIES = 8
_SCALAR = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
_FAR = 1e9  # beyond all ranges of controls
_PLAIN = ("actuator_gaintype", "actuator_biastype", "actuator_dyntype")  # all 0: gain times control


def limit_difference(robot: Robot, model: Any) -> float:
    """The largest difference of position limits, of joints that MuJoCo keeps in a range."""
    bits = mujoco.mjtDisableBit
    off = int(model.opt.disableflags) & (int(bits.mjDSBL_LIMIT) | int(bits.mjDSBL_CONSTRAINT))
    worst = 0.0
    for body in robot.model.bodies:
        joint = int(model.dof_jntid[robot.model.addresses[body.joint_name][1]])
        mine = np.array([body.limits.lower, body.limits.upper])
        scalar = int(model.jnt_type[joint]) in _SCALAR
        if scalar and model.jnt_limited[joint] and not off:
            worst = max(worst, float(np.abs(mine - model.jnt_range[joint]).max()))
        elif np.isfinite(mine).any():
            worst = np.inf
    return worst


def effort_excess(robot: Robot, model: Any, seed: int) -> float:
    """By how much some joint's torque exceeds its limit, relative to that, under controls of any size."""
    rng, data, worst = np.random.default_rng(seed), mujoco.MjData(model), 0.0
    for _ in range(_TRIES):
        mujoco.mj_resetData(model, data)
        data.qpos[:] = model.qpos0 + rng.normal(size=model.nq) * 0.1
        data.qvel[:] = rng.normal(size=model.nv)
        data.ctrl[:] = rng.choice((-1e3, -1.0, 0.0, 1.0, 1e3), size=model.nu)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_transmission(model, data)
        mujoco.mj_fwdVelocity(model, data)
        mujoco.mj_fwdActuation(model, data)
        for body in robot.model.bodies:
            limit, dof = body.limits.effort, robot.model.addresses[body.joint_name][1]
            if np.isfinite(limit):
                worst = max(worst, (abs(data.qfrc_actuator[dof]) - limit) / max(limit, 1.0))
    return worst


def effort_slack(robot: Robot, model: Any) -> float:
    """By how much some limit exceeds the largest torque that its joint's actuators do exert, relative to it,
    of joints whose actuators are all a gain times their control."""
    data, worst = mujoco.MjData(model), 0.0
    off = int(model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    if off or model.opt.disableactuator:
        return 0.0
    for body in robot.model.bodies:
        dof = robot.model.addresses[body.joint_name][1]
        own = [a for a in range(len(model.actuator_trntype)) if _drives(model, a, int(model.dof_jntid[dof]))]
        limit = body.limits.effort
        plain = all(not getattr(model, name)[a] for a in own for name in _PLAIN)
        if not (own and plain and np.isfinite(limit)):
            continue
        reached = 0.0
        for sign in (-_FAR, _FAR):
            data.ctrl[:] = 0.0
            for a in own:
                control = int(model.actuator_ctrladr[a]) if hasattr(model, "actuator_ctrladr") else a
                data.ctrl[control] = sign * np.sign(_gear(model, a) * model.actuator_gainprm[a][0])
            mujoco.mj_fwdPosition(model, data)
            mujoco.mj_fwdVelocity(model, data)
            mujoco.mj_fwdActuation(model, data)
            reached = max(reached, abs(data.qfrc_actuator[dof]))
        worst = max(worst, (limit - reached) / max(limit, 1.0))
    return worst


def _drives(model: Any, actuator: int, joint: int) -> bool:
    kinds = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
    return int(model.actuator_trntype[actuator]) in kinds and model.actuator_trnid[actuator][0] == joint


def _gear(model: Any, actuator: int) -> float:
    row = int(model.actuator_outadr[actuator]) if hasattr(model, "actuator_outadr") else actuator
    return float(model.actuator_gear[row][0])
