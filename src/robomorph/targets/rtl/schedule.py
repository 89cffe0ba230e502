"""The cycle-exact schedule: in which cycle and on which unit every node is computed.

A new state may start every `interval` cycles, so two operations share a unit if their cycles differ modulo
the interval. Within a cycle operations are chained as long as their delays fit the period. A shared
multiplier of level n reads only registers and what multipliers of lower levels have made in the same cycle,
so no combinational loop can arise from sharing.

A unit that computes a template has a schedule of its own, whose interval is its fold: it accepts a call every
`fold` cycles, reads all operands in the call's first cycle, and gives each result in the cycle in which
its own schedule has it. Calls read only registers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from robomorph.errors import TargetError
from robomorph.ir.fixed import FixedProgram
from robomorph.ir.unit_program import Call
from robomorph.targets.fixed_point.units import Template
from robomorph.targets.rtl.expressions import count_bits
from robomorph.targets.rtl.operations import MULTIPLY_DELAY, Kind, Operation


@dataclass(frozen=True, slots=True)
class Knobs:
    """What a designer chooses. `interval`: cycles between states. `period`: chained delay per cycle, in
    multiplications. `latency`: cycles to aim for (None: a tenth more than the period allows); more leave
    room to share. `levels`: multipliers that may be chained within a cycle. `reciprocal_stages`,
    `rotate_stages` (of sines), `multiply_stages` (at most 2): pipeline registers inside these units.
    `scale_by_adders`: constant factors as shifts and additions.

    Of units that compute templates, `units` says how many there are of a template (by its name, its kind or
    "all"), `fold` the cycles between their calls, at most (None: as many as the interval leaves),
    `unit_latency` the cycles to aim for inside (None: as many as the fewest multipliers take), and `memories`
    whether results wait in memories for the calls that read them, or all in registers."""

    interval: int = 24
    period: float = 1.8
    latency: int | None = None
    levels: int = 1
    reciprocal_stages: int = 12
    rotate_stages: int = 8
    scale_by_adders: bool = True
    units: tuple[tuple[str, int], ...] = ()
    fold: int | None = None
    unit_latency: int | None = None
    memories: bool = True
    multiply_stages: int = 0

    def __post_init__(self) -> None:
        least = {"interval": 1, "levels": 1, "reciprocal_stages": 2, "rotate_stages": 2, "fold": 1}
        for name, smallest in least.items():
            value = getattr(self, name)
            if value is not None and value < smallest:
                raise TargetError(f"rtl: {name}: expected at least {smallest}, found {value}")
        if self.multiply_stages not in range(len(MULTIPLY_DELAY)):
            raise TargetError(f"rtl: multiply_stages: expected 0, 1 or 2, found {self.multiply_stages}")
        part = MULTIPLY_DELAY[self.multiply_stages]
        if not self.period >= part:
            whole = "one multiplication" if part == 1.0 else "the longest part of a multiplication"
            raise TargetError(f"rtl: a period must hold {whole} ({part}), found {self.period}")
        for name, count in self.units:
            if count < 1:
                raise TargetError(f"rtl: units: expected at least one of {name!r}, found {count}")

    def stages(self, kind: Kind) -> int:
        """Cycles from the operand to the result of a shared unit."""
        table = {
            Kind.RECIPROCAL: self.reciprocal_stages,
            Kind.ROTATE: self.rotate_stages,
            Kind.MULTIPLY: self.multiply_stages,
        }
        return table.get(kind, 0)


UnitKey = tuple[Kind, tuple[int, ...], int]  # kind, shape, level


@dataclass(slots=True)
class Unit:
    """One shared unit and its turns: node, or call, by phase (issue cycle modulo the interval)."""

    key: UnitKey
    turns: dict[int, int] = field(default_factory=dict)
    offset: int = 0  # of a unit that computes a template: the phase of its calls, modulo its fold
    limbs: set[int] = field(default_factory=set)  # whose calls it makes

    @property
    def kind(self) -> Kind:
        return self.key[0]


@dataclass(frozen=True)
class UnitPlan:
    """A template, the schedule inside its units (whose interval is the fold), and how many there may be."""

    template: Template
    inner: Schedule
    count: int

    @property
    def fold(self) -> int:
        return self.inner.knobs.interval


@dataclass(frozen=True, slots=True)
class PlacedCall:
    """A call, the cycle in which its operands are read, and the unit that makes it."""

    call: Call
    issue: int
    unit: int


Port = tuple[int, int]  # a unit, and one of its results or operands


@dataclass(frozen=True, slots=True)
class Memory:
    """Words between a result of a unit and an operand of a unit (see `memories`). `writes` and `reads` are
    (phase, offset): in that phase, the word at address turn + offset, modulo `depth`."""

    depth: int
    writes: tuple[tuple[int, int], ...]
    reads: tuple[tuple[int, int], ...]

    @property
    def address_bits(self) -> int:
        return (self.depth - 1).bit_length()


@dataclass(frozen=True, slots=True)
class Schedule:
    """Per node: `issue` (cycle in which its operands are read), `birth` (cycle in which its value appears),
    `finish` (its delay within that cycle), `unit` (index, -1 for hardware of its own). Results are read in
    the last cycle or, with `early`, each in its cycle of birth. `memories` by the result that is written and
    the operand that reads it."""

    fixed: FixedProgram
    knobs: Knobs
    operations: list[Operation]
    issue: list[int]
    birth: list[int]
    finish: list[float]
    unit: list[int]
    units: list[Unit]
    length: int
    plans: tuple[UnitPlan, ...] = ()
    calls: tuple[PlacedCall, ...] = ()
    early: bool = False
    memories: Mapping[tuple[Port, Port], Memory] = field(default_factory=dict)

    @property
    def rounds(self) -> int:
        """States in flight at once, at most."""
        return -(-self.length // self.knobs.interval)

    @property
    def phase_bits(self) -> int:
        """Width of a phase."""
        return count_bits(self.knobs.interval)

    @property
    def turn_bits(self) -> int:
        """Width of the count of intervals that memories are addressed by, at least 1."""
        return max((memory.address_bits for memory in self.memories.values()), default=1)

    def call_results(self) -> Iterator[tuple[int, int, int]]:
        """(node, index of its call, which of the call's results it is) of every result of a call."""
        for c, placed in enumerate(self.calls):
            for k, r in enumerate(self.plans[placed.call.template].template.fixed.program.results):
                yield placed.call.nodes[r], c, k

    def result_ports(self) -> dict[int, Port]:
        """The unit, and which of its results, that makes a node; of every result of a call."""
        return {node: (self.calls[c].unit, k) for node, c, k in self.call_results()}

    def plan(self, unit: Unit) -> UnitPlan:
        """What a unit of kind CALL computes."""
        return self.plans[unit.key[1][0]]
