"""Which invocations share a template, and which of their results are needed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from robomorph.compiler.units.superpose import Superposed, signature
from robomorph.ir.ops import INPUT
from robomorph.ir.record import Invocation, Recorder

# A template with fewer operations is not worth the selectors of its operands.
_FEWEST_OPERATIONS = 6


@dataclass
class Group:
    """Invocations of one template while it is made. `wanted` are positions whose results are needed."""

    superposed: Superposed
    wanted: set[int] = field(default_factory=set)
    live: set[int] = field(default_factory=set)  # calls of which some result is needed

    def made(self) -> dict[int, int]:
        """Positions that are computed, with their nodes; the others are known, or operands passed on."""
        s = self.superposed
        pairs = ((k, s.values[k]) for k in self.wanted)
        return {k: n for k, n in pairs if isinstance(n, int) and s.nodes[n].op is not INPUT}

    def results(self) -> list[int]:
        """Nodes of the superposition that are results, in order."""
        return sorted(set(self.made().values()))


def find_groups(recorder: Recorder) -> list[Group]:
    alike: dict[Any, list[Invocation]] = defaultdict(list)
    for call in recorder.invocations:
        alike[call.key, signature(recorder.records, call)].append(call)
    return [Group(Superposed.of(recorder.records, calls)) for calls in alike.values() if len(calls) > 1]


def worth_a_unit(group: Group) -> bool:
    nodes = group.results()
    return not nodes or (
        len(group.live) > 1 and group.superposed.program("", nodes).cost() >= _FEWEST_OPERATIONS
    )


class Places:
    """Which call, and which position in it, a record belongs to."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self.of: dict[int, tuple[Group, int, int]] = {}
        for group in groups:
            for c, call in enumerate(group.superposed.calls):
                for k in range(call.stop - call.start):
                    self.of[call.start + k] = (group, c, k)


class Liveness:
    """Marks which results of which calls are needed. All calls of a template have the same results, so what
    one call needs, its fellows compute, and their operands are needed too."""

    def __init__(self, recorder: Recorder, groups: list[Group]) -> None:
        self.records, self.groups = recorder.records, groups
        self.places = Places(groups).of
        self.done: set[int] = set()

    def run(self, results: list[Any]) -> None:
        self._need([x.index for x in results if not isinstance(x, float)])
        before = -1
        while before != (before := self._size()):
            for group in self.groups:
                if not group.live:
                    continue
                for operand in group.superposed.operands_of(group.results()):
                    sources = group.superposed.sources[operand]
                    self._need([sources[c].record for c in group.live if sources[c].record >= 0])

    def _size(self) -> int:
        return sum(len(g.results()) + len(g.live) for g in self.groups)

    def _need(self, waiting: list[int]) -> None:
        while waiting:
            i = waiting.pop()
            if i in self.done or self.records[i].known is not None:
                continue
            self.done.add(i)
            if i in self.places:
                waiting += self._need_result(*self.places[i])
            else:
                waiting += self.records[i].args

    def _need_result(self, group: Group, c: int, k: int) -> list[int]:
        value = group.superposed.values[k]
        group.wanted.add(k)
        if not isinstance(value, int):
            return []
        node = group.superposed.nodes[value]
        if node.op is INPUT:
            source = group.superposed.sources[int(node.value)][c]
            return [source.record] if source.record >= 0 else []
        group.live.add(c)
        return []
