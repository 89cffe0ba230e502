"""What can be asked about the numbers of a function in fixed point, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import isfinite
from numbers import Integral, Real
from typing import Any

from robomorph.errors import ArgumentError
from robomorph.ir.fixed import MAX_BITS, MIN_BITS, Format
from robomorph.ir.lower import Numbers
from robomorph.targets.fixed_point.boundary import BOUNDARIES


@dataclass(frozen=True, slots=True)
class NumberOptions:
    """format: one for all signals, such as "Q16.16"; None chooses one per signal in words of `bits` bits,
    from `ranges`: "profile" (sampled states) or "proven" (interval arithmetic: no argument within the bounds
    can exceed them, but they are wider), each with one spare bit. What is proven holds for positions within
    the joints' limits and rates within speed and acceleration; tau, M^-1 and external wrenches have no such
    bound and are assumed within twice their sampled range, and 100 N and N m (`states.input_bounds`). speed
    and acceleration bound the states that are sampled or proven (rad/s, rad/s^2, or m). step: fraction bits
    of formats are multiples of it; larger ones let more multiplications share. trig: "chip" or "host"
    computes sines and cosines. minv: "chip", or "given" as a further argument, as in the papers' design
    (forward_dynamics_gradient only). boundary: "fixed" or "float32" words outside.

    structure: "flat" chooses the format of every signal by itself; "units" has link units, whose formats all
    links share; with a format per signal, forces then keep `link_scale` fraction bits more on every further
    link from the base."""

    format: str | None = None
    bits: int = 32
    ranges: str = "profile"
    constant_bits: int | None = None
    speed: float = 2.0
    acceleration: float = 10.0
    samples: int = 500
    step: int = 2
    trig: str = "chip"
    minv: str = "chip"
    boundary: str = "fixed"
    structure: str = "flat"
    link_scale: int = 1

    def __post_init__(self) -> None:
        one_of("ranges", self.ranges, ("profile", "proven"))
        one_of("trig", self.trig, ("chip", "host"))
        one_of("minv", self.minv, ("chip", "given"))
        one_of("boundary", self.boundary, tuple(BOUNDARIES))
        one_of("structure", self.structure, ("flat", "units"))
        for name, least in _WHOLE.items():
            whole(name, getattr(self, name), least, may_be_open=name == "constant_bits")
        if self.bits > MAX_BITS:
            raise ArgumentError(f"bits: expected {MIN_BITS} to {MAX_BITS}, found {self.bits}")
        for name in ("speed", "acceleration"):
            positive(name, getattr(self, name))
        if not isinstance(self.format, str | None):
            raise ArgumentError(f"format: expected text such as 'Q16.16', found {self.format!r}")

    @property
    def numbers(self) -> Numbers:
        uniform = Format.parse(self.format) if self.format is not None else None
        bits = uniform.bits if uniform else self.bits
        factor = self.constant_bits if self.constant_bits is not None else min(bits - 1, 20)
        return Numbers(bits, uniform, step=self.step, constant_bits=factor)


# Options that are whole numbers, and the least of each.
_WHOLE = {"bits": MIN_BITS, "constant_bits": 1, "samples": 1, "step": 1, "link_scale": 0}
# The one function that may have M^-1 given, and what it then makes.
GIVEN_FUNCTION, GIVEN_OUTPUTS = "forward_dynamics_gradient", ("dqdd_dq", "dqdd_dqd")
# The papers' design, as what it changes of the defaults.
PAPERS: dict[str, Any] = {"trig": "host", "minv": "given", "speed": 1.0, "acceleration": 1.0}


def read_options(
    kind: type[NumberOptions],
    target: str,
    presets: Mapping[str, Mapping[str, Any]],
    options: Mapping[str, Any],
    function: str,
    outputs: Sequence[str] | None = None,
) -> dict[str, Any]:
    """What to make options of that kind from: those given by name, on top of those of their `preset`.
    `outputs`: of the function that were asked for by name. An unknown name is answered with the known
    ones."""
    preset = options.get("preset", "complete")
    one_of("preset", preset, tuple(presets))
    chosen = dict(presets[preset])
    if function != GIVEN_FUNCTION or any(name not in GIVEN_OUTPUTS for name in outputs or ()):
        chosen.pop("minv", None)
    known = [field.name for field in fields(kind)]
    for name in options:
        if name not in (*known, "preset"):
            raise ArgumentError(
                f"{name}: not an option of target {target!r}: it has preset, {', '.join(known)}"
            )
    return {**chosen, **{name: value for name, value in options.items() if name != "preset"}}


def whole(name: str, value: Any, least: int, *, may_be_open: bool) -> None:
    """ArgumentError unless the value is a whole number, at least so large, or None where that leaves it
    open."""
    if value is None and may_be_open:
        return
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ArgumentError(f"{name}: expected a whole number, at least {least}, found {value!r}")


def positive(name: str, value: Any) -> None:
    if not isinstance(value, Real) or not isfinite(value) or value <= 0:
        raise ArgumentError(f"{name}: expected a positive number, found {value!r}")


def one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ArgumentError(f"{name}: expected one of {', '.join(known)}, found {value!r}")
