"""The thread-group mapping: one evaluation shared by the threads of a group, in phases between barriers.

A program is cut into bands of its critical path. A phase computes one band: every value that a later phase
needs is a root, its cone (what it needs inside the band) goes to one thread, and where cones of two threads
overlap, both compute the overlap, which is cheaper than a barrier. Threads that would wait take values of
later bands whose arguments are ready. Within a phase no thread reads what another writes.

Columns of a gradient do not depend on each other, so they fall to different threads by themselves; so do the
rows of a spatial vector and the limbs of a tree.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from robomorph.ir.ops import ADD, COS, FMA, FMS, FNMA, SIN, SUB, Op
from robomorph.ir.program import Program

MIN_THREADS, MAX_THREADS = 4, 64

# The argument that a multiply-add adds: visited last, so that it is still in the accumulator.
ADDEND: dict[Op, int] = {ADD: 1, SUB: 0, FMA: 2, FMS: 2, FNMA: 2}


@dataclass(frozen=True)
class Phase:
    """Nodes by thread, in the order of execution, and which thread shows each value to later phases."""

    work: tuple[tuple[int, ...], ...]
    publisher: dict[int, int]

    @property
    def rounds(self) -> int:
        return max(map(len, self.work))


@dataclass(frozen=True)
class Schedule:
    """A program for a group of `threads` threads."""

    program: Program
    threads: int
    phases: tuple[Phase, ...]

    @property
    def rounds(self) -> int:
        """Instructions that every thread steps through, idle ones included."""
        return sum(phase.rounds for phase in self.phases)

    @property
    def executed(self) -> int:
        """Instructions that compute something, over all threads."""
        return sum(len(work) for phase in self.phases for work in phase.work)

    @property
    def barriers(self) -> int:
        """One after the arguments are loaded, one after every phase."""
        return len(self.phases) + 1


def group_threads(program: Program) -> int:
    """A power of two near the program's own parallelism: nodes over the depth of the critical path."""
    work = sum(1 for node in program.nodes if node.args)
    parallelism = work / max(1, program.depth())
    threads = MIN_THREADS
    while threads * 2 <= min(parallelism, MAX_THREADS):
        threads *= 2
    return threads


def schedule(program: Program, threads: int, max_barriers: int | None = None) -> Schedule:
    """Phases of a fused program. The bands are as narrow as `max_barriers` allows, and at least two deep."""
    planner = _Planner(program, threads)
    # The sines' own phase, the barrier after loading.
    available = None if max_barriers is None else max(1, max_barriers - 2)
    band = 3 if available is None else max(2, -(-planner.depth // available))
    return Schedule(program, threads, tuple(planner.phases(band)))


class _Planner:
    def __init__(self, program: Program, threads: int) -> None:
        self.program, self.nodes, self.threads = program, program.nodes, threads
        self.results = set(program.results)
        self.users: list[list[int]] = [[] for _ in self.nodes]
        self.height = [0] * len(self.nodes)  # operations between a value and the furthest result
        for i in reversed(range(len(self.nodes))):
            for a in set(self.nodes[i].args):
                self.users[a].append(i)
                self.height[a] = max(self.height[a], self.height[i] + 1)
        self.done = [not node.args for node in self.nodes]
        # Inputs and constants need no work, but their height says how long the program is.
        self.waiting = sorted(
            (i for i, node in enumerate(self.nodes) if node.args), key=lambda i: -self.height[i]
        )
        self.depth = self.height[self.waiting[0]] + 1 if self.waiting else 0

    def phases(self, band: int) -> list[Phase]:
        out: list[Phase] = []
        trig = [i for i in self.waiting if self.nodes[i].op in (SIN, COS)]
        if trig:
            out.append(self._phase(self._cones(trig), fill=False))
        limit = self.depth
        while self.waiting:
            limit -= band
            members = [i for i in self.waiting if self.height[i] >= limit]
            inside = set(members)
            roots = [
                i for i in members if i in self.results or any(user not in inside for user in self.users[i])
            ]
            if roots:
                out.append(self._phase(self._cones(roots), fill=True))
        return out

    def _cones(self, roots: list[int]) -> list[tuple[int, ...]]:
        """For each root, what has to be computed for it, itself last; large ones first."""
        cones = [self._cone(root) for root in roots]
        return sorted(cones, key=lambda cone: (-len(cone), cone[-1]))

    def _cone(self, root: int) -> tuple[int, ...]:
        order: list[int] = []
        seen: set[int] = set()

        def visit(i: int) -> None:
            seen.add(i)
            node = self.nodes[i]
            last = ADDEND.get(node.op)
            args = [a for k, a in enumerate(node.args) if k != last]
            for a in args if last is None else [*args, node.args[last]]:
                if not self.done[a] and a not in seen:
                    visit(a)
            order.append(i)

        visit(root)
        return tuple(order)

    def _phase(self, cones: list[tuple[int, ...]], *, fill: bool) -> Phase:
        loads = [(0, t) for t in range(self.threads)]
        work: list[list[int]] = [[] for _ in range(self.threads)]
        holders: dict[int, list[int]] = {}  # threads that compute a value in this phase
        publisher: dict[int, int] = {}
        for cone in cones:
            publisher[cone[-1]] = self._place(cone, loads, work, holders)
        if fill:
            self._fill(loads, work, publisher, holders)
        for i in publisher:
            self.done[i] = True
        for i in sorted(holders, reverse=True):  # users first: what only values done by now need is used up
            if i not in self.results and all(self.done[u] for u in self.users[i]):
                self.done[i] = True
        self.waiting = [i for i in self.waiting if not self.done[i]]
        return Phase(tuple(map(tuple, work)), publisher)

    def _place(
        self,
        cone: tuple[int, ...],
        loads: list[tuple[int, int]],
        work: list[list[int]],
        holders: dict[int, list[int]],
    ) -> int:
        """Give a cone to the thread that finishes it first: the idlest, or one that has part of it."""
        shared: dict[int, int] = {}
        for i in cone:
            for t in holders.get(i, ()):
                shared[t] = shared.get(t, 0) + 1
        lightest = _lightest(loads, work)
        candidates = [*shared, lightest]
        best = min(candidates, key=lambda t: (len(work[t]) + len(cone) - shared.get(t, 0), t))
        for i in cone:
            if best not in holders.get(i, ()):
                work[best].append(i)
                holders.setdefault(i, []).append(best)
        heapq.heappush(loads, (len(work[best]), best))
        return best

    def _fill(
        self,
        loads: list[tuple[int, int]],
        work: list[list[int]],
        publisher: dict[int, int],
        holders: dict[int, list[int]],
    ) -> None:
        """Idle threads take values of later bands, the most urgent first."""
        rounds = max(map(len, work))
        for i in self.waiting:
            if i in holders or not all(self.done[a] for a in self.nodes[i].args):
                continue
            t = _lightest(loads, work)
            if len(work[t]) >= rounds:
                return
            work[t].append(i)
            holders[i] = [t]
            publisher[i] = t
            heapq.heappush(loads, (len(work[t]), t))


def _lightest(loads: list[tuple[int, int]], work: list[list[int]]) -> int:
    """The thread with the least work; entries of the heap that have grown since are dropped."""
    while loads[0][0] != len(work[loads[0][1]]):
        heapq.heappop(loads)
    return loads[0][1]
