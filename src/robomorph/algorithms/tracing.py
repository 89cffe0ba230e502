"""From an algorithm and a robot to a straight-line program: one formulation, run on traced scalars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from robomorph.algorithms.algorithm import Algorithm
from robomorph.algorithms.inputs import set_inputs
from robomorph.algorithms.sweep import State, run
from robomorph.algorithms.tree import Tree
from robomorph.ir.program import Program
from robomorph.ir.trace import Tracer
from robomorph.spatial import Scalar


def begin(
    state: State,
    algorithm: Algorithm,
    values: Mapping[str, Sequence[Scalar]],
    wrench_links: Sequence[str],
    frame: str | None,
    frames: Sequence[str],
) -> None:
    """All that steps find in a state before the first of them."""
    state.whole.update(frame=frame, frames=tuple(frames), wrench_links=tuple(wrench_links))
    state.whole.update({name: values[name] for name in algorithm.parameters})
    set_inputs(state, values, wrench_links)


def trace(
    algorithm: Algorithm,
    tree: Tree,
    formulation: str,
    *,
    outputs: Sequence[str],
    wrench_links: Sequence[str] = (),
    frame: str | None = None,
    frames: Sequence[str] = (),
    limit: int | None = None,
) -> Program:
    """The straight-line program of one formulation for one robot. Raises TraceTooLong if its steps need more
    than `limit` nodes beside those of the inputs, of which the steps of a path leave most unused."""
    tracer = Tracer()
    ports = algorithm.input_ports(tree.sizes, wrench_links, len(frames))
    state = State(tree)
    begin(state, algorithm, tracer.inputs(ports), wrench_links, frame, frames)
    if limit is not None:
        tracer.limit = len(tracer.nodes) + limit
    run(state, algorithm.formulations[formulation])
    results = {name: state.whole[name] for name in outputs}
    counts = (len(frames), len(wrench_links))
    shapes = {name: algorithm.output_port(name, tree.sizes, *counts).shape for name in outputs}
    return tracer.program(algorithm.name, ports, results, shapes)
