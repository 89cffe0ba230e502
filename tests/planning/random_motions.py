"""Motions of any robot with anything asked of them, and Pinocchio's opinion of what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio
from scipy.interpolate import BSpline

from robomorph import Robot
from robomorph.planning import Motion, Plan
from robomorph.tasks import CenterOfMass, Orientation, Position, Posture
from tests.oracle.reference import Reference

Array = npt.NDArray[Any]
# From q, qd, qdd, qddd (nv,) to what is held (rows,).
Value = Callable[[Array, Array, Array, Array], Array]
Shares = tuple[float, float]
RATES = ("position", "velocity", "acceleration", "jerk")


@dataclass(frozen=True)
class Held:
    """A value between bounds from one share of the duration to another."""

    name: str
    value: Value
    lower: Any
    upper: Any
    scale: Any
    begin: float = 0.0
    end: float = 1.0


@dataclass
class Asked:
    """A motion that is asked for."""

    robot: Robot
    reference: Reference
    rng: np.random.Generator
    held: list[Held] = field(default_factory=list)

    def __post_init__(self) -> None:
        rng, nv = self.rng, self.robot.nv
        self.ends = rng.uniform(-1.0, 1.0, (2, nv))
        self.free = rng.random() < 0.3
        self.seconds = float(10.0 ** rng.uniform(-1.0, 1.5))
        start: Any = self.ends[0]
        if not self.free and rng.random() < 0.4:  # one that moves
            start = [start, *(rng.normal(size=nv) * 0.3 / self.seconds**k for k in (1, 2))]
        self.motion = Motion(
            self.robot,
            (0.3 * self.seconds, 3.0 * self.seconds) if self.free else self.seconds,
            int(rng.integers(5, 14)),
            start,
            self.ends[1] if rng.random() < 0.8 else None,
            refine=int(rng.choice([1, 1, 2])),
        )

    def everything(self) -> Asked:
        self._limits()
        kinds = (self._position, self._rate_of_position, self._center, self._posture, self._orientation)
        for _ in range(self.rng.integers(0, 4)):
            kinds[self.rng.integers(len(kinds))]()
        return self

    def _limits(self) -> None:
        """As numbers, some of them infinite."""
        rng, nv = self.rng, self.robot.nv
        given: dict[str, Any] = {"position": (np.full(nv, -1.5), np.full(nv, 1.5)), "velocity": None}
        self._hold("position limits", lambda *x: x[0], *given["position"])
        for rate, size in ((1, 8.0), (2, 40.0), (3, 500.0)):
            if rng.random() < 0.5:
                most = rng.uniform(0.5, 1.5, nv) * size / self.seconds**rate
                most[1:] = np.where(rng.random(nv - 1) < 0.2, np.inf, most[1:])
                given[RATES[rate]] = most
                self._hold(f"{RATES[rate]} limits", lambda *x, k=rate: x[k], -most, most)
        if rng.random() < 0.5:
            most = rng.uniform(20.0, 90.0, nv) + 30.0 / self.seconds**2
            given["torque"] = most
            torques = self.reference.inverse_dynamics
            self._hold("torque limits", lambda *x: torques(*x[:3]), -most, most)
        self.motion.limits(**given)

    def _hold(
        self, name: str, value: Value, lower: Any, upper: Any, scale: Any = None, during: Shares = (0.0, 1.0)
    ) -> None:
        """scale: the bounds' own size, if not given."""
        if scale is None:
            scale = np.where(np.isfinite(upper), upper, 1.0)
        self.held.append(Held(name, value, lower, upper, scale, *during))

    def _during(self) -> tuple[Any, Shares]:
        """As `keep` takes it, and in shares."""
        unit = 1.0 if self.free else self.seconds
        begin, end = sorted(float(x) for x in self.rng.uniform(0.0, 1.0, 2))
        if self.rng.random() < 0.2:
            return begin * unit, (begin, begin)
        return (begin * unit, end * unit), (begin, end)

    def _frame(self) -> str:
        return str(self.rng.choice(self.robot.link_names[1:]))

    def _middle(self) -> Array:
        return np.asarray(self.ends.mean(axis=0))

    def _position(self) -> None:
        frame, (during, shares) = self._frame(), self._during()
        place = self.reference.forward_kinematics(self._middle(), frame)[:3, 3]
        low, high = (place + side * self.rng.uniform(0.02, 0.6, 3) for side in (-1.0, 1.0))
        self.motion.keep(Position(frame), low, high, during=during)
        found = self.reference.forward_kinematics
        self._hold(f"position of {frame}", lambda *x: found(x[0], frame)[:3, 3], low, high, 0.01, shares)

    def _rate_of_position(self) -> None:
        frame, (during, shares), rate = self._frame(), self._during(), int(self.rng.integers(1, 3))
        most = float(self.rng.uniform(1.0, 20.0)) / self.seconds**rate
        self.motion.keep(Position(frame), -most, most, during=during, rate=rate)

        def value(q: Array, qd: Array, qdd: Array, qddd: Array) -> Array:
            if rate == 1:
                return self.reference.frame_velocity(q, qd, frame)[:3]
            return self.reference.frame_acceleration(q, qd, qdd, frame)[:3]

        self._hold(f"rate {rate} of {frame}", value, -most, most, max(0.01, min(1.0, most)), shares)

    def _center(self) -> None:
        during, shares = self._during()
        place = self.reference.center_of_mass(self._middle())
        low, high = (place + side * self.rng.uniform(0.02, 0.4, 3) for side in (-1.0, 1.0))
        self.motion.keep(CenterOfMass(), low, high, during=during)
        found = self.reference.center_of_mass
        self._hold("center of mass", lambda *x: found(x[0]), low, high, 0.01, shares)

    def _posture(self) -> None:
        during, shares = self._during()
        rate, names = int(self.rng.integers(0, 3)), self.robot.velocity_names
        own = sorted(self.rng.choice(len(names), int(self.rng.integers(1, len(names) + 1)), replace=False))
        most = self.rng.uniform(0.2, 1.5, len(own)) * np.array([1.0, 6.0, 30.0])[rate] / self.seconds**rate
        self.motion.keep(
            Posture.of(self.robot.model, [names[j] for j in own]), -most, most, during=during, rate=rate
        )
        scale = np.maximum(most, 1.0) if rate == 0 else most
        self._hold(f"posture, rate {rate}", lambda *x: x[rate][own], -most, most, scale, shares)

    def _orientation(self) -> None:
        frame, (during, shares) = self._frame(), self._during()
        wanted = self.reference.forward_kinematics(self._middle(), frame)[:3, :3]
        most = self.rng.uniform(0.1, 1.5, 3)
        self.motion.keep(Orientation(frame), -most, most, wanted, during=during)
        found = self.reference.forward_kinematics

        def turn(*x: Array) -> Array:
            return np.asarray(pinocchio.log3(wanted.T @ found(x[0], frame)[:3, :3]))

        self._hold(f"orientation of {frame}", turn, -most, most, 0.01, shares)

    def worst(self, plan: Plan, samples: int = 200) -> tuple[float, str]:
        """The largest violation, scaled, and of what: by scipy's splines and Pinocchio."""
        points, knot = len(plan.control), plan.seconds / (len(plan.control) - 3)
        spline = BSpline((np.arange(points + 4) - 3.0) * knot, plan.control, 3)
        rates = [spline, *(spline.derivative(k) for k in (1, 2, 3))]
        worst = (0.0, "")
        for one in self.held:
            count = 1 if one.begin == one.end else samples
            for t in np.linspace(one.begin, one.end, count) * plan.seconds:
                at = min(float(t), plan.seconds * (1.0 - 1e-15))  # jerk is that of the piece before
                value = one.value(*(np.asarray(own(at)) for own in rates))
                beyond = float((np.maximum(one.lower - value, value - one.upper) / one.scale).max())
                worst = max(worst, (beyond, f"{one.name} at {at:.6g} s"))
        return worst
