"""Expressions of a netlist: what signals are computed from. Each knows its width and its operands, so what it
reads is never searched for in text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from robomorph.errors import TargetError


class Expression:
    """A value of `width` bits. `a & b`, `a | b`, `a + b` and `~a` work on bits; a sum keeps the width of its
    terms."""

    __slots__ = ()
    width: int

    def __and__(self, other: Expression) -> Expression:
        return _alike("&", self, other)

    def __or__(self, other: Expression) -> Expression:
        return _alike("|", self, other)

    def __add__(self, other: Expression) -> Expression:
        return _alike("+", self, other)

    def __invert__(self) -> Expression:
        return Operation("~", (self,), self.width)

    def equals(self, other: Expression | int) -> Expression:
        """One bit: are all bits the same?"""
        value = Literal(other, self.width) if isinstance(other, int) else other
        return _alike("==", self, value, width=1)

    def any(self) -> Expression:
        """One bit: is any bit set?"""
        return self if self.width == 1 else Operation("any", (self,), 1)


@dataclass(frozen=True, slots=True, eq=False)
class Signal(Expression):
    """A named wire or register of one module, which makes it; no other may use it."""

    name: str
    width: int
    signed: bool = False
    about: str = ""

    def bits(self, low: int, width: int = 1) -> Signal | Slice:
        """`width` bits from `low` on."""
        if low < 0 or width < 1 or low + width > self.width:
            raise TargetError(
                f"netlist: {self.name} has bits 0 to {self.width - 1}, found {low} to {low + width - 1}"
            )
        return self if width == self.width else Slice(self, low, width)


@dataclass(frozen=True, slots=True)
class Slice(Expression):
    """Some bits of a signal."""

    signal: Signal
    low: int
    width: int


@dataclass(frozen=True, slots=True)
class Literal(Expression):
    """A number; negative ones in two's complement."""

    value: int
    width: int

    def __post_init__(self) -> None:
        if self.width < 1 or not -(1 << self.width - 1) <= self.value < 1 << self.width:
            raise TargetError(f"netlist: {self.value} does not fit into {self.width} bits")


@dataclass(frozen=True, slots=True)
class Operation(Expression):
    """What `op` (see the printer's table) makes of its operands."""

    op: str
    operands: tuple[Expression, ...]
    width: int


Target = Signal | Slice  # what can be driven


def count_bits(numbers: int) -> int:
    """Bits of a count that takes so many values, at least one."""
    return max(1, (numbers - 1).bit_length())


def join(*parts: Expression) -> Expression:
    """Side by side, the first on top."""
    return parts[0] if len(parts) == 1 else Operation("join", parts, sum(p.width for p in parts))


def any_of(bits: list[Expression]) -> Expression:
    """One bit: is any of these set? None is not."""
    return join(*bits).any() if bits else Literal(0, 1)


def choose(test: Expression, then: Expression, other: Expression) -> Expression:
    if test.width != 1 or then.width != other.width:
        found = f"{test.width}, {then.width} and {other.width}"
        raise TargetError(f"netlist: a choice needs a bit and values of one width, found {found} bits")
    return Operation("choose", (test, then, other), then.width)


def sign_extend(value: Expression, width: int) -> Expression:
    if width < value.width:
        raise TargetError(f"netlist: {value.width} bits cannot be extended to {width}")
    return value if width == value.width else Operation("extend", (value,), width)


def zero_extend(value: Expression, width: int) -> Expression:
    if width < value.width:
        raise TargetError(f"netlist: {value.width} bits cannot be extended to {width}")
    return value if width == value.width else join(Literal(0, width - value.width), value)


def leaves(expression: Expression) -> Iterator[Signal | Slice]:
    """The signals, or bits of signals, that an expression reads."""
    if isinstance(expression, Signal | Slice):
        yield expression
    elif isinstance(expression, Operation):
        for operand in expression.operands:
            yield from leaves(operand)


def place(target: Signal | Slice) -> tuple[Signal, int]:
    """The signal of a target, and its bits as a mask."""
    if isinstance(target, Slice):
        return target.signal, ((1 << target.width) - 1) << target.low
    return target, (1 << target.width) - 1


def _alike(op: str, a: Expression, b: Expression, width: int | None = None) -> Expression:
    """An operation on operands of one width."""
    if a.width != b.width:
        names = [
            leaf.name if isinstance(leaf, Signal) else leaf.signal.name for e in (a, b) for leaf in leaves(e)
        ]
        raise TargetError(
            f"netlist: {op} of {', '.join(names)}: expected equal widths, found {a.width} and {b.width} bits"
        )
    return Operation(op, (a, b), width or a.width)
