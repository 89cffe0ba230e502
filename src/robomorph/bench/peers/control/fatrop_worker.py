"""Control problems solved by fatrop inside CasADi, with code compiled by gcc, in an interpreter that knows
nothing of robomorph.

Run by serve.py. Besides the problems the task holds the robot's inverse dynamics as a list of operations, the
form of problem that suits fatrop best: accelerations are the controls, torques are rows. Stages are one
function that CasADi maps over the horizon, differentiates exactly, writes as C and calls compiled.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import casadi  # type: ignore[import-not-found,import-untyped,unused-ignore]
import numpy as np

OPERATIONS: dict[str, Any] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
    "recip": lambda a: 1.0 / a,
    "sin": casadi.sin,
    "cos": casadi.cos,
    "sqrt": casadi.sqrt,
}


def expression(program: Any, inputs: list[Any]) -> Any:
    """The results of a list of operations over CasADi's symbols."""
    values: list[Any] = []
    for name, arguments, value in zip(program["ops"], program["args"], program["values"], strict=True):
        if name == "const":
            values.append(casadi.SX(value))
        elif name == "input":
            values.append(inputs[int(value)])
        else:
            values.append(OPERATIONS[name](*(values[k] for k in arguments)))
    return casadi.vertcat(*(values[k] for k in program["results"]))


class Peer:
    """All problems of a task; they share horizon, weights and code, and differ in numbers."""

    def __init__(self, task: Any) -> None:
        self.problems = task["problems"]
        first = self.problems[0]
        self.horizon, self.dt, self.nv = first["horizon"], first["dt"], len(first["q"])
        same = ("horizon", "dt", "running", "terminal")
        if any(problem[name] != first[name] for problem in self.problems for name in same):
            raise ValueError("problems of one task must share horizon, dt and weights")
        if any(problem["target"] is not None for problem in self.problems):
            raise ValueError("targets of frames are not written for CasADi here")
        self.program, self.folder = task["program"], Path(task["folder"])
        self.flags = [*task["flags"], "-shared", "-fPIC"]
        self.equal: list[bool] = []
        self.library = self._compiled(self._nonlinear_program(first))
        self.arguments = [self._argument(problem) for problem in self.problems]
        self.solvers: dict[int, Any] = {}
        self.last: dict[int, Any] = {}

    @staticmethod
    def versions() -> dict[str, str]:
        return {"casadi": str(casadi.CasadiMeta.version())}

    # --- the problem ---------------------------------------------------------------------------------

    def _stage(self, problem: Any) -> tuple[Any, Any]:
        """(state, control, parameters) -> cost, next state, torques; and the cost of the last node."""
        nv, dt, weights = self.nv, self.dt, problem["running"]
        q, v, a, goal, effort = (casadi.SX.sym(name, nv) for name in ("q", "v", "a", "goal", "effort"))
        torque = expression(self.program, casadi.vertsplit(casadi.vertcat(q, v, a)))
        cost = weights["q"] * casadi.sumsqr(q - goal) + weights["v"] * casadi.sumsqr(v)
        cost = 0.5 * dt * (cost + weights["tau"] * casadi.sumsqr(torque - effort))
        faster = v + dt * a
        state, parameters = casadi.vertcat(q, v), casadi.vertcat(goal, effort)
        results = [cost, casadi.vertcat(q + dt * faster, faster), torque]
        last = problem["terminal"]
        end = 0.5 * (last["q"] * casadi.sumsqr(q - goal) + last["v"] * casadi.sumsqr(v))
        stage = casadi.Function("stage", [state, a, parameters], results)
        return stage, casadi.Function("terminal", [state, goal], [end])

    def _nonlinear_program(self, problem: Any) -> dict[str, Any]:
        """Variables x0, u0, x1, u1, ..., xN; rows node by node: the step to the next, the start, torques,
        positions and velocities. That order is what fatrop finds its structure in."""
        nv, n = self.nv, self.horizon
        stage, terminal = self._stage(problem)
        p = casadi.MX.sym("p", 4 * nv)
        x = casadi.MX.sym("x", 3 * nv * n + 2 * nv)
        cuts = [0, *(3 * nv * k + part for k in range(n) for part in (2 * nv, 3 * nv)), 3 * nv * n + 2 * nv]
        parts = casadi.vertsplit(x, cuts)
        states, controls = parts[0::2], parts[1::2]
        every = casadi.repmat(p[2 * nv :], 1, n)
        costs, following, torques = stage.map(n)(
            casadi.horzcat(*states[:-1]), casadi.horzcat(*controls), every
        )
        following, torques = casadi.horzsplit(following), casadi.horzsplit(torques)
        rows: list[Any] = []
        self.equal = []
        for k in range(n + 1):
            here: list[tuple[Any, bool]] = []
            if k < n:
                here.append((states[k + 1] - following[k], True))
            if k == 0:
                here.append((states[0] - p[: 2 * nv], True))
            here.append((torques[k], False) if k < n else (states[k], False))
            if 0 < k < n:
                here.append((states[k], False))
            rows += [row for row, _ in here]
            self.equal += [equal for row, equal in here for _ in range(row.numel())]
        cost = casadi.sum2(costs) + terminal(states[n], p[2 * nv : 3 * nv])
        return {"x": x, "p": p, "f": cost, "g": casadi.vertcat(*rows)}

    def _argument(self, problem: Any) -> dict[str, Any]:
        """What the solver is called with: beginning, parameters and bounds."""
        nv, n, initial, limits = self.nv, self.horizon, problem["initial"], problem["limits"]
        begin: list[float] = []
        for k in range(n + 1):
            begin += [*initial["q"][k], *initial["v"][k], *([0.0] * nv if k < n else [])]
        bounds = []
        for side, endless in ((0, -np.inf), (1, np.inf)):
            torque, velocity, position = (
                [endless if b is None else b for b in limits[name][side]]
                for name in ("torque", "velocity", "position")
            )
            rows = [*[0.0] * (4 * nv), *torque]
            for _ in range(1, n):
                rows += [*[0.0] * (2 * nv), *torque, *position, *velocity]
            bounds.append([*rows, *position, *velocity])
        parameters = [*problem["q"], *problem["v"], *problem["goal"], *problem["effort"]]
        given = {"x0": begin, "p": parameters, "lbg": bounds[0], "ubg": bounds[1]}
        return {name: casadi.DM(value) for name, value in given.items()}

    # --- code ----------------------------------------------------------------------------------------

    def _options(self, iterations: int) -> dict[str, Any]:
        return {
            "structure_detection": "auto",
            "equality": self.equal,
            "print_time": False,
            "fatrop": {"print_level": 0, "tol": 1e-8, "max_iter": iterations},
        }

    def _compiled(self, nlp: Any) -> str:
        """The library with the problem's functions; made once, kept in the folder by what it is made from."""
        solver = casadi.nlpsol("solver", "fatrop", nlp, self._options(1))
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        before = os.getcwd()
        with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
            os.chdir(scratch)  # CasADi writes into the working directory only
            try:
                solver.generate_dependencies("problem.c")
                text = Path("problem.c").read_bytes()
                digest = hashlib.sha256(text + repr(self.flags).encode()).hexdigest()
                library = self.folder.absolute() / f"fatrop-{digest[:32]}.so"
                if not library.exists():
                    subprocess.run(["gcc", *self.flags, "problem.c", "-o", "problem.so"], check=True)
                    os.replace("problem.so", library)
            finally:
                os.chdir(before)
        return str(library)

    # --- solving -------------------------------------------------------------------------------------

    def run(self, index: int, iterations: int) -> tuple[float, float]:
        """So many iterations from the beginning; wall and CPU time in seconds."""
        if iterations not in self.solvers:
            self.solvers[iterations] = casadi.nlpsol(
                "solver", "fatrop", self.library, self._options(iterations)
            )
        solver, given = self.solvers[iterations], self.arguments[index]
        wall, cpu = time.perf_counter(), time.process_time()
        found = solver(**given)
        spent = time.perf_counter() - wall, time.process_time() - cpu
        self.last[index] = found, solver.stats()
        return spent

    def answer(self, index: int) -> dict[str, Any]:
        """What the last run found; torques by the same operations, from positions, velocities and
        accelerations."""
        nv, n = self.nv, self.horizon
        found, said = self.last[index]
        flat = np.array(found["x"]).ravel()
        body, end = flat[: 3 * nv * n].reshape(n, 3 * nv), flat[3 * nv * n :]
        states = np.vstack([body[:, : 2 * nv], end])
        stage, _ = self._stage(self.problems[0])
        torques = [
            np.array(stage(row[: 2 * nv], row[2 * nv :], np.zeros(2 * nv))[2]).ravel().tolist()
            for row in body
        ]
        return {
            "cost": float(found["f"]),
            "iterations": int(said["iter_count"]),
            "q": states[:, :nv].tolist(),
            "v": states[:, nv:].tolist(),
            "tau": torques,
        }
