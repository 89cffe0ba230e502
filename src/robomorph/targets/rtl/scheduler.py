"""Making schedules: list scheduling, most urgent first, cycle by cycle."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from robomorph.errors import TargetError
from robomorph.ir.fixed import FixedProgram
from robomorph.targets.fixed_point.units import Units
from robomorph.targets.rtl.memories import plan_memories
from robomorph.targets.rtl.operations import SELECT_DELAY, SHARED, Kind, Operation, operations
from robomorph.targets.rtl.schedule import Knobs, PlacedCall, Schedule, Unit, UnitKey, UnitPlan
from robomorph.targets.rtl.units import check_wishes, fold_of, wanted_count

_NO_UNITS = Units((), ())
_LOOP_FIRST = 1e6  # more than any delay


def make_schedule(
    fixed: FixedProgram,
    knobs: Knobs,
    units: Units = _NO_UNITS,
    *,
    feed: float = 0.0,
    loop: Sequence[int] = (),
) -> Schedule:
    """The schedule with the fewest units found that keeps the latency aimed for. Inputs arrive after a delay
    of `feed` in the first cycle. The nodes of `loop` are operands of the next state: they must be born before
    it begins."""
    work = operations(fixed, scale_by_adders=knobs.scale_by_adders, multiply_stages=knobs.multiply_stages)
    for call in units.calls:
        for _, flat in units.inner_nodes(call):
            work[flat] = Operation(Kind.INNER)
    plans = plan_units(units, knobs)
    free = _Scheduler(fixed, work, knobs, math.inf, units, plans, loop).run(feed)
    if not _closes(free, loop):
        raise TargetError(f"rtl: the loop of {fixed.program.name} takes more than {knobs.interval} cycles")
    aim = max(knobs.latency or math.ceil(1.1 * free.length), free.length)
    for spare in (1.0, 1.05, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0, 3.0, 5.0):
        tried = _Scheduler(fixed, work, knobs, spare, units, plans, loop).run(feed)
        if tried.length <= aim and _closes(tried, loop):
            break
    else:
        tried = free
    return replace(tried, memories=plan_memories(tried)) if knobs.memories else tried


def _closes(schedule: Schedule, loop: Sequence[int]) -> bool:
    return all(schedule.birth[node] < schedule.knobs.interval for node in loop)


def plan_units(units: Units, knobs: Knobs) -> tuple[UnitPlan, ...]:
    """For every template: how many units, how far folded, and the schedule inside."""
    check_wishes(units.templates, knobs.units)
    plans = []
    for k, template in enumerate(units.templates):
        calls = units.count(k)
        count = max(wanted_count(template, knobs.units), -(-calls // knobs.interval))
        most = knobs.fold or max(1, template.operations)
        fold = fold_of(knobs.interval, calls, count, most)
        aim = knobs.unit_latency or 1_000_000
        inside = replace(knobs, interval=fold, latency=aim, units=())
        inner = make_schedule(template.fixed, inside, feed=SELECT_DELAY)
        plans.append(UnitPlan(template, replace(inner, early=True), count))
    return tuple(plans)


class _Scheduler:
    """Places nodes, and calls: call c is item c after the last node, with the call's operands."""

    def __init__(
        self,
        fixed: FixedProgram,
        work: list[Operation],
        knobs: Knobs,
        spare: float,
        units: Units,
        plans: tuple[UnitPlan, ...],
        loop: Sequence[int] = (),
    ) -> None:
        self.fixed, self.work, self.knobs, self.loop = fixed, work, knobs, frozenset(loop)
        self.called, self.plans = units, plans
        self.nodes = fixed.program.nodes
        self.limbs = [
            len({call.limb for call in units.calls if call.template == k}) for k in range(len(plans))
        ]
        self.inner = [units.inner_nodes(call) for call in units.calls]
        self.args = [() if op.kind is Kind.INNER else n.args for n, op in zip(self.nodes, work, strict=True)]
        self.args += [call.args for call in units.calls]
        count = len(self.args)
        self.users = _users(self.args)
        self.urgency = self._urgency()
        self.limit = _limits(fixed, work, knobs, spare)
        self.issue, self.birth = [-1] * count, [-1] * count
        self.finish, self.level, self.unit = [0.0] * count, [0] * count, [-1] * count
        self.units: list[Unit] = []
        self.by_key: dict[UnitKey, list[int]] = defaultdict(list)
        self.rotations: dict[int, int] = {}  # angle node -> the sine or cosine placed first
        self.waiting = [sum(work[a].kind is not Kind.CONSTANT for a in args) for args in self.args]
        self.ready: list[tuple[float, int]] = []

    def run(self, feed: float) -> Schedule:
        later: list[tuple[int, int]] = []  # (first cycle, node) of operands still inside a pipelined unit
        for i, op in enumerate(self.work):
            if op.kind is Kind.INPUT:
                self._settle(i, 0, feed, 0, later)
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
        if i >= len(self.work):
            return self._place_call(i, cycle, later)
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

    def _place_call(self, i: int, cycle: int, later: list[tuple[int, int]]) -> bool:
        """Operands must be in registers, and a unit must be free in this phase."""
        if any(self.birth[a] == cycle and self.finish[a] > 0.0 for a in self.args[i]):
            return False
        call = self.called.calls[i - len(self.work)]
        index = self._free_unit(call.template, call.limb, cycle)
        if index < 0:
            return False
        unit, inner = self.units[index], self.plans[call.template].inner
        unit.turns[cycle % self.knobs.interval] = i - len(self.work)
        unit.limbs.add(call.limb)
        self.issue[i], self.unit[i] = cycle, index
        for k, flat in self.inner[i - len(self.work)]:
            self.issue[flat], self.unit[flat] = cycle, index
            self._settle(flat, cycle + inner.birth[k], inner.finish[k], 0, later)
        return True

    def _free_unit(self, template: int, limb: int, cycle: int) -> int:
        """A unit for a call in this cycle, -1 if none is free: first one that works for the same limb, then
        a new one, then any. Where every limb has a unit of its own, its calls wait for that."""
        plan, key = self.plans[template], (Kind.CALL, (template,), 0)
        phase = cycle % self.knobs.interval
        own = [j for j in self.by_key[key] if limb in self.units[j].limbs]
        free = [j for j in self.by_key[key] if self._accepts(self.units[j], plan.fold, phase)]
        for j in free:
            if j in own:
                return j
        turns = self.knobs.interval // plan.fold
        if plan.count >= self.limbs[template] > 1 and any(len(self.units[j].turns) < turns for j in own):
            return -1
        if len(self.by_key[key]) < plan.count:
            self.units.append(Unit(key, offset=phase % plan.fold))
            self.by_key[key].append(len(self.units) - 1)
            return len(self.units) - 1
        return free[0] if free else -1

    @staticmethod
    def _accepts(unit: Unit, fold: int, phase: int) -> bool:
        return phase not in unit.turns and (phase - unit.offset) % fold == 0

    def _settle(self, i: int, birth: int, finish: float, level: int, later: list[tuple[int, int]]) -> None:
        self.birth[i], self.finish[i], self.level[i] = birth, finish, level
        for user in self.users[i]:
            self.waiting[user] -= 1
            if self.waiting[user] == 0:
                born = [self.birth[a] for a in self.args[user] if self.birth[a] >= 0]
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
        length, count = 1 + max(self.birth, default=0), len(self.nodes)
        return Schedule(
            self.fixed,
            self.knobs,
            self.work,
            self.issue[:count],
            self.birth[:count],
            self.finish[:count],
            self.unit[:count],
            self.units,
            max(1, length),
            self.plans,
            tuple(
                PlacedCall(call, self.issue[count + c], self.unit[count + c])
                for c, call in enumerate(self.called.calls)
            ),
        )

    def _urgency(self) -> list[float]:
        """Delay from the start of every item to the end of the program. A call comes in order where its
        first node does."""
        count = len(self.nodes)
        starts = {inner[0][1]: count + c for c, inner in enumerate(self.inner)}
        urgency = [0.0] * len(self.args)

        def rest(i: int) -> float:
            first = (
                _LOOP_FIRST if i in self.loop else 0.0
            )  # what the next state waits for goes before all else
            return max((urgency[u] for u in self.users[i]), default=0.0) + first

        for i in reversed(range(count)):
            op = self.work[i]
            urgency[i] = op.delay + self.knobs.stages(op.kind) * self.knobs.period + rest(i)
            if i in starts:
                c = starts[i] - count
                inner = self.plans[self.called.calls[c].template].inner
                urgency[count + c] = max(
                    inner.birth[k] * self.knobs.period + inner.finish[k] + rest(flat)
                    for k, flat in self.inner[c]
                )
        return urgency


def _users(operands: Sequence[Sequence[int]]) -> list[list[int]]:
    """Items that read each item, once per operand."""
    users: list[list[int]] = [[] for _ in operands]
    for i, args in enumerate(operands):
        for a in args:
            users[a].append(i)
    return users


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
