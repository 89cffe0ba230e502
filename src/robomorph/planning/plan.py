"""A plan: a motion that was found, or the best there was and why it is none."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.given.numbers import number
from robomorph.planning.device.use import DeviceUse, split_times
from robomorph.planning.evaluate import Evaluator
from robomorph.planning.jacobian import Jacobian
from robomorph.planning.paper import PaperEvaluator, PaperJacobian
from robomorph.planning.problem import Array
from robomorph.planning.requirements import Ends, Requirement, scale_of
from robomorph.planning.sampling import Sampler
from robomorph.planning.spline import Spline

if TYPE_CHECKING:
    from robomorph.planning.assemble import Assembled
    from robomorph.planning.certificate import Certificate
    from robomorph.robot import Robot

_SAMPLES = 20  # of every interval, for margins
_BLOCK = 1 << 17  # samples at a time


@dataclass(frozen=True)
class Margin:
    """How near a constraint comes to a bound. slack: in its own unit, negative if it is broken; scaled: the
    same over its scale; time in s; row: which of its values; bound: "lower" or "upper"."""

    name: str
    row: str
    slack: float
    scaled: float
    time: float
    bound: str
    unit: str


@dataclass(frozen=True)
class Sizes:
    """variables, rows (two-sided), one-sided constraints, nonzeros of the Jacobian with the tree's zeros left
    out and with them."""

    variables: int
    rows: int
    constraints: int
    nonzeros: int
    nonzeros_dense: int


@dataclass
class Plan:
    """success, and a reason in words. control (intervals + 3, nv): control points of uniform cubic B-splines
    over `seconds`. cost: what was minimised. iterations: of the solver; times: s by part."""

    robot: Robot
    success: bool
    reason: str
    control: Array
    seconds: float
    cost: float
    iterations: int
    times: Mapping[str, float]
    requirements: tuple[Requirement, ...]
    method: str
    solver: str
    ends: Ends
    multipliers: Array | None = None
    certificate: Certificate | None = None
    device: DeviceUse | None = None  # what was asked of it, if functions were evaluated on one
    others: tuple[Plan, ...] = field(default=(), repr=False)  # distinct answers of other starts, by cost
    assembled: Assembled | None = field(default=None, repr=False)  # what was solved; not kept by copies

    @cached_property
    def sizes(self) -> Sizes | None:
        """Of the problem that was solved; worked out when first asked for, or before the plan is pickled."""
        return None if self.assembled is None else sizes_of(self.assembled.evaluator)

    @property
    def split(self) -> dict[str, float]:
        """s of the search as planning on a device is usually told: values, gradients, hessians, filling (of
        Jacobian and condensed matrix) and solver; see `split_times`."""
        return split_times(self.times, self.device)

    @property
    def spline(self) -> Spline:
        return Spline(self.control, self.seconds)

    def q(self, t: npt.ArrayLike) -> Array:
        """Joint positions (..., nv) at times t (...) in s; before and after the motion as at its ends."""
        return self.spline(_times(t))

    def qd(self, t: npt.ArrayLike) -> Array:
        return self.spline(_times(t), 1)

    def qdd(self, t: npt.ArrayLike) -> Array:
        return self.spline(_times(t), 2)

    def qddd(self, t: npt.ArrayLike) -> Array:
        return self.spline(_times(t), 3)

    def tau(self, t: npt.ArrayLike) -> Array:
        """Joint torques (..., nv) that the motion takes."""
        return self.robot.inverse_dynamics(self.q(t), self.qd(t), self.qdd(t))

    def state(self, t: float) -> Array:
        """(3, nv): q, qd, qdd at one time, as a start of another motion."""
        return np.stack([self.q(t), self.qd(t), self.qdd(t)])

    # --- how well it holds ---------------------------------------------------------------------------

    @cached_property
    def margins(self) -> tuple[Margin, ...]:
        """The worst of every constraint, in the order they were asked for, from samples."""
        count = _SAMPLES * (len(self.control) - 3) + 1
        return self._worst(np.linspace(0.0, self.seconds, count))

    def violations(self, sample_rate: float = 1e4) -> tuple[Margin, ...]:
        """The worst of every constraint that is broken at a sample, so many a second; empty if none is."""
        rate = number("sample_rate", sample_rate)
        if not 0.0 < rate <= 1e7:
            raise ArgumentError(f"sample_rate: expected 0 to 1e7 per second, found {sample_rate!r}")
        count = max(2, round(self.seconds * rate) + 1)
        worst: list[Margin] = []
        for first in range(0, count, _BLOCK):
            own = np.arange(first, min(first + _BLOCK, count)) * (self.seconds / (count - 1))
            found = self._worst(np.minimum(own, self.seconds))
            pairs = zip(worst or found, found, strict=True)
            worst = [min(pair, key=lambda margin: margin.scaled) for pair in pairs]
        return tuple(m for m in worst if m.slack < 0.0)

    def _worst(self, t: Array) -> tuple[Margin, ...]:
        sampler = Sampler(self.robot, self.requirements)
        return tuple(
            worst_margin(requirement, own, sampler.values(i, self.spline, own))
            for i, requirement in enumerate(self.requirements)
            for own in [self._window(requirement, t)]
        )

    def _window(self, requirement: Requirement, t: Array) -> Array:
        """Samples within a requirement's window, and its edges."""
        begin, end = requirement.window
        inner = t[(t > begin) & (t < end)]
        return np.unique(np.concatenate([[begin], inner, [end]]))

    def certify(self, **effort: Any) -> Certificate:
        """Prove every constraint for every instant (docs/planning-certificate.md); what cannot be proven is
        named in `certificate.failed`. Kept as `plan.certificate`. effort: see `certificate.certify`."""
        from robomorph.planning.certificate.plans import certify_plan

        self.certificate = certify_plan(self, **effort)
        return self.certificate

    # --- files ---------------------------------------------------------------------------------------

    def sample(self, rate: float = 1000.0) -> dict[str, Array]:
        """Times (n,), q, qd, qdd and tau (n, nv) at so many samples a second."""
        t = np.linspace(0.0, self.seconds, max(2, round(self.seconds * number("rate", rate)) + 1))
        return {"t": t, "q": self.q(t), "qd": self.qd(t), "qdd": self.qdd(t), "tau": self.tau(t)}

    def save(self, path: str | Path, rate: float = 1000.0) -> None:
        """The plan with its certificate as JSON, which `robomorph check` proves again; or samples, so many a
        second, as NPZ (with the control points) or CSV: by the file's ending."""
        path = Path(path)
        check_ending(path)
        if path.suffix == ".json":
            from robomorph.planning.certificate.plans import save_plan

            return save_plan(self, path)
        found = self.sample(rate)
        if path.suffix == ".npz":
            found.update(control=self.control, joints=np.array(self.robot.velocity_names))
            np.savez(path, **found)  # type: ignore[arg-type]
        else:
            names = [
                f"{what} {joint}" for what in ("q", "qd", "qdd", "tau") for joint in self.robot.velocity_names
            ]
            table = np.column_stack([found["t"], *(found[what] for what in ("q", "qd", "qdd", "tau"))])
            with path.open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(["t", *names])
                writer.writerows([repr(float(x)) for x in row] for row in table)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "sizes": self.sizes, "assembled": None}

    def __bool__(self) -> bool:
        return self.success

    def __repr__(self) -> str:
        state = "solved" if self.success else "failed"
        found = f"{self.seconds:g} s, cost {self.cost:.6g}, {self.iterations} iterations"
        return f"<Plan {state}: {self.robot.name}, {found}>"


def check_ending(path: Path) -> None:
    """Of a file that a plan is to be saved as."""
    if path.suffix not in (".json", ".npz", ".csv"):
        raise ArgumentError(f"path: expected a name ending in .json, .npz or .csv, found {path.name!r}")


def sizes_of(evaluator: Evaluator) -> Sizes:
    lower, upper = evaluator.bounds()
    if isinstance(evaluator, PaperEvaluator):
        nonzeros = dense = len(PaperJacobian(evaluator).row)
    else:
        nonzeros, dense = len(Jacobian(evaluator).row), len(Jacobian(evaluator, tree=False).row)
    return Sizes(
        variables=evaluator.problem.variables,
        rows=evaluator.count,
        constraints=int(np.isfinite(lower).sum() + np.isfinite(upper).sum()),
        nonzeros=nonzeros,
        nonzeros_dense=dense,
    )


def worst_margin(requirement: Requirement, t: Array, values: Array) -> Margin:
    """values (len(t), rows)."""
    scale = np.array([scale_of(requirement, k) for k in range(len(requirement.lower))])
    best: tuple[float, int, int, str] | None = None
    for bound, slack in (("lower", values - requirement.lower), ("upper", requirement.upper - values)):
        scaled = np.where(np.isfinite(slack), slack / scale, np.inf)
        i, k = np.unravel_index(int(np.argmin(scaled)), scaled.shape)
        if best is None or scaled[i, k] < best[0]:
            best = (float(scaled[i, k]), int(i), int(k), bound)
    assert best is not None
    least, at, row, bound = best
    return Margin(
        requirement.name,
        requirement.names[row],
        least * float(scale[row]),
        least,
        float(t[at]),
        bound,
        requirement.unit,
    )


def _times(t: npt.ArrayLike) -> Array:
    try:
        times = np.asarray(t, dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"t: expected times in s, found {t!r}") from None
    if not np.isfinite(times).all():
        raise ArgumentError("t: expected finite times in s, found NaN or infinity")
    return times
