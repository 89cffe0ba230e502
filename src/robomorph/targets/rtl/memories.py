"""Memories between link units: where results wait for the calls that read them.

A memory holds one result word of a unit for one operand of a unit, so that one port to write and one to read
are enough. Its addresses turn with the states: a value lies at `turn + offset`, where `turn` counts
intervals, so the same value of the next state, an interval later, comes to lie beside it, however long either
lives.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from robomorph.targets.rtl.schedule import Memory, Port, Schedule

# A memory pays from so many values on; fewer are cheaper in registers of their own.
_FEWEST = 3


@dataclass(frozen=True, slots=True)
class _Read:
    """A value on its way: the call that makes it, the cycle of its birth, and that of its reading."""

    call: int
    birth: int
    cycle: int


def plan_memories(schedule: Schedule) -> dict[tuple[Port, Port], Memory]:
    """Memories by writer and reader: (unit, result) and (unit, operand)."""
    wanted = {ports: reads for ports, reads in _reads(schedule).items() if _values(reads) >= _FEWEST}
    # All words from one unit to another lie alike: they share addresses.
    pairs: dict[tuple[int, int], list[_Read]] = defaultdict(list)
    for (writer, reader), reads in wanted.items():
        pairs[writer[0], reader[0]] += reads
    interval = schedule.knobs.interval
    layouts = {pair: _layout(_lives(reads), interval) for pair, reads in pairs.items()}
    return {
        (writer, reader): _memory(reads, *layouts[writer[0], reader[0]], interval)
        for (writer, reader), reads in wanted.items()
    }


def _reads(schedule: Schedule) -> dict[tuple[Port, Port], list[_Read]]:
    """What every operand of a unit reads from every result of a unit."""
    found: dict[tuple[Port, Port], list[_Read]] = defaultdict(list)
    makers = {node: call for node, call, _ in schedule.call_results()}
    made = schedule.result_ports()
    for placed in schedule.calls:
        for operand, node in enumerate(placed.call.args):
            if node in made:
                read = _Read(makers[node], schedule.birth[node], placed.issue)
                found[made[node], (placed.unit, operand)].append(read)
    return found


def _values(reads: list[_Read]) -> int:
    return len({read.call for read in reads})


def _lives(reads: list[_Read]) -> dict[int, tuple[int, int]]:
    """Per call, from the birth of its first word to the last reading."""
    lives: dict[int, tuple[int, int]] = {}
    for read in reads:
        first, last = lives.get(read.call, (read.birth, read.cycle))
        lives[read.call] = min(first, read.birth), max(last, read.cycle)
    return lives


def _layout(lives: Mapping[int, tuple[int, int]], interval: int) -> tuple[int, dict[int, int]]:
    """The fewest words, a power of two, and every call's offset in them."""
    depth = 2
    while (offsets := _offsets(lives, interval, depth)) is None:
        depth *= 2
    return depth, offsets


def _offsets(lives: Mapping[int, tuple[int, int]], interval: int, depth: int) -> dict[int, int] | None:
    """The offset of every call's values, first fit; None if they do not fit. As all addresses move by one an
    interval, one word sees the life of a value with offset o so many intervals earlier, and everything again
    after `depth` intervals: lives on this circle must not meet."""
    circle = depth * interval
    taken, offsets = 0, {}
    for call, (birth, last) in sorted(lives.items(), key=lambda item: item[1]):
        if last - birth > circle:
            return None
        life = (1 << (last - birth)) - 1  # the cycles after birth, up to the last
        for offset in range(depth):
            seen = _turned(life, birth + 1 - offset * interval, circle)
            if not seen & taken:
                taken |= seen
                offsets[call] = offset
                break
        else:
            return None
    return offsets


def _turned(bits: int, by: int, circle: int) -> int:
    shifted = bits << (by % circle)
    return (shifted | shifted >> circle) & ((1 << circle) - 1)


def _memory(reads: list[_Read], depth: int, offsets: Mapping[int, int], interval: int) -> Memory:
    """Offsets by phase, as seen from the turn in which a word is written or read."""

    def at(call: int, cycle: int) -> int:
        return (offsets[call] - cycle // interval) % depth

    return Memory(
        depth,
        tuple(sorted({(read.birth % interval, at(read.call, read.birth)) for read in reads})),
        tuple(sorted({(read.cycle % interval, at(read.call, read.cycle)) for read in reads})),
    )
