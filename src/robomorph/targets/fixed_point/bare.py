"""A program that knows no robot, in fixed point: in one format for all signals, as there are no states to
measure others by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.ir.program import Port, Program
from robomorph.ir.ranges import Interval
from robomorph.ir.unit_program import UnitProgram
from robomorph.targets.fixed_point.function import ChipFunction
from robomorph.targets.fixed_point.options import NumberOptions

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class BareProgram:
    """A `ChipSource` for a program as it is."""

    program: Program

    @property
    def names(self) -> tuple[str, ...]:
        return (self.program.name,)

    def function(self, options: NumberOptions, *, all_at_once: bool) -> ChipFunction:
        if options.format is None:
            self._refuse("formats per signal are chosen by its states: give one for all (format='Q16.16')")
        if options.minv == "given" or options.structure == "units":
            self._refuse("minv='given' and structure='units' are about its links: leave them out")
        return ChipFunction(self.program, "", {})

    def unit_program(self, options: NumberOptions, formulation: str) -> UnitProgram:
        self._refuse("there are no link units")

    def sample(
        self, ports: Sequence[Port], count: int, rng: np.random.Generator, speed: float, acceleration: float
    ) -> dict[str, Array]:
        self._refuse("there are no states to sample")

    def bounds(
        self, ports: Sequence[Port], samples: dict[str, Array], speed: float, acceleration: float
    ) -> list[Interval]:
        self._refuse("its arguments have no bounds")

    def _refuse(self, why: str) -> NoReturn:
        raise ArgumentError(f"{self.program.name} is a bare program, without a robot: {why}")
