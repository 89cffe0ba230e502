"""What can be asked of an accelerator, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from robomorph.errors import ArgumentError
from robomorph.targets.fixed_point.options import PAPERS, NumberOptions, positive, read_options, whole
from robomorph.targets.rtl.design import MOST_PIPELINES
from robomorph.targets.rtl.schedule import Knobs


@dataclass(frozen=True, slots=True)
class Options(NumberOptions):
    """Beside those about numbers (`NumberOptions`), where "words outside" are those on the streams.

    queue: beats that may wait at each of them (0, or a power of two); each queue costs a cycle. pipelines:
    copies of the accelerator behind one pair of streams, which take states in turn.

    structure: "flat" shares single multiplications of the whole program; "units" makes link units, whose
    number, fold and inner latency are `units` ("all=2", "forward=2,backward=1", or by the units' names),
    `fold` and `unit_latency`; with `memories`, their results wait in small memories, else in registers. The
    rest are knobs of the schedule; `interval=None` chooses."""

    queue: int = 0
    pipelines: int = 1
    units: str = ""
    fold: int | None = None
    unit_latency: int | None = None
    memories: bool = True
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
        NumberOptions.__post_init__(self)
        for name, least in _WHOLE.items():
            whole(name, getattr(self, name), least, may_be_open=name in _OPEN)
        if self.queue == 1 or self.queue & (self.queue - 1):
            raise ArgumentError(f"queue: expected 0 or a power of two, at least 2, found {self.queue}")
        if self.pipelines > MOST_PIPELINES:
            raise ArgumentError(f"pipelines: expected 1 to {MOST_PIPELINES}, found {self.pipelines}")
        positive("period", self.period)
        if not isinstance(self.units, str):
            raise ArgumentError(f"units: expected text, found {self.units!r}")
        for name in ("memories", "scale_by_adders", "optimise", "trace"):
            if not isinstance(getattr(self, name), bool):
                raise ArgumentError(f"{name}: expected True or False, found {getattr(self, name)!r}")
        wishes = self.units or self.fold or self.unit_latency or not self.memories
        if self.structure == "flat" and wishes:
            raise ArgumentError("units, fold, unit_latency, memories: only for structure='units'")

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
PRESETS: dict[str, dict[str, Any]] = {"complete": {}, "papers": {**PAPERS, "interval": 24}}


def make_options(options: Mapping[str, Any], function: str, outputs: Sequence[str] | None = None) -> Options:
    """Options by name, on top of those of their `preset` ("complete": everything on the chip; "papers":
    sines, cosines and, for the gradient of forward dynamics, M^-1 from the host). `outputs`: of the function
    that were asked for by name. An unknown name is answered with the known ones."""
    return Options(**read_options(Options, "rtl", PRESETS, options, function, outputs))


# Options that are whole numbers, and the least of each; None, if it is the default, leaves it open.
_WHOLE = {
    "queue": 0,
    "pipelines": 1,
    "fold": 1,
    "unit_latency": 1,
    "interval": 1,
    "latency": 1,
    "levels": 1,
    "multiply_stages": 0,
    "reciprocal_stages": 2,
    "rotate_stages": 2,
}
_OPEN = ("fold", "unit_latency", "interval", "latency")
