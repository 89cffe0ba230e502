"""A function in fixed point: what is computed, in which numbers, and the program that says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from robomorph.ir.fixed import FixedProgram, FixedResult
from robomorph.ir.interpret import interpret
from robomorph.ir.lower import lower, require_fixed_point
from robomorph.ir.program import Port, Program
from robomorph.ir.ranges import Interval, intervals, profile
from robomorph.ir.unit_program import UnitProgram
from robomorph.passes.balance import balance
from robomorph.passes.dce import compact
from robomorph.passes.trigonometry import replace_trigonometry, split_trigonometry
from robomorph.targets.fixed_point.boundary import BOUNDARIES, Boundary
from robomorph.targets.fixed_point.options import NumberOptions
from robomorph.targets.fixed_point.unit_formats import lower_units
from robomorph.targets.fixed_point.units import Units

Array = npt.NDArray[Any]
Options = TypeVar("Options", bound=NumberOptions)


@dataclass(frozen=True)
class ChipFunction:
    """A function that a chip shall compute, in real numbers, and how it was chosen."""

    program: Program
    formulation: str
    candidates: Mapping[str, int | None]


class ChipSource(Protocol):
    """What fixed point asks about its function; whoever knows the robot answers."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the robot, the algorithm and, if there is one, the frame."""

    def function(self, options: NumberOptions, *, all_at_once: bool) -> ChipFunction:
        """What is computed: with M^-1 given, or by link units, another program than the CPU's. `all_at_once`:
        whatever can be computed at the same time will be, so that depth decides on the formulation."""

    def unit_program(self, options: NumberOptions, formulation: str) -> UnitProgram:
        """The same function as calls of link units."""

    def sample(
        self, ports: Sequence[Port], count: int, rng: np.random.Generator, speed: float, acceleration: float
    ) -> dict[str, Array]:
        """Random arguments (count, *shape)."""

    def bounds(
        self, ports: Sequence[Port], samples: dict[str, Array], speed: float, acceleration: float
    ) -> list[Interval]:
        """An interval per input entry."""


@dataclass(frozen=True)
class FixedFunction(Generic[Options]):
    """`real` computes the whole function in real numbers; `host` what the host contributes (sines and
    cosines, if asked for); the chip, or whoever takes its place, computes `fixed`."""

    source: Any  # a ChipSource
    options: Options
    made: ChipFunction
    host: Program
    chip: Program
    units: UnitProgram | None = None  # the chip's program with its calls, if it has link units

    @property
    def real(self) -> Program:
        return self.made.program

    @property
    def inputs(self) -> tuple[Port, ...]:
        """The arguments that a caller gives."""
        return self.real.inputs

    @property
    def outputs(self) -> tuple[Port, ...]:
        return self.real.outputs

    @cached_property
    def samples(self) -> dict[str, Array]:
        """Sampled arguments of the chip: what ranges were measured with."""
        return self.chip_arguments(self.sample(self.options.samples, seed=0))

    def sample(self, count: int, seed: int) -> dict[str, Array]:
        """Random arguments (count, *shape) of the function."""
        o = self.options
        return dict(
            self.source.sample(self.inputs, count, np.random.default_rng(seed), o.speed, o.acceleration)
        )

    def chip_arguments(self, arguments: Mapping[str, Array]) -> dict[str, Array]:
        """The function's arguments, and what the host makes of them."""
        given = dict(arguments)
        if self.host.results:
            given.update(interpret(self.host, {p.name: given[p.name] for p in self.host.inputs}))
        return {port.name: given[port.name] for port in self.chip.inputs}

    @cached_property
    def profile(self) -> list[float]:
        """The largest magnitude of every chip node over the samples."""
        return profile(self.chip, self.samples)

    @cached_property
    def proven(self) -> list[float]:
        """A magnitude that no chip node exceeds, in real numbers, for arguments inside the bounds of
        `states.input_bounds` (infinite where none is known). Those of torques, M^-1 and external wrenches are
        assumptions: a state with |q|, |qd| and |qdd| in range may exceed them, and is flagged if a signal
        saturates."""
        o = self.options
        bounds = self.source.bounds(self.chip.inputs, self.samples, o.speed, o.acceleration)
        return [interval.size for interval in intervals(self.chip, bounds)]

    @cached_property
    def lowered(self) -> tuple[FixedProgram, Units]:
        """The chip's program in fixed point, and the calls in it."""
        sizes = self._sizes()
        if self.units is not None:
            return lower_units(self.units, self.options.numbers, sizes)
        return lower(self.chip, self.options.numbers, sizes), Units((), ())

    def _sizes(self) -> list[float]:
        """What formats are chosen by; where one is for all, nothing."""
        if self.options.format is not None:
            return [0.0] * len(self.chip.nodes)
        return self.proven if self.options.ranges == "proven" else self.profile

    @property
    def fixed(self) -> FixedProgram:
        return self.lowered[0]

    @property
    def boundary(self) -> Boundary:
        """What the streams' words mean."""
        return BOUNDARIES[self.options.boundary](self.fixed)

    def words(self, arguments: Mapping[str, Array]) -> tuple[Array, Array]:
        """Stream words (n, input_size) of real arguments, and where the host had to make one fit."""
        return self.boundary.encode(self.chip_arguments(arguments))

    def interpret(self, arguments: Mapping[str, Array]) -> tuple[dict[str, Array], FixedResult]:
        """What the chip computes, by the fixed-point interpreter: real results, and the stream words."""
        words, clipped = self.words(arguments)
        result = self.boundary.run(words)
        return self.boundary.decode(result.words), FixedResult(result.words, result.overflow | clipped)

    def reference(self, arguments: Mapping[str, Array]) -> dict[str, Array]:
        """The same in float64."""
        return interpret(self.real, arguments)


def make_function(
    source: ChipSource, options: Options, *, all_at_once: bool = False
) -> FixedFunction[Options]:
    """From a function to its program in fixed point, which is made when it is first asked for."""
    made = source.function(options, all_at_once=all_at_once)
    real = made.program
    require_fixed_point(real)
    host = Program("host", real.inputs, (), (), ())
    if options.structure == "units":
        units = source.unit_program(options, made.formulation)
        if options.trig == "host":
            host, chip = replace_trigonometry(units.program)
            units = compact(replace(units, program=chip))
        return FixedFunction(source, options, made, host, units.program, units)
    chip = real
    if options.trig == "host":
        host, chip = split_trigonometry(real)
    return FixedFunction(source, options, made, host, balance(chip))
