"""The cycle-exact schedule: in which cycle and on which unit every node is computed.

A new state may start every `interval` cycles, so two operations share a unit if their cycles differ modulo
the interval. Within a cycle operations are chained as long as their delays fit the period. A shared
multiplier of level n reads only registers and what multipliers of lower levels have made in the same cycle,
so no combinational loop can arise from sharing.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from robomorph.errors import TargetError
from robomorph.ir.fixed import FixedProgram
from robomorph.targets.rtl.operations import SHARED, Kind, Operation, operations


@dataclass(frozen=True, slots=True)
class Knobs:
    """What a designer chooses. `interval`: cycles between states. `period`: chained delay per cycle, in
    multiplications. `latency`: cycles to aim for (None: a tenth more than the period allows); more leave
    room to share. `levels`: multipliers that may be chained within a cycle. `stages`: pipeline registers
    inside the reciprocal and the sine unit. `scale_by_adders`: constant factors as shifts and additions."""

    interval: int = 24
    period: float = 1.8
    latency: int | None = None
    levels: int = 1
    reciprocal_stages: int = 12
    rotate_stages: int = 8
    scale_by_adders: bool = True

    def __post_init__(self) -> None:
        if self.interval < 1 or self.levels < 1 or min(self.reciprocal_stages, self.rotate_stages) < 2:
            raise TargetError(f"rtl: interval and levels must be at least 1, stages at least 2, found {self}")
        if self.period < 1.0:
            raise TargetError(f"rtl: a period must hold one multiplication (1.0), found {self.period}")

    def stages(self, kind: Kind) -> int:
        """Cycles from the operand to the result of a shared unit."""
        table = {Kind.RECIPROCAL: self.reciprocal_stages, Kind.ROTATE: self.rotate_stages}
        return table.get(kind, 0)


UnitKey = tuple[Kind, tuple[int, ...], int]  # kind, shape, level


@dataclass(slots=True)
class Unit:
    """One shared unit and its turns: node by phase (issue cycle modulo the interval)."""

    key: UnitKey
    turns: dict[int, int] = field(default_factory=dict)

    @property
    def kind(self) -> Kind:
        return self.key[0]


@dataclass(frozen=True, slots=True)
class Schedule:
    """Per node: `issue` (cycle in which its operands are read), `birth` (cycle in which its value appears),
    `finish` (its delay within that cycle), `unit` (index, -1 for hardware of its own)."""

    fixed: FixedProgram
    knobs: Knobs
    operations: list[Operation]
    issue: list[int]
    birth: list[int]
    finish: list[float]
    unit: list[int]
    units: list[Unit]
    length: int

    @property
    def rounds(self) -> int:
        """States in flight at once, at most."""
        return -(-self.length // self.knobs.interval)


def make_schedule(fixed: FixedProgram, knobs: Knobs) -> Schedule:
    """The schedule with the fewest units found that keeps the latency aimed for."""
    work = operations(fixed, scale_by_adders=knobs.scale_by_adders)
    free = _Scheduler(fixed, work, knobs, math.inf).run()
    aim = max(knobs.latency or math.ceil(1.1 * free.length), free.length)
    for spare in (1.0, 1.05, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0, 3.0, 5.0):
        tried = _Scheduler(fixed, work, knobs, spare).run()
        if tried.length <= aim:
            return tried
    return free


class _Scheduler:
    """List scheduling, most urgent first, cycle by cycle."""

    def __init__(self, fixed: FixedProgram, work: list[Operation], knobs: Knobs, spare: float) -> None:
        self.fixed, self.work, self.knobs = fixed, work, knobs
        self.nodes = fixed.program.nodes
        count = len(self.nodes)
        self.users = _users(fixed)
        self.urgency = _urgency(work, self.users, knobs)
        self.limit = _limits(fixed, work, knobs, spare)
        self.issue, self.birth = [-1] * count, [-1] * count
        self.finish, self.level, self.unit = [0.0] * count, [0] * count, [-1] * count
        self.units: list[Unit] = []
        self.by_key: dict[UnitKey, list[int]] = defaultdict(list)
        self.rotations: dict[int, int] = {}  # angle node -> the sine or cosine placed first
        self.waiting = [sum(work[a].kind is not Kind.CONSTANT for a in n.args) for n in self.nodes]
        self.ready: list[tuple[float, int]] = []

    def run(self) -> Schedule:
        later: list[tuple[int, int]] = []  # (first cycle, node) of operands still inside a pipelined unit
        for i, op in enumerate(self.work):
            if op.kind is Kind.INPUT:
                self._settle(i, 0, 0.0, 0, later)
        cycle = 0
        while self.ready or later:
            while later and later[0][0] <= cycle:
                self._offer(heapq.heappop(later)[1])
            postponed = []
            while self.ready:
                entry = heapq.heappop(self.ready)
                if not self._place(entry[1], cycle, later):
                    postponed.append(entry)
                while later and later[0][0] <= cycle:
                    self._offer(heapq.heappop(later)[1])
            self.ready = postponed
            heapq.heapify(self.ready)
            cycle += 1
        return self._result()

    def _offer(self, node: int) -> None:
        heapq.heappush(self.ready, (-self.urgency[node], node))

    def _place(self, i: int, cycle: int, later: list[tuple[int, int]]) -> bool:
        op = self.work[i]
        fresh = [a for a in self.nodes[i].args if self.birth[a] == cycle]
        start = max((self.finish[a] for a in fresh), default=0.0)
        level = max((self.level[a] for a in fresh), default=0)
        if start > 0.0 and start + op.delay > self.knobs.period + 1e-9:
            return False
        if op.kind is Kind.MULTIPLY and level >= self.knobs.levels:
            return False
        if op.kind in SHARED and not self._seat(i, cycle, level if op.kind is Kind.MULTIPLY else 0):
            return False
        self.issue[i] = cycle
        stages = self.knobs.stages(op.kind)
        if stages:
            self._settle(i, cycle + stages, op.delay, 0, later)
        else:
            self._settle(i, cycle, start + op.delay, level + (op.kind is Kind.MULTIPLY), later)
        return True

    def _settle(self, i: int, birth: int, finish: float, level: int, later: list[tuple[int, int]]) -> None:
        self.birth[i], self.finish[i], self.level[i] = birth, finish, level
        for user in self.users[i]:
            self.waiting[user] -= 1
            if self.waiting[user] == 0:
                born = [self.birth[a] for a in self.nodes[user].args if self.birth[a] >= 0]
                heapq.heappush(later, (max(born), user))

    def _seat(self, i: int, cycle: int, level: int) -> bool:
        """A turn on a unit of the right kind in this phase."""
        op = self.work[i]
        phase = cycle % self.knobs.interval
        if op.kind is Kind.ROTATE:
            partner = self.rotations.get(self.nodes[i].args[0])
            if partner is not None and self.issue[partner] == cycle:
                self.unit[i] = self.unit[partner]
                return True
        key = (op.kind, op.shape, level)
        for index in self.by_key[key]:
            if phase not in self.units[index].turns:
                return self._sit(i, index, phase)
        if len(self.by_key[key]) >= self.limit[op.kind, op.shape]:
            return False
        self.units.append(Unit(key))
        self.by_key[key].append(len(self.units) - 1)
        return self._sit(i, len(self.units) - 1, phase)

    def _sit(self, i: int, index: int, phase: int) -> bool:
        self.units[index].turns[phase] = i
        self.unit[i] = index
        if self.work[i].kind is Kind.ROTATE:
            self.rotations[self.nodes[i].args[0]] = i
        return True

    def _result(self) -> Schedule:
        length = 1 + max((b for b in self.birth), default=0)
        return Schedule(
            self.fixed,
            self.knobs,
            self.work,
            self.issue,
            self.birth,
            self.finish,
            self.unit,
            self.units,
            max(1, length),
        )


def _users(fixed: FixedProgram) -> list[list[int]]:
    """Nodes that read each node, once per operand."""
    users: list[list[int]] = [[] for _ in fixed.program.nodes]
    for i, node in enumerate(fixed.program.nodes):
        for a in node.args:
            users[a].append(i)
    return users


def _urgency(work: Sequence[Operation], users: Sequence[Sequence[int]], knobs: Knobs) -> list[float]:
    """Delay from the start of every node to the end of the program."""
    urgency = [0.0] * len(work)
    for i in reversed(range(len(work))):
        own = work[i].delay + knobs.stages(work[i].kind) * knobs.period
        urgency[i] = own + max((urgency[u] for u in users[i]), default=0.0)
    return urgency


def _limits(
    fixed: FixedProgram, work: Sequence[Operation], knobs: Knobs, spare: float
) -> dict[tuple[Kind, tuple[int, ...]], float]:
    """Units allowed of every kind and shape (at each level): what its operations need, and some to spare."""
    counts: dict[tuple[Kind, tuple[int, ...]], set[int]] = defaultdict(set)
    for i, op in enumerate(work):
        if op.kind in SHARED:
            # Sine and cosine of one angle take one turn.
            counts[op.kind, op.shape].add(fixed.program.nodes[i].args[0] if op.kind is Kind.ROTATE else i)
    return {
        key: math.ceil(len(c) / knobs.interval * spare) if spare < math.inf else math.inf
        for key, c in counts.items()
    }
