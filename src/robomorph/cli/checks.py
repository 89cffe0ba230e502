"""Whether a kernel is right: against the interpreter, and against the textbook and finite differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.algorithms.registry import ALGORITHMS
from robomorph.cli.reference import STENCIL, STEP, Reference
from robomorph.cli.reference_motion import MotionReference
from robomorph.robot import Robot

Array = npt.NDArray[Any]
Results = dict[str, Array]

# Error allowed against (the interpreter, textbook and differences). float64: largest error over the largest
# entry; float32: relative L2 norm. Differences are good to about 1e-9 themselves.
TOLERANCES = {"float64": (1e-9, 1e-6), "float32": (2e-4, 2e-4)}
_TORQUE = 10.0
# Differences of something constant are not zero but about this small.
_NOISE = 1e-11


@dataclass(frozen=True)
class States:
    """Random arguments, float64, one batch dimension."""

    q: Array
    qd: Array
    qdd: Array
    tau: Array

    def of(self, names: tuple[str, ...]) -> list[Array]:
        return [getattr(self, name) for name in names]


def random_states(robot: Robot, batch: int, seed: int = 0) -> States:
    """Configurations and velocities inside the limits, accelerations to 1, torques to 10 or the limit."""
    rng = np.random.default_rng(seed)
    q, qd = robot.random_state(rng, batch)
    qdd = rng.uniform(-1.0, 1.0, qd.shape)
    effort = np.minimum(robot.limits.effort, _TORQUE)
    return States(q, qd, qdd, rng.uniform(-effort, effort, qd.shape))


@dataclass(frozen=True)
class Yardstick:
    """What every algorithm should answer at some states, found without the code under test.

    Forward functions come from the textbook; derivatives are central differences of forward functions.
    """

    robot: Robot
    states: States
    frame: str

    @cached_property
    def reference(self) -> Reference:
        return Reference(self.robot)

    @cached_property
    def motion(self) -> MotionReference:
        return MotionReference(self.reference, self.states.q, self.states.qd)

    def expected(self, algorithm: str) -> Results | None:
        """Results by name, or None for an algorithm this yardstick does not know."""
        known: dict[str, Callable[[], Results]] = {
            "inverse_dynamics": lambda: {"tau": self.reference.inverse_dynamics(s.q, s.qd, s.qdd)},
            "forward_dynamics": lambda: {"qdd": self.reference.forward_dynamics(s.q, s.qd, s.tau)},
            "mass_matrix": lambda: {"mass": self.reference.mass_matrix(s.q)},
            "mass_matrix_inverse": lambda: {"minv": np.linalg.inv(self.reference.mass_matrix(s.q))},
            "inverse_dynamics_gradient": self._inverse_dynamics_gradient,
            "forward_dynamics_gradient": self._forward_dynamics_gradient,
            "forward_kinematics": lambda: {"pose": self.reference.frame_pose(s.q, self.frame)},
            "jacobian": self._jacobian,
            "center_of_mass": lambda: {"com": self._center_of_mass(s.q)},
            "center_of_mass_jacobian": lambda: {"com_jacobian": self._along_q(self._center_of_mass)},
            "energy": self._energy,
            "bias_torque": lambda: {"tau": self.reference.inverse_dynamics(s.q, s.qd, np.zeros_like(s.qd))},
            "gravity_torque": lambda: {"tau": m.gravity_torque()},
            "coriolis_matrix": lambda: {"coriolis": m.coriolis_matrix()},
            "link_poses": lambda: {"poses": m.link_poses()},
            "frame_velocity": lambda: {"velocity": m.frame_velocity(self.frame)},
            "frame_acceleration": lambda: {"acceleration": m.frame_acceleration(self.frame, s.qdd)},
            "jacobian_rate": lambda: {"jacobian_rate": m.jacobian_rate(self.frame)},
            "centroidal_momentum": lambda: {"momentum": m.centroidal_momentum()},
            "centroidal_momentum_matrix": lambda: {"momentum_matrix": m.centroidal_momentum_matrix()},
        }
        s, m = self.states, self.motion
        return known[algorithm]() if algorithm in known else None

    def _inverse_dynamics_gradient(self) -> Results:
        s = self.states
        forward = self._forward_function("inverse_dynamics")
        return {
            "dtau_dq": self._along_q(lambda q: forward(q, s.qd, s.qdd)),
            "dtau_dqd": differences(lambda qd: forward(s.q, qd, s.qdd), s.qd),
        }

    def _forward_dynamics_gradient(self) -> Results:
        s = self.states
        forward = self._forward_function("forward_dynamics")
        return {
            "qdd": self.reference.forward_dynamics(s.q, s.qd, s.tau),
            "dqdd_dq": self._along_q(lambda q: forward(q, s.qd, s.tau)),
            "dqdd_dqd": differences(lambda qd: forward(s.q, qd, s.tau), s.qd),
            "minv": differences(lambda tau: forward(s.q, s.qd, tau), s.tau),
        }

    def _forward_function(self, name: str) -> Callable[..., Array]:
        """The interpreted float64 program of a forward function, if the textbook agrees with it.

        If not, differences of it prove nothing: NaN makes every check against them fail.
        """
        kernel = self.robot.compile(name, target="interpreter")
        expected = self.expected(name)
        assert expected is not None
        found = np.asarray(kernel(*self.states.of(ALGORITHMS[name].inputs)))
        (wanted,) = expected.values()
        trusted = error(found, wanted, "float64") <= TOLERANCES["float64"][1]
        return lambda *args: np.asarray(kernel(*args)) * (1.0 if trusted else np.nan)

    def _jacobian(self) -> Results:
        pose = self.reference.frame_pose(self.states.q, self.frame)
        rates = self._along_q(lambda q: self.reference.frame_pose(q, self.frame).reshape(len(q), 16))
        rates = np.moveaxis(rates, -1, 1).reshape(len(pose), self.robot.nv, 4, 4)
        spin = rates[..., :3, :3] @ pose[:, None, :3, :3].transpose(0, 1, 3, 2)  # [w]x = R' R^T
        angular = np.stack([spin[..., 2, 1], spin[..., 0, 2], spin[..., 1, 0]], axis=-1)
        return {"jacobian": np.concatenate([rates[..., :3, 3], angular], axis=-1).transpose(0, 2, 1)}

    def _center_of_mass(self, q: Array) -> Array:
        mass = sum(body.inertia.mass for body in self.robot.model.bodies)
        return np.asarray(self.reference.mass_points(q)[0] / mass)

    def _energy(self) -> Results:
        s = self.states
        kinetic = 0.5 * np.einsum("bi,bij,bj->b", s.qd, self.reference.mass_matrix(s.q), s.qd)
        return {"kinetic": kinetic, "potential": -self.reference.mass_points(s.q)[0] @ self.robot.gravity}

    def _along_q(self, function: Callable[[Array], Array]) -> Array:
        """The derivative (B, m, nv) of a function of q along each tangent direction."""
        q = self.states.q
        return differences(lambda dq: function(self.robot.integrate(q, dq)), np.zeros_like(self.states.qd))


def differences(function: Callable[[Array], Array], at: Array) -> Array:
    """Derivatives (B, m, n) of a function (B, n) -> (B, m) by fourth-order central differences."""
    columns = []
    for j in range(at.shape[-1]):
        total: Any = 0.0
        for k, weight in STENCIL:
            moved = at.copy()
            moved[:, j] += k * STEP
            total = total + weight / STEP * function(moved)
        columns.append(total)
    return np.stack(columns, axis=-1)


@dataclass(frozen=True)
class Verdict:
    """The largest error of a kernel over all its outputs and both of its code paths (single, lanes)."""

    interpreter: float
    independent: float | None
    dtype: str

    @property
    def checked_against(self) -> str:
        """What the kernel was compared with: never more than was there to compare with."""
        if self.independent is None:
            return "the interpreter only"
        return "the interpreter, and finite differences or textbook formulas"

    @property
    def passed(self) -> bool:
        near, far = TOLERANCES[self.dtype]
        independent = self.independent is None or self.independent <= far
        return self.interpreter <= near and independent


def check_kernel(
    robot: Robot, name: str, kernel: Any, yardstick: Yardstick, *, dtype: str, frame: str | None
) -> Verdict:
    """Run a compiled kernel on a batch and on single states, and compare both with both yardsticks."""
    arguments = yardstick.states.of(ALGORITHMS[name].inputs)
    rounded = [a.astype(dtype) for a in arguments]
    exact = robot.compile(name, target="interpreter", frame=frame)
    names = [port.name for port in kernel.outputs]
    defined = _results(names, exact(*(a.astype(np.float64) for a in rounded)))
    expected = yardstick.expected(name)
    found = [_results(names, kernel(*rounded))]
    rows = [_results(names, kernel(*(a[i] for a in rounded))) for i in range(len(rounded[0]))]
    found.append({output: np.stack([row[output] for row in rows]) for output in names})
    near = max(error(f[output], defined[output], dtype) for f in found for output in names)
    if expected is None:
        return Verdict(near, None, dtype)
    far = max(error(f[output], expected[output], dtype) for f in found for output in names)
    return Verdict(near, far, dtype)


def _results(names: list[str], value: Any) -> Results:
    values = value if isinstance(value, tuple) else (value,)
    return {name: np.asarray(v) for name, v in zip(names, values, strict=True)}


def error(found: Array, expected: Array, dtype: str) -> float:
    """Largest error over the largest entry (float64) or relative L2 norm (float32); infinite for NaN."""
    if not np.all(np.isfinite(found)):
        return float("inf")
    if not expected.size:
        return 0.0
    off = np.asarray(found, np.float64) - expected
    if dtype == "float32":
        size, distance = np.linalg.norm(expected), np.linalg.norm(off)
    else:
        size, distance = np.max(np.abs(expected)), np.max(np.abs(off))
    if size <= _NOISE and not found.any():
        return 0.0
    return float(distance / size) if size > 0.0 else float(distance)
