"""Solvers of control problems, in an interpreter of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from robomorph.bench.mpc.referee import Trajectory
from robomorph.bench.peers.control.process import Worker
from robomorph.bench.peers.peer import Peer

if TYPE_CHECKING:
    from robomorph.bench.mpc.problem import ProblemSet

INTERPRETER = "ROBOMORPH_MPC_PEERS"
PACKAGES = (
    *("crocoddyl==3.2.1", "mim-solvers==0.3.0", "pin==4.0.0", "libpinocchio==4.0.0"),
    *("casadi==3.8.2", "numpy"),
)
_PROBE = """
import importlib, json, sys
from importlib import metadata
for name in sys.argv[1].split(","):
    importlib.import_module(name)
known = [d.metadata["Name"] for d in metadata.distributions()]
print(json.dumps({name: metadata.version(name) for name in known if name}))
"""


@cache
def versions_in(python: str, modules: str) -> dict[str, str] | str:
    """Versions of all packages of an interpreter that can import some modules, or why it cannot."""
    hidden = ("PYTHONPATH", "PYTHONHOME")
    environment = {k: v for k, v in os.environ.items() if k not in hidden}
    try:
        done = subprocess.run(
            [python, "-c", _PROBE, modules], capture_output=True, text=True, timeout=120, env=environment
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode != 0:
        words = done.stderr.strip().splitlines()
        return words[-1] if words else f"exit code {done.returncode}"
    found: dict[str, str] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


class ControlPeer(Peer):
    """Solves whole sets of problems. `solver` is what the worker calls it."""

    script: ClassVar[str]
    solver: ClassVar[str]
    title: ClassVar[str]
    needs: ClassVar[dict[str, str]] = {}  # versions that must be so: others are known to be wrong

    @classmethod
    def interpreter(cls) -> str:
        """Where it runs: ROBOMORPH_MPC_PEERS, or this interpreter if it happens to have all of it."""
        return os.environ.get(INTERPRETER) or sys.executable

    @classmethod
    def absence(cls) -> str | None:
        found = versions_in(cls.interpreter(), ",".join(cls.modules))
        mend = f"set {INTERPRETER} to the Python of an environment with: pip install {' '.join(PACKAGES)}"
        if isinstance(found, str):
            return f"{found} ({mend})"
        wrong = [
            f"{name} {found.get(name)}" for name, version in cls.needs.items() if found.get(name) != version
        ]
        if wrong:
            return f"found {', '.join(wrong)}, with which its results are wrong ({mend})"
        return None

    @classmethod
    def version(cls) -> str:
        found = versions_in(cls.interpreter(), ",".join(cls.modules))
        return found.get(cls.package, "unknown") if isinstance(found, dict) else "unknown"

    @classmethod
    def task(cls, problems: ProblemSet) -> dict[str, Any]:
        """What the worker is given."""
        return {**problems.as_data(), "solver": cls.solver}

    @classmethod
    def start(cls, problems: ProblemSet) -> ControlSolver:
        """A worker that has read the problems."""
        return ControlSolver(cls, problems)


class ControlSolver:
    """A peer at work on a set of problems; use it as a context, or close it."""

    def __init__(self, peer: type[ControlPeer], problems: ProblemSet) -> None:
        self.peer = peer
        self._worker = Worker(peer.interpreter(), peer.script)
        try:
            self.prepared_s = float(self._worker.ask(do="load", task=peer.task(problems))["seconds"])
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> ControlSolver:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        self._worker.close()

    def solve(self, problem: int, iterations: int) -> tuple[Trajectory, float, int]:
        """The plan after at most so many iterations, the cost that it claims, and iterations done."""
        found = self._worker.ask(do="solve", problem=problem, iterations=iterations)
        plan = Trajectory(*(np.array(found[name], np.float64) for name in ("q", "v", "tau")))
        return plan, float(found["cost"]), int(found["iterations"])

    def time(self, runs: list[tuple[int, int]]) -> tuple[list[float], list[float]]:
        """Wall and CPU seconds of (problem, iterations), each from the problem's beginning."""
        found = self._worker.ask(do="time", runs=runs)
        return found["wall"], found["cpu"]
