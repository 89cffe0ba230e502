"""Random programs in fixed point, words for them, and what they are in Python's own integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from robomorph.ir.cordic import cordic
from robomorph.ir.fixed import MAX_FRAC, MIN_FRAC, FixedProgram, Format, check_fixed
from robomorph.ir.ops import ADD, CONST, COS, INPUT, MUL, NEG, RECIP, SIN, SUB, Op
from robomorph.ir.program import Node, Port, Program

Array = npt.NDArray[Any]
_OPERATIONS = (ADD, SUB, MUL, MUL, NEG, RECIP, SIN, COS)
_FRACS = (MIN_FRAC, 2 * MAX_FRAC)


@st.composite
def fixed_programs(draw: st.DrawFn, bits: tuple[int, int] = (8, 32), most: int = 14) -> FixedProgram:
    """Every operation on words of every width, any binary points that are allowed, shared and repeated
    operands, constants, and results that are inputs, constants or the same node twice."""
    nodes: list[Node] = []
    formats: list[Format] = []

    def add(node: Node, form: Format) -> None:
        nodes.append(node)
        formats.append(form)

    inputs = draw(st.integers(1, 3))
    for k in range(inputs):
        add(Node(INPUT, (), float(k)), _format(draw, bits, *_FRACS))
    for _ in range(draw(st.integers(0, 2))):
        form = _format(draw, bits, *_FRACS)
        word = draw(st.integers(-form.top - 1, form.top))
        add(Node(CONST, (), word * form.ulp), form)
    for _ in range(draw(st.integers(1, most))):
        op = draw(st.sampled_from(_OPERATIONS))
        args = tuple(draw(st.integers(0, len(nodes) - 1)) for _ in range(op.arity))
        fracs = _legal(op, [formats[a] for a in args])
        if fracs is not None:
            add(Node(op, args), _format(draw, bits, *fracs))
    count = draw(st.integers(1, 6))
    results = tuple(draw(st.integers(0, len(nodes) - 1)) for _ in range(count - 1))
    ports = (Port("x", (inputs,)),), (Port("y", (count,)),)
    fixed = FixedProgram(Program("random", *ports, tuple(nodes), (*results, len(nodes) - 1)), tuple(formats))
    check_fixed(fixed)
    return fixed


def _format(draw: st.DrawFn, bits: tuple[int, int], low: int, high: int) -> Format:
    return Format(draw(st.integers(*bits)), draw(st.integers(low, high)))


def _legal(op: Op, args: list[Format]) -> tuple[int, int] | None:
    """The fraction bits that a result may have; None if these operands may not meet."""
    fracs = [form.frac for form in args]
    low, high = _FRACS
    if op in (ADD, SUB) and abs(fracs[0] - fracs[1]) > MAX_FRAC:
        return None
    if op is RECIP:
        low, high = max(low, -fracs[0]), min(high, 60 - fracs[0])
    elif op in (SIN, COS):
        high = min(high, cordic(args[0].bits, args[0].frac).inner)
    else:
        exact = sum(fracs) if op is MUL else max(fracs)
        low, high = max(low, exact - 62), min(high, exact)
    return (low, high) if low <= high else None


def some_words(fixed: FixedProgram, rows: int, seed: int) -> Array:
    """Words (rows, input_size) of all sizes: the ends, around zero, powers of two, and anything."""
    rng = np.random.default_rng(seed)
    words = np.zeros((rows, fixed.program.input_size), np.int64)
    for k, form in fixed.input_formats.items():
        any_word = rng.integers(-form.top - 1, form.top, rows, endpoint=True)
        small = any_word >> rng.integers(0, form.bits, rows)
        special = rng.choice([-form.top - 1, -form.top, -2, -1, 0, 1, 2, form.top - 1, form.top], rows)
        words[:, k] = np.choose(rng.integers(0, 3, rows), [any_word, small, special])
    return words


def exact_run(fixed: FixedProgram, words: list[int]) -> tuple[list[int], bool]:
    """Output words of one state, and whether any operation saturated, in integers without end."""
    values, exact = exact_values(fixed, words)
    return [values[r] for r in fixed.program.results], values != exact


def exact_values(fixed: FixedProgram, words: list[int]) -> tuple[list[int], list[int | None]]:
    """The word of every node, and its rounded value before it saturated; None is infinite."""
    values: list[int] = []
    exact: list[int | None] = []
    for i, (node, form) in enumerate(zip(fixed.program.nodes, fixed.formats, strict=True)):
        if node.op is INPUT:
            value: int | None = words[int(node.value)]
        elif node.op is CONST:
            value = fixed.constant_word(i)
        else:
            value = _exact(node.op, form, [(values[a], fixed.formats[a]) for a in node.args])
        exact.append(value)
        values.append(form.top if value is None else max(-form.top - 1, min(form.top, value)))
    return values, exact


def _exact(op: Op, out: Format, args: list[tuple[int, Format]]) -> int | None:
    """The rounded value before it saturates; None is infinite."""
    (a, form), (b, other) = args[0], args[-1]
    if op is RECIP:
        # The size rounded to the nearest, halves upwards.
        size = None if a == 0 else ((1 << (form.frac + out.frac + 1)) // abs(a) + 1) // 2
        return size if size is None or a > 0 else -size
    if op in (SIN, COS):
        value, frac = _turned(a, form, op)
    elif op is MUL:
        value, frac = a * b, form.frac + other.frac
    elif op is NEG:
        value, frac = -a, form.frac
    else:
        frac = max(form.frac, other.frac)
        second = b << (frac - other.frac)
        value = (a << (frac - form.frac)) + (second if op is ADD else -second)
    shift = frac - out.frac
    return (value + (1 << shift >> 1)) >> shift


def _turned(angle: int, form: Format, op: Op) -> tuple[int, int]:
    c = cordic(form.bits, form.frac)
    turn = (angle * c.scale + (1 << c.shift >> 1)) >> c.shift
    whole = 1 << c.phase_bits
    turn = (turn + whole // 2) % whole - whole // 2
    far = not -whole // 4 <= turn < whole // 4
    z = turn if not far else turn + whole // 2 if turn < 0 else turn - whole // 2
    x, y = c.start, 0
    for i, step in enumerate(c.angles):
        sign = 1 if z >= 0 else -1
        x, y, z = x - sign * (y >> i), y + sign * (x >> i), z - sign * step
    value = y if op is SIN else x
    return (-value if far else value), c.inner
