"""Rows of a control problem by the tasks they come from: what they read, and how they are traced."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from robomorph.errors import ArgumentError
from robomorph.ir.derivatives import Run
from robomorph.ir.ops import INPUT
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Expr, Tracer
from robomorph.mpc.function import Function
from robomorph.passes.dce import dce
from robomorph.tasks import Matrix, Scene, Task


class State(NamedTuple):
    """One node, traced."""

    tracer: Tracer
    scene: Scene
    q: Sequence[Any]
    qd: Sequence[Any]


class Rows(NamedTuple):
    """Values (rows,) with their derivatives by q and qd (rows, nv); None: they do not depend on qd."""

    values: list[Any]
    dq: Matrix
    dqd: Matrix | None


@dataclass(frozen=True)
class Piece(ABC):
    """Rows of one task. It can be hashed: a program is made for a list of pieces once."""

    @property
    @abstractmethod
    def title(self) -> str: ...

    @property
    @abstractmethod
    def rows(self) -> int: ...

    @property
    @abstractmethod
    def references(self) -> int:
        """How many numbers it takes as its reference."""

    @property
    @abstractmethod
    def moving(self) -> bool:
        """Do rows depend on qd?"""

    @property
    def built_in(self) -> bool:
        """Does its repr say all that it is made of? A caller's own task may change while its name stays."""
        return False

    @abstractmethod
    def trace(self, state: State, references: Sequence[Any]) -> Rows: ...


@dataclass(frozen=True)
class TaskPiece(Piece):
    """A task that is not combined."""

    task: Task

    @property
    def title(self) -> str:
        return self.task.title

    @property
    def built_in(self) -> bool:
        return type(self.task).__module__.startswith("robomorph.tasks.")


@dataclass(frozen=True)
class Residual(TaskPiece):
    """How far a task is from its reference, with the exact Jacobian."""

    moving = False

    @property
    def rows(self) -> int:
        return self.task.size.rows

    @property
    def references(self) -> int:
        return self.task.size.reference

    def trace(self, state: State, references: Sequence[Any]) -> Rows:
        return Rows(*self.task.exact_rows(state.scene, references), None)


@dataclass(frozen=True)
class Bounded(TaskPiece):
    """The rows that hold a task's bounds."""

    moving = False

    @property
    def rows(self) -> int:
        return self.task.bound_size.rows

    @property
    def references(self) -> int:
        return self.task.size.reference

    def trace(self, state: State, references: Sequence[Any]) -> Rows:
        return Rows(*self.task.bound_rows(state.scene, references), None)


@dataclass(frozen=True)
class Speed(TaskPiece):
    """How fast a task changes (m/s, rad/s), from a reference speed. Of an orientation that is the angular
    velocity in the world's axes."""

    moving = True

    @property
    def rows(self) -> int:
        return self.task.size.rows

    @property
    def references(self) -> int:
        return self.task.size.rows

    def trace(self, state: State, references: Sequence[Any]) -> Rows:
        """The Jacobian times qd; its own derivative by machine."""
        tree = state.scene.tree
        ports = (Port("q", (tree.nv,)), Port("qd", (tree.nv,)))
        inner = Tracer()
        inputs = inner.inputs(ports)
        _, jacobian = self.task.residual(Scene(tree, inputs["q"]), [0.0] * self.task.size.reference)
        speeds = [_dot(row, inputs["qd"]) for row in jacobian]
        program = inner.program("speed", ports, {"values": speeds}, {"values": (self.rows,)})
        values, dq, dqd = by_machine(state, program)
        return Rows([v - r for v, r in zip(values, references, strict=True)], dq, dqd)


@dataclass(frozen=True)
class OfFunction(Piece):
    """What a caller's own function gives, less its reference."""

    function: Function
    nv: int

    @property
    def title(self) -> str:
        return self.function.title

    @property
    def rows(self) -> int:
        return self.function.rows

    @property
    def references(self) -> int:
        return self.function.rows

    @property
    def moving(self) -> bool:
        nodes = dce(self.program()).nodes
        return any(node.op is INPUT and int(node.value) >= self.nv for node in nodes)

    def program(self) -> Program:
        """(q, qd) -> values (rows,)."""
        ports = (Port("q", (self.nv,)), Port("qd", (self.nv,)))
        tracer = Tracer()
        inputs = tracer.inputs(ports)
        values = self.function.evaluate(inputs["q"], inputs["qd"])
        _must_be_traced(self.title, values, tracer)
        return tracer.program("function", ports, {"values": values}, {"values": (self.rows,)})

    def trace(self, state: State, references: Sequence[Any]) -> Rows:
        values, dq, dqd = by_machine(state, self.program())
        return Rows(
            [v - r for v, r in zip(values, references, strict=True)], dq, dqd if self.moving else None
        )


def by_machine(state: State, program: Program) -> tuple[list[Any], Matrix, Matrix]:
    """Values of a program (q, qd) -> values, and their derivatives by q and by qd."""
    nv = len(state.q)
    run = Run(state.tracer, program, [*state.q, *state.qd])
    changes = run.push({slot: {slot: 1.0} for slot in range(2 * nv)})
    dq, dqd = ([[change.get(first + k, 0.0) for k in range(nv)] for change in changes] for first in (0, nv))
    return run.results, dq, dqd


def _dot(row: Sequence[Any], column: Sequence[Any]) -> Any:
    return sum((a * b for a, b in zip(row, column, strict=True)), 0.0)


def _must_be_traced(title: str, values: Sequence[Any], tracer: Tracer) -> None:
    for value in values:
        if isinstance(value, Expr) and value.tracer is tracer:
            continue
        try:
            float(value)
        except (TypeError, ValueError):
            raise ArgumentError(
                f"{title}: expected scalars made of q and qd by + - * and the functions of "
                f"robomorph.spatial, found {type(value).__name__} {value!r}"
            ) from None
