"""What can be asked of an accelerator, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import isfinite
from numbers import Integral, Real
from typing import Any

from robomorph.errors import ArgumentError
from robomorph.ir.fixed import MAX_BITS, MIN_BITS, Format
from robomorph.ir.lower import Numbers
from robomorph.targets.rtl.design import MOST_PIPELINES
from robomorph.targets.rtl.schedule import Knobs
from robomorph.targets.rtl.stream import BOUNDARIES


@dataclass(frozen=True, slots=True)
class Options:
    """format: one for all signals, such as "Q16.16"; None chooses one per signal in words of `bits` bits,
    from `ranges`: "profile" (sampled states) or "proven" (interval arithmetic: no argument within the bounds
    can exceed them, but they are wider), each with one spare bit. What is proven holds for positions within
    the joints' limits and rates within speed and acceleration; tau, M^-1 and external wrenches have no such
    bound and are assumed within twice their sampled range, and 100 N and N m (`states.input_bounds`). speed
    and acceleration bound the states that are sampled or proven (rad/s, rad/s^2, or m). trig: "chip" or
    "host" computes sines and cosines. minv: "chip", or "given" as a further argument, as in the papers'
    design (forward_dynamics_gradient only). boundary: "fixed" or "float32" words on the streams. queue: beats
    that may wait at each of them (0, or a power of two); each queue costs a cycle. pipelines: copies of the
    accelerator behind one pair of streams, which take states in turn.

    structure: "flat" shares single multiplications of the whole program; "units" makes link units, whose
    number, fold and inner latency are `units` ("all=2", "forward=2,backward=1", or by the units' names),
    `fold` and `unit_latency`; with `memories`, their results wait in small memories, else in registers. Links
    share a unit's formats; with a format per signal, forces keep `link_scale` fraction bits more on every
    further link from the base. step: fraction bits of formats are multiples of it; larger ones let more
    multiplications share. The rest are knobs of the schedule; `interval=None` chooses."""

    format: str | None = None
    bits: int = 32
    ranges: str = "profile"
    constant_bits: int | None = None
    speed: float = 2.0
    acceleration: float = 10.0
    samples: int = 500
    trig: str = "chip"
    minv: str = "chip"
    boundary: str = "fixed"
    queue: int = 0
    pipelines: int = 1
    structure: str = "flat"
    units: str = ""
    fold: int | None = None
    unit_latency: int | None = None
    memories: bool = True
    link_scale: int = 1
    step: int = 2
    interval: int | None = None
    period: float = 1.8
    latency: int | None = None
    levels: int = 1
    reciprocal_stages: int = 12
    rotate_stages: int = 8
    multiply_stages: int = 0
    scale_by_adders: bool = True
    optimise: bool = False
    trace: bool = False

    def __post_init__(self) -> None:
        _one_of("ranges", self.ranges, ("profile", "proven"))
        _one_of("trig", self.trig, ("chip", "host"))
        _one_of("minv", self.minv, ("chip", "given"))
        _one_of("boundary", self.boundary, BOUNDARIES)
        _one_of("structure", self.structure, ("flat", "units"))
        for name, least in _WHOLE.items():
            _whole(name, getattr(self, name), least)
        if self.bits > MAX_BITS:
            raise ArgumentError(f"bits: expected {MIN_BITS} to {MAX_BITS}, found {self.bits}")
        if self.queue == 1 or self.queue & (self.queue - 1):
            raise ArgumentError(f"queue: expected 0 or a power of two, at least 2, found {self.queue}")
        if self.pipelines > MOST_PIPELINES:
            raise ArgumentError(f"pipelines: expected 1 to {MOST_PIPELINES}, found {self.pipelines}")
        for name in ("speed", "acceleration", "period"):
            _positive(name, getattr(self, name))
        if not isinstance(self.format, str | None) or not isinstance(self.units, str):
            raise ArgumentError(f"format and units: expected text, found {self.format!r}, {self.units!r}")
        for name in ("memories", "scale_by_adders", "optimise", "trace"):
            if not isinstance(getattr(self, name), bool):
                raise ArgumentError(f"{name}: expected True or False, found {getattr(self, name)!r}")
        wishes = self.units or self.fold or self.unit_latency or not self.memories
        if self.structure == "flat" and wishes:
            raise ArgumentError("units, fold, unit_latency, memories: only for structure='units'")

    @property
    def numbers(self) -> Numbers:
        uniform = Format.parse(self.format) if self.format is not None else None
        bits = uniform.bits if uniform else self.bits
        factor = self.constant_bits if self.constant_bits is not None else min(bits - 1, 20)
        return Numbers(bits, uniform, step=self.step, constant_bits=factor)

    def knobs(self, multiplications: int) -> Knobs:
        """The schedule's; by default an interval that keeps about a hundred multipliers busy."""
        interval = self.interval if self.interval is not None else max(4, min(64, multiplications // 100))
        return Knobs(
            interval,
            self.period,
            self.latency,
            self.levels,
            self.reciprocal_stages,
            self.rotate_stages,
            self.scale_by_adders,
            unit_wishes(self.units),
            self.fold,
            self.unit_latency,
            self.memories,
            self.multiply_stages,
        )


def unit_wishes(text: str) -> tuple[tuple[str, int], ...]:
    """How many units of which name or kind, from text such as "forward=2, backward=1"; a mere number is for
    all."""
    wishes = []
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, _, count = part.rpartition("=")
        if not (count.strip().isascii() and count.strip().isdecimal()) or part.startswith("="):
            raise ArgumentError(f"units: expected such as 'forward=2, backward=1', or '2', found {text!r}")
        wishes.append((name.strip() or "all", int(count)))
    return tuple(wishes)


# Designs with a name, as what they change of the defaults.
PRESETS: dict[str, dict[str, Any]] = {
    "complete": {},
    "papers": {"trig": "host", "minv": "given", "speed": 1.0, "acceleration": 1.0, "interval": 24},
}
# The one function that may have M^-1 given, and what it then makes.
GIVEN_FUNCTION, GIVEN_OUTPUTS = "forward_dynamics_gradient", ("dqdd_dq", "dqdd_dqd")


def make_options(options: Mapping[str, Any], function: str, outputs: Sequence[str] | None = None) -> Options:
    """Options by name, on top of those of their `preset` ("complete": everything on the chip; "papers":
    sines, cosines and, for the gradient of forward dynamics, M^-1 from the host). `outputs`: of the function
    that were asked for by name. An unknown name is answered with the known ones."""
    preset = options.get("preset", "complete")
    _one_of("preset", preset, tuple(PRESETS))
    chosen = dict(PRESETS[preset])
    if function != GIVEN_FUNCTION or any(name not in GIVEN_OUTPUTS for name in outputs or ()):
        chosen.pop("minv", None)
    known = [field.name for field in fields(Options)]
    for name in options:
        if name not in (*known, "preset"):
            raise ArgumentError(f"{name}: not an option of target 'rtl': it has preset, {', '.join(known)}")
    return Options(**{**chosen, **{name: value for name, value in options.items() if name != "preset"}})


# Options that are whole numbers, and the least of each; None, if it is the default, leaves it open.
_WHOLE = {
    "bits": MIN_BITS,
    "constant_bits": 1,
    "samples": 1,
    "queue": 0,
    "pipelines": 1,
    "fold": 1,
    "unit_latency": 1,
    "link_scale": 0,
    "step": 1,
    "interval": 1,
    "latency": 1,
    "levels": 1,
    "multiply_stages": 0,
    "reciprocal_stages": 2,
    "rotate_stages": 2,
}
_OPEN = ("constant_bits", "fold", "unit_latency", "interval", "latency")


def _whole(name: str, value: Any, least: int) -> None:
    if value is None and name in _OPEN:
        return
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ArgumentError(f"{name}: expected a whole number, at least {least}, found {value!r}")


def _positive(name: str, value: Any) -> None:
    if not isinstance(value, Real) or not isfinite(value) or value <= 0:
        raise ArgumentError(f"{name}: expected a positive number, found {value!r}")


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ArgumentError(f"{name}: expected one of {', '.join(known)}, found {value!r}")
