"""Which step of its algorithm each value of a program comes from, for people who read generated code.

Passes rename, merge and reorder nodes, and carry no names along: that would burden every one of them for
the sake of comments. Instead the algorithm is traced once more, noting which step makes which values, and
values are recognised in the finished program by their numbers at a random state. What is not recognised
belongs to the step it is made for. So the answer is a good guide for a reader, and nothing else may depend
on it.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from robomorph.algorithms.registry import begin
from robomorph.algorithms.sweep import State, Visit, visits
from robomorph.compiler.specialise import Request, Specialiser
from robomorph.ir.interpret import Array, interpret
from robomorph.ir.ops import CONST, INPUT
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Tracer

_SHORTEST = 4  # nodes: a shorter run between others is not announced


@dataclass(frozen=True)
class _Noted:
    """Nodes from `start` on, up to the next note, belong to `label`."""

    start: int
    label: str


def step_comments(
    specialiser: Specialiser, request: Request, formulation: str, program: Program
) -> dict[int, str]:
    """By node of `program`, where another step of the algorithm begins, its name. What reverse and forward
    mode make has no steps."""
    if formulation not in request.entry.formulations:
        return {}
    traced, notes = _trace_noting(specialiser, request, formulation)
    rng = np.random.default_rng(7)
    arguments = {port.name: rng.uniform(0.5, 1.5, port.shape) for port in program.inputs}
    known = _labels_by_number(traced, notes, _all_values(traced, arguments))
    labels = _labels(program, _all_values(program, arguments), known)
    return _beginnings(program, labels)


def _trace_noting(
    specialiser: Specialiser, request: Request, formulation: str
) -> tuple[Program, list[_Noted]]:
    """The traced program before any pass, and what each of its nodes was made by."""
    algorithm = request.entry
    tree = specialiser.tree(regroup=algorithm.regroup)
    links = [body.name for body in specialiser.model.bodies]
    tracer, notes = Tracer(), [_Noted(0, "joint transforms")]
    ports = algorithm.input_ports(tree.sizes, request.wrench_links, len(request.frames))
    state = State(tree)
    begin(state, algorithm, tracer.inputs(ports), request.wrench_links, request.frame, request.frames)
    for visit in visits(state, algorithm.formulations[formulation]):
        notes.append(_Noted(len(tracer.nodes), _label(visit, links)))
        visit.work()
    results = {name: state.whole[name] for name in request.results}
    return tracer.program(algorithm.name, ports, results), notes


def _label(visit: Visit, links: list[str]) -> str:
    """The name of a step and of its link, or of a stage."""
    if visit.site is None:
        return visit.part.name
    column = visit.site.column
    by = "" if column is None else f" by degree of freedom {column.user}"
    return f"{visit.part.name}: {links[visit.site.link.index]}{by}"


def _all_values(program: Program, arguments: dict[str, Array]) -> Array:
    """(nodes,) the value of every node."""
    count = len(program.nodes)
    everything = replace(program, outputs=(Port("values", (count,)),), results=tuple(range(count)), cuts=())
    with np.errstate(all="ignore"):
        return interpret(everything, arguments)["values"]


def _number(value: float) -> str:
    """What two computations of one value have in common: its leading digits. Passes may move signs."""
    return f"{abs(value):.8e}"


def _labels_by_number(program: Program, notes: list[_Noted], values: Array) -> dict[str, str]:
    known: dict[str, str] = {}
    ends = [note.start for note in notes[1:]] + [len(program.nodes)]
    for note, end in zip(notes, ends, strict=True):
        for i in range(note.start, end):
            if program.nodes[i].op is not CONST and program.nodes[i].op is not INPUT:
                known.setdefault(_number(values[i]), note.label)
    return known


def _labels(program: Program, values: Array, known: dict[str, str]) -> list[str]:
    """A label per node; an unknown value takes that of its first user."""
    labels = [known.get(_number(value), "") for value in values]
    for i in reversed(range(len(labels))):
        for a in program.nodes[i].args:
            labels[a] = labels[a] or labels[i]
    return labels


def _beginnings(program: Program, labels: list[str]) -> dict[int, str]:
    """Where another label begins, short runs counted to the one before them, or another chunk."""
    working = [i for i, node in enumerate(program.nodes) if node.op is not CONST and node.op is not INPUT]
    found: dict[int, str] = {}
    current, chunk = "", -1
    for label, members in ((label, list(run_)) for label, run_ in groupby(working, key=labels.__getitem__)):
        fresh = bisect_right(program.cuts, members[0]) != chunk
        announced = label if label and (fresh or len(members) >= _SHORTEST) else current
        for i in members:
            place = bisect_right(program.cuts, i)
            if announced and (announced, place) != (current, chunk):
                found[i] = announced
            current, chunk = announced, place
    return found
