"""MuJoCo as a plant: dynamics that share no code with ours."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError, TargetError
from robomorph.mpc.disturbances import Friction
from robomorph.mpc.plants.mjcf import merged, mjcf
from robomorph.mpc.plants.payload import Payloads, loaded
from robomorph.mpc.plants.plant import RATE, Array, Plant, Wrenches
from robomorph.robot import Robot


class MujocoPlant(Plant):
    """The robot's tree and inertias as a MuJoCo model, made by us from the same description; MuJoCo's own
    dynamics and integrator ("RK4", or "implicitfast" with friction).

    payload: as for `RobotPlant`. friction: MuJoCo's own damping and frictionloss, the latter a constraint
    of its solver and not the smooth law of `Friction`: its width is not used. `model` and `data` are
    MuJoCo's, for a viewer.
    """

    def __init__(
        self,
        robot: Robot,
        *,
        payload: Payloads | None = None,
        friction: Friction | None = None,
        rate: float = RATE,
    ) -> None:
        super().__init__(loaded(robot, payload), rate)
        self._mujoco = mujoco_module()
        text = mjcf(self.robot.model)
        try:
            self.model = self._mujoco.MjModel.from_xml_string(text)
        except ValueError as error:
            raise ArgumentError(
                f"{robot.name}: MuJoCo refuses this robot: {error}. Mend the description, or use RobotPlant"
            ) from error
        self.data = self._mujoco.MjData(self.model)
        kinds = self._mujoco.mjtIntegrator
        self.model.opt.integrator = kinds.mjINT_RK4
        if friction is not None:
            coulomb, viscous = friction.shares(robot.nv)
            self.model.dof_damping += viscous  # beside what a robot with passive=True has
            self.model.dof_frictionloss[:] = coulomb
            self.model.opt.integrator = kinds.mjINT_IMPLICITFAST
        self._other = self._mujoco.MjData(self.model)  # for questions that do not move the plant

    @property
    def q(self) -> Array:
        return np.array(self.data.qpos)

    @property
    def qd(self) -> Array:
        return np.array(self.data.qvel)

    def acceleration(self, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike) -> Array:
        data = self._other
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, qd, tau
        self._mujoco.mj_forward(self.model, data)
        return np.array(data.qacc)

    def _place(self, q: Array, qd: Array) -> None:
        self._mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.data.qvel[:] = q, qd
        self._mujoco.mj_kinematics(self.model, self.data)

    def _step(self, tau: Array, seconds: float, wrenches: Wrenches) -> None:
        data = self.data
        data.qfrc_applied[:] = tau
        if wrenches or data.xfrc_applied.any():
            self._push(wrenches)
        self.model.opt.timestep = seconds
        self._mujoco.mj_step(self.model, data)

    def _push(self, wrenches: Wrenches) -> None:
        """Wrenches at origins of frames as MuJoCo has them, at centres of mass."""
        data, model = self.data, self.robot.model
        self._mujoco.mj_kinematics(self.model, data)
        self._mujoco.mj_comPos(self.model, data)
        data.xfrc_applied[:] = 0.0
        for name, wrench in wrenches.items():
            frame = model.frames[model.frame_index(name)]
            if frame.body < 0:
                continue
            if frame.body in merged(model):
                raise ArgumentError(
                    f"push: expected a frame of a link with mass, as MuJoCo has no others, found {name!r}: "
                    "push another frame, or use RobotPlant"
                )
            body = self.model.body(f"body{frame.body}").id
            origin = data.xpos[body] + data.xmat[body].reshape(3, 3) @ frame.placement.translation
            turning = wrench[3:] + np.cross(origin - data.xipos[body], wrench[:3])
            data.xfrc_applied[body] += np.concatenate([wrench[:3], turning])


def mujoco_module() -> Any:
    """MuJoCo's Python package; TargetError where it is not installed."""
    try:
        return importlib.import_module("mujoco")
    except Exception as error:  # whatever a broken installation comes up with
        raise TargetError(f"MuJoCo as a plant needs its package: pip install mujoco ({error})") from error
