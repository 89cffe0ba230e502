"""Solvers of motion problems. A new one is one file with `solve(task) -> Outcome` and one entry here."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from robomorph.errors import ArgumentError
from robomorph.planning.solvers.outcome import Outcome, Task

SOLVERS = ("native", "ipopt")


def solver_of(name: str) -> Callable[[Task], Outcome]:
    """The function that solves, imported when asked for."""
    if name not in SOLVERS:
        raise ArgumentError(f"solver: expected one of {', '.join(SOLVERS)}, found {name!r}")
    module = import_module(f"robomorph.planning.solvers.{name}")
    found: Callable[[Task], Outcome] = module.solve
    return found


__all__ = ["SOLVERS", "Outcome", "Task", "solver_of"]
