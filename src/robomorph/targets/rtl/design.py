"""A design: a fixed-point program, its schedule, and the files and figures that follow from them."""

from __future__ import annotations

import hashlib
import re
from dataclasses import asdict, dataclass, field
from functools import cached_property
from importlib import resources

from robomorph.ir.fixed import FixedProgram
from robomorph.targets.rtl.emit_core import Slots, emit_core
from robomorph.targets.rtl.emit_queues import emit_queues
from robomorph.targets.rtl.emit_top import emit_ports, emit_top
from robomorph.targets.rtl.schedule import Knobs, Schedule
from robomorph.targets.rtl.scheduler import make_schedule
from robomorph.targets.rtl.stream import Stream, streams
from robomorph.targets.rtl.unit_stats import Hardware, UnitStats, unit_stats
from robomorph.targets.rtl.units import Units


@dataclass(frozen=True, slots=True)
class DesignStats:
    """What the schedule model says, without simulating. Cycles count from the one that accepts the last
    input word: `latency` to the one in which the result is ready, `last_word` to the one that offers its last
    word. `flip_flops` are those of the core's values and the stream buffers. What is inside `units` is
    counted in all other figures too."""

    word_bits: int
    latency: int
    last_word: int
    interval: int
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


@dataclass(frozen=True)
class Design:
    """Hardware for one program. `name` is the prefix of its modules; `boundary` says what words on its
    streams are (see `stream`); `queue` is the number of beats that may wait at each, 0 or a power of two."""

    name: str
    fixed: FixedProgram
    knobs: Knobs
    boundary: str = "fixed"
    units: Units = field(default_factory=lambda: Units((), ()))
    queue: int = 0

    @cached_property
    def schedule(self) -> Schedule:
        return make_schedule(self.fixed, self.knobs, self.units)

    @property
    def top(self) -> str:
        return f"{self.name}_top"

    @cached_property
    def streams(self) -> tuple[Stream, Stream]:
        return streams(self.schedule, self.boundary)

    @property
    def interval(self) -> int:
        """Cycles between states in the steady state: the schedule's (a state that is done sooner lets the
        next one in), or what the streams need."""
        source, sink = self.streams
        own = min(self.knobs.interval, self.schedule.length)
        return max(own, source.beats + 1, sink.beats + 1)

    @property
    def input_slots(self) -> tuple[int, ...]:
        """Input entries that travel on the stream, in its order."""
        return Slots.of(self.schedule).inputs

    @cached_property
    def files(self) -> dict[str, str]:
        """Every source file by name: cells as they are, the core and the top level as generated."""
        core = f"{self.name}_core"
        modules = [f"{self.name}_{module_name(t.name)}" for t in self.units.templates]
        plans = zip(modules, self.schedule.plans, strict=True)
        made = {
            **{f"{module}.sv": emit_core(plan.inner, module) for module, plan in plans},
            f"{core}.sv": emit_core(self.schedule, core, modules),
            **self._top_files(core),
        }
        return {**_used_cells(made), **made}

    def _top_files(self, core: str) -> dict[str, str]:
        inner = f"{self.name}_unqueued" if self.queue else self.top
        made = {f"{inner}.sv": emit_top(self.schedule, inner, core, self.boundary)}
        if self.queue:
            ports = emit_ports(self.top, *self.streams)
            made[f"{self.top}.sv"] = emit_queues(self.top, inner, self.streams, self.queue, ports)
        return made

    @cached_property
    def digest(self) -> str:
        text = "\0".join(f"{name}\0{content}" for name, content in sorted(self.files.items()))
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def stats(self) -> DesignStats:
        s, (source, sink) = self.schedule, self.streams
        made = Hardware.of(s)
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
            flip_flops=made.flip_flops + source.buffer_bits + sink.buffer_bits,
            memory_bits=made.memory_bits + self.queue * (source.data_bits + sink.data_bits + 3),
            selector_inputs=made.selector_inputs,
            input_words=source.words,
            output_words=sink.words,
            input_bits=source.data_bits,
            output_bits=sink.data_bits,
            period=max([*s.finish, *(f for plan in s.plans for f in plan.inner.finish)], default=0.0),
            units=unit_stats(s),
        )

    def stats_dict(self) -> dict[str, object]:
        return asdict(self.stats)


def cell_files() -> dict[str, str]:
    """The hand-written cells by file name."""
    folder = resources.files("robomorph.targets.rtl") / "cells"
    return {
        f.name: f.read_text()
        for f in sorted(folder.iterdir(), key=lambda f: f.name)
        if f.name.endswith(".sv")
    }


def _used_cells(made: dict[str, str]) -> dict[str, str]:
    """The cells that generated modules, or cells among these, instantiate."""
    cells = cell_files()
    used: dict[str, str] = {}
    waiting = list(made.values())
    while waiting:
        text = waiting.pop()
        for name, content in cells.items():
            if name not in used and re.search(rf"^\s*{name.removesuffix('.sv')} #\(", text, re.MULTILINE):
                used[name] = content
                waiting.append(content)
    return dict(sorted(used.items()))


def module_name(text: str) -> str:
    """A legal module name made from any text."""
    name = re.sub(r"[^A-Za-z0-9_]+", "_", text).strip("_").lower() or "design"
    return name if name[0].isalpha() else f"m_{name}"
