"""Models of gymnasium and dm_control as trees of rigid bodies, with MuJoCo's derivatives of their steps."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from robomorph.bench.peers.peer import PeerError, module
from robomorph.errors import ModelWarning
from robomorph.loading import load
from robomorph.model.arrays import Array
from robomorph.mujoco import forces_to_mujoco, state_to_mujoco
from robomorph.robot import Robot

MODELS = {
    "gymnasium": ("ant", "half_cheetah", "hopper", "humanoid", "swimmer", "walker2d"),
    "dm_control": ("cheetah", "fish", "humanoid_CMU", "quadruped", "dog"),
}
_FOLDERS = {"gymnasium": "gymnasium/envs/mujoco/assets", "dm_control": "dm_control/suite"}
_IGNORED = ("tendon", "equality", "actuator")
_STEP = 1e-6  # of differences, as in MuJoCo's own examples


class States(NamedTuple):
    """Ours: q (batch, nq), qd and tau (batch, nv)."""

    q: Array
    qd: Array
    tau: Array


@dataclass(frozen=True)
class Pair:
    """A robot, and the MjModel without contact that it was read from."""

    name: str
    robot: Robot
    model: Any

    def states(self, batch: int) -> States:
        """Moving states, with torques that match the masses: some of these bodies weigh a gram."""
        rng = np.random.default_rng(0)
        q, qd = self.robot.random_state(rng, batch)
        qd = np.clip(qd, -3.0, 3.0)
        return States(q, qd, self.robot.inverse_dynamics(q, qd, rng.normal(size=qd.shape)))

    def put(self, states: States) -> tuple[Array, ...]:
        """MuJoCo's qpos, qvel and qfrc_applied of our states."""
        return (
            *state_to_mujoco(self.robot, states.q, states.qd),
            forces_to_mujoco(self.robot, states.q, states.tau),
        )


def model_file(package: str, stem: str) -> Path:
    """The file of a model, in a package that need not be one that can be imported."""
    name = f"{_FOLDERS[package]}/{stem}.xml"
    try:
        found = [file for file in metadata.files(package) or [] if str(file) == name]
    except metadata.PackageNotFoundError:
        found = []
    if not found:
        raise PeerError(f"expected the package {package} with {name}: pip install {package}")
    return Path(str(found[0].locate()))


def pair(package: str, stem: str) -> Pair:
    """The model of a file, made contact-free and with motors of its own, and the robot it is."""
    mujoco = module("mujoco")
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda message: None)  # left alone it writes a log into the current folder
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of attributes that will be removed
            model = motorised(mujoco, mujoco.MjSpec.from_file(str(model_file(package, stem))))
    finally:
        mujoco.set_mju_user_warning(before)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return Pair(f"{package} {stem}", load(model, passive=True, ignore=_IGNORED), model)


def motorised(mujoco: Any, spec: Any) -> Any:
    """The contact-free MjModel with a motor at each degree of freedom instead of its own actuators, so that
    MuJoCo's B, which is by controls, is by all generalised forces. Gears differ: a mistaken order shows."""
    for element in (*spec.actuators, *spec.sensors, *spec.keys):
        spec.delete(element)
    sizes = {mujoco.mjtJoint.mjJNT_FREE: 6, mujoco.mjtJoint.mjJNT_BALL: 3}
    for index, joint in enumerate(spec.joints):
        joint.name = joint.name or f"joint {index}"  # motors know joints by their names
        for k in range(sizes.get(joint.type, 1)):
            gear = (1.0 + 0.5 * k) * np.eye(6)[k]
            motor = spec.add_actuator(target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT, gear=gear)
            motor.set_to_motor()
            # The file's defaults for its own actuators count for new ones, too.
            motor.ctrllimited = motor.forcelimited = motor.actlimited = False
    model = spec.compile()
    make_contact_free(mujoco, model)
    return model


def make_contact_free(mujoco: Any, model: Any) -> None:
    """Leave out what is no tree of rigid bodies with dampers and springs."""
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    model.opt.density = model.opt.viscosity = 0.0
    model.dof_frictionloss[:] = 0.0
    if model.ntendon:
        model.tendon_stiffness[:] = model.tendon_damping[:] = 0.0


def transmission(model: Any) -> Array:
    """(nv, nu) generalised forces by controls of `motorised`'s motors, the same in every state."""
    mujoco = module("mujoco")
    data, moments = mujoco.MjData(model), np.zeros((model.nu, model.nv))
    mujoco.mj_forward(model, data)
    mujoco.mju_sparse2dense(
        moments, data.actuator_moment, data.moment_rownnz, data.moment_rowadr, data.moment_colind
    )
    return np.asarray(moments.T)


def by_differences(
    model: Any, put: tuple[Array, ...], *, centred: bool = True, controls: bool = True
) -> tuple[Array, Array | None]:
    """MuJoCo's own function at its states: A (batch, 2nv, 2nv), and B (batch, 2nv, nu) unless it may leave
    that out."""
    mujoco, n = module("mujoco"), 2 * model.nv
    data, size = mujoco.MjData(model), len(put[0])
    a, b = np.zeros((size, n, n)), np.zeros((size, n, model.nu)) if controls else None
    for k, (qpos, qvel, forces) in enumerate(zip(*put, strict=True)):
        data.qpos, data.qvel, data.qfrc_applied = qpos, qvel, forces
        into = None if b is None else b[k]
        mujoco.mjd_transitionFD(model, data, _STEP, centred, a[k], into, None, None)
    return a, b


def by_forces(model: Any, put: tuple[Array, ...]) -> Array:
    """B (batch, 2nv, nv) by centred differences of MuJoCo's step by qfrc_applied."""
    mujoco, nv = module("mujoco"), model.nv
    out = np.zeros((len(put[0]), 2 * nv, nv))
    for k, (qpos, qvel, forces) in enumerate(zip(*put, strict=True)):
        for j in range(nv):
            scale = 1e-5 * max(1.0, abs(forces[j]))
            ends = []
            for sign in (1.0, -1.0):
                data = mujoco.MjData(model)
                data.qpos, data.qvel, data.qfrc_applied = qpos, qvel, forces
                data.qfrc_applied[j] += sign * scale
                mujoco.mj_step(model, data)
                ends.append(data)
            place = np.zeros(nv)
            mujoco.mj_differentiatePos(model, place, 2.0 * scale, ends[1].qpos, ends[0].qpos)
            out[k, :, j] = np.concatenate([place, (ends[0].qvel - ends[1].qvel) / (2.0 * scale)])
    return out
