"""The streams of a design: how many words travel, how wide, and how many side by side."""

from __future__ import annotations

from dataclasses import dataclass

from robomorph.errors import TargetError
from robomorph.ir.floats import FLOAT_BITS
from robomorph.ir.ops import INPUT
from robomorph.targets.fixed_point.boundary import BOUNDARIES
from robomorph.targets.rtl.expressions import count_bits
from robomorph.targets.rtl.schedule import Schedule


def input_slots(schedule: Schedule) -> tuple[int, ...]:
    """Input entries that the chip reads, in the order of their words on the stream."""
    program = schedule.fixed.program
    found = tuple(sorted(int(n.value) for n in program.nodes if n.op is INPUT))
    if not found:
        raise TargetError(f"rtl: {program.name} is constant for this robot: there is nothing to compute")
    return found


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream of words of `container` bits, `lanes` of them in a beat. The chip holds a state, or a result,
    in a buffer of `held` bits per beat."""

    words: int
    container: int
    lanes: int
    held: int

    @property
    def beats(self) -> int:
        return max(1, -(-self.words // self.lanes))

    @property
    def data_bits(self) -> int:
        return self.container * self.lanes

    @property
    def last_lanes(self) -> int:
        """Lanes of the last beat that carry a word."""
        return self.words - (self.beats - 1) * self.lanes

    @property
    def buffer_bits(self) -> int:
        return self.beats * self.held

    @property
    def beat_bits(self) -> int:
        """Width of a beat's number."""
        return count_bits(self.beats)


def fit_lanes(words: int, interval: int, pipelines: int = 1) -> int:
    """The fewest words per beat (a power of two) that carry a state for each of the pipelines within the
    interval. If there is but one, a cycle of it goes to handing the state over; with more, the stream goes on
    to the next one meanwhile."""
    beats = interval - 1 if pipelines == 1 else interval // pipelines
    lanes = 1
    while lanes * max(1, beats) < words:
        lanes *= 2
    return lanes


def streams(schedule: Schedule, boundary: str = "fixed", pipelines: int = 1) -> tuple[Stream, Stream]:
    """The input and the output stream of a design."""
    bits, interval = schedule.fixed.formats[0].bits, schedule.knobs.interval
    counts = (len(input_slots(schedule)), len(schedule.fixed.program.results))
    lanes = [fit_lanes(words, interval, pipelines) for words in counts]
    if boundary == "fixed":
        container = 8 * -(-bits // 8)
        held = [container * n for n in lanes]
    elif boundary == "float32":
        # Buffers are behind the converters; a beat is kept with a flag: one of its words did not fit.
        container = FLOAT_BITS
        held = [bits * lanes[0] + 1, bits * lanes[1]]
    else:
        raise TargetError(f"boundary: expected one of {', '.join(BOUNDARIES)}, found {boundary!r}")
    source, sink = (Stream(counts[k], container, lanes[k], held[k]) for k in (0, 1))
    return source, sink
