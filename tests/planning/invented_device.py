"""Invented functions evaluated as a device does: rows of nodes, all pieces at once, without native code."""

from __future__ import annotations

from typing import Any

import numpy as np

from robomorph.planning.problem import Problem
from tests.planning.invented import Invented, by_complex_steps, second


class InventedDevice:
    """What native code asks of a device, in plain loops; `handed` as a native problem takes it."""

    def __init__(self, problem: Problem, functions: Invented, dtype: str = "float64") -> None:
        self.problem, self.functions, self.jobs = problem, functions, list[str]()
        pieces, nodes = problem.pieces.basis.shape[0], problem.pieces.basis.shape[2]
        nv, channels, count = problem.nv, problem.channels, pieces * nodes
        more = pieces * (nodes - 1)
        shapes: dict[str, tuple[int, ...]] = {}
        if channels:
            shapes |= {"values": (count, channels), "further_values": (more, channels)}
            shapes |= {"gradients": (count, channels, nv), "channel_hessian": (count, nv, nv)}
        if problem.torque:
            names = ("by_q", "by_qd", "by_qdd", "qq", "q_qd", "qd_qd", "q_qdd")
            shapes |= {"torques": (count, nv), "further_torques": (more, nv)}
            shapes |= {name: (count, nv, nv) for name in names}
        self.tables = {name: np.full(shape, np.nan, dtype) for name, shape in shapes.items()}
        self.control, self.sigma = np.zeros_like(problem.control), np.ones(1)
        self.multipliers = np.zeros((count, channels + (nv if problem.torque else 0)))
        self.kept = np.zeros((count, 3, nv))
        self.fail = ""

    @property
    def handed(self) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in ("control", "sigma", "multipliers", "tables", "run")}
        return {**own, "single": any(t.dtype == np.float32 for t in self.tables.values())}

    def run(self, job: str) -> bool:
        self.jobs.append(job)
        if job == self.fail:
            return False
        for table in self.tables.values():  # what a job does not fill is not there to be read
            table[...] = np.nan
        getattr(self, job)()
        return True

    def states(self, basis: Any) -> Any:
        """(points of all pieces, 3, nv)."""
        p, out = self.problem, []
        for e, first in enumerate(p.pieces.first):
            window = self.control[first : first + p.width]
            for k in range(basis.shape[2]):
                out.append([basis[e, d, k] @ window / self.sigma[0] ** d for d in range(3)])
        return np.array(out).reshape(-1, 3, p.nv)

    def values(self, states: Any = None, prefix: str = "") -> None:
        states = self.states(self.problem.pieces.basis) if states is None else states
        for i, (q, qd, qdd) in enumerate(states):
            if self.problem.channels:
                self.tables[f"{prefix}values"][i] = self.functions.channels(q, self.problem.references)
            if self.problem.torque:
                self.tables[f"{prefix}torques"][i] = self.functions.torques(q, qd, qdd)

    def margins(self) -> None:
        self.values()
        self.values(self.states(self.problem.pieces.between), "further_")

    def derivatives(self) -> None:
        f, nv = self.functions, self.problem.nv
        self.kept = self.states(self.problem.pieces.basis)
        self.values(self.kept)
        for i, state in enumerate(self.kept):
            if self.problem.channels:
                found = by_complex_steps(lambda x: f.channels(x, self.problem.references), state[0])
                self.tables["gradients"][i] = found
            if self.problem.torque:
                slope = by_complex_steps(lambda x: f.torques(*x.reshape(3, nv)), state.ravel())
                for d, name in enumerate(("by_q", "by_qd", "by_qdd")):
                    self.tables[name][i] = slope[:, d * nv : (d + 1) * nv]

    def hessians(self) -> None:
        p, f, nv = self.problem, self.functions, self.problem.nv
        for i, state in enumerate(self.kept):
            own = self.multipliers[i]
            if p.channels:
                m = own[: p.channels]
                bent = second(lambda x, m=m: m @ f.channels(x, p.references), state[0])  # type: ignore[misc]
                self.tables["channel_hessian"][i] = bent
            if p.torque:
                m = own[p.channels :]
                bent = second(lambda x, m=m: m @ f.torques(*x.reshape(3, nv)), state.ravel())  # type: ignore[misc]
                parts = bent.reshape(3, nv, 3, nv)
                for name, (a, b) in {"qq": (0, 0), "q_qd": (0, 1), "qd_qd": (1, 1), "q_qdd": (0, 2)}.items():
                    self.tables[name][i] = parts[a, :, b]
