"""A design: a fixed-point program, its schedule, and the files and figures that follow from them."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from functools import cached_property

from robomorph.ir.fixed import FixedProgram
from robomorph.targets.fixed_point.units import Units
from robomorph.targets.rtl.chip import source_files
from robomorph.targets.rtl.emit_core import core_module
from robomorph.targets.rtl.emit_pipelines import pipelines_module
from robomorph.targets.rtl.emit_queues import queued_module
from robomorph.targets.rtl.emit_top import accelerator_module
from robomorph.targets.rtl.netlist import Module
from robomorph.targets.rtl.schedule import Knobs, Schedule
from robomorph.targets.rtl.scheduler import make_schedule
from robomorph.targets.rtl.stream import Stream, input_slots, streams
from robomorph.targets.rtl.unit_stats import Hardware, UnitStats, unit_stats

MOST_PIPELINES = 64


@dataclass(frozen=True, slots=True)
class DesignStats:
    """What the schedule model says, without simulating. Cycles count from the one that accepts the last
    input word: `latency` to the one in which the result is ready, `last_word` to the one that offers its last
    word. `interval` are the cycles between states, on average, and `bound_by` says what keeps it from being
    shorter. `flip_flops` are those of the core's values and the stream buffers. What is inside `units` (those
    of one pipeline) is counted in all other figures too, which are of all `pipelines`; `multiplications` are
    those of a state."""

    word_bits: int
    latency: int
    last_word: int
    interval: float
    multipliers: int
    multiplications: int
    constant_multipliers: int
    constant_adders: int
    adders: int
    reciprocal_units: int
    rotate_units: int
    flip_flops: int
    memory_bits: int
    selector_inputs: int
    input_words: int
    output_words: int
    input_bits: int
    output_bits: int
    period: float
    units: tuple[UnitStats, ...] = ()
    pipelines: int = 1
    bound_by: str = "schedule"


@dataclass(frozen=True)
class Design:
    """Hardware for one program. `name` is the prefix of its modules; `boundary` says what words on its
    streams are (see `stream`); `queue` is the number of beats that may wait at each, 0 or a power of two;
    `pipelines` is the number of copies that work on states in turn."""

    name: str
    fixed: FixedProgram
    knobs: Knobs
    boundary: str = "fixed"
    units: Units = field(default_factory=lambda: Units((), ()))
    queue: int = 0
    pipelines: int = 1

    @cached_property
    def schedule(self) -> Schedule:
        return make_schedule(self.fixed, self.knobs, self.units)

    @property
    def top(self) -> str:
        return f"{self.name}_top"

    @property
    def clock_ns(self) -> float | None:
        return None

    @cached_property
    def streams(self) -> tuple[Stream, Stream]:
        return streams(self.schedule, self.boundary, self.pipelines)

    @cached_property
    def _bounds(self) -> dict[str, float]:
        """Cycles between states, on average, that each part could do with. A state that is done before the
        schedule's interval ends lets the next one in; a stream with one pipeline behind it waits a cycle
        while the state is handed over, else it goes on to the next pipeline."""
        own, waits = min(self.knobs.interval, self.schedule.length), int(self.pipelines == 1)
        source, sink = self.streams
        whole, rest = divmod(own, self.pipelines)
        return {
            "schedule": own / self.pipelines if rest else whole,
            "input stream": source.beats + waits,
            "output stream": sink.beats + waits,
        }

    @property
    def interval(self) -> float:
        """Cycles between states in the steady state: a whole number unless pipelines divide it."""
        return max(self._bounds.values())

    @property
    def bound_by(self) -> str:
        """What keeps states from following each other faster: the schedule, or one of the streams."""
        return next(name for name, cycles in self._bounds.items() if cycles == self.interval)

    @property
    def input_slots(self) -> tuple[int, ...]:
        """Input entries that travel on the stream, in its order."""
        return input_slots(self.schedule)

    @cached_property
    def netlist(self) -> Module:
        """The top level, with everything below it: an accelerator or several, and queues around them."""
        core = core_module(self.schedule, f"{self.name}_core", self._unit_modules())
        unqueued = f"{self.name}_unqueued" if self.queue else self.top
        one = unqueued if self.pipelines == 1 else f"{self.name}_pipeline"
        made = accelerator_module(self.schedule, one, core, self.boundary, self.streams)
        if self.pipelines > 1:
            made = pipelines_module(unqueued, made, self.streams, self.pipelines)
        return queued_module(self.top, made, self.streams, self.queue) if self.queue else made

    def _unit_modules(self) -> list[Module]:
        plans = self.schedule.plans
        return [core_module(p.inner, f"{self.name}_{module_name(p.template.name)}") for p in plans]

    @cached_property
    def files(self) -> dict[str, str]:
        return source_files(self.netlist)

    @cached_property
    def stats(self) -> DesignStats:
        s, (source, sink) = self.schedule, self.streams
        made = Hardware.of(s).copied(self.pipelines)
        buffers = self.pipelines * (source.buffer_bits + sink.buffer_bits)
        waits = 2 if self.queue else 0  # a cycle in each queue
        return DesignStats(
            word_bits=self.fixed.formats[0].bits,
            latency=s.length + 1 + waits,
            last_word=s.length + sink.beats + waits,
            interval=self.interval,
            multipliers=made.multipliers,
            multiplications=made.multiplications,
            constant_multipliers=made.constant_multipliers,
            constant_adders=made.constant_adders,
            adders=made.adders,
            reciprocal_units=made.reciprocal_units,
            rotate_units=made.rotate_units,
            flip_flops=made.flip_flops + buffers,
            memory_bits=made.memory_bits + self.queue * (source.data_bits + sink.data_bits + 3),
            selector_inputs=made.selector_inputs,
            input_words=source.words,
            output_words=sink.words,
            input_bits=source.data_bits,
            output_bits=sink.data_bits,
            period=max([*s.finish, *(f for plan in s.plans for f in plan.inner.finish)], default=0.0),
            units=unit_stats(s),
            pipelines=self.pipelines,
            bound_by=self.bound_by,
        )

    def stats_dict(self) -> dict[str, object]:
        return asdict(self.stats)


def module_name(text: str) -> str:
    """A legal module name made from any text."""
    name = re.sub(r"[^A-Za-z0-9_]+", "_", text).strip("_").lower() or "design"
    return name if name[0].isalpha() else f"m_{name}"
