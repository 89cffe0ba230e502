"""Every function of a Robot against Pinocchio: one check per name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio

from robomorph import Robot

from .calls import Sample, call, some_frames, some_wrenches
from .compare import EXACT, assert_close
from .reference import Reference

Array = npt.NDArray[Any]
ACCELERATIONS = ("frame_acceleration", "jacobian_rate")


@dataclass(frozen=True)
class Subject:
    """A robot, its reference, the states to compare at, and the target that answers."""

    robot: Robot
    reference: Reference
    states: Sample
    target: str
    tolerance: float = EXACT

    def close(self, ours: Any, theirs: list[Any], what: str, *, scale: float = 0.0) -> None:
        what = f"{self.robot.name} {what}"
        assert_close(ours, np.array(theirs), what, self.tolerance, scale=scale)

    def call(self, name: str, f_ext: Mapping[str, Array] | None = None, frame: str | None = None) -> Any:
        return call(self.robot, self.target, name, self.states.arguments(name), f_ext, frame)

    def expected(self, name: str, f_ext: Mapping[str, Array] | None = None) -> list[Any]:
        """The reference's answer for each state."""
        method = getattr(self.reference, name)
        rows = [self.states.row(i).arguments(name) for i in range(self.states.size)]
        if f_ext is None:
            return [method(*row) for row in rows]
        return [method(*row, {k: w[i] for k, w in f_ext.items()}) for i, row in enumerate(rows)]


def _plain(subject: Subject, name: str, f_ext: Mapping[str, Array] | None = None) -> None:
    subject.close(subject.call(name, f_ext), subject.expected(name, f_ext), name)


def _holding(subject: Subject, name: str, f_ext: Mapping[str, Array] | None = None) -> None:
    """Torques that may all be next to nothing, of weights that are not."""
    weight = 9.81 * sum(body.inertia.mass for body in subject.robot.model.bodies)
    subject.close(subject.call(name, f_ext), subject.expected(name, f_ext), name, scale=weight)


def _inverse_gradient(subject: Subject, f_ext: Mapping[str, Array] | None) -> None:
    name = "inverse_dynamics_gradient"
    ours, theirs = subject.call(name, f_ext), subject.expected(name, f_ext)
    subject.close(ours.dtau_dq, [t.dq for t in theirs], "dtau_dq")
    subject.close(ours.dtau_dqd, [t.dqd for t in theirs], "dtau_dqd")


def _forward_gradient(subject: Subject, f_ext: Mapping[str, Array] | None) -> None:
    name = "forward_dynamics_gradient"
    ours, theirs = subject.call(name, f_ext), subject.expected(name, f_ext)
    subject.close(ours.qdd, subject.expected("forward_dynamics", f_ext), "qdd")
    subject.close(ours.dqdd_dq, [t.dq for t in theirs], "dqdd_dq")
    subject.close(ours.dqdd_dqd, [t.dqd for t in theirs], "dqdd_dqd")
    subject.close(ours.minv, subject.expected("mass_matrix_inverse"), "minv")


def _energy(subject: Subject) -> None:
    ours, theirs = subject.call("energy"), np.array(subject.expected("energy"))
    subject.close(ours.kinetic, list(theirs[:, 0]), "kinetic energy")
    subject.close(ours.potential, list(theirs[:, 1]), "potential energy")


def _frames(subject: Subject, name: str) -> None:
    # Centripetal accelerations may cancel to nothing: they are of the size of speeds squared.
    speed = float(np.abs(subject.states.qd).max(initial=0.0)) ** 2 if name in ACCELERATIONS else 0.0
    for frame in some_frames(subject.robot):
        method = getattr(subject.reference, name)
        rows = [subject.states.row(i).arguments(name) for i in range(subject.states.size)]
        theirs = [method(*row, frame) for row in rows]
        subject.close(subject.call(name, frame=frame), theirs, f"{name} of {frame}", scale=speed)


def _manifold(subject: Subject) -> None:
    """`integrate` and `difference`; q1 is less than half a turn away, so the shortest way is the only one."""
    robot, reference, q, step = subject.robot, subject.reference, subject.states.q, subject.states.qd
    q1 = robot.integrate(q, step)
    theirs = [reference.integrate(a, b) for a, b in zip(q, step, strict=True)]
    for ours, other in zip([reference.configuration(x) for x in q1], theirs, strict=True):
        # Two quaternions stand for one rotation: compare what lies between the configurations.
        assert_close(reference_distance(reference, ours, other), np.zeros(reference.model.nv), "integrate")
    subject.close(
        robot.difference(q, q1),
        [reference.difference(a, b) for a, b in zip(q, q1, strict=True)],
        "difference",
    )


def reference_distance(reference: Reference, a: Array, b: Array) -> Array:
    """The tangent step between two of Pinocchio's configurations."""
    return np.asarray(pinocchio.difference(reference.model, a, b))


def _wrenches(subject: Subject) -> dict[str, Array]:
    return some_wrenches(subject.robot, 7, subject.states.size)


CHECKS: dict[str, Callable[[Subject], None]] = {
    "inverse_dynamics": lambda s: _plain(s, "inverse_dynamics"),
    "inverse_dynamics_f_ext": lambda s: _plain(s, "inverse_dynamics", _wrenches(s)),
    "bias_torque": lambda s: _holding(s, "bias_torque"),
    "bias_torque_f_ext": lambda s: _holding(s, "bias_torque", _wrenches(s)),
    "gravity_torque": lambda s: _holding(s, "gravity_torque"),
    "coriolis_matrix": lambda s: _plain(s, "coriolis_matrix"),
    "mass_matrix": lambda s: _plain(s, "mass_matrix"),
    "mass_matrix_inverse": lambda s: _plain(s, "mass_matrix_inverse"),
    "forward_dynamics": lambda s: _plain(s, "forward_dynamics"),
    "forward_dynamics_f_ext": lambda s: _plain(s, "forward_dynamics", _wrenches(s)),
    "inverse_dynamics_gradient": lambda s: _inverse_gradient(s, None),
    "inverse_dynamics_gradient_f_ext": lambda s: _inverse_gradient(s, _wrenches(s)),
    "forward_dynamics_gradient": lambda s: _forward_gradient(s, None),
    "forward_dynamics_gradient_f_ext": lambda s: _forward_gradient(s, _wrenches(s)),
    "forward_kinematics": lambda s: _frames(s, "forward_kinematics"),
    "jacobian": lambda s: _frames(s, "jacobian"),
    "link_poses": lambda s: _plain(s, "link_poses"),
    "frame_velocity": lambda s: _frames(s, "frame_velocity"),
    "frame_acceleration": lambda s: _frames(s, "frame_acceleration"),
    "jacobian_rate": lambda s: _frames(s, "jacobian_rate"),
    "centroidal_momentum": lambda s: _plain(s, "centroidal_momentum"),
    "centroidal_momentum_matrix": lambda s: _plain(s, "centroidal_momentum_matrix"),
    "center_of_mass": lambda s: _plain(s, "center_of_mass"),
    "center_of_mass_jacobian": lambda s: _plain(s, "center_of_mass_jacobian"),
    "energy": _energy,
    "integrate_difference": _manifold,
}
