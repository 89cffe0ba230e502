"""The arrays that Python and a solver share: made once for a number of problems, then only written."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robomorph.mpc.layout import ROWS, SYMBOLS, Layout
from robomorph.mpc.terms import Bound

Array = npt.NDArray[np.float64]
Arrays = dict[str, npt.NDArray[np.float64] | npt.NDArray[np.int64]]
COUNTS = ("iterations", "code", "converged", "origin", "elastic", "trials", "relaxed", "reserved")
TIMES = ("kernel", "sweep", "rows", "rest")


def input_arrays(layout: Layout, problems: int) -> dict[str, Array]:
    """What a solver reads, references and weights zero. B = problems comes first:

    state_q, state_v, last_a (B, nv); x_reference (B, nodes, nv), x_weight (B, 2, nv) (running times dt,
    terminal; of torques and accelerations (B, 1, nv)) of every x with a cost; row_reference (B, nodes,
    references), row_weight (B, 2, rows); jerk_weight (nv); bounds as `bound_arrays` has them."""
    nv = layout.nv
    out: dict[str, Array] = {name: np.zeros((problems, nv)) for name in ("state_q", "state_v", "last_a")}
    for symbol in SYMBOLS:
        if any(True for _ in layout.costs_of(symbol)):
            phases = 1 if symbol in ("torque", "a") else 2
            out[f"{symbol}_reference"] = np.zeros((problems, layout.nodes_of(symbol), nv))
            out[f"{symbol}_weight"] = np.zeros((problems, phases, nv))
    if layout.rows:
        out["row_reference"] = np.zeros((problems, layout.nodes, layout.references))
        out["row_weight"] = np.zeros((problems, 2, layout.rows))
    if layout.jerk:
        out["jerk_weight"] = np.zeros(nv)
    return {**out, **bound_arrays(layout, problems)}


def bound_arrays(layout: Layout, problems: int) -> dict[str, Array]:
    """x_lower, x_upper (1, 1, nv) (torques: (B, 1, nv)), or (B, nodes, nv) if they move with references,
    x_soft, x_scale (nv) of every x with a bound; the same of rows, whose bounds never move."""
    out: dict[str, Array] = {}
    for symbol in SYMBOLS:
        bounds = list(layout.bounds_of(symbol))
        if bounds:
            all_nodes = layout.nodes_of(symbol) if layout.moves(symbol) else 1
            # Those of torques move with what drives must give beyond the model's.
            count = (problems if layout.moves(symbol) or symbol == "torque" else 1, all_nodes)
            out[f"{symbol}_lower"] = np.full((*count, layout.nv), -np.inf)
            out[f"{symbol}_upper"] = np.full((*count, layout.nv), np.inf)
            out[f"{symbol}_soft"], out[f"{symbol}_scale"] = _soft_and_scale(layout.nv, bounds)
    if any(True for _ in layout.bounds_of(ROWS)):
        low, high = np.full((1, 1, layout.rows), -np.inf), np.full((1, 1, layout.rows), np.inf)
        soft, scale = np.full(layout.rows, np.inf), np.ones(layout.rows)
        for bound in layout.bounds_of(ROWS):
            rows = layout.places[bound.name].rows
            low[..., rows], high[..., rows] = bound.lower, bound.upper
            soft[rows], scale[rows] = bound.soft, _scale(bound, relative=True)
        out |= {"row_lower": low, "row_upper": high, "row_soft": soft, "row_scale": scale}
    return out


def output_arrays(layout: Layout, problems: int) -> Arrays:
    """What a solver writes: the plan, gains of accelerations and of torques at node 0, costs, the worst
    violation, multipliers of bounds (positive at an upper one, negative at a lower one), counts and times."""
    nv, n = layout.nv, layout.horizon
    shapes: dict[str, tuple[int, ...]] = {
        **{name: (n + 1, nv) for name in ("plan_q", "plan_v")},
        **{name: (n, nv) for name in ("plan_a", "plan_tau")},
        **{name: (nv, 2 * nv) for name in ("gains", "torque_gains")},
        **{name: () for name in ("cost", "soft_cost", "violation")},
        "worst": (4,),
        "times": (len(TIMES),),
    }
    for symbol in SYMBOLS:
        if any(True for _ in layout.bounds_of(symbol)):
            shapes[f"{symbol}_multiplier"] = (layout.nodes_of(symbol), nv)
    if any(True for _ in layout.bounds_of(ROWS)):
        shapes["row_multiplier"] = (n + 1, layout.rows)
    out: Arrays = {name: np.zeros((problems, *shape)) for name, shape in shapes.items()}
    out["counts"] = np.zeros((problems, len(COUNTS)), np.int64)
    return out


def _soft_and_scale(nv: int, bounds: list[Bound]) -> tuple[Array, Array]:
    soft, scale = np.full(nv, np.inf), np.full(nv, np.inf)
    for bound in bounds:
        joints = list(bound.subject.joints)
        soft[joints] = np.minimum(soft[joints], bound.soft)
        scale[joints] = np.minimum(scale[joints], _scale(bound, relative=False))
    return soft, np.where(np.isfinite(scale), scale, 1.0)


def _scale(bound: Bound, *, relative: bool) -> Array:
    """(rows,): the range between two bounds; beside a single one its size, at least 1. Infinite where there
    is none; relative: rows that are measured from a reference, whose single bounds say nothing about their
    size."""
    low, high = bound.lower, bound.upper
    both, none = np.isfinite(low) & np.isfinite(high), ~np.isfinite(low) & ~np.isfinite(high)
    single = np.where(np.isfinite(low), np.abs(low), np.where(np.isfinite(high), np.abs(high), 1.0))
    size = np.ones_like(low) if relative else np.maximum(1.0, single)
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(np.where(both, high - low, np.where(none, 1.0 if relative else np.inf, size)))
