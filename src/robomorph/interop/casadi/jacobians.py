"""First derivatives of a function for CasADi: a block for every result and argument."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from robomorph.interop.casadi.source import Row, Source, flat, run, slots
from robomorph.ir.derivatives import Run
from robomorph.ir.trace import Tracer
from robomorph.targets.casadi.callee import Argument, Callee, Pattern, Values, make_callee

# By algorithm and argument: the algorithm, and its result, that is the derivative in the tangent space.
_CLOSED: dict[str, dict[str, tuple[str, str]]] = {
    "inverse_dynamics": {
        "q": ("inverse_dynamics_gradient", "dtau_dq"),
        "qd": ("inverse_dynamics_gradient", "dtau_dqd"),
        "qdd": ("mass_matrix", "mass"),
    },
    "forward_dynamics": {
        "q": ("forward_dynamics_gradient", "dqdd_dq"),
        "qd": ("forward_dynamics_gradient", "dqdd_dqd"),
        "tau": ("forward_dynamics_gradient", "minv"),
    },
    "center_of_mass": {"q": ("center_of_mass_jacobian", "com_jacobian")},
}
_Way = Callable[[Source, Callee, Tracer, Values], Iterable[Row]]


def jacobian(source: Source, value: Callee) -> Callee:
    """`jac_f`, the cheapest that any way gives."""
    ways: list[_Way] = [_forward]
    if source.request.algorithm in _CLOSED:
        ways.append(_closed)
    if value.program.output_size <= value.program.input_size:
        ways.append(_reverse)
    inputs = [*value.inputs, *(result.unread("out_") for result in value.outputs)]
    outputs = [block(r, a) for r in value.outputs for a in value.inputs]

    def by(way: _Way) -> Callee:
        def compute(tracer: Tracer, values: Values) -> Values:
            return blocks(value.outputs, value.inputs, way(source, value, tracer, values))

        return make_callee(f"jac_{value.name}", inputs, outputs, compute)

    return min((by(way) for way in ways), key=lambda callee: callee.program.cost())


def block(result: Argument, argument: Argument) -> Argument:
    """d result / d argument: CasADi counts the entries of both column by column, zeros too."""
    rows, columns = result.pattern.size, argument.pattern.size
    entries = (c * rows + r for c in argument.pattern.entries for r in result.pattern.entries)
    return Argument(f"jac_{result.name}_{argument.name}", Pattern(rows, columns, tuple(entries)))


def blocks(results: Sequence[Argument], arguments: Sequence[Argument], rows: Iterable[Row]) -> Values:
    """The entries of all blocks, from a row for every entry of the results."""
    own = iter(rows)
    found: dict[str, list[Any]] = {}
    for result in results:
        here = [next(own) for _ in result.pattern.entries]
        for argument, places in slots(arguments):
            found[block(result, argument).name] = [row.get(k, 0.0) for k in places for row in here]
    return found


def _forward(source: Source, value: Callee, tracer: Tracer, values: Values) -> Iterable[Row]:
    program = value.program
    units: dict[int, Row] = {k: {k: 1.0} for k in range(program.input_size)}
    return Run(tracer, program, flat(program.inputs, values)).push(units)


def _reverse(source: Source, value: Callee, tracer: Tracer, values: Values) -> Iterable[Row]:
    program = value.program
    made = Run(tracer, program, flat(program.inputs, values))
    count = range(program.output_size)
    return [made.pull([1.0 if i == k else 0.0 for i in count]) for k in count]


def _closed(source: Source, value: Callee, tracer: Tracer, values: Values) -> Iterable[Row]:
    """Closed forms of gradients, and forward mode for the arguments that they leave."""
    forms = _CLOSED[source.request.algorithm]
    program = value.program
    places = {argument.name: own for argument, own in slots(value.inputs)}
    left: dict[int, Row] = {k: {k: 1.0} for name, own in places.items() if name not in forms for k in own}
    made = Run(tracer, program, flat(program.inputs, values)).push(left)
    rows: list[Row] = [dict(row) for row in made]
    for algorithm in dict.fromkeys(algorithm for algorithm, _ in forms.values()):
        own = {result: name for name, (of, result) in forms.items() if of == algorithm}
        matrices = run(tracer, source.other(algorithm, list(own)), source.unit(values))
        for result, name in own.items():
            matrix = matrices[result]
            width = len(matrix) // max(1, source.results[0].pattern.size)
            for row, entry in zip(rows, value.outputs[0].pattern.entries, strict=True):
                line: Row = dict(enumerate(matrix[entry * width : (entry + 1) * width]))
                line = times(line, source.tangents(values)) if name == "q" else line
                row.update({places[name][k]: x for k, x in line.items()})
    return rows


def times(line: Row, rows: Sequence[Row]) -> Row:
    """The sum of rows, each times an entry of the line."""
    total: Row = {}
    for k, x in line.items():
        for column, y in rows[k].items():
            total[column] = total.get(column, 0.0) + x * y
    return total
