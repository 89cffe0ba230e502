"""Motion problems made of invented functions, evaluated without any code of the package: what native code is
held to. Everything works on complex numbers, so that first derivatives come by complex steps, to rounding."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from robomorph.planning.problem import Cost, Pieces, Problem, Rows, SplineRows
from robomorph.planning.solvers.native_problem import LANES, Kernel

STEP = 1e-30


def by_complex_steps(function: Callable[[Any], Any], x: Any) -> Any:
    """(..., n): the derivative of a real-analytic function at x (n,)."""
    columns = []
    for i in range(len(x)):
        ahead = x.astype(complex)
        ahead[i] += 1j * STEP
        columns.append(np.imag(function(ahead)) / STEP)
    return np.stack(columns, axis=-1)


class Invented:
    """Channels and torques of so many joints. `pattern`: which joints each function may depend on."""

    def __init__(self, rng: Any, nv: int, channels: int, references: int, sparse: bool) -> None:
        self.nv, self.count = nv, channels
        self.pattern = np.ones((channels + nv, nv), bool)
        if sparse:
            self.pattern = rng.random((channels + nv, nv)) < 0.6
            self.pattern[rng.random(channels + nv) < 0.3] = self.pattern[0]  # some alike
        mask = self.pattern
        self.a = rng.normal(size=(channels, nv)) * mask[:channels]
        self.b = rng.normal(size=(channels, nv)) * mask[:channels]
        self.r = rng.normal(size=(channels, references))
        self.u, self.v, self.w = (rng.normal(size=(nv, nv)) * mask[channels:] for _ in range(3))

    def channels(self, q: Any, references: Any) -> Any:
        return np.sin(self.a @ q + self.r @ references) + 0.3 * (self.b @ q) ** 2

    def torques(self, q: Any, qd: Any, qdd: Any) -> Any:
        mass = np.cos(self.u * q)  # bends by q, is linear in qdd, as real ones
        return (self.v * mass) @ qdd + np.sin(self.u @ q) * (self.w @ qd) ** 2 + np.cos(self.v @ q)


def second(function: Callable[[Any], Any], x: Any) -> Any:
    """(n, n) of a scalar function: differences of complex steps."""
    h = 1e-5
    rows = []
    for i in range(len(x)):
        step = np.zeros(len(x))
        step[i] = h
        rows.append((by_complex_steps(function, x + step) - by_complex_steps(function, x - step)) / (2 * h))
    found = np.array(rows)
    return (found + found.T) / 2


class Kernels:
    """The functions as native code calls kernels: arrays (size, LANES), addresses of machine code."""

    def __init__(self, functions: Invented) -> None:
        self.functions, nv, count = functions, functions.nv, functions.count
        size, square = (nv,), (nv, nv)
        self._keep: list[Any] = []
        f = functions
        references = (f.r.shape[1],)
        self.table = {
            "channel_values": self._made(lambda q, r: [f.channels(q, r)], (size, references), ((count,),)),
            "channels": self._made(
                lambda q, r: [f.channels(q, r), by_complex_steps(lambda x: f.channels(x, r), q)],
                (size, references),
                ((count,), (count, nv)),
            ),
            "channel_hessian": self._made(
                lambda q, r, m: [second(lambda x: m @ f.channels(x, r), q)],
                (size, references, (count,)),
                (square,),
            ),
            "torque_values": self._made(lambda *y: [f.torques(*y)], (size,) * 3, (size,)),
            "torques": self._made(self._torques, (size,) * 3, (size, square, square, square)),
            "torque_hessian": self._made(self._torque_hessian, (size,) * 4, (square,) * 4),
        }

    def _torques(self, *y: Any) -> list[Any]:
        f, nv = self.functions, self.functions.nv
        slope = by_complex_steps(lambda x: f.torques(*x.reshape(3, nv)), np.concatenate(y))
        return [f.torques(*y), slope[:, :nv], slope[:, nv : 2 * nv], slope[:, 2 * nv :]]

    def _torque_hessian(self, q: Any, qd: Any, qdd: Any, m: Any) -> list[Any]:
        f, nv = self.functions, self.functions.nv
        found = second(lambda x: m @ f.torques(*x.reshape(3, nv)), np.concatenate([q, qd, qdd]))
        parts = found.reshape(3, nv, 3, nv)
        return [parts[0, :, 0], parts[0, :, 1], parts[1, :, 1], parts[0, :, 2]]

    def _made(self, function: Any, inputs: Any, outputs: Any) -> Kernel:
        def call(given: Any, results: Any, _workspace: Any) -> None:
            def array(pointer: Any, shape: Any) -> Any:
                size = int(np.prod(shape))
                if not size:
                    return np.zeros((0, LANES))
                return np.ctypeslib.as_array(
                    ctypes.cast(pointer, ctypes.POINTER(ctypes.c_double)), (size, LANES)
                )

            into = [array(results[j], shape) for j, shape in enumerate(outputs)]
            arguments = [array(given[i], shape) for i, shape in enumerate(inputs)]
            for lane in range(LANES):
                found = function(*(a[:, lane].copy() for a in arguments))
                for target, value in zip(into, found, strict=True):
                    target[:, lane] = np.ravel(value)

        pointers = ctypes.POINTER(ctypes.c_void_p)
        code = ctypes.CFUNCTYPE(None, pointers, pointers, ctypes.c_void_p)(call)
        self._keep.append(code)
        return Kernel(ctypes.cast(code, ctypes.c_void_p).value or 0, 64)


class Reference:
    """Values of a problem in plain loops."""

    def __init__(self, problem: Problem, functions: Invented) -> None:
        self.problem, self.functions = problem, functions

    def sigma(self, x: Any) -> Any:
        return x[-1] if self.problem.duration is not None else 1.0

    def control(self, x: Any) -> Any:
        p = self.problem
        out = p.control.astype(x.dtype)
        for c, block in enumerate(p.block_of):
            if block >= 0:
                out[c] = x[block * p.nv : (block + 1) * p.nv]
        return out

    def at(self, x: Any, piece: int, basis: Any) -> Any:
        """(points, functions)."""
        p, sigma = self.problem, self.sigma(x)
        first = p.pieces.first[piece]
        window = self.control(x)[first : first + p.width]
        out = []
        for k in range(basis.shape[1]):
            q, qd, qdd = (basis[d, k] @ window / sigma**d for d in range(3))
            channels = self.functions.channels(q, p.references)
            out.append(np.concatenate([channels, self.functions.torques(q, qd, qdd)]))
        return np.array(out).reshape(len(out), -1) if out else np.zeros((0, p.channels + p.nv))

    def rows(self, x: Any) -> Any:
        p, sigma, control = self.problem, self.sigma(x), self.control(x)
        found = [self.at(x, e, p.pieces.basis[e]) for e in range(p.pieces.count)]
        out: list[Any] = []
        r, s = p.rows, p.spline_rows
        for i in range(len(r.piece)):
            values = p.matrices[r.matrix[i]] @ found[r.piece[i]][:, r.function[i]]
            out += list(values / sigma ** r.rate[i] / r.scale[i])
        for i in range(len(s.first)):
            points = control[s.first[i] : s.first[i] + p.width, s.joint[i]]
            out += list(p.spline_matrices[s.matrix[i]] @ points / sigma ** s.rate[i] / s.scale[i])
        return np.array([*out, sigma] if p.duration is not None else out)

    def cost(self, x: Any) -> Any:
        p, sigma, control = self.problem, self.sigma(x), self.control(x)
        total = p.cost.time * p.seconds * sigma
        if p.cost.jerk:
            for j in range(p.nv):
                bent = ((p.cost.smoothness @ control[:, j]) ** 2).sum()
                total = total + p.cost.jerk * p.cost.joint_weight[j] * bent / sigma**5
        if p.cost.energy:
            for e in range(p.pieces.count):
                tau = self.at(x, e, p.pieces.basis[e])[:, p.channels :]
                squares = ((tau / p.cost.torque_scale) ** 2).sum(axis=-1)
                total = total + p.cost.energy * sigma * (p.pieces.quadrature[e] @ squares)
        return total

    def margins(self, x: Any) -> Any:
        """(R,) scaled."""
        p, r = self.problem, self.problem.rows
        out = []
        for i in range(len(r.piece)):
            e, k = r.piece[i], r.matrix[i]
            low, more = (self.at(x, e, b[e])[:, r.function[i]] for b in (p.pieces.basis, p.pieces.between))
            difference = p.fine[k] @ np.concatenate([low, more])
            difference[: len(p.coarse[k])] -= p.coarse[k] @ low
            out.append(2 * np.abs(difference).sum() / self.sigma(x) ** r.rate[i] / r.scale[i])
        return np.array(out)


def invented_problem(
    rng: Any,
    *,
    nv: int = 3,
    channels: int = 4,
    nodes: int = 5,
    width: int = 4,
    points: int = 7,
    blocks: str = "clamped",
    duration: tuple[float, float] | None = None,
    cost: tuple[float, float, float] = (1.0, 0.0, 0.0),
    torque: bool = True,
    sparse: bool = False,
) -> tuple[Problem, Invented]:
    """Random numbers in every place of a problem; some pieces without rows, some bounds infinite."""
    functions = Invented(rng, nv, channels, 2, sparse)
    count, size = points - width + 1, channels + (nv if torque else 0)
    apart = np.subtract.outer(range(points - 1), range(points))
    smoothness = np.where((apart <= 0) & (apart > -width), rng.normal(size=apart.shape), 0.0)
    twice = 2 * nodes - 1
    problem = Problem(
        nv=nv,
        width=width,
        channels=channels,
        references=rng.normal(size=2),
        torque=torque,
        control=rng.normal(size=(points, nv)),
        block_of=_blocks(rng, points, blocks),
        seconds=1.7,
        duration=duration,
        pieces=_pieces(rng, count, nodes, width),
        matrices=tuple(rng.normal(size=(m, nodes)) for m in (nodes, nodes - 1, 1, 2 * nodes + 3)),
        coarse=(*(rng.normal(size=(nodes, nodes)) for _ in range(3)), np.zeros((0, nodes))),
        fine=(*(rng.normal(size=(twice, twice)) for _ in range(3)), np.zeros((0, twice))),
        rows=_rows(rng, 6 * count, max(1, count - 1), size),
        spline_matrices=tuple(rng.normal(size=(m, width)) for m in (width, 2)),
        spline_rows=_spline_rows(rng, 3 * count, count, nv),
        cost=Cost(
            *cost,
            smoothness=smoothness,
            joint_weight=rng.uniform(0.5, 2.0, nv),
            torque_scale=rng.uniform(0.5, 2.0, nv),
        ),
        pattern=functions.pattern[:size],
    )
    return problem, functions


def _pieces(rng: Any, count: int, nodes: int, width: int) -> Pieces:
    return Pieces(
        first=np.arange(count, dtype=np.int32),
        start=np.arange(float(count)),
        seconds=np.ones(count),
        basis=rng.normal(size=(count, 3, nodes, width)),
        between=rng.normal(size=(count, 3, nodes - 1, width)),
        quadrature=rng.random((count, nodes)),
    )


def _rows(rng: Any, entries: int, pieces: int, functions: int) -> Rows:
    return Rows(
        piece=rng.integers(0, pieces, entries).astype(np.int32),
        function=rng.integers(0, functions, entries).astype(np.int32),
        matrix=rng.integers(0, 4, entries).astype(np.int32),
        rate=rng.integers(0, 3, entries).astype(np.int32),
        lower=_bounds(rng, entries, -1.0),
        upper=_bounds(rng, entries, 1.0),
        scale=rng.uniform(0.5, 2.0, entries),
        source=np.zeros(entries, np.int32),
    )


def _spline_rows(rng: Any, entries: int, places: int, nv: int) -> SplineRows:
    return SplineRows(
        first=rng.integers(0, places, entries).astype(np.int32),
        joint=rng.integers(0, nv, entries).astype(np.int32),
        matrix=rng.integers(0, 2, entries).astype(np.int32),
        rate=rng.integers(0, 4, entries).astype(np.int32),
        lower=_bounds(rng, entries, -1.0),
        upper=_bounds(rng, entries, 1.0),
        scale=rng.uniform(0.5, 2.0, entries),
        source=np.zeros(entries, np.int32),
    )


def _bounds(rng: Any, count: int, side: float) -> Any:
    return np.where(rng.random(count) < 0.2, side * np.inf, side * rng.uniform(1.0, 2.0, count))


def _blocks(rng: Any, points: int, kind: str) -> Any:
    free = np.arange(points)
    if kind == "clamped":
        free = np.where((free < 2) | (free >= points - 2), -1, free - 2)
    elif kind == "periodic":
        free = free % (points - 3)
    elif kind == "few":  # pieces that nothing moves
        free = np.where(free < points - 2, -1, free - points + 2)
    elif kind == "none":
        free = np.full(points, -1)
    elif kind == "shared":  # neighbours too, and in any order
        free = rng.permutation(np.arange(points) % (points - 4))
    return free.astype(np.int32)
