"""Derivatives of any program about a robot, by reverse and forward mode, along the robot's configurations.

The input `q` changes by tangent steps: what a program is made of may lead off the manifold (a quaternion's
entries one by one), its derivative does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from robomorph.algorithms.configuration import lifted, projected
from robomorph.algorithms.tree import model_sizes
from robomorph.ir.derivatives import Run
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Tracer
from robomorph.model import Model

Values = dict[str, list[Any]]
# (input, entry of its tangent): a direction.
Direction = tuple[str, int]


def derive(
    program: Program, model: Model, kind: str, name: str, outputs: Sequence[Port], limit: int | None = None
) -> Program:
    """The derivative of a program as `algorithms.derived` describes it; `outputs` are its results. "along":
    hvp of a program that is a vjp. Raises TraceTooLong beyond `limit` nodes."""
    if kind == "vjp":
        return _pulled(program, model, name, limit)
    if kind == "jvp":
        changes = {port.name: f"d{port.name}" for port in program.inputs}
        return _pushed(program, model, changes, name, "d", limit)
    if kind in ("hvp", "along"):
        vjp = _pulled(program, model, name, limit) if kind == "hvp" else program
        derived = {port.name for port in vjp.outputs}
        changes = {port.name: f"v_{port.name}" for port in vjp.inputs if f"d{port.name}" in derived}
        return _pushed(vjp, model, changes, name, "", limit)
    return _second(program, model, name, outputs, limit)


def _pulled(program: Program, model: Model, name: str, limit: int | None) -> Program:
    """Reverse mode: weights of the results `w_<result>` -> `d<input>`."""
    tracer = Tracer(limit)
    weights = tuple(Port(f"w_{port.name}", port.shape) for port in program.outputs)
    ports = (*program.inputs, *weights)
    values = tracer.inputs(ports)
    pulled = Run(tracer, program, _flat(values, program.inputs)).pull(_flat(values, weights))
    results: Values = {}
    shapes: dict[str, tuple[int, ...]] = {}
    for port, slots in _slots(program.inputs):
        own = [pulled.get(slot, 0.0) for slot in slots]
        results[f"d{port.name}"] = projected(model, values["q"], own) if port.name == "q" else own
        shapes[f"d{port.name}"] = tangent_shape(port, model)
    return tracer.program(name, ports, results, shapes)


def _pushed(
    program: Program, model: Model, changes: Mapping[str, str], name: str, prefix: str, limit: int | None
) -> Program:
    """Forward mode along one direction: `changes` name it for every input that moves. Results are called like
    those of the program, with a prefix."""
    tracer = Tracer(limit)
    moving = [port for port in program.inputs if port.name in changes]
    added = tuple(Port(changes[port.name], tangent_shape(port, model)) for port in moving)
    ports = (*program.inputs, *added)
    values = tracer.inputs(ports)
    seeds: dict[int, dict[str, Any]] = {}
    for port, slots in _slots(program.inputs):
        if port.name in changes:
            change = values[changes[port.name]]
            own = lifted(model, values["q"], change) if port.name == "q" else change
            seeds |= {slot: {"": x} for slot, x in zip(slots, own, strict=True)}
    rows = iter(Run(tracer, program, _flat(values, program.inputs)).push(seeds))
    results = {f"{prefix}{p.name}": [next(rows).get("", 0.0) for _ in range(p.size)] for p in program.outputs}
    shapes = {f"{prefix}{port.name}": port.shape for port in program.outputs}
    return tracer.program(name, ports, results, shapes)


def _second(program: Program, model: Model, name: str, outputs: Sequence[Port], limit: int | None) -> Program:
    """Forward over forward mode: all first derivatives, and theirs."""
    first = _jacobian(program, model, name, limit)
    wanted = {port.name: port for port in outputs}
    tracer = Tracer(limit)
    values = tracer.inputs(program.inputs)
    run = Run(tracer, first, _flat(values, program.inputs))
    rows = iter(run.push(_seeds(program.inputs, model, values)))
    results: Values = {}
    sizes = {port.name: _size(tangent_shape(port, model)) for port in program.inputs}
    for gradient in first.outputs:
        own = [next(rows) for _ in range(gradient.size)]
        for by, size in sizes.items():
            key = f"d2{gradient.name[1:]}_d{by}"
            if key in wanted:
                results[key] = [row.get((by, k), 0.0) for row in own for k in range(size)]
    shapes = {key: wanted[key].shape for key in wanted}
    return tracer.program(name, program.inputs, {key: results[key] for key in wanted}, shapes)


def _jacobian(program: Program, model: Model, name: str, limit: int | None) -> Program:
    """All first derivatives, `d<result>_d<input>`."""
    tracer = Tracer(limit)
    values = tracer.inputs(program.inputs)
    run = Run(tracer, program, _flat(values, program.inputs))
    rows = iter(run.push(_seeds(program.inputs, model, values)))
    results: Values = {}
    shapes: dict[str, tuple[int, ...]] = {}
    for output in program.outputs:
        own = [next(rows) for _ in range(output.size)]
        for port in program.inputs:
            shape = tangent_shape(port, model)
            key = f"d{output.name}_d{port.name}"
            results[key] = [row.get((port.name, k), 0.0) for row in own for k in range(_size(shape))]
            shapes[key] = (*output.shape, *shape)
    return tracer.program(name, program.inputs, results, shapes)


def _seeds(ports: Sequence[Port], model: Model, values: Values) -> dict[int, dict[Direction, Any]]:
    """By input slot, how it changes along every direction."""
    seeds: dict[int, dict[Direction, Any]] = {}
    for port, slots in _slots(ports):
        for k in range(_size(tangent_shape(port, model))):
            unit = [1.0 if j == k else 0.0 for j in range(_size(tangent_shape(port, model)))]
            own = lifted(model, values["q"], unit) if port.name == "q" else unit
            for slot, x in zip(slots, own, strict=True):
                if not (isinstance(x, float) and x == 0.0):
                    seeds.setdefault(slot, {})[port.name, k] = x
    return seeds


def tangent_shape(port: Port, model: Model) -> tuple[int, ...]:
    """The shape of a change of an input: of its own shape, but for configurations."""
    return (model_sizes(model).nv,) if port.name == "q" else port.shape


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for n in shape:
        size *= n
    return size


def _flat(values: Values, ports: Sequence[Port]) -> list[Any]:
    return [x for port in ports for x in values[port.name]]


def _slots(ports: Sequence[Port]) -> Iterator[tuple[Port, range]]:
    first = 0
    for port in ports:
        yield port, range(first, first + port.size)
        first += port.size
