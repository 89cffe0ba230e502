"""What a method of solving control problems is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from robomorph.mpc.kernels import ControlKernels
from robomorph.mpc.layout import Layout


@dataclass(frozen=True)
class Settings:
    """tolerance: of hard bounds, in shares of their range. optimal: relative decrease of the cost below which
    a plan is optimal. cap: iterations at most. threads: at most so many. integrator: one of the method's."""

    tolerance: float
    optimal: float
    cap: int
    threads: int
    integrator: str = "euler"


@dataclass(frozen=True, eq=False)
class Work:
    """What a method is made for: so many problems of one layout, in arrays that stay (arrays.py)."""

    layout: Layout
    problems: int
    kernels: ControlKernels
    arrays: Mapping[str, Any]
    settings: Settings


class Method(ABC):
    """Solves the problems in the arrays of `work`. A new one is one file and one entry in METHODS."""

    name: ClassVar[str]
    integrators: ClassVar[tuple[str, ...]] = ("euler",)

    @classmethod
    def check(cls, layout: Layout) -> None:
        """Raise ArgumentError, by name, for what the method cannot do."""
        del layout

    @abstractmethod
    def __init__(self, work: Work) -> None: ...

    @abstractmethod
    def step(self, deadline: float, elapsed: float, iterations: int, warm: bool) -> None:
        """Read the input arrays and write the output arrays. deadline: s from now, infinite for none.
        elapsed: s since the last step. iterations: of a warm step, 0: to convergence. warm: start from the
        last plan."""
