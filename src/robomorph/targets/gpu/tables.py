"""The thread-group mapping as data: shared-memory slots, and one instruction per thread and round.

Every instruction is ``slot[d] = f(+-slot[a] * slot[b] +- (slot[c] or the accumulator))`` where f is nothing,
a reciprocal, a sine or a cosine, so that all threads of a group step through the same code whatever they
compute. An instruction is four 16-bit words: a slot in the low bits, flags in the high ones.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import TargetError
from robomorph.ir.ops import (
    ADD,
    CONST,
    COS,
    FMA,
    FMS,
    FNMA,
    INPUT,
    MAX,
    MIN,
    MUL,
    NEG,
    RECIP,
    SELECT,
    SIN,
    SQRT,
    SUB,
    Op,
)
from robomorph.targets.gpu.schedule import Phase, Schedule

Array = npt.NDArray[Any]

SLOT_BITS = 14
MAX_SLOTS = 1 << SLOT_BITS

NEGATE_PRODUCT = 0x8000  # in word a
KIND_SHIFT = 14  # in word b
NEGATE_ADDEND, USE_ACCUMULATOR = 0x8000, 0x4000  # in word c
STORE = 0x8000  # in word d

KINDS: dict[Op, int] = {RECIP: 1, SIN: 2, COS: 3}
# Operations that are not of the one form above.
_NO_INSTRUCTION = frozenset({SQRT, MIN, MAX, SELECT})
_IDLE = (0, 0, 0, 0)


@dataclass(frozen=True)
class GroupTables:
    """One program for one group size.

    Slots of an evaluation: constants, inputs, then work. `steps` is (rounds, threads, 4) uint16; `bounds` is
    the first round of every phase and the end; `places` is the slot of every output entry.
    """

    schedule: Schedule
    constants: Array
    steps: Array
    bounds: Array
    places: Array
    slots: int

    @property
    def stride(self) -> int:
        """Values between two evaluations of a block: odd, so that they meet in different banks."""
        return self.slots | 1


def make_tables(schedule: Schedule) -> GroupTables:
    """Allocate slots and encode every instruction."""
    for node in schedule.program.nodes:
        if node.op in _NO_INSTRUCTION:
            raise TargetError(
                f"{schedule.program.name}: the thread-group mapping has no instruction for {node.op.name}: "
                'use mapping="thread"'
            )
    return _Encoder(schedule).tables()


class _Encoder:
    def __init__(self, schedule: Schedule) -> None:
        self.schedule, self.program = schedule, schedule.program
        values = {0.0, 1.0} | {n.value for n in self.program.nodes if n.op is CONST}
        self.constants = sorted(values, key=lambda x: (x != 0.0, x != 1.0, x))
        self.constant_slot = {x: k for k, x in enumerate(self.constants)}
        self.slot: dict[int, int] = {}  # of values that later phases see
        for i, node in enumerate(self.program.nodes):
            if node.op is CONST:
                self.slot[i] = self.constant_slot[node.value]
            elif node.op is INPUT:
                self.slot[i] = len(self.constants) + int(node.value)
        self.count = len(self.constants) + self.program.input_size
        self.free: list[int] = []
        self.last = _last_phase(schedule)

    def tables(self) -> GroupTables:
        rounds: list[list[tuple[int, int, int, int]]] = []
        bounds = [0]
        ending: list[list[int]] = [[] for _ in range(len(self.schedule.phases) + 1)]
        for p, phase in enumerate(self.schedule.phases):
            for i in sorted(phase.publisher):
                self.slot[i] = self._take()
                ending[self.last[i]].append(self.slot[i])
            rounds += self._phase(phase)
            bounds.append(len(rounds))
            for slot in ending[p]:  # read for the last time before the barrier that now follows
                heapq.heappush(self.free, slot)
        if self.count > MAX_SLOTS:
            raise TargetError(
                f"{self.program.name}: one evaluation needs {self.count} values in shared memory, and the "
                f'thread-group mapping has {MAX_SLOTS}: use mapping="thread"'
            )
        return GroupTables(
            self.schedule,
            np.array(self.constants),
            np.array(rounds, dtype=np.uint16).reshape(len(rounds), self.schedule.threads, 4),
            np.array(bounds, dtype=np.uint32),
            np.array([self.slot[r] for r in self.program.results], dtype=np.uint16),
            self.count,
        )

    def _take(self) -> int:
        if self.free:
            return heapq.heappop(self.free)
        self.count += 1
        return self.count - 1

    def _phase(self, phase: Phase) -> list[list[tuple[int, int, int, int]]]:
        columns = []
        taken: list[int] = []
        for t, work in enumerate(phase.work):
            writer = _ThreadWriter(self, work, {i for i in work if phase.publisher.get(i) == t})
            columns.append([writer.instruction(k) for k in range(len(work))])
            taken += writer.taken
        for slot in taken:
            heapq.heappush(self.free, slot)
        return [[c[r] if r < len(c) else _IDLE for c in columns] for r in range(phase.rounds)]


class _ThreadWriter:
    """Encodes the work of one thread in one phase; its own temporaries have slots of its own."""

    def __init__(self, encoder: _Encoder, work: tuple[int, ...], shown: set[int]) -> None:
        self.encoder, self.work, self.shown = encoder, work, shown
        self.nodes = encoder.program.nodes
        self.local: dict[int, int] = {}
        self.taken: list[int] = []
        self.spare: list[int] = []
        self.uses: dict[int, int] = {}
        for i in work:
            for a in self.nodes[i].args:
                self.uses[a] = self.uses.get(a, 0) + 1

    def instruction(self, k: int) -> tuple[int, int, int, int]:
        i = self.work[k]
        a, b, c, negate_product, negate_addend = self._operands(i)
        previous = self.work[k - 1] if k else -1
        words = [
            self._place(a) | (NEGATE_PRODUCT if negate_product else 0),
            self._place(b) | KINDS.get(self.nodes[i].op, 0) << KIND_SHIFT,
            (USE_ACCUMULATOR if c == previous and c is not None else self._place(c))
            | (NEGATE_ADDEND if negate_addend else 0),
            0,
        ]
        for arg in self.nodes[i].args:
            self._release(arg)
        if i in self.shown:
            words[3] = self.encoder.slot[i] | STORE
        elif not self._accumulates(k):
            words[3] = self._own(i) | STORE
        return (words[0], words[1], words[2], words[3])

    def _operands(self, i: int) -> tuple[int | float, int | float, int | None, bool, bool]:
        """Factors (a node, or a constant given as a float), addend and signs: +-a b +- c."""
        node = self.nodes[i]
        op, args = node.op, node.args
        if op is ADD:
            return args[0], 1.0, args[1], False, False
        if op is SUB:
            return args[1], 1.0, args[0], True, False
        if op is MUL:
            return args[0], args[1], None, False, False
        if op in (FMA, FMS, FNMA):
            return args[0], args[1], args[2], op is FNMA, op is FMS
        assert op is NEG or op in KINDS, op
        return args[0], 1.0, None, op is NEG, False

    def _place(self, x: int | float | None) -> int:
        if x is None or isinstance(x, float):
            return self.encoder.constant_slot[0.0 if x is None else x]
        return self.local[x] if x in self.local else self.encoder.slot[x]

    def _accumulates(self, k: int) -> bool:
        """Is value k used once in this thread, by the next instruction, as its addend?"""
        i = self.work[k]
        if self.uses.get(i, 0) != 1 or k + 1 == len(self.work):
            return False
        return self._operands(self.work[k + 1])[2] == i

    def _own(self, i: int) -> int:
        if not self.spare:
            self.spare.append(self.encoder._take())
            self.taken.append(self.spare[-1])
        self.local[i] = self.spare.pop()
        return self.local[i]

    def _release(self, a: int) -> None:
        self.uses[a] -= 1
        if self.uses[a] == 0 and a in self.local:
            self.spare.append(self.local[a])


def _last_phase(schedule: Schedule) -> dict[int, int]:
    """The phase that reads a value last; results are read after all of them."""
    last: dict[int, int] = {}
    for p, phase in enumerate(schedule.phases):
        for work in phase.work:
            for i in work:
                last.setdefault(i, p)
                for a in schedule.program.nodes[i].args:
                    last[a] = p
    for r in schedule.program.results:
        last[r] = len(schedule.phases)
    return last
