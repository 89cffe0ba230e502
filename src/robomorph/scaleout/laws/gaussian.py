"""States normally distributed around a posture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from robomorph.errors import ArgumentError
from robomorph.robot import Robot
from robomorph.scaleout.laws.base import Array, Law, Sampler, Streams, require_positive


@dataclass(frozen=True)
class Gaussian(Law):
    """Positions around a posture by normal steps in the tangent space; velocities, accelerations and joint
    forces around zero.

    sigma_q (rad or m), sigma_qd, sigma_qdd, sigma_tau (N m or N): standard deviations, the same for every
    degree of freedom. posture: (nq,) the centre; None: the middle of the limits, neutral where a joint has
    none. clip: what lies outside of position, velocity or effort limits is put onto them; False leaves it
    outside."""

    sigma_q: float = 0.2
    sigma_qd: float = 0.5
    sigma_qdd: float = 2.0
    sigma_tau: float = 5.0
    posture: tuple[float, ...] | None = None
    clip: bool = True
    name: ClassVar[str] = "gaussian"
    about: ClassVar[str] = "normal around a posture, in the tangent space, clipped to the limits"

    def __post_init__(self) -> None:
        sigmas = {"sigma_q": self.sigma_q, "sigma_qd": self.sigma_qd}
        require_positive(self.name, **sigmas, sigma_qdd=self.sigma_qdd, sigma_tau=self.sigma_tau)
        if not isinstance(self.clip, bool):
            raise ArgumentError(f"law gaussian: clip: expected true or false, found {self.clip!r}")
        if self.posture is not None:
            object.__setattr__(self, "posture", tuple(float(x) for x in self.posture))

    def check(self, robot: Robot, wanted: tuple[str, ...], states: int) -> None:
        if self.posture is not None and len(self.posture) != robot.nq:
            raise ArgumentError(
                f"law gaussian: posture: expected {robot.nq} numbers for {robot.name} "
                f"({', '.join(robot.coordinate_names)}), found {len(self.posture)}"
            )
        robot.integrate(self.centre(robot), np.zeros(robot.nv))  # refuses what is not finite or not a unit

    def centre(self, robot: Robot) -> Array:
        """(nq,) the posture around which states lie."""
        if self.posture is not None:
            return np.array(self.posture)
        lower, upper = robot.limits.lower, robot.limits.upper
        inside = np.isfinite(lower) & np.isfinite(upper)
        with np.errstate(invalid="ignore"):  # infinite limits are left out of what follows
            return np.where(inside, 0.5 * lower + 0.5 * upper, np.clip(robot.neutral, lower, upper))

    def sampler(self, robot: Robot, wanted: tuple[str, ...]) -> Sampler:
        centre, limits = self.centre(robot), robot.limits
        sigmas = {"q": self.sigma_q, "qd": self.sigma_qd, "qdd": self.sigma_qdd, "tau": self.sigma_tau}
        unlimited = np.full(robot.nv, np.inf)
        rates = {"qd": np.abs(limits.velocity), "qdd": unlimited, "tau": np.abs(limits.effort)}

        def sample(streams: Streams, start: int, rows: int) -> Mapping[str, Array]:
            found: dict[str, Array] = {}
            for name in wanted:
                values = sigmas[name] * streams(name).standard_normal((rows, robot.nv))
                low, high = (limits.lower, limits.upper) if name == "q" else (-rates[name], rates[name])
                if name == "q":
                    values = robot.integrate(centre, values)
                found[name] = np.clip(values, low, high) if self.clip else values
            return found

        return sample
