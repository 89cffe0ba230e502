"""The w unit in hardware: the operations of both programs on a few shared units, a step at a time.

The programs are recorded as they run on names. A list scheduler gives each operation a cycle; then, in the
order of time, a unit, and a register of that unit for its result: where the fewest new wires are needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from robomorph.targets.rtl.cell_table import (
    FLOAT_ADD,
    FLOAT_ALIGN,
    FLOAT_FROM_INT,
    FLOAT_MULTIPLY,
    FLOAT_RECIPROCAL,
)
from robomorph.targets.rtl.expressions import (
    Expression,
    Literal,
    Signal,
    any_of,
    choose,
    count_bits,
    join,
    sign_extend,
    zero_extend,
)
from robomorph.targets.rtl.ik.floats import EXPONENT_BITS, LOWEST, from_fraction, word_bits
from robomorph.targets.rtl.ik.weights import (
    NEWTON,
    QUICK,
    SHIFT_BITS,
    SPECULATION_BITS,
    TURNS,
    WeightSpec,
    run,
)
from robomorph.targets.rtl.netlist import Module

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
            sources[number] = (_name(unit), register)

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


# --- the netlist -------------------------------------------------------------------------------------------


def weights_module(name: str, spec: WeightSpec) -> Module:
    """The unit. start_i is looked at while no other start is under way, and starts step 0 at once; mode_i,
    k_log_i, m_i and e_i must stay as they are until done_o, `latency(spec, mode)` cycles later. The results
    stay until the next done_o, with which another start may come."""
    plan = make_plan(spec)
    m = Module(name, ("Generated by robomorph: w of Quick-IK (mode 0) or Newton's method (mode 1).",))
    _add_ports(m, spec)
    _add_steps(m, plan)
    for unit in plan.registers:
        _declare(m, spec, unit, plan.registers[unit])
    for unit in plan.registers:
        placed = [p for p in plan.operations if p.unit == unit]
        _ADDERS[unit[0]](m, spec, unit, placed)
    return m


def _add_ports(m: Module, spec: WeightSpec) -> None:
    for name in ("clk_i", "rst_ni", "start_i"):
        m.input(name)
    m.input("mode_i", about="0: Quick-IK, 1: Newton")
    m.input("k_log_i", SPECULATION_BITS, about="log2 of the number of speculations")
    m.input("m_i", 6 * spec.m_bits, about="xx (lowest), xy, xz, yy, yz, zz")
    m.input("e_i", 3 * spec.e_bits, about="x (lowest), y, z")
    m.output("done_o")
    m.output("m_o", 3 * spec.w_bits, about="x (lowest), y, z")
    m.output("shift_o", SHIFT_BITS)
    m.output("stalled_o", about="the step is zero")


def _add_steps(m: Module, plan: Plan) -> None:
    """The number of the step, 0 at rest, and with the mode in front of it: what chooses everything else."""
    bits = count_bits(max(plan.latency(mode) for mode in MODES))
    step, at, last = m.signal("step", bits), m.signal("at", 1 + bits), m.signal("last")
    m.assign(at, join(m["mode_i"], step))
    m.assign(last, any_of([at.equals(_code(m, mode, plan.latency(mode) - 1)) for mode in MODES]))
    moves = choose(last, Literal(0, bits), step + Literal(1, bits))
    m.register(step, moves, enable=m["start_i"] | step.any(), reset=0)
    m.register(m["done_o"], last, reset=0)


def _code(m: Module, mode: int, step: int) -> int:
    return mode << m["step"].width | step


def _name(unit: tuple[str, int]) -> str:
    return f"{unit[0]}{unit[1]}"


def _declare(m: Module, spec: WeightSpec, unit: tuple[str, int], registers: int) -> None:
    """The registers of a unit's results, of those that do not keep them themselves."""
    if unit[0] != "align":
        for k in range(registers):
            m.signal(f"{_name(unit)}_{k}", word_bits(spec.mantissa))


def _add_pipelined(m: Module, spec: WeightSpec, unit: tuple[str, int], placed: list[Placed]) -> None:
    """A converter, a multiplier or an adder, and registers that take its results."""
    kind = unit[0]
    cell = {"convert": FLOAT_FROM_INT, "multiply": FLOAT_MULTIPLY, "add": FLOAT_ADD}[kind]
    name = _name(unit)
    made = m.signal(f"{name}_y", word_bits(spec.mantissa))
    ports = ("x_i",) if kind == "convert" else ("a_i", "b_i")
    wires: dict[str, Expression] = {"clk_i": m["clk_i"], "y_o": made}
    wires |= {port: _operand(m, spec, f"{name}_{port[0]}", placed, k) for k, port in enumerate(ports)}
    if kind == "add":
        minus = {_code(m, p.mode, p.cycle): Literal(int(p.kind == "subtract"), 1) for p in placed}
        wires["subtract_i"] = _selected(m, f"{name}_minus", 1, minus)
    widths = {"InW": _integer_bits(spec)} if kind == "convert" else {}
    m.instance(f"u_{name}", cell, wires, **widths, **_float_widths(spec))
    for k in sorted({p.register for p in placed}):
        when = [m["at"].equals(_code(m, p.mode, p.ready - 1)) for p in placed if p.register == k]
        m.register(m[f"{name}_{k}"], made, enable=any_of([*when]))


def _add_reciprocal(m: Module, spec: WeightSpec, unit: tuple[str, int], placed: list[Placed]) -> None:
    """One division in each program: it keeps its result."""
    name = _name(unit)
    wires = {
        "clk_i": m["clk_i"],
        "load_i": any_of([m["at"].equals(_code(m, p.mode, p.cycle)) for p in placed]),
        "x_i": _operand(m, spec, f"{name}_x", placed, 0),
        "y_o": m[f"{name}_0"],
    }
    m.instance(f"u_{name}", FLOAT_RECIPROCAL, wires, **_float_widths(spec), Bits=spec.quotient)


def _add_align(m: Module, spec: WeightSpec, unit: tuple[str, int], placed: list[Placed]) -> None:
    """The last step of both programs, and the registers of the results."""
    bits = EXPONENT_BITS + 2
    base = choose(m["mode_i"], Literal(spec.offset - NEWTON, bits), Literal(spec.offset - QUICK, bits))
    sizes = {**_float_widths(spec), "OutW": spec.w_bits, "ShiftW": SHIFT_BITS}
    outputs = m.new_outputs("align", FLOAT_ALIGN, **sizes)
    words = [_operand(m, spec, f"align_{k}", placed, k) for k in range(3)]
    wires: dict[str, Expression] = {
        "clk_i": m["clk_i"],
        "words_i": join(*reversed(words)),
        "offset_i": base + zero_extend(m["k_log_i"], bits),
        **outputs,
    }
    m.instance(f"u_{_name(unit)}", FLOAT_ALIGN, wires, **sizes)
    results = (("m_o", "integers_o"), ("shift_o", "shift_o"), ("stalled_o", "zero_o"))
    for ours, theirs in results:
        m.register(m[ours], outputs[theirs], enable=m["last"])


def _float_widths(spec: WeightSpec) -> dict[str, int]:
    return {"MantissaW": spec.mantissa, "ExponentW": EXPONENT_BITS}


def _integer_bits(spec: WeightSpec) -> int:
    return max(spec.m_bits, spec.e_bits)


def _operand(m: Module, spec: WeightSpec, name: str, placed: list[Placed], port: int) -> Signal:
    """A new signal with the operand of each step on a port. Its number is in a register a cycle before, so
    that no decoding is in front of the arithmetic; in the first step, that of a start, there is no before."""
    values = {(p.mode, p.cycle): _source(m, spec, p.sources[port]) for p in placed}
    width, kinds = next(iter(values.values())).width, list(dict.fromkeys(values.values()))
    if len(kinds) == 1 or any(cycle == 0 for _, cycle in values):
        return _selected(m, name, width, {_code(m, *when): value for when, value in values.items()})
    bits = count_bits(len(kinds))
    numbers = {
        _code(m, mode, cycle - 1): Literal(kinds.index(value), bits)
        for (mode, cycle), value in values.items()
    }
    number, made = m.signal(f"{name}_from", bits), m.signal(name, width)
    m.register(number, _selected(m, f"{name}_next", bits, numbers))
    m.select(made, number, dict(enumerate(kinds)))
    return made


def _selected(m: Module, name: str, width: int, values: Mapping[int, Expression]) -> Signal:
    """A new signal with a value by step; the one that most steps have is that of all others."""
    often = Counter(values.values())
    made = m.signal(name, width)
    m.select(made, m["at"], dict(sorted(values.items(), key=lambda item: often[item[1]])))
    return made


def _source(m: Module, spec: WeightSpec, source: Source) -> Expression:
    kind, number = source
    if kind == "integer":
        port, bits, k = ("m_i", spec.m_bits, number) if number < 6 else ("e_i", spec.e_bits, number - 6)
        return sign_extend(m[port].bits(bits * k, bits), _integer_bits(spec))
    if kind == "constant":
        return Literal(int(from_fraction(TURNS, spec.mantissa).words()), word_bits(spec.mantissa))
    if kind.startswith("power "):
        return _power(m[f"{kind.removeprefix('power ')}_{number}"], spec)
    return m[f"{kind}_{number}"]


def _power(word: Signal, spec: WeightSpec) -> Expression:
    """The power of two below a word, less the damping's places; zero stays."""
    bits, some = spec.mantissa, word.bits(spec.mantissa - 1)
    exponent = word.bits(bits, EXPONENT_BITS) + Literal(-spec.damping, EXPONENT_BITS)
    exponent = choose(some, exponent, Literal(LOWEST, EXPONENT_BITS))
    return join(Literal(0, 1), exponent, some, Literal(0, bits - 1))


_ADDERS = {
    "convert": _add_pipelined,
    "multiply": _add_pipelined,
    "add": _add_pipelined,
    "reciprocal": _add_reciprocal,
    "align": _add_align,
}
