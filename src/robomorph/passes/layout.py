"""Where values live between chunks: staged inputs and outputs, and slots for what crosses a cut."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from robomorph.ir.ops import CONST, INPUT
from robomorph.ir.program import Program


@dataclass(frozen=True, slots=True)
class Layout:
    """The chunks of a program and the workspace slot of every value that crosses from one to a later one."""

    chunks: tuple[range, ...]
    slots: dict[int, int]
    slot_count: int


def plan_layout(program: Program) -> Layout:
    bounds = (0, *(program.cuts or (len(program.nodes),)))
    chunks = tuple(range(a, b) for a, b in pairwise(bounds))
    last_use = _last_chunk_of_use(program, chunks)
    slots: dict[int, int] = {}
    free: list[int] = []
    ending: list[list[int]] = [[] for _ in chunks]
    count = 0
    for c, chunk in enumerate(chunks):
        for i in chunk:
            if last_use[i] > c and program.nodes[i].op is not CONST and program.nodes[i].op is not INPUT:
                if free:
                    slots[i] = free.pop()
                else:
                    slots[i] = count
                    count += 1
                ending[last_use[i]].append(slots[i])
        free.extend(ending[c])  # read for the last time in this chunk: free for the next
    return Layout(chunks, slots, count)


def _last_chunk_of_use(program: Program, chunks: tuple[range, ...]) -> list[int]:
    last = [-1] * len(program.nodes)
    for c, chunk in enumerate(chunks):
        for i in chunk:
            for a in program.nodes[i].args:
                last[a] = c
    return last
