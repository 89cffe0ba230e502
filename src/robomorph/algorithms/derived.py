"""What the derivative of an algorithm takes and gives: an algorithm like any other.

vjp: weights w of the results -> the derivative of their sum w . results by every input.
jvp: a change of every input -> that of every result.
hvp: weights of the results and a direction of the inputs -> the derivative of the vjp along it.
second: all second derivatives of every result.

Derivatives by q are taken in the tangent space: along `integrate(q, step)`, at no step. A result that is
itself a configuration counts as the array of its coordinates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement

from robomorph.algorithms.algorithm import VECTOR, WRENCHES, Algorithm, Parts, Shape
from robomorph.errors import ArgumentError

TITLES = {
    "vjp": "Derivative of weighted results (vector-Jacobian product)",
    "jvp": "Change of the results with a change of the arguments (Jacobian-vector product)",
    "hvp": "Derivative along a direction of that of weighted results (Hessian-vector product)",
    "second": "Second derivatives",
}
DERIVATIVES = tuple(TITLES)


def tangents(entry: Algorithm, wrenches: bool) -> dict[str, Shape]:
    """Of every input, the shape of a change or of a derivative by it."""
    own: dict[str, Shape] = dict.fromkeys(entry.inputs, VECTOR)
    if wrenches:
        own["f_ext"] = WRENCHES
    return own | entry.parameters


def second_names(entry: Algorithm, result: str, wrenches: bool) -> dict[str, tuple[str, str]]:
    """The second derivatives of a result by their names, and the pair of inputs of each."""
    pairs = combinations_with_replacement(tangents(entry, wrenches), 2)
    return {f"d2{result}_d{a}_d{b}": (a, b) for a, b in pairs}


def derived_algorithm(
    entry: Algorithm,
    kind: str,
    outputs: Sequence[str],
    *,
    wrenches: bool,
    formulations: Mapping[str, Parts] | None = None,
) -> Algorithm:
    """The derivative of `outputs` of an algorithm, with closed forms if there are any."""
    inputs = tangents(entry, wrenches)
    weights = {f"w_{name}": entry.outputs[name] for name in outputs}
    adjoints = {f"d{name}": shape for name, shape in inputs.items()}
    if kind == "jvp":
        added, results = adjoints, {f"d{name}": entry.outputs[name] for name in outputs}
    elif kind == "vjp":
        added, results = weights, adjoints
    elif kind == "hvp":
        added = weights | {f"v_{name}": shape for name, shape in inputs.items()}
        results = adjoints
    else:
        added, results = {}, _second_outputs(entry, outputs, inputs, wrenches)
    _check_names(entry, kind, (*added, *results))
    return Algorithm(
        f"{entry.name}_{kind}",
        inputs=entry.inputs,
        outputs=results,
        formulations=dict(formulations or {}),
        wrenches=entry.wrenches,
        frame=entry.frame,
        frames=entry.frames,
        regroup=entry.regroup,
        masses=entry.masses,
        inverts=entry.inverts,
        parameters=entry.parameters | added,
        title=f"{TITLES[kind]}. Of: {entry.title or f'{entry.name}.'}",
        notes=_notes(entry, kind, outputs, wrenches),
    )


def _second_outputs(
    entry: Algorithm, outputs: Sequence[str], inputs: Mapping[str, Shape], wrenches: bool
) -> dict[str, Shape]:
    return {
        name: (*entry.outputs[result], *inputs[a], *inputs[b])
        for result in outputs
        for name, (a, b) in second_names(entry, result, wrenches).items()
    }


def _notes(entry: Algorithm, kind: str, outputs: Sequence[str], wrenches: bool) -> dict[str, str]:
    by = {name: f"derivative by {name}" for name in tangents(entry, wrenches)}
    if "q" in by:
        by["q"] += ", in the tangent space"
    notes = {name: entry.notes[name] for name in entry.parameters if name in entry.notes}
    if kind in ("vjp", "hvp"):
        notes |= {f"w_{name}": f"weights of {name}" for name in outputs}
        notes |= {f"d{name}": text for name, text in by.items()}
    if kind == "hvp":
        notes |= {f"v_{name}": f"direction of {name}" for name in by}
    if kind == "jvp":
        notes |= {f"d{name}": f"change of {name}" for name in (*by, *outputs)}
    if kind == "second":
        for result in outputs:
            for name, (a, b) in second_names(entry, result, wrenches).items():
                notes[name] = f"[...][j][k] = derivative by {b}_k of d {result} / d {a}_j"
    return notes


def _check_names(entry: Algorithm, kind: str, names: Sequence[str]) -> None:
    taken = {*entry.inputs, *entry.parameters, "f_ext"}
    for name in names:
        if name in taken:
            raise ArgumentError(
                f"derivative {kind!r} of {entry.name}: {name!r}, which it takes or gives, would be called "
                "like an argument of the algorithm itself: give that parameter another name"
            )
