"""A robot's function as units: its sweeps recorded step by step, constants of every link lifted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from robomorph.algorithms.registry import ALGORITHMS, begin
from robomorph.algorithms.sweep import WORLD, Stage, State, Sweep, visits
from robomorph.algorithms.tree import Tree, TreeLink
from robomorph.compiler.specialise import Request
from robomorph.compiler.units.link import link_units
from robomorph.compiler.units.product import link_depths, times_minv
from robomorph.errors import ArgumentError
from robomorph.ir.record import Recorded, Recorder, ScaledZeros
from robomorph.ir.unit_program import UnitProgram
from robomorph.model.joints.base import JointType
from robomorph.spatial import Matrix3, Move, Translation, Turn

# Placements in the one order that frames.py makes them in; what a link lacks is padded, and pruned again if
# no link has it.
_ORDER: tuple[tuple[type[Move], int], ...] = ((Translation, 0), (Turn, 2), (Turn, 0), (Turn, 2))


def trace_units(
    tree: Tree, request: Request, formulation: str, *, minv_given: bool = False, step: int = 0
) -> UnitProgram:
    """The request's program as calls of units. With `minv_given` the request is about the gradient of inverse
    dynamics, and the product -M^-1 dtau is added: M^-1 becomes a further input. Forces on a link at depth d
    are scaled by 2**(d step): links far out are light, and keep more fraction bits."""
    algorithm = ALGORITHMS[request.algorithm]
    recorder = Recorder()
    ports = list(algorithm.input_ports(tree.sizes, request.wrench_links, len(request.frames)))
    lifted = lifted_tree(recorder, tree, step)
    state = State(lifted, ScaledZeros(recorder, step, max(map(len, tree.support), default=0)))
    slots = iter(range(sum(port.size for port in ports)))
    values = {port.name: [recorder.input(next(slots)) for _ in range(port.size)] for port in ports}
    begin(state, algorithm, values, request.wrench_links, request.frame, request.frames)
    state.fields = {key: recorder.lift(value) for key, value in state.fields.items()}
    _record_visits(recorder, state, algorithm.formulations[formulation])
    results = {name: state.whole[name] for name in request.outputs}
    shapes = {name: algorithm.output_port(name, tree.sizes, len(request.frames)) for name in request.outputs}
    name = request.algorithm
    if minv_given:
        name = "forward_dynamics_gradient"
        results, shapes = times_minv(recorder, tree, step, ports, results)
    return link_units(recorder, name, ports, [(shapes[key], _flat(value)) for key, value in results.items()])


def _flat(value: Any) -> list[Any]:
    entries = np.asarray(value, dtype=object).ravel()
    return [x if isinstance(x, Recorded) else float(x) for x in entries]


def lifted_tree(recorder: Recorder, tree: Tree, step: int) -> Tree:
    """The tree with inertias, joint forces and padded placements as recorded constants."""
    depths = link_depths(tree)
    links = [
        replace(
            link,
            placement=recorder.lift(padded(link.placement, link.joint)),
            inertia=recorder.lift(link.inertia, step * depths[link.index]),
            forces=recorder.lift(link.forces, step * depths[link.index]),
        )
        for link in tree.links
    ]
    return replace(tree, links=tuple(links))


def padded(placement: Sequence[Move], joint: JointType) -> tuple[Move, ...]:
    """The placement with trivial moves where a link has none of a kind."""
    order = _ORDER if joint.moves or not joint.turns else _ORDER[:3]
    moves = list(placement)
    out: list[Move] = []
    for kind, axis in order:
        if moves and isinstance(moves[0], kind) and getattr(moves[0], "axis", axis) == axis:
            out.append(moves.pop(0))
        else:
            out.append(Translation((0.0, 0.0, 0.0)) if kind is Translation else Turn(axis, 1.0, 0.0))
    if moves or any(isinstance(m, Matrix3) for m in placement):
        raise ArgumentError(f"units: expected a placement of translation and turns, found {placement}")
    return tuple(out)


def _record_visits(recorder: Recorder, state: State, parts: Iterable[Sweep | Stage]) -> None:
    """Runs every step as an invocation. Links may share a unit if their joints are of one type and they alike
    hang on the world, or do not."""
    limb = limbs(state.tree)
    for visit in visits(state, parts):
        part, site = visit.part, visit.site
        if site is None or isinstance(part, Stage):
            visit.work()
            continue
        link, column = site.link, site.column
        name = part.name + (" of base links" if link.parent == WORLD else "")
        key = (name, type(link.joint).__name__)
        label = f"link {link.index}" if column is None else f"link {link.index}, column {column.index}"
        kind = "backward" if part.inward else "forward"
        note = "own column" if column is not None and site.own_column else ""
        with recorder.invocation(key, name, kind, label, limb[link.index], note):
            visit.work()


def limbs(tree: Tree) -> list[int]:
    """For every link, the first link of its limb: the one below the branching nearest to the world."""
    children: dict[int, int] = {}
    for link in tree.links:
        children[link.parent] = children.get(link.parent, 0) + 1

    def first(link: TreeLink) -> int:
        for ancestor in tree.support[link.index]:
            if children[tree.links[ancestor].parent] > 1:
                return ancestor
        return tree.support[link.index][0]

    return [first(link) for link in tree.links]
