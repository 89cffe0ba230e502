"""Pinocchio's answers in robomorph's order, coordinates and frames.

Pinocchio orders children by name, gives continuous joints two coordinates (cosine and sine) and, by default,
frees mimic joints. So its model is always the free one here; joints are matched by name, and mimic joints by
the constant matrix G of the chain rule: free rates = G rates, torques = G^T free torques.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pinocchio

from robomorph import Robot

Array = npt.NDArray[Any]
Wrenches = Mapping[str, Array]
Tools = Mapping[str, tuple[str, Array]]


class Gradient(NamedTuple):
    """Torques' or accelerations' derivatives, each (nv, nv)."""

    dq: Array
    dqd: Array


_SPHERICAL = re.compile(r'<joint name="([^"]*)" type="(?:spherical|ball)">')


def build(source: Path | str, *, floating: bool = False, mimic: bool = False) -> Any:
    """Pinocchio's own model of a URDF file or text, which may name spherical joints."""
    root = [pinocchio.JointModelFreeFlyer()] if floating else []
    if isinstance(source, Path):
        return pinocchio.buildModelFromUrdf(str(source), *root, mimic=mimic)
    balls = _SPHERICAL.findall(source)
    known = _SPHERICAL.sub(r'<joint name="\1" type="floating">', source)
    model = pinocchio.buildModelFromXML(known, *root, mimic=mimic)
    return _with_balls(model, balls) if balls else model


def _with_balls(model: Any, names: list[str]) -> Any:
    """The same model, made by hand, with Pinocchio's spherical joints in place of the free ones named:
    its reader has no word for them."""
    out = pinocchio.Model()
    out.name = model.name
    for i in range(1, model.njoints):
        name = model.names[i]
        joint = pinocchio.JointModelSpherical() if name in names else model.joints[i]
        out.addJoint(model.parents[i], joint, model.jointPlacements[i], name)
        out.appendBodyToJoint(i, model.inertias[i], pinocchio.SE3.Identity())
    for frame in list(model.frames)[1:]:
        out.addFrame(pinocchio.Frame(frame.name, frame.parentJoint, frame.placement, frame.type), False)
    return out


class Reference:
    """One robot in Pinocchio, asked in robomorph's terms; all arguments are single states."""

    def __init__(self, robot: Robot, model: Any, tools: Tools | None = None) -> None:
        self.robot, self.model, self.tools = robot, model, dict(tools or {})
        self.data = model.createData()
        model.gravity.linear = np.array(robot.gravity)
        self.chain = self._chain()
        self.coupled = robot.nv != model.nv

    def _chain(self) -> Array:
        """G, (Pinocchio's nv, nv)."""
        chain = np.zeros((self.model.nv, self.robot.nv))
        for body in self.robot.model.bodies:
            theirs = self._joint(body.joint_name)
            _, ours = self.robot.coordinates(body.joint_name)
            scale = 1.0 if body.mimic is None else body.mimic[1]
            chain[theirs.idx_v : theirs.idx_v + theirs.nv, ours] = scale * np.eye(theirs.nv)
        return chain

    def _joint(self, name: str) -> Any:
        return self.model.joints[self.model.getJointId(name)]

    def configuration(self, q: Array) -> Array:
        """Pinocchio's q for ours."""
        out: Array = pinocchio.neutral(self.model)
        for body in self.robot.model.bodies:
            theirs = self._joint(body.joint_name)
            ours, _ = self.robot.coordinates(body.joint_name)
            own = q[ours] if body.mimic is None else body.mimic[1] * q[ours] + body.mimic[2]
            out[theirs.idx_q : theirs.idx_q + theirs.nq] = _coordinates(own, theirs.nq)
        return out

    def wrenches(self, f_ext: Wrenches | None) -> list[Any]:
        """The argument `fext` of Pinocchio's functions: none, or a force per joint in its body's frame."""
        if f_ext is None:
            return []
        forces = [pinocchio.Force.Zero() for _ in range(self.model.njoints)]
        for name, wrench in f_ext.items():
            frame = self.model.frames[self.model.getFrameId(name, pinocchio.FrameType.BODY)]
            forces[frame.parentJoint] += frame.placement.act(pinocchio.Force(np.asarray(wrench)))
        return [forces]

    # --- dynamics ----------------------------------------------------------------------------------

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array, f_ext: Wrenches | None = None) -> Array:
        g = self.chain
        rest = self.wrenches(f_ext)
        tau = pinocchio.rnea(self.model, self.data, self.configuration(q), g @ qd, g @ qdd, *rest)
        return np.asarray(g.T @ tau)

    def bias_torque(self, q: Array, qd: Array, f_ext: Wrenches | None = None) -> Array:
        if f_ext is not None:
            return self.inverse_dynamics(q, qd, np.zeros(self.robot.nv), f_ext)
        tau = pinocchio.nonLinearEffects(self.model, self.data, self.configuration(q), self.chain @ qd)
        return np.asarray(self.chain.T @ tau)

    def gravity_torque(self, q: Array) -> Array:
        tau = pinocchio.computeGeneralizedGravity(self.model, self.data, self.configuration(q))
        return np.asarray(self.chain.T @ tau)

    def coriolis_matrix(self, q: Array, qd: Array) -> Array:
        g = self.chain
        full = pinocchio.computeCoriolisMatrix(self.model, self.data, self.configuration(q), g @ qd)
        return np.asarray(g.T @ full @ g)

    def mass_matrix(self, q: Array) -> Array:
        upper = np.triu(pinocchio.crba(self.model, self.data, self.configuration(q)))
        return np.asarray(self.chain.T @ (upper + np.triu(upper, 1).T) @ self.chain)

    def mass_matrix_inverse(self, q: Array) -> Array:
        if self.coupled:
            return np.linalg.inv(self.mass_matrix(q))
        upper = np.triu(pinocchio.computeMinverse(self.model, self.data, self.configuration(q)))
        return np.asarray(self.chain.T @ (upper + np.triu(upper, 1).T) @ self.chain)

    def forward_dynamics(self, q: Array, qd: Array, tau: Array, f_ext: Wrenches | None = None) -> Array:
        g = self.chain
        if self.coupled:  # Pinocchio's articulated-body algorithm knows no coupled joints
            bias = self.inverse_dynamics(q, qd, np.zeros(self.robot.nv), f_ext)
            return np.asarray(np.linalg.solve(self.mass_matrix(q), tau - bias))
        rest = self.wrenches(f_ext)
        qdd = pinocchio.aba(self.model, self.data, self.configuration(q), g @ qd, g @ tau, *rest)
        return np.asarray(g.T @ qdd)

    def inverse_dynamics_gradient(
        self, q: Array, qd: Array, qdd: Array, f_ext: Wrenches | None = None
    ) -> Gradient:
        g = self.chain
        rest = self.wrenches(f_ext)
        dq, dqd, _ = pinocchio.computeRNEADerivatives(
            self.model, self.data, self.configuration(q), g @ qd, g @ qdd, *rest
        )
        return Gradient(g.T @ dq @ g, g.T @ dqd @ g)

    def forward_dynamics_gradient(
        self, q: Array, qd: Array, tau: Array, f_ext: Wrenches | None = None
    ) -> Gradient:
        g = self.chain
        if self.coupled:  # differentiate M qdd + bias = tau
            qdd = self.forward_dynamics(q, qd, tau, f_ext)
            torque = self.inverse_dynamics_gradient(q, qd, qdd, f_ext)
            inverse = -self.mass_matrix_inverse(q)
            return Gradient(inverse @ torque.dq, inverse @ torque.dqd)
        rest = self.wrenches(f_ext)
        dq, dqd, _ = pinocchio.computeABADerivatives(
            self.model, self.data, self.configuration(q), g @ qd, g @ tau, *rest
        )
        return Gradient(g.T @ dq @ g, g.T @ dqd @ g)

    def energy(self, q: Array, qd: Array) -> tuple[float, float]:
        theirs = self.configuration(q)
        kinetic = pinocchio.computeKineticEnergy(self.model, self.data, theirs, self.chain @ qd)
        return float(kinetic), float(pinocchio.computePotentialEnergy(self.model, self.data, theirs))

    # --- kinematics --------------------------------------------------------------------------------

    def _frame(self, name: str) -> tuple[int, Any]:
        """Joint and placement of a link or tool frame."""
        link, offset = self.tools.get(name, (name, np.eye(4)))
        frame = self.model.frames[self.model.getFrameId(link, pinocchio.FrameType.BODY)]
        return frame.parentJoint, frame.placement * pinocchio.SE3(offset[:3, :3], offset[:3, 3])

    def forward_kinematics(self, q: Array, frame: str) -> Array:
        joint, placement = self._frame(frame)
        pinocchio.forwardKinematics(self.model, self.data, self.configuration(q))
        return np.asarray((self.data.oMi[joint] * placement).homogeneous)

    def jacobian(self, q: Array, frame: str) -> Array:
        joint, placement = self._frame(frame)
        pinocchio.computeJointJacobians(self.model, self.data, self.configuration(q))
        aligned = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
        full = pinocchio.getFrameJacobian(self.model, self.data, joint, placement, aligned)
        return np.asarray(full.reshape(6, -1) @ self.chain)  # with one joint it is flat

    def link_poses(self, q: Array) -> Array:
        return np.stack([self.forward_kinematics(q, name) for name in self.robot.link_names])

    def _move(self, q: Array, qd: Array, qdd: Array) -> None:
        theirs = self.configuration(q)
        pinocchio.forwardKinematics(self.model, self.data, theirs, self.chain @ qd, self.chain @ qdd)

    def frame_velocity(self, q: Array, qd: Array, frame: str) -> Array:
        self._move(q, qd, np.zeros_like(qd))
        aligned = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
        return np.array(
            pinocchio.getFrameVelocity(self.model, self.data, *self._frame(frame), aligned).vector
        )

    def frame_acceleration(self, q: Array, qd: Array, qdd: Array, frame: str) -> Array:
        self._move(q, qd, qdd)
        aligned = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
        at = self._frame(frame)
        return np.array(pinocchio.getFrameClassicalAcceleration(self.model, self.data, *at, aligned).vector)

    def jacobian_rate(self, q: Array, qd: Array, frame: str) -> Array:
        return self.frame_acceleration(q, qd, np.zeros_like(qd), frame)

    def centroidal_momentum(self, q: Array, qd: Array) -> Array:
        theirs = self.configuration(q)
        return np.array(
            pinocchio.computeCentroidalMomentum(self.model, self.data, theirs, self.chain @ qd).vector
        )

    def centroidal_momentum_matrix(self, q: Array) -> Array:
        theirs = self.configuration(q)
        full = pinocchio.computeCentroidalMap(self.model, self.data, theirs)
        return np.asarray(full.reshape(6, -1) @ self.chain)

    def center_of_mass(self, q: Array) -> Array:
        return np.array(pinocchio.centerOfMass(self.model, self.data, self.configuration(q)))

    def center_of_mass_jacobian(self, q: Array) -> Array:
        full = pinocchio.jacobianCenterOfMass(self.model, self.data, self.configuration(q))
        return np.asarray(full.reshape(3, -1) @ self.chain)

    # --- the configuration manifold ----------------------------------------------------------------

    def integrate(self, q: Array, dq: Array) -> Array:
        """Pinocchio's coordinates of the configuration reached."""
        return np.asarray(pinocchio.integrate(self.model, self.configuration(q), self.chain @ dq))

    def difference(self, q0: Array, q1: Array) -> Array:
        step = pinocchio.difference(self.model, self.configuration(q0), self.configuration(q1))
        return np.asarray(np.linalg.lstsq(self.chain, step, rcond=None)[0])


class OwnMimics(Reference):
    """Pinocchio's own mimic joints (`mimic=True`): coordinates are the independent joints' alone."""

    def _independent(self) -> list[Any]:
        return [body for body in self.robot.model.bodies if body.mimic is None]

    def _chain(self) -> Array:
        chain = np.zeros((self.model.nv, self.robot.nv))
        for body in self._independent():
            theirs = self._joint(body.joint_name)
            _, ours = self.robot.coordinates(body.joint_name)
            chain[theirs.idx_v : theirs.idx_v + theirs.nv, ours] = np.eye(theirs.nv)
        return chain

    def configuration(self, q: Array) -> Array:
        out: Array = pinocchio.neutral(self.model)
        for body in self._independent():
            theirs = self._joint(body.joint_name)
            ours, _ = self.robot.coordinates(body.joint_name)
            out[theirs.idx_q : theirs.idx_q + theirs.nq] = _coordinates(q[ours], theirs.nq)
        return out


def _coordinates(own: Array, nq: int) -> Array:
    """A joint's coordinates as Pinocchio has them: two for a continuous joint."""
    return np.array([np.cos(own[0]), np.sin(own[0])]) if nq == 2 and len(own) == 1 else own
