"""Sums as balanced trees: chains of additions regrouped so that late terms pass few adders."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from robomorph.ir.ops import ADD, CONST, INPUT, MUL, NEG, SUB, Op
from robomorph.ir.program import Node, Program
from robomorph.passes.cse import cse
from robomorph.passes.dce import dce
from robomorph.passes.fold import fold
from robomorph.passes.rewrite import use_counts

# Rough times of arrival, in multiplications: enough to choose which terms to add first.
_DELAY = {ADD: 0.3, SUB: 0.3, NEG: 0.3, MUL: 1.0}
_SUMS = (ADD, SUB, NEG)


def balance(program: Program) -> Program:
    """The same sums (up to rounding), each joined from its earliest terms to its latest."""
    return dce(cse(fold(_Balancer(program).run())))


class _Balancer:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.uses = use_counts(program)
        self.nodes: list[Node] = []
        self.ready: list[float] = []  # time of arrival of every new node
        self.place: list[int] = []  # new index of every old node; -1 for sums inside a larger one

    def run(self) -> Program:
        inner = self._inner_sums()
        for i, node in enumerate(self.program.nodes):
            if i in inner:
                self.place.append(-1)
            elif node.op in _SUMS:
                self.place.append(self._join(self._terms(i, 1, inner)))
            else:
                args = tuple(self.place[a] for a in node.args)
                self.place.append(self._emit(node.op, args, node.value))
        return self.program.with_nodes(self.nodes, [self.place[r] for r in self.program.results])

    def _inner_sums(self) -> set[int]:
        """Sums whose only use is another sum: they dissolve into it."""
        inner: set[int] = set()
        for node in self.program.nodes:
            if node.op in _SUMS:
                inner.update(a for a in node.args if self.program.nodes[a].op in _SUMS and self.uses[a] == 1)
        return inner

    def _terms(self, index: int, sign: int, inner: set[int]) -> list[tuple[int, int]]:
        """(sign, new index) of every term of the sum at an old index."""
        node = self.program.nodes[index]
        signs = {ADD: (sign, sign), SUB: (sign, -sign), NEG: (-sign,)}[node.op]
        terms: list[tuple[int, int]] = []
        for s, a in zip(signs, node.args, strict=True):
            terms += self._terms(a, s, inner) if a in inner else [(s, self.place[a])]
        return terms

    def _join(self, terms: Sequence[tuple[int, int]]) -> int:
        heap = [(self.ready[index], k, sign, index) for k, (sign, index) in enumerate(terms)]
        heapq.heapify(heap)
        count = len(heap)
        while len(heap) > 1:
            _, _, sa, a = heapq.heappop(heap)
            _, _, sb, b = heapq.heappop(heap)
            sign, index = self._pair(sa, a, sb, b)
            heapq.heappush(heap, (self.ready[index], count, sign, index))
            count += 1
        _, _, sign, index = heap[0]
        return index if sign > 0 else self._emit(NEG, (index,))

    def _pair(self, sa: int, a: int, sb: int, b: int) -> tuple[int, int]:
        if sa == sb:
            return sa, self._emit(ADD, (min(a, b), max(a, b)))
        return 1, self._emit(SUB, (a, b) if sa > 0 else (b, a))

    def _emit(self, op: Op, args: tuple[int, ...], value: float = 0.0) -> int:
        self.nodes.append(Node(op, args, value))
        start = max((self.ready[a] for a in args), default=0.0)
        self.ready.append(start + _DELAY.get(op, 0.0 if op in (CONST, INPUT) else 1.0))
        return len(self.nodes) - 1
