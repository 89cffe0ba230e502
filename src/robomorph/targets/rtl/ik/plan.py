"""What an inverse-kinematics chip is made of, in words: a chain's tables, the templates of its two sweeps,
and the knobs. Knows numbers only; `accelerators/ik` makes one from a robot."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.ir.fixed import FixedProgram
from robomorph.targets.rtl.expressions import count_bits

Array = npt.NDArray[Any]
HEADER_IN, HEADER_OUT = 7, 4  # words before the angles
MOST_SPECULATIONS = 1024
MULTIPLY, CORDIC = TURNINGS = ("multiply", "cordic")


@dataclass(frozen=True)
class Widths:
    """Bits of words by part. `unit`, `angle`: positions, sines and angles of the search units; `serial`,
    `serial_angle`: those of the serial unit; `theta`: fraction bits of a turn that angles are kept with, and
    `guard` those that steps have more; `weight`: what a step is made of; `mantissa`: of the w unit."""

    unit: int = 18
    angle: int = 18
    theta: int = 24
    guard: int = 6
    serial: int = 20
    serial_angle: int = 20
    weight: int = 24
    mantissa: int = 32

    def __post_init__(self) -> None:
        ends = {
            **{"unit": (12, 24), "angle": (10, 22), "theta": (14, 26), "guard": (0, 10)},
            **{"serial": (12, 24), "serial_angle": (10, 22), "weight": (12, 27), "mantissa": (18, 32)},
        }
        for name, (least, most) in ends.items():
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= most:
                raise ArgumentError(
                    f"{name}: expected a whole number from {least} to {most}, found {value!r}"
                )
        if self.serial < self.unit:
            raise ArgumentError(
                f"serial: expected at least the {self.unit} bits of `unit`, found {self.serial}"
            )
        if max(self.angle, self.serial_angle) > self.theta:
            raise ArgumentError(
                f"angle: expected at most the {self.theta} bits of `theta`, found {self.angle} and "
                f"{self.serial_angle}"
            )
        for angle, word in (("angle", "unit"), ("serial_angle", "serial")):
            least, found = getattr(self, word) - 6, getattr(self, angle)
            if found < least:  # a sine of it has no more places
                raise ArgumentError(
                    f"{angle}: expected at least {least} bits for the {least + 6} of `{word}`, found {found}"
                )


@dataclass(frozen=True)
class Knobs:
    """The hardware's size. `units` search units try `speculations` lengths of a step, `evaluators` of them
    are judged in a cycle; `problems` are in flight; `multiply_stages` registers are inside a multiplier and
    `rotate_stages` inside a CORDIC; `period` is the chained delay of a cycle in multiplications; `fold` are
    the cycles a joint takes in the serial unit (0: as few as its loop allows). `turning`: what turns
    positions in the search units, products with a cosine and a sine ("multiply") or CORDIC itself ("cordic"),
    with fewer multipliers or none, and a loop that is longer by `rotate_stages`."""

    units: int = 4
    speculations: int = 64
    evaluators: int = 0
    problems: int = 2
    multiply_stages: int = 2
    rotate_stages: int = 9
    period: float = 0.6
    fold: int = 0
    turning: str = MULTIPLY

    def __post_init__(self) -> None:
        ends = {"units": (1, 64), "speculations": (1, MOST_SPECULATIONS), "problems": (1, 8), "fold": (0, 32)}
        units = self.units if type(self.units) is int else 0  # which is refused first
        ends |= {"multiply_stages": (0, 2), "rotate_stages": (2, 16), "evaluators": (0, units)}
        for name, (least, most) in ends.items():
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= most:
                raise ArgumentError(
                    f"{name}: expected a whole number from {least} to {most}, found {value!r}"
                )
        if type(self.period) not in (int, float) or not 0.0 < self.period <= 100.0:
            raise ArgumentError(
                f"period: expected a number of multiplications up to 100, found {self.period!r}"
            )
        for name in ("units", "speculations", "evaluators"):
            value = getattr(self, name)
            if value & (value - 1):
                raise ArgumentError(f"{name}: expected a power of two, found {value}")
        if self.turning not in TURNINGS:
            raise ArgumentError(
                f"turning: expected {' or '.join(map(repr, TURNINGS))}, found {self.turning!r}"
            )
        if self.speculations < self.units:
            raise ArgumentError(
                f"units: expected at most the {self.speculations} speculations, found {self.units}"
            )

    @property
    def judged(self) -> int:
        """Evaluators."""
        return self.evaluators or min(self.units, 8)

    @property
    def rounds(self) -> int:
        """Speculations of each unit."""
        return self.speculations // self.units

    @property
    def most_log(self) -> int:
        return self.speculations.bit_length() - 1


@dataclass(frozen=True)
class Tables:
    """What differs from joint to joint, a word each; index 0 is the joint at the base.

    reach, columns (N, n): constants of the two templates. slides: does it slide? stand: of a sliding joint,
    the angle that it stands at. coordinate: which coordinate moves it. closes: is it the outermost of those
    that its coordinate moves? ratio, shift: its own coordinate is ratio * coordinate + shift. clamped, lower,
    upper: limits of its own coordinate; coordinate_* those of the coordinates (C,). factor: a unit step of
    the joint in the units of its words. quarters: of twists that CORDIC's units do by themselves."""

    reach: Array
    columns: Array
    tip: Array
    slides: Array
    stand: Array
    coordinate: Array
    closes: Array
    ratio: Array
    shift: Array
    clamped: Array
    lower: Array
    upper: Array
    coordinate_clamped: Array
    coordinate_lower: Array
    coordinate_upper: Array
    factor: Array
    quarters: Array


RATIO_FRAC = 22  # fraction bits of `ratio`
RATIO_BITS = 26
FACTOR_FRAC = 16  # and of `factor`
FACTOR_BITS = 18


@dataclass(frozen=True, eq=False)
class IkPlan:
    """A chip for one chain. `reach` maps (tip 3, cos, sin[, slide], constants) to a tip (3) or, if CORDIC
    turns positions, (tip 3 slid and turned, constants) to a tip; `columns` maps (axes 9, origin 3, tip 3,
    cos, sin[, slide], constants) to (axes 9, origin 3, column 3). `turns` are the bits of an angle
    before its binary point, the sign among them; a sliding joint's word 1.0 stands for 2**slide_log
    lengths."""

    name: str
    widths: Widths
    knobs: Knobs
    tables: Tables
    reach: FixedProgram
    columns: FixedProgram
    turns: int = 1
    slide_log: int = 3
    coupled: bool = False
    damping: int = 13

    @property
    def joints(self) -> int:
        return len(self.tables.slides)

    @property
    def coordinates(self) -> int:
        return len(self.tables.coordinate_lower)

    @cached_property
    def sliding(self) -> bool:
        return bool(self.tables.slides.any())

    @property
    def cordic(self) -> bool:
        """Does CORDIC itself turn positions?"""
        return self.knobs.turning == CORDIC

    @cached_property
    def quartered(self) -> bool:
        return bool(self.tables.quarters.any())

    @cached_property
    def limited(self) -> bool:
        return bool(self.tables.clamped.any())

    # --- widths that follow -----------------------------------------------------------------------------

    @property
    def theta_bits(self) -> int:
        return self.widths.theta + self.turns

    @property
    def delta_bits(self) -> int:
        """Of a step: as far as an angle reaches, with guard bits."""
        return self.theta_bits + self.widths.guard

    @property
    def delta_frac(self) -> int:
        return self.widths.theta + self.widths.guard

    @property
    def unit_frac(self) -> int:
        return self.widths.unit - 2

    @property
    def serial_frac(self) -> int:
        return self.widths.serial - 2

    @property
    def target_bits(self) -> int:
        return self.widths.unit + 2

    @property
    def error_bits(self) -> int:
        """Of a difference of a target and a position, exact."""
        return self.widths.unit + 3

    @property
    def square_bits(self) -> int:
        """Of the sum of three squares of such, exact; no sign."""
        return 2 * (self.error_bits - 1) + 2

    @property
    def gram_bits(self) -> int:
        """Of an entry of J J^T, exact."""
        return 2 * self.widths.serial + count_bits(self.coordinates) + 1

    @property
    def input_words(self) -> int:
        return HEADER_IN + self.coordinates

    @property
    def output_words(self) -> int:
        return HEADER_OUT + self.coordinates


def table_of(values: Any) -> Array:
    return np.asarray(values, np.int64)
