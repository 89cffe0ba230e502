"""Planted bugs: passes that break their word, each of which the check of meaning must find."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from robomorph.ir.ops import (
    ADD,
    CONST,
    COS,
    FMA,
    FMS,
    MAX,
    MIN,
    MUL,
    NEG,
    RECIP,
    SELECT,
    SIN,
    SQRT,
    SUB,
)
from robomorph.ir.program import Node, Program
from robomorph.passes.fuse import fuse
from robomorph.passes.pipeline import Keeps
from robomorph.passes.rewrite import Rebuild
from tests.passes.promises import Pass, check

# The index that stands for a node, or None: it is kept as it is.
Change = Callable[[Rebuild, Node], int | None]


class Signed(Rebuild):
    """Keeps the sign of a constant zero, as these bugs are not about that."""

    def constant(self, value: float) -> int:
        self.nodes.append(Node(CONST, (), value))
        return len(self.nodes) - 1


def changing(change: Change) -> Pass:
    """A pass that changes single nodes and nothing else."""

    def run(program: Program) -> Program:
        build, new = Signed(), list[int]()
        for node in program.nodes:
            renamed = Node(node.op, tuple(new[a] for a in node.args), node.value)
            index = change(build, renamed)
            new.append(build.emit(*renamed) if index is None else index)
        return program.with_nodes(build.nodes, [new[r] for r in program.results])

    return run


def swapped_difference(build: Rebuild, node: Node) -> int | None:
    return build.emit(SUB, node.args[::-1]) if node.op is SUB else None


def opposite_difference(build: Rebuild, node: Node) -> int | None:
    """a - b = -(b - a), but for the sign of a zero."""
    return build.emit(NEG, (build.emit(SUB, node.args[::-1]),)) if node.op is SUB else None


def regrouped(build: Rebuild, node: Node) -> int | None:
    """(a + b) + c = a + (b + c)"""
    if node.op is ADD and build.nodes[node.args[0]].op is ADD:
        a, b = build.nodes[node.args[0]].args
        return build.emit(ADD, (a, build.emit(ADD, (b, node.args[1]))))
    return None


def regrouped_product(build: Rebuild, node: Node) -> int | None:
    if node.op is MUL and build.nodes[node.args[0]].op is MUL:
        a, b = build.nodes[node.args[0]].args
        return build.emit(MUL, (a, build.emit(MUL, (b, node.args[1]))))
    return None


def double_reciprocal(build: Rebuild, node: Node) -> int | None:
    inner = build.nodes[node.args[0]] if node.op is RECIP else node
    return inner.args[0] if inner is not node and inner.op is RECIP else None


def squared_root(build: Rebuild, node: Node) -> int | None:
    """sqrt(x y) = sqrt(x) sqrt(y)"""
    if node.op is SQRT and build.nodes[node.args[0]].op is MUL:
        a, b = build.nodes[node.args[0]].args
        return build.emit(MUL, (build.emit(SQRT, (a,)), build.emit(SQRT, (b,))))
    return None


def minimum_for_maximum(build: Rebuild, node: Node) -> int | None:
    return build.emit(MIN, node.args) if node.op is MAX else None


def selected_maximum(build: Rebuild, node: Node) -> int | None:
    """Right for numbers, wrong for NaN."""
    if node.op is not MAX:
        return None
    return build.emit(SELECT, (build.emit(SUB, node.args), *node.args))


def turned_selection(build: Rebuild, node: Node) -> int | None:
    """select(x, a, b) = select(-x, b, a), but at zero."""
    if node.op is not SELECT:
        return None
    return build.emit(SELECT, (build.emit(NEG, (node.args[0],)), node.args[2], node.args[1]))


def zero_product(build: Rebuild, node: Node) -> int | None:
    """0 x = 0, but for infinities."""
    zeros = [a for a in node.args if node.op is MUL and build.value(a) == 0.0]
    return zeros[0] if zeros else None


def zero_sum(build: Rebuild, node: Node) -> int | None:
    """x + 0 = x, but for -0."""
    return node.args[0] if node.op is ADD and build.value(node.args[1]) == 0.0 else None


def short_constant(build: Rebuild, node: Node) -> int | None:
    short = float(np.float32(node.value)) if node.op is CONST and 1e-30 < abs(node.value) < 1e30 else None
    return None if short is None else build.constant(short)


def next_constant(build: Rebuild, node: Node) -> int | None:
    """Off by the last bit."""
    return build.constant(float(np.nextafter(node.value, 2.0))) if node.op is CONST else None


def shifted_sine(build: Rebuild, node: Node) -> int | None:
    if node.op is not SIN:
        return None
    return build.emit(COS, (build.emit(SUB, (node.args[0], build.constant(np.pi / 2))),))


def lost_low_bits(build: Rebuild, node: Node) -> int | None:
    if node.op is not ADD:
        return None
    large = build.constant(2.0**20)
    return build.emit(SUB, (build.emit(ADD, (build.emit(ADD, node.args), large)), large))


def wrong_fusion(build: Rebuild, node: Node) -> int | None:
    return build.emit(FMA, node.args) if node.op is FMS else None


def forgotten_sharing(program: Program) -> Program:
    """Nodes told apart by their operation and first argument only."""
    seen: dict[tuple[object, ...], int] = {}

    def share(build: Rebuild, node: Node) -> int | None:
        key = (node.op, node.args[:1], node.value)
        if key not in seen:
            seen[key] = build.emit(*node)
        return seen[key]

    return changing(share)(program)


def turned_results(program: Program) -> Program:
    return program.with_nodes(program.nodes, program.results[::-1])


def cut_short(program: Program) -> Program:
    return program.with_nodes(program.nodes[:-1], program.results)


def late_argument(program: Program) -> Program:
    return program.with_nodes(program.nodes[::-1], [len(program.nodes) - 1 - r for r in program.results])


# What is planted, and what it claims to keep.
PLANTED: dict[str, tuple[Pass, Keeps]] = {
    "swaps a difference": (changing(swapped_difference), Keeps.NUMBERS),
    "swaps a difference, claims sums": (changing(swapped_difference), Keeps.SUMS),
    "turns the sign of a zero": (changing(opposite_difference), Keeps.BITS),
    "regroups, claims numbers": (changing(regrouped), Keeps.NUMBERS),
    "regroups, claims fused": (changing(regrouped), Keeps.FUSED),
    "regroups products": (changing(regrouped_product), Keeps.NUMBERS),
    "1 / (1 / x) = x": (changing(double_reciprocal), Keeps.NUMBERS),
    "sqrt(x y) = sqrt(x) sqrt(y)": (changing(squared_root), Keeps.NUMBERS),
    "min for max": (changing(minimum_for_maximum), Keeps.NUMBERS),
    "max by selection": (changing(selected_maximum), Keeps.BITS),
    "selection at zero": (changing(turned_selection), Keeps.NUMBERS),
    "0 x = 0, claims bits": (changing(zero_product), Keeps.BITS),
    "x + 0 = x, claims bits": (changing(zero_sum), Keeps.BITS),
    "constants in float32": (changing(short_constant), Keeps.NUMBERS),
    "constants in float32, claims sums": (changing(short_constant), Keeps.SUMS),
    "constants off by one bit": (changing(next_constant), Keeps.NUMBERS),
    "sin x = cos(x - pi / 2)": (changing(shifted_sine), Keeps.NUMBERS),
    "fuses, claims bits": (fuse, Keeps.BITS),
    "fuses with the wrong sign": (changing(wrong_fusion), Keeps.FUSED),
    "loses low bits, claims sums": (changing(lost_low_bits), Keeps.SUMS),
    "shares what differs": (forgotten_sharing, Keeps.NUMBERS),
    "turns the results": (turned_results, Keeps.BITS),
    "drops a node": (cut_short, Keeps.BITS),
    "uses before it computes": (late_argument, Keeps.BITS),
}
# The same changes with a claim that is true: the check does not cry wolf.
HONEST: dict[str, tuple[Pass, Keeps]] = {
    "nothing": (lambda program: program, Keeps.BITS),
    "turns the sign of a zero": (changing(opposite_difference), Keeps.NUMBERS),
    "regroups": (changing(regrouped), Keeps.SUMS),
    "0 x = 0": (changing(zero_product), Keeps.NUMBERS),
    "x + 0 = x": (changing(zero_sum), Keeps.NUMBERS),
    "max by selection": (changing(selected_maximum), Keeps.NUMBERS),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_found(name: str) -> None:
    assert check(*PLANTED[name]).broken is not None


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_pass_is_not_blamed(name: str) -> None:
    assert check(*HONEST[name]).broken is None
