"""Whether a kernel is right: against the interpreter, and against the textbook and finite differences."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robomorph.algorithms.registry import ALGORITHMS
from robomorph.errors import ArgumentError
from robomorph.robot import Robot
from robomorph.verify.reference import Reference
from robomorph.verify.textbook import KnownStates, States

Array = npt.NDArray[Any]
Results = dict[str, Array]


class Allowed(NamedTuple):
    """Error allowed against each yardstick. float64: largest error over the largest entry; float32: relative
    L2 norm. What divides by the mass matrix may lose as many digits more as its condition number has."""

    interpreter: float
    textbook: float
    differences: float


# The textbook is as good as float64: real robots agree to 1e-13. Differences are good to about 1e-9.
ALLOWED = {"float64": Allowed(1e-9, 1e-11, 1e-6), "float32": Allowed(2e-4, 2e-4, 2e-4)}
# Fourth-order central differences: weights of f(-2h), f(-h), f(h), f(2h), to be divided by h.
STENCIL = ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12))
STEP = 1e-3
_TORQUE = 10.0
# Digits that may be lost beyond the condition number of the mass matrix, as a factor.
_LOST = 10.0
# Differences of something constant are not zero but about this small beside it.
_NOISE = 1e-11


def random_states(robot: Robot, batch: int, seed: int = 0) -> States:
    """Configurations and velocities inside the limits, accelerations to 1, torques to 10 or the limit."""
    rng = np.random.default_rng(seed)
    q, qd = robot.random_state(rng, batch)
    qdd = rng.uniform(-1.0, 1.0, qd.shape)
    effort = np.minimum(robot.limits.effort, _TORQUE)
    return States(q, qd, qdd, rng.uniform(-effort, effort, qd.shape))


@dataclass(frozen=True)
class Yardstick:
    """What every algorithm should answer at some states, found without the code under test.

    An algorithm's entry says which formulas these are, and which results are derivatives: those are central
    differences of forward functions.
    """

    robot: Robot
    states: States
    frame: str

    @cached_property
    def reference(self) -> Reference:
        return Reference(self.robot)

    @cached_property
    def known(self) -> KnownStates:
        return KnownStates(**vars(self.states), reference=self.reference, frame=self.frame)

    def expected(self, algorithm: str) -> Results | None:
        """Results by name, or None for an algorithm that does not say what they should be."""
        entry = ALGORITHMS[algorithm]
        if entry.textbook is None and not entry.derivatives:
            return None
        found = {} if entry.textbook is None else dict(entry.textbook(self.known))
        found |= {output: self._derivative(*of) for output, of in entry.derivatives.items()}
        if set(found) != set(entry.outputs):
            raise ArgumentError(
                f"algorithm {algorithm}: its textbook and derivatives: expected all results, "
                f"{', '.join(entry.outputs)}, found {', '.join(found) or 'none'}"
            )
        return found

    def _derivative(self, algorithm: str, by: str) -> Array:
        """The derivative (B, m, nv) of a forward function's result, q changing along its tangent space."""
        forward, names = self._forward_function(algorithm), ALGORITHMS[algorithm].inputs

        def moved(value: Array) -> Array:
            given = {**dict(zip(names, self.states.of(names), strict=True)), by: value}
            return forward(*given.values())

        if by != "q":
            return differences(moved, getattr(self.states, by))
        q = self.states.q
        return differences(lambda dq: moved(self.robot.integrate(q, dq)), np.zeros_like(self.states.qd))

    def _forward_function(self, name: str) -> Callable[..., Array]:
        """The interpreted float64 program of a forward function, much faster than the textbook.

        DistrustError if the textbook does not agree with it: then differences of it prove nothing.
        """
        frame = self.frame if ALGORITHMS[name].frame else None
        kernel = self.robot.compile(name, target="interpreter", frame=frame)
        expected = self.expected(name)
        assert expected is not None
        found = np.asarray(kernel(*self.states.of(ALGORITHMS[name].inputs)))
        (wanted,) = expected.values()
        off, allowed = error(found, wanted, "float64"), self.textbook_allowance(name, "float64")
        if not off <= allowed:
            raise DistrustError(f"{name} itself is {off:.1e} off the textbook, allowed are {allowed:.1e}")
        return lambda *args: np.asarray(kernel(*args))

    def noise(self, algorithm: str, output: str) -> float:
        """How far off a result may be because differences were taken, however small it is itself."""
        if output not in ALGORITHMS[algorithm].derivatives:
            return 0.0
        of, _ = ALGORITHMS[algorithm].derivatives[output]
        expected = self.expected(of)
        assert expected is not None
        return _NOISE * max(float(np.abs(value).max(initial=0.0)) for value in expected.values())

    def textbook_allowance(self, algorithm: str, dtype: str) -> float:
        """The error allowed against textbook formulas."""
        allowed = ALLOWED[dtype].textbook
        if not ALGORITHMS[algorithm].inverts or dtype == "float32":
            return allowed
        return max(allowed, _LOST * sys.float_info.epsilon * self._condition)

    @cached_property
    def _condition(self) -> float:
        return float(np.linalg.cond(self.reference.mass_matrix(self.states.q)).max())


def differences(function: Callable[[Array], Array], at: Array) -> Array:
    """Derivatives (B, m, n) of a function (B, n) -> (B, m) by fourth-order central differences."""
    columns = []
    for j in range(at.shape[-1]):
        total: Any = 0.0
        for k, weight in STENCIL:
            moved = at.copy()
            moved[:, j] += k * STEP
            total = total + weight / STEP * function(moved)
        columns.append(total)
    return np.stack(columns, axis=-1)


class DistrustError(Exception):
    """The function that differences would be taken of is wrong itself."""


@dataclass(frozen=True)
class Verdict:
    """The largest error of a kernel over all its outputs and both of its code paths (single, lanes), by what
    it was compared with (None: nothing was), and what is allowed."""

    interpreter: float
    textbook: float | None
    differences: float | None
    allowed: Allowed
    distrust: str | None = None  # why there are no differences to compare with

    @property
    def independent(self) -> float | None:
        """The largest error against textbook and differences, None if there was neither."""
        found = [x for x in (self.textbook, self.differences) if x is not None]
        return max(found) if found and self.distrust is None else None

    @property
    def checked_against(self) -> str:
        """What the kernel was compared with: never more than was there to compare with."""
        if self.distrust is not None:
            return f"the interpreter only: the differences are not trusted, for {self.distrust}"
        if self.independent is None:
            return "the interpreter only"
        return "the interpreter, and finite differences or textbook formulas"

    @property
    def passed(self) -> bool:
        found = (self.interpreter, self.textbook, self.differences)
        within = all(x is None or x <= most for x, most in zip(found, self.allowed, strict=True))
        return within and self.distrust is None


def check_kernel(
    robot: Robot, name: str, kernel: Any, yardstick: Yardstick, *, dtype: str, frame: str | None
) -> Verdict:
    """Run a compiled kernel on a batch and on single states, and compare both with every yardstick."""
    rounded = [a.astype(dtype) for a in yardstick.states.of(ALGORITHMS[name].inputs)]
    exact = robot.compile(name, target="interpreter", frame=frame)
    names = [port.name for port in kernel.outputs]
    found = [_results(names, kernel(*rounded))]
    rows = [_results(names, kernel(*(a[i] for a in rounded))) for i in range(len(rounded[0]))]
    found.append({output: np.stack([row[output] for row in rows]) for output in names})

    def worst(expected: Results, outputs: list[str]) -> float | None:
        noise = {output: yardstick.noise(name, output) for output in outputs}
        off = [error(f[o], expected[o], dtype, noise[o]) for f in found for o in outputs]
        return max(off) if off else None

    defined = _results(names, exact(*(a.astype(np.float64) for a in rounded)))
    near = max(error(f[output], defined[output], dtype) for f in found for output in names)
    allowed = ALLOWED[dtype]._replace(textbook=yardstick.textbook_allowance(name, dtype))
    try:
        expected = yardstick.expected(name)
    except DistrustError as why:
        return Verdict(near, None, None, allowed, str(why))
    if expected is None:
        return Verdict(near, None, None, allowed)
    by_differences = ALGORITHMS[name].derivatives
    formulas = worst(expected, [output for output in names if output not in by_differences])
    return Verdict(near, formulas, worst(expected, [o for o in names if o in by_differences]), allowed)


def _results(names: list[str], value: Any) -> Results:
    values = value if isinstance(value, tuple) else (value,)
    return {name: np.asarray(v) for name, v in zip(names, values, strict=True)}


def error(found: Array, expected: Array, dtype: str, noise: float = 0.0) -> float:
    """Largest error, less `noise`, over the largest entry (float64) or relative L2 norm (float32); infinite
    for NaN."""
    if not np.all(np.isfinite(found)):
        return float("inf")
    if not expected.size:
        return 0.0
    off = np.asarray(found, np.float64) - expected
    if dtype == "float32":
        size, distance = float(np.linalg.norm(expected)), float(np.linalg.norm(off))
    else:
        size, distance = float(np.abs(expected).max()), max(float(np.abs(off).max()) - noise, 0.0)
    if size <= _NOISE and not found.any():
        return 0.0
    return distance / size if size > 0.0 else distance
