"""What a plan breaks and why a step ended as it did, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robomorph.mpc.kernels import ControlKernels
from robomorph.mpc.layout import ROWS, SYMBOLS, Layout

Array = npt.NDArray[np.float64]
CONVERGED, ITERATIONS, DEADLINE, INFEASIBLE, FAILED, STALLED = range(6)
ORIGINS = ("fresh", "best so far", "shifted", "hold")
_NAMED = 3  # bounds in a reason
_ORIGIN_WORDS = {
    "best so far": "the plan is the best of its iterations that keeps the limits",
    "shifted": "the plan is the last one, moved on in time",
    "hold": "the plan is to brake and stand still",
}
_PLAN = {"torque": "plan_tau", "q": "plan_q", "v": "plan_v", "a": "plan_a"}


class Violation(NamedTuple):
    """A hard bound that a plan breaks, at the node where it does so most.

    name: of the limits or bound. row: the joint, or the row of the task. bound: "lower" or "upper". node,
    time (s from now), value, limit, amount: in `unit`, positive. scaled: amount in shares of the bound's
    range. multiplier: how much the cost would fall per unit that the bound is wider (0: the solver has none).
    """

    name: str
    row: str
    unit: str
    bound: str
    node: int
    time: float
    value: float
    limit: float
    amount: float
    scaled: float
    multiplier: float

    def __str__(self) -> str:
        price = f"multiplier {self.multiplier:.3g}; " if self.multiplier else ""
        return (
            f"{self.name}, {self.row}, by {self.amount:.4g} {self.unit} ({self.value:.6g} beyond its "
            f"{self.bound} bound {self.limit:.6g}) at node {self.node}, t = {self.time:.4g} s ({price}it "
            f"would hold with that bound wider by {self.amount:.4g})"
        )


@dataclass(frozen=True, eq=False)
class Ending:
    """How a step ended for one problem."""

    code: int
    origin: str
    iterations: int
    relaxed: int
    success: bool

    def words(self, violations: tuple[Violation, ...]) -> str:
        if self.code == CONVERGED and self.success:
            return "solved"
        head = {
            CONVERGED: "converged",
            ITERATIONS: f"not yet converged after {self.iterations} iterations",
            DEADLINE: f"the deadline came after {self.iterations} iterations",
            INFEASIBLE: "no motion was found that keeps every hard limit; the plan breaks them least",
            FAILED: "no step could be computed: numbers were not finite, or a matrix was singular",
            STALLED: f"no step led further after {self.iterations} iterations (if the costs leave "
            "accelerations free, add one of efforts or accelerations)",
        }.get(self.code, f"ended with code {self.code}")
        parts = [head]
        if self.origin in _ORIGIN_WORDS:
            parts.append(_ORIGIN_WORDS[self.origin])
        if self.success:
            return "; ".join([*parts, "every limit is kept"])
        if self.relaxed:
            parts.append(
                f"the state at the start breaks or will break {self.relaxed} bounds, which were widened"
            )
        if violations:
            more = f" (and {len(violations) - _NAMED} more)" if len(violations) > _NAMED else ""
            parts.append("it breaks " + "; ".join(map(str, violations[:_NAMED])) + more)
        return "; ".join(parts)


class Judge:
    """Finds what plans break."""

    def __init__(self, layout: Layout, kernels: ControlKernels, tolerance: float) -> None:
        self.layout, self.kernels, self.tolerance = layout, kernels, tolerance

    def violations(self, arrays: dict[str, Any], b: int) -> tuple[Violation, ...]:
        """Of problem b: the worst node of every row and side, worst first. arrays: those of a solver, in and
        out, and `beyond` (problems, nv)."""
        found: list[Violation] = []
        for symbol in SYMBOLS:
            if f"{symbol}_lower" in arrays:
                values = arrays[_PLAN[symbol]][b]
                found += self._of(symbol, values, arrays, b)
        if "row_lower" in arrays:
            found += self._of("row", self._rows(arrays, b), arrays, b)
        return tuple(sorted(found, key=lambda violation: -violation.scaled))

    def _rows(self, arrays: dict[str, Any], b: int) -> Array:
        """Values of the rows (nodes, rows)."""
        q, v, references = (arrays[name][b] for name in ("plan_q", "plan_v", "row_reference"))
        states = (q, v) if self.layout.row_velocity else (q,)
        return np.asarray(self.kernels.rows(*states, references).values)

    def _of(self, symbol: str, values: Array, arrays: dict[str, Any], b: int) -> list[Violation]:
        """values: (nodes, entries)."""
        hard = np.isinf(arrays[f"{symbol}_soft"])
        scale = arrays[f"{symbol}_scale"]
        shift = arrays["beyond"][b] if symbol == "torque" else 0.0
        first = 0 if symbol in ("torque", "a") else 1  # nodes before have no such bound
        out: list[Violation] = []
        for side, sign in (("lower", -1.0), ("upper", 1.0)):
            table = arrays[f"{symbol}_{side}"]
            limit = np.broadcast_to(table[b if len(table) > 1 else 0], values.shape)
            with np.errstate(invalid="ignore"):
                beyond = np.where(hard & np.isfinite(limit), sign * (values - limit) / scale, -np.inf)
            beyond[:first] = -np.inf
            for entry in np.flatnonzero(~(beyond <= self.tolerance).all(axis=0)):
                node = int(np.argmax(beyond[:, entry]))
                amount = float(beyond[node, entry] * scale[entry])
                name, row, unit = self._label(symbol, int(entry))
                multiplier = float(arrays[f"{symbol}_multiplier"][b, node, entry])
                extra = float(np.broadcast_to(shift, (values.shape[1],))[entry])
                out.append(
                    Violation(
                        name,
                        row,
                        unit,
                        side,
                        node,
                        node * self.layout.dt,
                        float(values[node, entry]) + extra,
                        float(limit[node, entry]) + extra,
                        amount,
                        float(beyond[node, entry]),
                        abs(multiplier),
                    )
                )
        return out

    def _label(self, symbol: str, entry: int) -> tuple[str, str, str]:
        """Name, row and unit of an entry's bounds."""
        if symbol != "row":
            own = [b for b in self.layout.bounds_of(symbol) if entry in b.subject.joints]
            joint = self.layout.robot.velocity_names[entry]
            sliding = any(
                b.joint_name == joint and b.kind == "prismatic" for b in self.layout.robot.model.bodies
            )
            units = own[0].subject.unit.split(" or ")  # of joints that turn, of joints that slide
            return " and ".join(b.name for b in own), joint, units[-1] if sliding else units[0]
        for bound in self.layout.bounds_of(ROWS):
            rows = self.layout.places[bound.name].rows
            if rows.start <= entry < rows.stop:
                return bound.name, bound.subject.names[entry - rows.start], bound.subject.unit
        raise AssertionError(entry)
