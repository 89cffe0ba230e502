"""Fused multiply-adds: a product used once, in a sum, joins it.

This decides the rounding once and for all, so that every lane width and every chunking of a
program gives the same bits.
"""

from __future__ import annotations

from robomorph.ir.ops import ADD, FMA, FMS, FNMA, MUL, NEG, SUB
from robomorph.ir.program import Node, Program
from robomorph.passes.dce import dce
from robomorph.passes.rewrite import Rebuild, rewrite, use_counts


def fuse(program: Program) -> Program:
    """Joins products and sums into fused multiply-adds, so rounding is the same for every target width."""
    uses = use_counts(program)
    single: set[int] = set()  # rebuilt nodes used once
    position = iter(range(len(program.nodes)))

    def rule(build: Rebuild, node: Node) -> int:
        i = next(position)
        index = _fused(build, node, single)
        if uses[i] == 1:
            single.add(index)
        return index

    return dce(rewrite(program, rule))


def _fused(build: Rebuild, node: Node, single: set[int]) -> int:
    if node.op is ADD or node.op is SUB:
        a, b = node.args
        if _is_product(build, b, single):
            return build.emit(FMA if node.op is ADD else FNMA, (*build.nodes[b].args, a))
        if _is_product(build, a, single):
            return build.emit(FMA if node.op is ADD else FMS, (*build.nodes[a].args, b))
    if node.op is NEG and node.args[0] in single and build.nodes[node.args[0]].op is FMS:
        return build.emit(FNMA, build.nodes[node.args[0]].args)  # -(a b - c) = c - a b
    return build.emit(*node)


def _is_product(build: Rebuild, x: int, single: set[int]) -> bool:
    return x in single and build.nodes[x].op is MUL
