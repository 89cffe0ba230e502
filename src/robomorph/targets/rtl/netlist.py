"""Hardware as data: modules of signals, assignments, registers and instances of other modules or of cells.

A module refuses what cannot be right when it is said: names taken twice, signals of other modules, widths
that differ, bits driven twice. What follows from the rest (bits that nothing reads, bits that nothing drives,
cells and modules below, counts) is asked of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from robomorph.errors import TargetError
from robomorph.targets.rtl.expressions import Expression, Literal, Signal, Slice, Target, leaves, place

Parameters = Mapping[str, int | Literal]
Width = int | str | Callable[[Mapping[str, int]], int]  # a number, a parameter, or what follows from several


class Port(NamedTuple):
    """Where a module is connected: `direction` is "input" or "output"."""

    direction: str
    width: int


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """A module written by hand: what its file says of its parameters and ports, and the cells inside. Ports
    are as wide as the parameters make them. `memory_bits` are those that it keeps in memories."""

    name: str
    parameters: tuple[str, ...]
    inputs: Mapping[str, Width]
    outputs: Mapping[str, Width]
    uses: tuple[Cell, ...] = ()
    memory_bits: Width = 0

    def ports(self, parameters: Parameters) -> dict[str, Port]:
        values = self._values(parameters)
        return {
            **{name: Port("input", self._number(width, values)) for name, width in self.inputs.items()},
            **{name: Port("output", self._number(width, values)) for name, width in self.outputs.items()},
        }

    def memory(self, parameters: Parameters) -> int:
        """Bits that an instance keeps in memories."""
        return self._number(self.memory_bits, self._values(parameters))

    def _values(self, parameters: Parameters) -> dict[str, int]:
        for name in parameters:
            if name not in self.parameters:
                known = ", ".join(self.parameters)
                raise TargetError(f"netlist: {self.name} has no parameter {name}: it has {known}")
        return {k: v.value if isinstance(v, Literal) else v for k, v in parameters.items()}

    def _number(self, width: Width, values: Mapping[str, int]) -> int:
        """A width, by the parameters that it follows from."""
        try:
            if isinstance(width, str):
                return values[width]
            return width if isinstance(width, int) else width(values)
        except KeyError as missing:
            raise TargetError(f"netlist: {self.name} needs the parameter {missing.args[0]}") from None


@dataclass(frozen=True, slots=True)
class Assign:
    """A target that always has a value."""

    target: Target
    value: Expression

    def reads(self) -> tuple[Expression, ...]:
        return (self.value,)

    def drives(self) -> tuple[Target, ...]:
        return (self.target,)


@dataclass(frozen=True, slots=True)
class Case:
    """A target whose value the subject chooses: by its numbers, else the last one."""

    target: Target
    subject: Expression
    choices: tuple[tuple[tuple[int, ...], Expression], ...]
    other: Expression

    def reads(self) -> tuple[Expression, ...]:
        return (self.subject, *(value for _, value in self.choices), self.other)

    def drives(self) -> tuple[Target, ...]:
        return (self.target,)


@dataclass(frozen=True, slots=True)
class Register:
    """A signal that takes a value at the end of a cycle, if enabled. With `reset`, it starts as that."""

    target: Signal
    value: Expression
    enable: Expression | None
    reset: int | None
    clocks: tuple[Signal, ...]

    def reads(self) -> tuple[Expression, ...]:
        return (self.value, *self.clocks, *([] if self.enable is None else [self.enable]))

    def drives(self) -> tuple[Target, ...]:
        return (self.target,)


@dataclass(frozen=True, slots=True)
class Instance:
    """A module or a cell inside a module, and what its ports are connected to."""

    name: str
    of: Module | Cell
    parameters: Parameters
    wires: Mapping[str, Expression]

    def reads(self) -> tuple[Expression, ...]:
        return tuple(self.wires[name] for name in self._named("input"))

    def drives(self) -> tuple[Target, ...]:
        outputs = [self.wires[name] for name in self._named("output")]
        return tuple(wire for wire in outputs if isinstance(wire, Signal | Slice))

    def _named(self, direction: str) -> list[str]:
        return [name for name, port in self.of.ports(self.parameters).items() if port.direction == direction]


Item = Assign | Case | Register | Instance


@dataclass(eq=False)
class Module:
    """A generated module. `about` is said above it; registers are clocked by its port clk_i and, those that
    are reset, by rst_ni."""

    name: str
    about: tuple[str, ...] = ()
    signals: dict[str, Signal] = field(default_factory=dict)
    directions: dict[str, str] = field(default_factory=dict)  # of those signals that are ports
    items: list[Item] = field(default_factory=list)
    comments: dict[int, str] = field(default_factory=dict)  # by the number of the item that follows
    _names: set[str] = field(default_factory=lambda: {"unused"})  # taken; that one by the printer
    _driven: dict[Signal, int] = field(default_factory=dict)  # masks of bits
    _read: dict[Signal, int] = field(default_factory=dict)

    # --- building --------------------------------------------------------------------------------------

    def signal(self, name: str, width: int = 1, *, signed: bool = False, about: str = "") -> Signal:
        self._check_name(name)
        if width < 1:
            raise TargetError(f"netlist: {self.name}.{name}: expected at least one bit, found {width}")
        self._names.add(name)
        made = self.signals[name] = Signal(name, width, signed, about)
        return made

    def input(self, name: str, width: int = 1, *, about: str = "") -> Signal:
        made = self._port(name, width, "input", about)
        self._driven[made] = place(made)[1]
        return made

    def output(self, name: str, width: int = 1, *, about: str = "") -> Signal:
        return self._port(name, width, "output", about)

    def _port(self, name: str, width: int, direction: str, about: str) -> Signal:
        made = self.signal(name, width, about=about)
        self.directions[name] = direction
        return made

    def __getitem__(self, name: str) -> Signal:
        if name not in self.signals:
            raise TargetError(f"netlist: {self.name} has no signal {name!r}: declare it first")
        return self.signals[name]

    def named(self, *names: str) -> dict[str, Expression]:
        """Signals by name, for ports that are named alike."""
        return {name: self[name] for name in names}

    def new_outputs(self, prefix: str, of: Module | Cell, **parameters: int | Literal) -> dict[str, Signal]:
        """New signals for all outputs of a module or a cell, by the names of its ports."""
        ports = of.ports(parameters)
        return {n: self.signal(f"{prefix}_{n}", p.width) for n, p in ports.items() if p.direction == "output"}

    def comment(self, text: str) -> None:
        """Said above the next item."""
        self.comments[len(self.items)] = text

    def assign(self, target: Target, value: Expression) -> None:
        self._same_width(target, value)
        self._add(Assign(target, value))

    def select(self, target: Target, subject: Expression, choices: Mapping[int, Expression]) -> None:
        """The target is what the subject's number chooses; the last value needs no test."""
        by_value: dict[Expression, list[int]] = {}
        for number, value in choices.items():
            self._same_width(target, value)
            Literal(number, subject.width)
            by_value.setdefault(value, []).append(number)
        *tested, (other, _) = by_value.items()
        if not tested:
            self.assign(target, other)
            return
        self._add(Case(target, subject, tuple((tuple(n), value) for value, n in tested), other))

    def register(
        self, target: Signal, value: Expression, enable: Expression | None = None, reset: int | None = None
    ) -> None:
        self._same_width(target, value)
        if enable is not None and enable.width != 1:
            raise TargetError(f"netlist: {self.name}.{target.name}: an enable is one bit, not {enable.width}")
        clocks = (self["clk_i"],) if reset is None else (self["clk_i"], self["rst_ni"])
        self._add(Register(target, value, enable, reset, clocks))

    def instance(
        self, name: str, of: Module | Cell, wires: Mapping[str, Expression], **parameters: int | Literal
    ) -> None:
        """Every port must be connected; an output to a signal, or some of its bits."""
        self._check_name(name)
        ports, where = of.ports(parameters), f"netlist: {self.name}.{name} ({of.name})"
        for port in [*(p for p in wires if p not in ports), *(p for p in ports if p not in wires)]:
            said = "is not connected" if port in ports else f"is not one of {', '.join(ports)}"
            raise TargetError(f"{where}: port {port} {said}")
        for port, (direction, width) in ports.items():
            if wires[port].width != width:
                raise TargetError(f"{where}: {port} has {width} bits, found {wires[port].width}")
            if direction == "output" and not isinstance(wires[port], Signal | Slice):
                raise TargetError(f"{where}: the output {port} must drive a signal")
        self._add(Instance(name, of, parameters, {port: wires[port] for port in ports}))
        self._names.add(name)

    def _check_name(self, name: str) -> None:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise TargetError(f"netlist: {self.name}: expected a name of letters and digits, found {name!r}")
        if name in self._names:
            raise TargetError(f"netlist: {self.name} has two things named {name}")

    def _same_width(self, target: Target, value: Expression) -> None:
        if target.width != value.width:
            name = place(target)[0].name
            raise TargetError(
                f"netlist: {self.name}.{name}: expected {target.width} bits, found a value of {value.width}"
            )

    def _add(self, item: Item) -> None:
        """All is checked before anything changes."""
        read = [self._own(leaf) for expression in item.reads() for leaf in leaves(expression)]
        driven: dict[Signal, int] = {}
        for signal, mask in map(self._own, item.drives()):
            if (self._driven.get(signal, 0) | driven.get(signal, 0)) & mask:
                raise TargetError(f"netlist: {self.name}.{signal.name} is driven twice")
            driven[signal] = driven.get(signal, 0) | mask
        for signal, mask in read:
            self._read[signal] = self._read.get(signal, 0) | mask
        for signal, mask in driven.items():
            self._driven[signal] = self._driven.get(signal, 0) | mask
        self.items.append(item)

    def _own(self, leaf: Signal | Slice) -> tuple[Signal, int]:
        signal, mask = place(leaf)
        if self.signals.get(signal.name) is not signal:
            raise TargetError(f"netlist: {signal.name} is not a signal of {self.name}: declare it there")
        return signal, mask

    # --- what follows ----------------------------------------------------------------------------------

    def ports(self, parameters: Parameters | None = None) -> dict[str, Port]:
        if parameters:
            raise TargetError(f"netlist: {self.name} is generated: it has no parameters")
        return {name: Port(way, self.signals[name].width) for name, way in self.directions.items()}

    def instances(self) -> Iterator[Instance]:
        return (item for item in self.items if isinstance(item, Instance))

    def registers(self) -> Iterator[Register]:
        return (item for item in self.items if isinstance(item, Register))

    def unread(self) -> list[Target]:
        """Bits that nothing reads, outputs apart."""
        inside = [s for name, s in self.signals.items() if self.directions.get(name) != "output"]
        return [part for s in inside for part in _ranges(s, ~self._read.get(s, 0))]

    def undriven(self) -> list[Target]:
        """Bits that nothing drives: none, in a module that is complete."""
        return [part for s in self.signals.values() for part in _ranges(s, ~self._driven.get(s, 0))]


def _ranges(signal: Signal, mask: int) -> Iterator[Target]:
    """The runs of set bits of a mask, as parts of a signal."""
    low = 0
    while low < signal.width:
        width = 0
        while low + width < signal.width and mask >> (low + width) & 1:
            width += 1
        if width:
            yield signal.bits(low, width)
        low += width + 1
