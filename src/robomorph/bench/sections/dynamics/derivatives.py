"""Products with derivatives, and second derivatives, against the matrices they do without."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.bench.given import factors_of, given_factors, given_inverse
from robomorph.bench.goals import Goal
from robomorph.bench.measuring import Contestant, Results, measure, relative_error
from robomorph.bench.ours import INTO_OUT
from robomorph.bench.records import OURS, Record, Timing, first, select, speedup
from robomorph.bench.sections.section import (
    Job,
    Records,
    Section,
    TableData,
    robots_of,
    show_error,
    show_ns,
    show_ratio,
)
from robomorph.bench.session import Session
from robomorph.bench.subject import Subject
from robomorph.robot import Robot

Array = npt.NDArray[Any]
NAME = "derivatives"
BATCH = 128
GIVEN = "vjp, qdd and M^-1 given"
FACTORED = "vjp, qdd and factors of M given"
_MATRICES = "gradient"
_LAST = {"inverse_dynamics": "qdd", "forward_dynamics": "tau"}
_SECOND = ("iiwa14", "hyq")  # all second derivatives of a humanoid fill no table that anybody reads
_LARGEST_HVP = 4.0


@dataclass(frozen=True)
class Way:
    """A kernel, its arguments for a batch, and what it should give."""

    name: str
    kernel: Any
    arguments: tuple[Array, ...]
    expected: Results | None

    def contestant(self) -> Contestant:
        out = tuple(np.zeros((BATCH, *port.shape)) for port in self.kernel.outputs)
        target = out if len(out) > 1 else out[0]

        def loop(count: int) -> None:
            for _ in range(count):
                self.kernel(*self.arguments, out=target)

        names = [port.name for port in self.kernel.outputs]
        return Contestant(OURS, INTO_OUT, loop, BATCH, lambda: dict(zip(names, out, strict=True)))


def _jobs(session: Session) -> list[Job]:
    return [
        Job(f"{subject.name}, {algorithm}", partial(_run, session, subject, algorithm))
        for subject in session.subjects
        for algorithm in _LAST
    ]


def _run(session: Session, subject: Subject, algorithm: str) -> list[Record]:
    ways = _ways(subject, algorithm)
    contestants = [way.contestant() for way in ways]
    timings = measure(contestants, session.effort)
    return [
        _record(subject, algorithm, way, contestant, timing)
        for way, contestant, timing in zip(ways, contestants, timings, strict=True)
    ]


def _record(subject: Subject, algorithm: str, way: Way, contestant: Contestant, timing: Timing) -> Record:
    assert contestant.results is not None
    exact = way.name in ("vjp", "jvp", GIVEN, FACTORED)
    return Record(
        NAME,
        subject.name,
        algorithm,
        OURS,
        INTO_OUT,
        batch=BATCH,
        timing=timing,
        error=None if way.expected is None else relative_error(contestant.results(), way.expected),
        reference="products with the interpreter's matrices" if exact else "differences of them",
        figures={"operations": float(way.kernel.stats.flops)},
        case=way.name,
    )


def _ways(subject: Subject, algorithm: str) -> list[Way]:
    robot, states = subject.robot, subject.states(BATCH)
    at = tuple(states[name] for name in ("q", "qd", _LAST[algorithm]))
    rng = np.random.default_rng(0)
    w, *v = rng.normal(size=(4, BATCH, subject.nv))
    matrices = _matrices(robot, algorithm, at)
    names = [f"d{name}" for name in ("q", "qd", _LAST[algorithm])]
    back = {n: np.einsum("bi,bij->bj", w, m) for n, m in zip(names, matrices, strict=True)}
    along = sum(np.einsum("bij,bj->bi", m, x) for m, x in zip(matrices, v, strict=True))
    result = "dtau" if algorithm == "inverse_dynamics" else "dqdd"
    ways = [
        Way(_MATRICES, robot.compile(f"{algorithm}_gradient", threads=1), at, None),
        Way("vjp", _kernel(robot, algorithm, "vjp"), (*at, w), back),
        Way("jvp", _kernel(robot, algorithm, "jvp"), (*at, *v), {result: np.asarray(along)}),
        Way("hvp", _kernel(robot, algorithm, "hvp"), (*at, w, *v), _turned(robot, algorithm, at, w, v)),
    ]
    if algorithm == "forward_dynamics":
        qdd = robot.compile(algorithm)(*at)
        known = {GIVEN: robot.compile("mass_matrix_inverse")(at[0]), FACTORED: factors_of(robot)(at[0])}
        given = {GIVEN: given_inverse(robot), FACTORED: given_factors(robot)}
        ways[2:2] = [Way(how, given[how], (*at[:2], qdd, known[how], w), back) for how in given]
    elif subject.name in _SECOND:
        ways.append(Way("second", _kernel(robot, algorithm, "second"), at, _bent(robot, at)))
    return ways


def _kernel(robot: Robot, algorithm: str, derivative: str) -> Any:
    return robot.compile(algorithm, derivative=derivative, threads=1)


def _matrices(robot: Robot, algorithm: str, at: tuple[Array, ...]) -> list[Array]:
    """(BATCH, nv, nv) by each argument, as the interpreter has them."""
    gradient = robot.compile(f"{algorithm}_gradient", target="interpreter")(*at)
    if algorithm == "forward_dynamics":
        return [gradient.dqdd_dq, gradient.dqdd_dqd, gradient.minv]
    return [gradient.dtau_dq, gradient.dtau_dqd, robot.compile("mass_matrix", target="interpreter")(at[0])]


def _turned(
    robot: Robot, algorithm: str, at: tuple[Array, ...], w: Array, v: list[Array], step: float = 3e-4
) -> Results:
    """The change of weighted gradients along v, by differences of fourth order."""
    total: Any = 0.0
    for k, share in ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12)):
        q = robot.integrate(at[0], k * step * v[0])
        moved = (q, *(x + k * step * d for x, d in zip(at[1:], v[1:], strict=True)))
        weighted = [np.einsum("bi,bij->bj", w, m) for m in _matrices(robot, algorithm, moved)]
        total = total + share / step * np.stack(weighted)
    return {f"d{name}": total[k] for k, name in enumerate(("q", "qd", _LAST[algorithm]))}


def _bent(robot: Robot, at: tuple[Array, ...], step: float = 1e-3) -> Results:
    """All derivatives of dtau/dq along q, by differences of fourth order, at the first states."""
    few = tuple(a[:4] for a in at)
    total: Any = 0.0
    for k, share in ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12)):
        columns = []
        for unit in np.eye(robot.nv):
            q = robot.integrate(few[0], np.broadcast_to(k * step * unit, few[1].shape))
            columns.append(_matrices(robot, "inverse_dynamics", (q, *few[1:]))[0])
        total = total + share / step * np.stack(columns, axis=-1)
    return {"d2tau_dq_dq": total}


def _tables(records: Records) -> list[TableData]:
    columns = (
        "function",
        "what",
        "operations",
        "time",
        "gradient takes",
        "operations of the gradient",
        "error",
    )
    tables = []
    for robot in robots_of(records):
        rows = []
        for algorithm in _LAST:
            mine = select(records, robot=robot, function=algorithm)
            whole = first(mine, case=_MATRICES)
            rows += [_row(record, whole) for record in mine]
        caption = (
            f"batch of {BATCH}, one thread, float64, time per evaluation; errors of vjp and jvp against "
            "products with the interpreter's matrices, of second derivatives against differences of these"
        )
        tables.append(TableData(f"derivatives, {robot}", columns, rows, left=2, caption=caption))
    return tables


def _row(record: Record, whole: Record | None) -> tuple[str, ...]:
    share = None if whole is None else record.figures["operations"] / whole.figures["operations"]
    return (
        record.function,
        record.case,
        f"{record.figures['operations']:,.0f}",
        show_ns(record.best_ns),
        show_ratio(speedup(record, whole)),
        "-" if share is None else f"{share:.2f}",
        show_error(record.error),
    )


def _gain(robot: str) -> Callable[[Records], float | None]:
    def ratio(records: Records) -> float | None:
        mine = select(records, robot=robot, function="forward_dynamics")
        return speedup(first(mine, case="vjp"), first(mine, case=_MATRICES))

    return ratio


def _turns(robot: str) -> Callable[[Records], float | None]:
    def ratio(records: Records) -> float | None:
        mine = select(records, robot=robot, function="inverse_dynamics")
        hvp, whole = first(mine, case="hvp"), first(mine, case=_MATRICES)
        if hvp is None or whole is None:
            return None
        return hvp.figures["operations"] / whole.figures["operations"]

    return ratio


def _goals() -> tuple[Goal, ...]:
    faster = {"iiwa14": 1.5, "hyq": 1.5, "atlas": 1.8}
    goals = [
        Goal(f"{robot}, vjp of forward dynamics over its gradient", value, "x", _gain(robot), robot=robot)
        for robot, value in faster.items()
    ]
    what = "hvp of inverse dynamics, operations beside the gradient's"
    goals += [
        Goal(f"{robot}, {what}", _LARGEST_HVP, "x", _turns(robot), at_least=False, robot=robot)
        for robot in faster
    ]
    return tuple(goals)


SECTION = Section(NAME, _jobs, _tables, _goals())
