"""What a step gives."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.mpc.arrays import COUNTS, TIMES
from robomorph.mpc.explain import FAILED, ORIGINS, Ending, Judge, Violation
from robomorph.mpc.layout import Layout
from robomorph.mpc.tables import Tables

Array = npt.NDArray[Any]
# Field of a result -> array of a solver, copied as it is.
_COPIED = {"q": "plan_q", "qd": "plan_v", "qdd": "plan_a", "gains": "torque_gains"}
_SCALARS = ("success", "converged", "cost", "soft_cost", "violation", "iterations", "origin")


@dataclass(frozen=True, eq=False)
class Result:
    """A plan, and what to do now. For a batch (...) of problems every field has these dimensions first.

    tau: (..., nv) torques and forces for now (N m, N), those of node 0. q, qd: (..., N+1, nv), the plan; qdd,
    torques: (..., N, nv). gains: (..., nv, 2 nv), how tau changes with the state: d tau / d (q, qd), for
    faster loops below. success: the plan keeps every hard limit to the tolerance, at the nodes. converged: it
    is optimal, too. cost: of the plan, without soft_cost, the price of soft bounds. violation: the largest of
    hard bounds, in shares of their range. iterations: of this step. origin: of the plan: "fresh", "best so
    far" (of the iterations before), "shifted" (the last plan, moved on in time) or "hold" (brake and stand
    still). times: seconds by part: kernel, sweep, rows, rest, and total, which Python is part of."""

    tau: Array
    q: Array
    qd: Array
    qdd: Array
    torques: Array
    gains: Array
    success: Any
    converged: Any
    cost: Any
    soft_cost: Any
    violation: Any
    iterations: Any
    origin: Any
    times: dict[str, Any]
    _story: _Story = field(repr=False)

    @property
    def reason(self) -> Any:
        """How the step ended, in words ("solved" if all is well); an array of them for a batch."""
        return self._story.reason

    @property
    def violations(self) -> Any:
        """The hard bounds that the plan breaks, worst first (see Violation); an array of tuples for a
        batch."""
        return self._story.violations

    def __bool__(self) -> bool:
        """Did every problem succeed?"""
        return bool(np.all(self.success))

    def __repr__(self) -> str:
        done, count = int(np.sum(self.success)), int(np.size(self.success))
        state = f"{done} of {count} within the limits" if count > 1 else str(self.reason)[:200]
        return f"<mpc.Result {state}, {np.max(self.iterations)} iterations, cost {np.max(self.cost):.6g}>"

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_story": self._story.told()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)


class _Story:
    """Reasons and violations, worked out when they are asked for, from a copy of what the solver wrote: of
    its counts, and where a limit is broken of all its arrays."""

    def __init__(self, lead: tuple[int, ...]) -> None:
        self.lead = lead
        count = math.prod(lead)
        self._judge: Judge | None = None
        self._counts = np.zeros((count, len(COUNTS)), np.int64)
        self._violation = np.zeros(count)
        self._arrays: dict[str, Array] = {}
        self._told: tuple[Any, Any] | None = None

    def keep(self, judge: Judge, tables: Tables, outputs: dict[str, Array], kept: bool) -> None:
        """kept: every limit is. A second time nothing is allocated."""
        self._judge, self._told = judge, None
        np.copyto(self._counts, outputs["counts"])
        np.copyto(self._violation, outputs["violation"])
        if kept:
            return
        found = {**tables.arrays, **outputs, "beyond": tables.beyond}
        if not self._arrays:
            self._arrays = {name: np.copy(array) for name, array in found.items()}
        for name, array in found.items():
            np.copyto(self._arrays[name], array)

    @property
    def reason(self) -> Any:
        return self._tell()[0]

    @property
    def violations(self) -> Any:
        return self._tell()[1]

    def told(self) -> _Story:
        """The same without what it was worked out from, to be pickled."""
        out = _Story(self.lead)
        out._told = self._tell()
        return out

    def _tell(self) -> tuple[Any, Any]:
        if self._told is None:
            pairs = [self._one(b) for b in range(len(self._counts))]
            self._told = (
                _shaped([reason for reason, _ in pairs], self.lead),
                _shaped([violations for _, violations in pairs], self.lead),
            )
        return self._told

    def _one(self, b: int) -> tuple[str, tuple[Violation, ...]]:
        assert self._judge is not None
        counts = dict(zip(COUNTS, self._counts[b].tolist(), strict=True))
        broken = not self._violation[b] <= self._judge.tolerance
        violations = self._judge.violations(self._arrays, b) if broken else ()
        ending = Ending(
            code=counts["code"],
            origin=ORIGINS[counts["origin"]],
            iterations=counts["iterations"],
            relaxed=counts["relaxed"],
            success=not broken and counts["code"] != FAILED,
        )
        return ending.words(violations), violations


def _shaped(values: list[Any], lead: tuple[int, ...]) -> Any:
    if lead == ():
        return values[0]
    out = np.empty(len(values), object)
    out[:] = values
    return out.reshape(lead)


def make_result(layout: Layout, lead: tuple[int, ...]) -> Result:
    """An empty one, for `fill_result`."""
    nv, n = layout.nv, layout.horizon
    torques = np.zeros((*lead, n, nv))
    kinds = (bool, bool, float, float, float, np.int64, "U12")
    scalars = {name: np.zeros(lead, kind) for name, kind in zip(_SCALARS, kinds, strict=True)}
    return Result(
        tau=torques[..., 0, :],
        q=np.zeros((*lead, n + 1, nv)),
        qd=np.zeros((*lead, n + 1, nv)),
        qdd=np.zeros((*lead, n, nv)),
        torques=torques,
        gains=np.zeros((*lead, nv, 2 * nv)),
        times={name: np.zeros(lead) for name in (*TIMES, "total")},
        _story=_Story(lead),
        **scalars,
    )


def fill_result(
    result: Result, outputs: dict[str, Array], tables: Tables, judge: Judge, seconds: float
) -> None:
    """Copy what a solver wrote; nothing is allocated but what a first failure keeps."""
    problems = tables.problems
    for name, source in _COPIED.items():
        target = getattr(result, name)
        np.copyto(target.reshape(problems, *target.shape[target.ndim - 2 :]), outputs[source])
    torques = result.torques.reshape(problems, *result.torques.shape[-2:])
    np.add(outputs["plan_tau"], tables.beyond[:, None], out=torques)
    if result._story.lead == ():
        kept = _fill_single(result, outputs, tables, judge, seconds)
    else:
        kept = _fill_batch(result, outputs, tables, judge, seconds)
    result._story.keep(judge, tables, outputs, kept)


def _fill_single(
    result: Result, outputs: dict[str, Array], tables: Tables, judge: Judge, seconds: float
) -> bool:
    """Plain numbers. Is every limit kept?"""
    counts, violation = outputs["counts"][0], float(outputs["violation"][0])
    code = int(counts[1])
    success = violation <= judge.tolerance and code != FAILED
    values = {
        "success": success,
        "converged": bool(counts[2]),
        "cost": float(outputs["cost"][0]) + float(tables.offset[0]),
        "soft_cost": float(outputs["soft_cost"][0]),
        "violation": violation,
        "iterations": int(counts[0]),
        "origin": ORIGINS[int(counts[3])],
    }
    for name, value in values.items():
        object.__setattr__(result, name, value)
    for k, name in enumerate(TIMES):
        result.times[name] = float(outputs["times"][0, k])
    result.times["total"] = seconds
    return violation <= judge.tolerance


def _fill_batch(
    result: Result, outputs: dict[str, Array], tables: Tables, judge: Judge, seconds: float
) -> bool:
    counts, lead = outputs["counts"], result._story.lead
    codes = counts[:, 1]
    result.success[...] = ((outputs["violation"] <= judge.tolerance) & (codes != FAILED)).reshape(lead)
    result.converged[...] = counts[:, 2].reshape(lead)
    result.cost[...] = (outputs["cost"] + tables.offset).reshape(lead)
    for name in ("soft_cost", "violation"):
        getattr(result, name)[...] = outputs[name].reshape(lead)
    result.iterations[...] = counts[:, 0].reshape(lead)
    result.origin[...] = np.take(ORIGINS, counts[:, 3]).reshape(lead)
    for k, name in enumerate(TIMES):
        result.times[name][...] = outputs["times"][:, k].reshape(lead)
    result.times["total"][...] = seconds
    return bool((outputs["violation"] <= judge.tolerance).all())
