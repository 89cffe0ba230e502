"""Cycles of an iteration in terms that can be read, and who works when with several problems in flight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from robomorph.targets.rtl.ik.timing import Timing


@dataclass(frozen=True)
class Cycles:
    """An iteration takes `joints` * (`serial_gap` + `search_gap`) + `constant` cycles; a solve has `outside`
    more, from its last word in to its result."""

    speculations: int
    joints: int
    serial_gap: int
    search_gap: int
    constant: int
    iteration: int
    outside: int


def cycles_of(timing: Timing, speculations: int, *, newton: bool, relaxed: bool) -> Cycles:
    joints, gap, slots = timing.plan.joints, timing.gap, timing.slots(speculations)
    whole = timing.iteration(speculations, newton=newton, relaxed=relaxed)
    outside = timing.solve(0, speculations, newton=newton, relaxed=relaxed)
    return Cycles(speculations, joints, gap, slots, whole - joints * (gap + slots), whole, outside)


class Stay(NamedTuple):
    """A problem's iteration: cycles in which its serial pass, the w unit and its search begin, in which the
    search ends, and in which the problem may go on."""

    problem: int
    serial: int
    weights: int
    search: int
    end: int
    next: int


def flight(timing: Timing, speculations: int, problems: int, iterations: int) -> list[Stay]:
    """Iterations of Quick-IK of one problem or two, both ready in cycle 0, in the order of their starts. The
    serial unit is free again when the search has taken the w unit's words, the search when it has ended."""
    assert problems in (1, 2)  # of more, the lowest numbers go first, and the others wait
    ready, count = [0] * problems, [0] * problems
    serial_free = search_free = 0
    found = []
    while min(count) < iterations:
        at = min((k for k in range(problems) if count[k] < iterations), key=lambda k: (ready[k], k))
        start = max(ready[at], serial_free)
        done = start + timing.serial + timing.weights(False)
        search = max(done + 1, search_free)
        end = search + timing.search(speculations)
        found.append(Stay(at, start, start + timing.serial, search, end, end + 2))
        serial_free, search_free, ready[at] = search + 1, end + 1, end + 2
        count[at] += 1
    return found


def period(timing: Timing, speculations: int, problems: int) -> float:
    """Cycles between iterations of whatever problem, once all are under way: with more than two problems no
    fewer than with two, as each stage works on one."""
    rounds, problems = 8, min(problems, 2)
    ends = [stay.end for stay in flight(timing, speculations, problems, rounds)]
    half = (rounds // 2) * problems
    return (ends[-1] - ends[half - 1]) / (len(ends) - half)
