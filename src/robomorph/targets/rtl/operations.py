"""What every node of a fixed-point program becomes in hardware, and how long it takes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from robomorph.errors import TargetError
from robomorph.ir.fixed import FixedProgram
from robomorph.ir.ops import ADD, CONST, COS, INPUT, MUL, NEG, RECIP, SIN, SUB
from robomorph.targets.rtl.digits import signed_digits


class Kind(Enum):
    """How a node is built: wires, adders of its own, or a turn on a shared unit."""

    CONSTANT = "constant"
    INPUT = "input"
    SUM = "sum"
    SCALE = "scale"  # multiplication by a constant, as shifts and additions
    MULTIPLY = "multiply"
    RECIPROCAL = "reciprocal"
    ROTATE = "rotate"  # sine and cosine of one angle
    CALL = "call"  # a turn on a unit that computes a template
    INNER = "inner"  # an operation inside such a unit


SHARED = (Kind.MULTIPLY, Kind.RECIPROCAL, Kind.ROTATE)

# Estimated delays, in units of one word multiplication with rounding and saturation.
ADDER_DELAY = 0.25
MULTIPLY_DELAY = (1.0, 0.5, 0.35)  # by registers inside; with some, of the longest part
FEED_DELAY = 0.25  # from the operand of a pipelined unit to its first register
SELECT_DELAY = 0.3  # of a link unit's operands, chosen among many registers


@dataclass(frozen=True, slots=True)
class Operation:
    """One node as hardware. `shape` tells units apart that may not be shared: fraction bits dropped by a
    multiplier, formats of a reciprocal, format of an angle. `adders` counts two-input adders."""

    kind: Kind
    delay: float = 0.0
    shape: tuple[int, ...] = ()
    adders: int = 0


def operations(
    fixed: FixedProgram, *, scale_by_adders: bool = True, multiply_stages: int = 0
) -> list[Operation]:
    """One per node. With `scale_by_adders` off, constants are operands of shared multipliers instead, which
    have registers for `multiply_stages` cycles inside."""
    multiply = MULTIPLY_DELAY[multiply_stages]
    return [_operation(fixed, i, scale_by_adders, multiply) for i in range(len(fixed.program.nodes))]


def _operation(fixed: FixedProgram, index: int, scale_by_adders: bool, multiply: float) -> Operation:
    node, frac = fixed.program.nodes[index], fixed.formats[index].frac
    fracs = [fixed.formats[a].frac for a in node.args]
    if node.op is CONST:
        return Operation(Kind.CONSTANT)
    if node.op is INPUT:
        return Operation(Kind.INPUT)
    if node.op in (ADD, SUB, NEG):
        return Operation(Kind.SUM, ADDER_DELAY, adders=1)
    if node.op is MUL:
        digits = scale_digits(fixed, index)
        shift = fracs[0] + fracs[1] - frac
        if digits is not None and (scale_by_adders or len(digits) <= 2):
            return Operation(
                Kind.SCALE, _tree_delay(len(digits)), adders=max(0, len(digits) - 1) + (shift > 0)
            )
        return Operation(Kind.MULTIPLY, multiply, (shift,))
    if node.op is RECIP:
        return Operation(Kind.RECIPROCAL, FEED_DELAY, (fracs[0], frac))
    if node.op in (SIN, COS):
        return Operation(Kind.ROTATE, FEED_DELAY, (fracs[0],))
    raise TargetError(f"rtl: no hardware for the operation {node.op.name}")


def _tree_delay(terms: int) -> float:
    return ADDER_DELAY * (1 + max(0, terms - 1).bit_length()) if terms > 1 else ADDER_DELAY


def scale_digits(fixed: FixedProgram, index: int) -> list[tuple[int, int]] | None:
    """Signed digits of the constant factor of a product; None if both factors vary."""
    found = constant_factor(fixed, index)
    return None if found is None else signed_digits(fixed.constant_word(found[0]))


def constant_factor(fixed: FixedProgram, index: int) -> tuple[int, int] | None:
    """(constant, other) factors of a product of which one is constant."""
    a, b = fixed.program.nodes[index].args
    if fixed.program.nodes[a].op is CONST:
        return a, b
    return (b, a) if fixed.program.nodes[b].op is CONST else None
