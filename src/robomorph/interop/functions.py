"""The table of functions that every bridge offers, and which have derivatives: made from the registry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from robomorph.algorithms.registry import ALGORITHMS, Algorithm
from robomorph.errors import ArgumentError, DerivativeError
from robomorph.naming import hint


@dataclass(frozen=True)
class Function:
    """One function of a robot: what it takes and gives, and whether it may be differentiated.

    inputs: names of vectors, q (nq) and the others (nv), then `parameters`. wrenches: does it take f_ext?
    frame: is it about one frame? undifferentiable: why it has no derivative; empty if it has one."""

    name: str
    inputs: tuple[str, ...]
    parameters: tuple[str, ...]
    outputs: tuple[str, ...]
    wrenches: bool
    frame: bool
    undifferentiable: str = ""

    def require_derivative(self) -> None:
        if self.undifferentiable:
            raise DerivativeError(f"{self.name}: {self.undifferentiable}")


def _function(algorithm: Algorithm) -> Function:
    why = ""
    of = sorted({source for source, _ in algorithm.derivatives.values()} & {*ALGORITHMS})
    if algorithm.name.endswith("_gradient"):
        of = of or [algorithm.name.removesuffix("_gradient")]
    if of:
        why = "its results are derivatives, and their own are not available: differentiate " + " or ".join(of)
    return Function(
        algorithm.name,
        algorithm.inputs,
        tuple(algorithm.parameters),
        tuple(algorithm.outputs),
        algorithm.wrenches,
        algorithm.frame,
        why,
    )


# Those that take a state, and numbers such as the length of a step.
ALL: dict[str, Function] = {
    a.name: _function(a)
    for a in ALGORITHMS.values()
    if not a.frames and all(shape == () for shape in a.parameters.values())
}
# Methods of the robot. What one does by another rule, as an option of it says, is among ALL.
FUNCTIONS: dict[str, Function] = {
    name: function for name, function in ALL.items() if not name.startswith("semi_implicit_")
}


def function_named(name: str) -> Function:
    if not isinstance(name, str) or name not in ALL:
        raise ArgumentError(f"unknown function {name!r}: {hint(str(name), list(ALL))}")
    return ALL[name]


def wrench_links(links: Sequence[str], f_ext: Any) -> tuple[str, ...]:
    """The links that `f_ext` acts on, in the robot's order: all for an array, none for None or an empty
    mapping. Their wrenches, stacked in this order before the last axis, are the kernel's argument."""
    if f_ext is None:
        return ()
    if not isinstance(f_ext, Mapping):
        return tuple(links)
    for name in f_ext:
        if name not in links:
            raise ArgumentError(f"f_ext: unknown link {name!r}: {hint(str(name), list(links))}")
    return tuple(name for name in links if name in f_ext)
