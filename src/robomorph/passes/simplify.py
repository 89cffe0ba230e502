"""Algebraic identities that are exact in floating point (up to the sign of zero), and signs moved outwards.

Negations travel from factors to products and from terms to sums, where they become subtractions and
cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from robomorph.ir.ops import ADD, MUL, NEG, SUB, Op
from robomorph.ir.program import Node, Program
from robomorph.passes.rewrite import Rebuild, rewrite


def simplify(program: Program) -> Program:
    """Uses identities that are exact in floating point; moves signs outwards, where they cost nothing."""
    return rewrite(program, _rule)


def _rule(build: Rebuild, node: Node) -> int:
    rule = _RULES.get(node.op)
    return rule(build, *node.args) if rule else build.emit(*node)


def _negated(build: Rebuild, x: int) -> int | None:
    """y if x is -y."""
    node = build.nodes[x]
    return node.args[0] if node.op is NEG else None


def _neg(build: Rebuild, x: int) -> int:
    inner, value = _negated(build, x), build.value(x)
    if inner is not None:
        return inner
    return build.constant(-value) if value is not None else build.emit(NEG, (x,))


def _add(build: Rebuild, a: int, b: int) -> int:
    if build.value(a) == 0.0:
        return b
    if build.value(b) == 0.0:
        return a
    minus_a, minus_b = _negated(build, a), _negated(build, b)
    if minus_a is not None and minus_b is not None:
        return _neg(build, build.emit(ADD, (minus_a, minus_b)))
    if minus_b is not None:
        return _sub(build, a, minus_b)
    if minus_a is not None:
        return _sub(build, b, minus_a)
    return build.emit(ADD, (a, b))


def _sub(build: Rebuild, a: int, b: int) -> int:
    if a == b:
        return build.constant(0.0)
    if build.value(b) == 0.0:
        return a
    if build.value(a) == 0.0:
        return _neg(build, b)
    minus_a, minus_b = _negated(build, a), _negated(build, b)
    if minus_a is not None and minus_b is not None:
        return build.emit(SUB, (minus_b, minus_a))
    if minus_b is not None:
        return build.emit(ADD, (a, minus_b))
    if minus_a is not None:
        return _neg(build, build.emit(ADD, (minus_a, b)))
    return build.emit(SUB, (a, b))


def _mul(build: Rebuild, a: int, b: int) -> int:
    if build.value(b) is not None:
        a, b = b, a
    value = build.value(a)
    if value is not None:
        return _scale(build, value, a, b)
    minus_a, minus_b = _negated(build, a), _negated(build, b)
    product = build.emit(MUL, (a if minus_a is None else minus_a, b if minus_b is None else minus_b))
    return product if (minus_a is None) == (minus_b is None) else _neg(build, product)


def _scale(build: Rebuild, value: float, a: int, b: int) -> int:
    """The product of a constant (node a) and node b."""
    if value == 0.0:
        return a
    if value == 1.0:
        return b
    if value == -1.0:
        return _neg(build, b)
    minus_b = _negated(build, b)
    if value < 0.0:  # one constant for both signs
        return _neg(build, _scale(build, -value, build.constant(-value), b))
    if minus_b is not None:
        return _neg(build, build.emit(MUL, (a, minus_b)))
    return build.emit(MUL, (a, b))


_RULES: dict[Op, Callable[..., int]] = {NEG: _neg, ADD: _add, SUB: _sub, MUL: _mul}
