"""When each operation of the w unit's programs is done, and on what: both programs on a few shared units.

The programs are recorded as they run on names. A list scheduler gives each operation a cycle; then, in the
order of time, a unit, and a register of that unit for its result: where the fewest new wires are needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from robomorph.targets.rtl.ik.weights import NEWTON, QUICK, WeightSpec, run

MODES = (QUICK, NEWTON)
_INTEGERS = ("xx", "xy", "xz", "yy", "yz", "zz", "ex", "ey", "ez")
# What takes no time: a wire.
_FREE = ("constant", "power")
# Where an operand comes from: ("integer", its number), ("constant", 0), (name of a unit, its register)
# or ("power " and such a name, the number): the power of two below that one.
Source = tuple[str, int]


@dataclass(frozen=True)
class Operation:
    """An operation of a program: its kind, and the numbers of those before it whose results it takes (of
    "convert", the number of an integer)."""

    kind: str
    operands: tuple[int, ...]


class _Name:
    """A scalar that writes down what is done with it."""

    def __init__(self, recorder: dict[Operation, int], operation: Operation) -> None:
        self.recorder, self.number = recorder, recorder.setdefault(operation, len(recorder))

    def _with(self, kind: str, *others: _Name) -> _Name:
        return _Name(self.recorder, Operation(kind, (self.number, *(other.number for other in others))))

    def __add__(self, other: _Name) -> _Name:
        return self._with("add", other)

    def __sub__(self, other: _Name) -> _Name:
        return self._with("subtract", other)

    def __mul__(self, other: _Name) -> _Name:
        return self._with("multiply", other)

    def reciprocal(self, bits: int) -> _Name:
        return self._with("reciprocal")

    def power_below(self, places: int) -> _Name:
        return self._with("power")


def recorded(spec: WeightSpec, mode: int) -> list[Operation]:
    """The operations of a mode's program, each after what it takes; the last one aligns the results."""
    found: dict[Operation, int] = {}
    words = [_Name(found, Operation("convert", (k,))) for k in range(len(_INTEGERS))]
    results = run(spec, mode, words[:6], words[6:], _Name(found, Operation("constant", ())))
    _Name(found, Operation("align", tuple(result.number for result in results)))
    return list(found)


# --- when, and on what -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Placed:
    """An operation of a mode at its cycle, on a unit (kind and number) with its operands, its result in a
    register of that unit from the cycle `ready` on."""

    mode: int
    kind: str
    cycle: int
    ready: int
    unit: tuple[str, int]
    sources: tuple[Source, ...]
    register: int


@dataclass(frozen=True)
class Plan:
    """All operations of both modes, and how many registers each unit has."""

    operations: tuple[Placed, ...]
    registers: Mapping[tuple[str, int], int]

    def latency(self, mode: int) -> int:
        """Cycles from a start to its results."""
        return next(p.ready for p in self.operations if p.mode == mode and p.kind == "align")


@cache
def make_plan(spec: WeightSpec) -> Plan:
    binder = _Binder(spec)
    for mode in MODES:
        binder.bind(mode, recorded(spec, mode))
    return Plan(tuple(binder.placed), {unit: len(bank) for unit, bank in binder.banks.items()})


def latency(spec: WeightSpec, mode: int) -> int:
    """Cycles from the one with start_i to the one with done_o."""
    return make_plan(spec).latency(mode)


def unit_name(unit: tuple[str, int]) -> str:
    return f"{unit[0]}{unit[1]}"


def _unit_kind(kind: str) -> str:
    return "add" if kind == "subtract" else kind


def _units(spec: WeightSpec) -> dict[str, int]:
    several = {"convert": spec.converters, "multiply": spec.multipliers, "add": spec.adders}
    return {**several, "reciprocal": 1, "align": 1}


def _delay(spec: WeightSpec, kind: str) -> int:
    """Cycles after which a result can be read."""
    delays = {"convert": 2, "multiply": 2, "add": 3, "align": 2, "reciprocal": 1 + spec.quotient // 2}
    return delays.get(_unit_kind(kind), 0)


def _operands(operation: Operation) -> tuple[int, ...]:
    """Operations whose results are taken."""
    return () if operation.kind == "convert" else operation.operands


def _cycles(spec: WeightSpec, program: list[Operation]) -> list[int]:
    """The cycle of each operation: as soon as operands and units allow, the longest way to the end first."""
    way = [_delay(spec, operation.kind) for operation in program]
    for number in reversed(range(len(program))):
        for before in _operands(program[number]):
            way[before] = max(way[before], _delay(spec, program[before].kind) + way[number])
    when: dict[int, int] = {}
    waiting = sorted(range(len(program)), key=lambda number: (-way[number], number))
    cycle = 0
    while waiting:
        free, left = Counter(_units(spec)), []
        for number in waiting:
            operation, kind = program[number], _unit_kind(program[number].kind)
            takes = _operands(operation)
            ready = all(b in when and when[b] + _delay(spec, program[b].kind) <= cycle for b in takes)
            if not ready or (kind not in _FREE and not free[kind]):
                left.append(number)
                continue
            when[number] = cycle
            free[kind] -= 1
        waiting, cycle = left, cycle + 1
    return [when[number] for number in range(len(program))]


@dataclass
class _Binder:
    """Units and registers, given out in the order of time. `wires`: what each port of a unit is connected to
    by now; `banks`: per register of a unit, in each mode, the last cycle in which its word is read."""

    spec: WeightSpec
    wires: dict[tuple[tuple[str, int], int], set[Source]] = field(default_factory=dict)
    banks: dict[tuple[str, int], list[list[int]]] = field(default_factory=dict)
    placed: list[Placed] = field(default_factory=list)

    def bind(self, mode: int, program: list[Operation]) -> None:
        cycles = _cycles(self.spec, program)
        last = _last_reads(program, cycles)
        sources: dict[int, Source] = {}
        taken: set[tuple[int, tuple[str, int]]] = set()
        for number in sorted(range(len(program)), key=lambda n: (cycles[n], n)):
            operation, cycle = program[number], cycles[number]
            if operation.kind in _FREE:
                sources[number] = self._wire(operation, sources)
                continue
            kind = _unit_kind(operation.kind)
            units = [(kind, k) for k in range(_units(self.spec)[kind]) if (cycle, (kind, k)) not in taken]
            given = self._given(operation, sources)
            ready = cycle + _delay(self.spec, operation.kind)
            span = (mode, ready, last[number])
            costs = {
                (unit, order): self._cost(unit, order, span)
                for unit in units
                for order in _orders(operation.kind, given)
            }
            unit, order = min(costs, key=lambda choice: costs[choice])
            taken.add((cycle, unit))
            register = self._connect(unit, order, span)
            self.placed.append(Placed(mode, operation.kind, cycle, ready, unit, order, register))
            sources[number] = (unit_name(unit), register)

    def _wire(self, operation: Operation, sources: Mapping[int, Source]) -> Source:
        if operation.kind == "constant":
            return ("constant", 0)
        name, register = sources[operation.operands[0]]
        return (f"power {name}", register)

    def _given(self, operation: Operation, sources: Mapping[int, Source]) -> tuple[Source, ...]:
        if operation.kind == "convert":
            return (("integer", operation.operands[0]),)
        return tuple(sources[before] for before in operation.operands)

    def _cost(self, unit: tuple[str, int], order: tuple[Source, ...], span: tuple[int, int, int]) -> int:
        new = sum(source not in self.wires.get((unit, port), ()) for port, source in enumerate(order))
        return new if self._free(unit, span) is not None else new + 3

    def _free(self, unit: tuple[str, int], span: tuple[int, int, int]) -> int | None:
        mode, ready, _ = span
        return next((k for k, b in enumerate(self.banks.get(unit, [])) if b[mode] < ready), None)

    def _connect(self, unit: tuple[str, int], order: tuple[Source, ...], span: tuple[int, int, int]) -> int:
        for port, source in enumerate(order):
            self.wires.setdefault((unit, port), set()).add(source)
        register, bank = self._free(unit, span), self.banks.setdefault(unit, [])
        if register is None:
            bank.append([-1] * len(MODES))
            register = len(bank) - 1
        bank[register][span[0]] = span[2]
        return register


def _orders(kind: str, given: tuple[Source, ...]) -> Iterator[tuple[Source, ...]]:
    yield given
    if kind in ("add", "multiply"):
        yield given[::-1]


def _last_reads(program: list[Operation], cycles: list[int]) -> list[int]:
    """The cycle in which a result is read last; wires pass it on."""
    last = list(cycles)
    for number in reversed(range(len(program))):
        read = last[number] if program[number].kind in _FREE else cycles[number]
        for before in _operands(program[number]):
            last[before] = max(last[before], read)
    return last
