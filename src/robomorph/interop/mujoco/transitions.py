"""Derivatives of steps in time, in MuJoCo's tangent spaces."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robomorph.compiler.program import compile_program
from robomorph.errors import ArgumentError
from robomorph.interop.mujoco.arguments import arrays, numbers
from robomorph.interop.mujoco.places import places_of
from robomorph.interop.mujoco.tangents import parts
from robomorph.interop.mujoco.turns import rotation_of, skew
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Tracer
from robomorph.robot import Robot
from robomorph.runtime.kernel import AnyKernel

Array = npt.NDArray[np.float64]
Traced = npt.NDArray[np.object_]


class Transition(NamedTuple):
    """Derivatives of a step as `mjd_transitionFD` gives them: A (..., 2nv, 2nv), and B (..., 2nv, nv) by
    generalised forces (`qfrc_applied`): times the transmission of actuators it is by their forces."""

    A: Array
    B: Array


def transition_to_mujoco(
    robot: Robot,
    gradient: Any,
    before: tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike],
    after: tuple[npt.ArrayLike, npt.ArrayLike],
    *,
    model: Any = None,
) -> Transition:
    """`robot.step_gradient(...)` (A and B) in MuJoCo's tangent spaces. before: our q, qd and tau; after: what
    `robot.step` gives. A force on a free joint counts as constant in the world's axes, as there."""
    nv = robot.nv
    _require_parts("gradient", gradient, "A, B")
    _require_parts("before", before, "q, qd, tau")
    _require_parts("after", after, "q, qd")
    a, b = numbers("A", gradient[0]), numbers("B", gradient[1])
    if a.shape[-2:] != (2 * nv, 2 * nv) or b.shape[-2:] != (2 * nv, nv):
        raise ArgumentError(
            f"gradient: expected A (..., {2 * nv}, {2 * nv}) and B (..., {2 * nv}, {nv}), found shapes "
            f"{a.shape} and {b.shape}"
        )
    leads = (a.shape[:-2], b.shape[:-2])
    start, lead = arrays(robot, leads, q=(before[0], robot.nq), qd=(before[1], nv), tau=(before[2], nv))
    end, _ = arrays(robot, (lead,), q=(after[0], robot.nq), qd=(after[1], nv))
    places = list(places_of(robot, model))
    order = np.empty(nv, dtype=int)
    for place in places:
        order[place.qvel] = np.arange(nv)[place.v]
    free = tuple((place.q.start, place.v.start) for place in places if place.body.kind == "floating")
    a, b = (np.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (a, b))
    if free:
        return Transition(*_kernel(robot.nq, nv, free, tuple(order))(a, b, *start, *end))
    both = np.concatenate([order, nv + order])
    return Transition(a[..., both[:, None], both], b[..., both[:, None], order])


def _require_parts(name: str, value: Any, parts: str) -> None:
    if isinstance(value, (tuple, list)) and len(value) == len(parts.split(", ")):
        return
    found = f"{len(value)} of them" if isinstance(value, (tuple, list)) else type(value).__name__
    raise ArgumentError(f"expected {name}=({parts}), found {found}")


@lru_cache(maxsize=64)
def _kernel(nq: int, nv: int, free: tuple[tuple[int, int], ...], order: tuple[int, ...]) -> AnyKernel:
    """(A, B, q, qd, tau, q_next, qd_next) -> MuJoCo's A and B. free: where free joints have their entries in
    q and qd. order: of MuJoCo's degrees of freedom, which ones are they here?"""
    return compile_program(conversion(nq, nv, free, order), threads=1, check_finite=False)


def conversion(nq: int, nv: int, free: tuple[tuple[int, int], ...], order: tuple[int, ...]) -> Program:
    """What `_kernel` computes."""
    state = (("q", nq), ("qd", nv), ("tau", nv), ("q_next", nq), ("qd_next", nv))
    ports = Port("A", (2 * nv, 2 * nv)), Port("B", (2 * nv, nv)), *(Port(name, (n,)) for name, n in state)
    tracer = Tracer()
    given = tracer.inputs(ports)
    a, b, q, qd, tau, q_next, qd_next = (
        np.array(given[port.name], dtype=object).reshape(port.shape) for port in ports
    )
    for at, dof in free:
        pose, move = slice(at, at + 7), slice(dof, dof + 6)
        _from_free_joint(a, b, dof, q[pose], qd[move], tau[move])
        _to_free_joint(a, b, dof, q_next[pose], qd_next[move])
    ours = np.array(order)
    both = np.concatenate([ours, nv + ours])
    results = {"A": a[np.ix_(both, both)], "B": b[np.ix_(both, ours)]}
    return tracer.program("transition_to_mujoco", ports, results)


def _from_free_joint(a: Traced, b: Traced, dof: int, q: Traced, qd: Traced, tau: Traced) -> None:
    """Columns, in place: from changes of MuJoCo's state and forces. dx = R^T dp, dv_base = R^T dv - turn x v
    and f_base = R^T f, which turns with the base while f stays: df_base = f_base x turn."""
    linear, angular, rates = parts(dof, b.shape[-1])
    a[:, angular] += a[:, rates] @ skew(qd[:3]) + b[:, linear] @ skew(tau[:3])
    for matrix, columns in ((a, linear), (a, rates), (b, linear)):
        matrix[:, columns] = matrix[:, columns] @ rotation_of(q).T


def _to_free_joint(a: Traced, b: Traced, dof: int, q: Traced, qd: Traced) -> None:
    """Rows, in place: to changes of MuJoCo's state. dp = R dx, dv = R (dv_base + turn x v_base)."""
    linear, angular, rates = parts(dof, b.shape[-1])
    for matrix in (a, b):
        matrix[rates] -= skew(qd[:3]) @ matrix[angular]
        for rows in (linear, rates):
            matrix[rows] = rotation_of(q) @ matrix[rows]
