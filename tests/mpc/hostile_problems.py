"""Random control problems of a hostile kind, in robomorph's words and in the oracle's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.mpc import Acceleration, Effort, Function, Jerk, Problem, Velocity
from robomorph.tasks import CenterOfMass, Orientation, Position, Posture
from tests.mpc.hostile_robots import hostile_robot
from tests.mpc.oracle import Limit, Oracle, Term

Array = npt.NDArray[np.float64]
Rng = np.random.Generator


@dataclass
class Hostile:
    """A problem, the oracle's, a state, what a step may be given, and the scales of hard limits."""

    problem: Problem
    oracle: Oracle
    q: Array
    qd: Array
    hard: list[tuple[str, Limit, Array]] = field(default_factory=list)
    soft: list[tuple[Limit, float]] = field(default_factory=list)

    @property
    def nodes(self) -> int:
        return self.problem.horizon + 1


def hostile_problem(rng: Rng, index: int) -> Hostile:
    robot, reference, tip = hostile_robot(index)
    horizon = int(rng.choice([1, 2, 3, 7, 8, 9, 17, 30]))
    dt = float(10 ** rng.uniform(-4, -1))
    q = rng.uniform(-1.2, 1.2, robot.nv)
    qd = rng.normal(size=robot.nv) * float(rng.choice([0.0, 0.3, 3.0]))
    out = Hostile(Problem(robot, horizon, dt), Oracle(reference, horizon, dt), q, qd)
    _postures(rng, out)
    _efforts(rng, out)
    _rows(rng, out, tip)
    _limits(rng, out)
    _bounds(rng, out, tip)
    return out


def _weight(rng: Rng, rows: int) -> Any:
    """One for all or one for each, some of them zero."""
    weight = 10 ** rng.uniform(-3, 4, rows)
    weight[rng.random(rows) < 0.15] = 0.0
    return weight if rng.random() < 0.5 else float(weight[0])


def _postures(rng: Rng, out: Hostile) -> None:
    """To a posture, with a way of its own for each node now and then; speeds."""
    problem, oracle = out.problem, out.oracle
    nv, posture = problem.robot.nv, Posture.of(problem.robot.model)
    goal = out.q + rng.normal(size=nv) * float(rng.choice([0.0, 0.1, 1.0, 30.0]))
    if rng.random() < 0.3:
        goal = goal + 0.1 * rng.normal(size=(out.nodes, nv))
    running, last = _weight(rng, nv), (_weight(rng, nv) if rng.random() < 0.7 else None)
    problem.cost(posture, running, goal)
    if last is not None:
        problem.terminal(posture, last)
    oracle.terms.append(Term(oracle.posture(goal), running, last))
    speed = float(10 ** rng.uniform(-2, 1))
    problem.cost(Velocity(), speed)
    oracle.terms.append(Term(oracle.velocity(), speed))
    if rng.random() < 0.3:
        problem.terminal(Velocity(), 10.0, name="stop")
        oracle.terms.append(Term(oracle.velocity(), None, 10.0))
    if rng.random() < 0.3:  # a second cost on the same joints
        problem.cost(Velocity(), 2.0, 0.5 * np.ones(nv), name="cruise")
        oracle.terms.append(Term(oracle.velocity(0.5 * np.ones(nv)), 2.0))


def _efforts(rng: Rng, out: Hostile) -> None:
    problem, oracle = out.problem, out.oracle
    weight, kind = float(10 ** rng.uniform(-4, -1)), rng.integers(3)
    if kind == 0:
        problem.cost(Effort(), weight)
        oracle.terms.append(Term(oracle.effort(), weight))
    else:
        goal = rng.normal(size=problem.robot.nv)
        problem.cost(Effort(), weight, goal)
        oracle.terms.append(Term(oracle.effort(goal), weight))
    if kind == 2:
        problem.cost(Acceleration(), 1e-3)
        oracle.terms.append(Term(oracle.acceleration(), 1e-3))
    if rng.random() < 0.25:
        problem.cost(Jerk(), 1e-6)
        oracle.jerk = 1e-6


def _rows(rng: Rng, out: Hostile, tip: str) -> None:
    """One of a few sets of rows, as every one is a kernel to be compiled."""
    problem, oracle = out.problem, out.oracle
    kind, weight = rng.integers(5), float(10 ** rng.uniform(-1, 3))
    place = oracle.reference.forward_kinematics(out.q, tip)
    point = place[:3, 3] + rng.normal(size=3) * float(rng.choice([0.0, 0.1, 50.0]))
    if kind == 0:
        problem.cost(Position(tip), weight, point).terminal(Position(tip), 10 * weight)
        oracle.terms.append(Term(oracle.position(tip, point), weight, 10 * weight))
        problem.cost(Orientation(tip), weight, place[:3, :3])
        oracle.terms.append(Term(oracle.orientation(tip, place[:3, :3]), weight))
    if kind == 1:
        problem.terminal(CenterOfMass(), weight, point)
        oracle.terms.append(Term(oracle.center_of_mass(point), None, weight))
        problem.cost(Function(_product, 2), weight, [0.1, -0.2])
        goal = np.array([0.1, -0.2])
        oracle.terms.append(Term(oracle.by_differences(lambda q, v: np.array(_product(q, v)), goal), weight))
    if kind == 2:
        problem.cost(Position(tip), weight, rate=1)
        speed = lambda q, v: oracle.reference.frame_velocity(q, v, tip)[:3]  # noqa: E731
        oracle.terms.append(Term(oracle.by_differences(speed), weight))


def _product(q: Any, qd: Any) -> list[Any]:
    return [q[0] * q[-1] + qd[0], q[0] * qd[-1]]


def _limits(rng: Rng, out: Hostile) -> None:
    """Wide, tight, one-sided, and not around the state; hard or soft."""
    oracle, nv = out.oracle, out.problem.robot.nv
    makes = {
        "torque": (oracle.effort(), False, 80.0),
        "velocity": (oracle.velocity(), True, 5.0),
        "position": (oracle.posture(0.0), True, 3.0),
        "acceleration": (oracle.acceleration(), False, 60.0),
    }
    for name, (rows, states, size) in makes.items():
        if rng.random() < 0.5:
            continue
        low = -size * 10 ** rng.uniform(-1.0, 0.5, nv)
        high = size * 10 ** rng.uniform(-1.0, 0.5, nv)
        if rng.random() < 0.1:
            high = low + 1e-3 * size * rng.uniform(0.01, 1.0, nv)
        if rng.random() < 0.3:
            side, sign = (low, -1.0) if rng.random() < 0.5 else (high, 1.0)
            side[rng.integers(nv)] = sign * np.inf
        soft = float(10 ** rng.uniform(0, 4)) if rng.random() < 0.2 else None
        if not (np.isfinite(low) | np.isfinite(high)).any():
            continue
        out.problem.limits(**{name: (low, high)}, soft=soft)
        _keep(out, f"{name} limits", Limit(rows, low, high, states), soft)


def _bounds(rng: Rng, out: Hostile, tip: str) -> None:
    kind = rng.integers(6)
    oracle = out.oracle
    here = oracle.reference.forward_kinematics(out.q, tip)[:3, 3]
    soft = 1e3 if rng.random() < 0.3 else None
    if kind == 0:
        low, high = here - rng.uniform(-0.02, 0.3, 3), np.full(3, np.inf)
        low[rng.integers(3)] = -np.inf
        out.problem.bound(Position(tip), low, high, soft=soft, name="fence")
        _keep(out, "fence", Limit(oracle.position(tip, 0.0), low, high), soft)
    if kind == 1:
        power = Function(lambda q, qd: [q[0] * qd[-1]], 1, "power")
        out.problem.bound(power, -0.5, 0.4, soft=soft, name="power")
        rows = oracle.by_differences(lambda q, v: np.array([q[0] * v[-1]]))
        _keep(out, "power", Limit(rows, [-0.5], [0.4]), soft)


def _keep(out: Hostile, name: str, limit: Limit, soft: float | None) -> None:
    low, high = np.asarray(limit.lower), np.asarray(limit.upper)
    both = np.isfinite(low) & np.isfinite(high)
    single = np.where(np.isfinite(low), np.abs(low), np.where(np.isfinite(high), np.abs(high), 1.0))
    with np.errstate(invalid="ignore"):
        scale = np.where(both, high - low, np.maximum(1.0, single) if "limits" in name else 1.0)
    if soft is None:
        out.hard.append((name, limit, scale))
        out.oracle.limits.append(limit)
    else:
        out.soft.append((limit, soft))


__all__ = ["Hostile", "hostile_problem"]
