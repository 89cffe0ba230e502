"""A robot of ours as a plant: its own forward dynamics, integrated finely."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.model.joints import JOINT_TYPES
from robomorph.model.manifolds import Flat
from robomorph.mpc.disturbances import Friction
from robomorph.mpc.plants.friction import braked
from robomorph.mpc.plants.payload import Payloads, loaded
from robomorph.mpc.plants.plant import RATE, Array, Plant, Wrenches
from robomorph.robot import Robot

_INTEGRATORS = ("rk4", "semi-implicit")
# Slopes of the classical Runge-Kutta method: where each stage is taken, and its weight.
_STAGES = ((0.5, 1.0 / 6.0), (0.5, 1.0 / 3.0), (1.0, 1.0 / 3.0), (0.0, 1.0 / 6.0))


class RobotPlant(Plant):
    """Any robot whose coordinates simply add, with or without a payload and friction of its own.

    payload: kg at the tool, or inertias by frame as in `robomorph.load`, on top of what the robot has.
    friction: see `Friction`. integrator: "rk4" (of fourth order) or "semi-implicit" (of first order, speeds
    before positions, friction implicit, so that it is stable however stiff); None: "rk4", but
    "semi-implicit" where there is Coulomb friction.
    """

    def __init__(
        self,
        robot: Robot,
        *,
        payload: Payloads | None = None,
        friction: Friction | None = None,
        rate: float = RATE,
        integrator: str | None = None,
    ) -> None:
        _require_flat(robot)
        super().__init__(loaded(robot, payload), rate)
        nv = robot.nv
        self._width = 1.0 if friction is None else float(friction.width)
        zero = (np.zeros(nv), np.zeros(nv))
        self._coulomb, self._viscous = zero if friction is None else friction.shares(nv)
        self._sticks = bool(self._coulomb.any())
        self.integrator = integrator or ("semi-implicit" if self._sticks else "rk4")
        if self.integrator not in _INTEGRATORS:
            raise ArgumentError(f"integrator: expected one of {_INTEGRATORS}, found {integrator!r}")
        self._forward = self.robot.compile("forward_dynamics", threads=1, check_finite=False)
        self._mass = self.robot.compile("mass_matrix", threads=1, check_finite=False)
        self._jacobians: dict[str, Callable[[Array], Array]] = {}
        self._q, self._qd = self.robot.neutral, np.zeros(nv)

    @property
    def q(self) -> Array:
        return np.array(self._q)

    @property
    def qd(self) -> Array:
        return np.array(self._qd)

    def acceleration(self, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike) -> Array:
        return np.asarray(self._forward(q, qd, tau))

    def _place(self, q: Array, qd: Array) -> None:
        self._q, self._qd = q, qd

    def _step(self, tau: Array, seconds: float, wrenches: Wrenches) -> None:
        step = self._runge_kutta if self.integrator == "rk4" else self._semi_implicit
        step(tau, seconds, wrenches)

    def _moved(self, q: Array, tau: Array, wrenches: Wrenches) -> Array:
        """The torque, and what wrenches are as torques at q."""
        for frame, wrench in wrenches.items():
            tau = tau + self._jacobian(frame)(q).T @ wrench
        return tau

    def _jacobian(self, frame: str) -> Callable[[Array], Array]:
        if frame not in self._jacobians:
            kernel = self.robot.compile("jacobian", frame=frame, threads=1, check_finite=False)
            self._jacobians[frame] = kernel
        return self._jacobians[frame]

    def _runge_kutta(self, tau: Array, h: float, wrenches: Wrenches) -> None:
        q, v = self._q, self._qd
        dq, dv = np.zeros_like(v), np.zeros_like(v)
        for reach, weight in _STAGES:
            resisted = self._moved(q, tau, wrenches) - self._viscous * v
            if self._sticks:
                resisted -= self._coulomb * np.tanh(v / self._width)
            a = self._forward(q, v, resisted)
            dq += weight * v
            dv += weight * a
            q, v = self._q + (reach * h) * v, self._qd + (reach * h) * a
        self._q, self._qd = self._q + h * dq, self._qd + h * dv

    def _semi_implicit(self, tau: Array, h: float, wrenches: Wrenches) -> None:
        free = self._qd + h * self._forward(self._q, self._qd, self._moved(self._q, tau, wrenches))
        if self._sticks or self._viscous.any():
            impulses = (h * self._coulomb, h * self._viscous)
            free = braked(self._mass(self._q), free, *impulses, self._width, self._qd)
        self._q, self._qd = self._q + h * free, free


def _require_flat(robot: Robot) -> None:
    for body in robot.model.bodies:
        found = JOINT_TYPES[body.kind].known_manifold
        if found != Flat(1):
            raise ArgumentError(
                f"{robot.name}: joint {body.joint_name!r} of type {body.kind!r}: a plant expects joints of "
                f"one coordinate that simply adds (Flat(1)), found {found!r}: floating bases come next; "
                "lock the joint (locked=) until then"
            )
