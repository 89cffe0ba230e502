"""Which values live across cycles in registers, and in how many."""

from __future__ import annotations

from robomorph.targets.rtl.operations import Kind
from robomorph.targets.rtl.schedule import Schedule


def last_reads(schedule: Schedule, *, memories: bool = True) -> list[int]:
    """Per node, the last cycle in which its value is read; -1 if never. Results are read in the last
    cycle (or at birth), operands of calls when they begin; with `memories` off, what calls read from
    memories does not count."""
    made = {} if memories else schedule.result_ports()
    last = [-1] * len(schedule.birth)
    for i, node in enumerate(schedule.fixed.program.nodes):
        if schedule.operations[i].kind is not Kind.INNER:
            for a in node.args:
                last[a] = max(last[a], schedule.issue[i])
    for placed in schedule.calls:
        for operand, a in enumerate(placed.call.args):
            if a not in made or (made[a], (placed.unit, operand)) not in schedule.memories:
                last[a] = max(last[a], placed.issue)
    for r in schedule.fixed.program.results:
        last[r] = max(last[r], schedule.birth[r] if schedule.early else schedule.length - 1)
    return last


def register_copies(schedule: Schedule) -> list[int]:
    """Registers per node. The first is loaded at the end of the cycle of birth; as the next state's value
    follows `interval` cycles later, longer lives need a chain of copies."""
    copies = []
    for i, last in enumerate(last_reads(schedule, memories=False)):
        constant = schedule.operations[i].kind is Kind.CONSTANT
        life = 0 if constant else max(0, last - schedule.birth[i])
        copies.append(-(-life // schedule.knobs.interval))
    return copies


def copy_read(schedule: Schedule, node: int, cycle: int) -> int | None:
    """Which copy of a node's registers holds its value in a cycle; None: its wire, in the cycle of birth."""
    age = cycle - schedule.birth[node]
    return None if age == 0 else (age - 1) // schedule.knobs.interval
