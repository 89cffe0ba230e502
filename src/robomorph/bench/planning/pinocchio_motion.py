"""A motion as Pinocchio and SciPy see it: splines, frames, centre of mass and torques at given times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError, TargetError
from robomorph.model.sources import urdf_text

if TYPE_CHECKING:
    from robomorph.given.named_robot import NamedRobot

Array = npt.NDArray[np.float64]
_DOWN = (0.0, 0.0, -9.81)


class AnyMotion(Protocol):
    """Joint motions over `seconds`: (n, nv) of a time derivative at times (n,)."""

    seconds: float

    def __call__(self, t: Array, order: int = 0) -> Array: ...


class SplineMotion:
    """Uniform cubic B-splines over `seconds`: control (N + 3, nv). SciPy's basis, none of ours."""

    def __init__(self, control: Array, seconds: float) -> None:
        try:
            from scipy.interpolate import BSpline
        except ImportError as error:
            raise TargetError(f"the check of motions needs SciPy: pip install scipy ({error})") from error
        knot = seconds / (len(control) - 3)
        self.seconds = seconds
        self._spline: Any = BSpline((np.arange(len(control) + 4) - 3.0) * knot, control, 3)

    def __call__(self, t: Array, order: int = 0) -> Array:
        """(n, nv): a time derivative at times (n,)."""
        return np.asarray(self._spline(t) if order == 0 else self._spline.derivative(order)(t))


class PinocchioRobot:
    """Pinocchio's model of a scenario's robot: the same file, joints locked, loads added, another root.

    With a root of the scenario's choice Pinocchio's model has a floating base. It stands at the origin for
    kinematics, which are then seen from the root link; for torques it moves so that the root link rests, and
    the wrench on that link is the one that leaves nothing for the base to do.
    """

    def __init__(self, given: NamedRobot) -> None:
        try:
            import pinocchio
        except ImportError as error:
            raise TargetError(f"the check of motions needs Pinocchio: pip install pin ({error})") from error
        self._pin: Any = pinocchio
        self.root: str | None = given.options.get("root")
        text = urdf_text(given.source)
        base = () if self.root is None else (pinocchio.JointModelFreeFlyer(),)
        self.model: Any = pinocchio.buildModelFromXML(text, *base)
        for link, (mass, place) in given.options.get("payloads", {}).items():
            self._load(link, float(mass), np.array(place, np.float64))
        self.model.gravity.linear = np.zeros(3)
        self._neutral = self._with_locked(given.options.get("locked", {}))
        self.data: Any = self.model.createData()
        self.joints: tuple[str, ...] = given.robot.velocity_names
        indices = [self.model.getJointId(name) for name in self.joints]
        if any(i >= self.model.njoints or self.model.joints[i].nq != 1 for i in indices):
            raise ArgumentError("the check of motions knows joints with one coordinate each, found others")
        self._q = [self.model.joints[i].idx_q for i in indices]
        self._v = [self.model.joints[i].idx_v for i in indices]
        self.gravity = np.array(given.options["gravity"]) if "gravity" in given.options else self._down()

    def _load(self, link: str, mass: float, place: Array) -> None:
        frame = self.model.frames[self.model.getFrameId(link)]
        body = self._pin.Inertia(mass, place, np.zeros((3, 3)))
        self.model.appendBodyToJoint(frame.parentJoint, body, frame.placement)

    def _with_locked(self, locked: Mapping[str, float]) -> Array:
        q: Array = np.array(self._pin.neutral(self.model))
        for name, value in locked.items():
            q[self.model.joints[self.model.getJointId(name)].idx_q] = value
        return q

    def _down(self) -> Array:
        """The file's -z, in the axes of the root link with joints at zero."""
        if self.root is None:
            return np.array(_DOWN)
        self._pin.framesForwardKinematics(self.model, self.data, self._neutral)
        turn = self.data.oMf[self.model.getFrameId(self.root)].rotation
        return np.asarray(turn.T @ np.array(_DOWN))

    @cached_property
    def limits(self) -> dict[str, Array]:
        """lower, upper, velocity, effort (nv,) of the file."""
        model = self.model
        return {
            "lower": model.lowerPositionLimit[self._q],
            "upper": model.upperPositionLimit[self._q],
            "velocity": model.velocityLimit[self._v],
            "effort": model.effortLimit[self._v],
        }

    def _full(self, q: Array) -> Array:
        out = np.tile(self._neutral, (len(q), 1))
        out[:, self._q] = q
        return out

    def _speeds(self, qd: Array) -> Array:
        out: Array = np.zeros((len(qd), self.model.nv))
        out[:, self._v] = qd
        return out

    # --- kinematics ----------------------------------------------------------------------------------

    def kinematics(self, q: Array, frames: Sequence[str]) -> tuple[dict[str, Array], Array]:
        """Poses (n, 4, 4) of frames and the centre of mass (n, 3), seen from the root link."""
        pin, model, data = self._pin, self.model, self.data
        indices = {name: self._frame(name) for name in frames}
        poses = {name: np.empty((len(q), 4, 4)) for name in frames}
        centre: Array = np.empty((len(q), 3))
        root = None if self.root is None else self._frame(self.root)
        for k, row in enumerate(self._full(q)):
            centre[k] = pin.centerOfMass(model, data, row)
            pin.updateFramePlacements(model, data)
            back = None if root is None else data.oMf[root].inverse()
            for name, index in indices.items():
                pose = data.oMf[index]
                poses[name][k] = (pose if back is None else back * pose).homogeneous
            if back is not None:
                centre[k] = back.act(centre[k])
        return poses, centre

    def _frame(self, name: str) -> int:
        index = int(self.model.getFrameId(name))
        if index >= self.model.nframes:
            raise ArgumentError(f"the check of motions knows frames of the robot's file, found {name!r}")
        return index

    def speeds(self, q: Array, qd: Array, frame: str) -> Array:
        """(n, 3): velocity of a frame's origin, seen from the root link."""
        pin, model, data = self._pin, self.model, self.data
        index, aligned = self._frame(frame), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        root = None if self.root is None else self._frame(self.root)
        out: Array = np.empty((len(q), 3))
        for k, (row, rates) in enumerate(zip(self._full(q), self._speeds(qd), strict=True)):
            pin.forwardKinematics(model, data, row, rates)
            pin.updateFramePlacements(model, data)
            out[k] = pin.getFrameVelocity(model, data, index, aligned).linear
            if root is not None:
                own = pin.getFrameVelocity(model, data, root, aligned)
                arm = data.oMf[index].translation - data.oMf[root].translation
                out[k] = data.oMf[root].rotation.T @ (out[k] - own.linear - np.cross(own.angular, arm))
        return out

    # --- dynamics ------------------------------------------------------------------------------------

    def torques(self, q: Array, qd: Array, qdd: Array) -> Array:
        """(n, nv) of the joints."""
        self.model.gravity.linear = self.gravity
        try:
            one = self._torque if self.root is None else self._torque_standing
            rows = zip(self._full(q), self._speeds(qd), self._speeds(qdd), strict=True)
            return np.array([one(*row) for row in rows])
        finally:
            self.model.gravity.linear = np.zeros(3)

    def _torque(self, q: Array, qd: Array, qdd: Array) -> Array:
        return np.array(self._pin.rnea(self.model, self.data, q, qd, qdd))[self._v]

    def _torque_standing(self, q: Array, qd: Array, qdd: Array) -> Array:
        """With the root link at rest in the world: the base's own motion follows from that."""
        pin, model, data = self._pin, self.model, self.data
        root, local = self._frame(str(self.root)), pin.ReferenceFrame.LOCAL
        pin.framesForwardKinematics(model, data, q)
        q[:7] = pin.SE3ToXYZQUAT(data.oMf[root].inverse())
        jacobian = pin.computeFrameJacobian(model, data, q, root, local)
        base = jacobian[:, :6]
        qd[:6] = -np.linalg.solve(base, jacobian[:, 6:] @ qd[6:])
        pin.forwardKinematics(model, data, q, qd, np.zeros(model.nv))
        drift = pin.getFrameAcceleration(model, data, root, local).vector
        qdd[:6] = -np.linalg.solve(base, jacobian[:, 6:] @ qdd[6:] + drift)
        tau = pin.rnea(model, data, q, qd, qdd)
        wrench = np.linalg.solve(base.T, tau[:6])
        return np.asarray((tau - jacobian.T @ wrench)[self._v])
