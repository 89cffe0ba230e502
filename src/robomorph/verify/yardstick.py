"""Whether a kernel is right: against the interpreter, and against the textbook and finite differences."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.algorithms.algorithm import BY_STATE, CONFIGURATION
from robomorph.algorithms.derived import tangents
from robomorph.errors import ArgumentError
from robomorph.robot import Robot
from robomorph.verify.derivatives import SOURCES, Found, bent, pulled, pushed, second
from robomorph.verify.differences import Differences, Noise
from robomorph.verify.reference import Reference
from robomorph.verify.states import States, Values
from robomorph.verify.subject import Function, Interpreted, Subject, results_of
from robomorph.verify.textbook import KnownStates
from robomorph.verify.verdict import ALLOWED, DistrustError, Verdict, error

Array = npt.NDArray[Any]

# Digits that may be lost beyond the condition number of the mass matrix, as a factor.
_LOST = 10.0
# Rounding errors that a derivative may have of the values that it is taken of, in units of the last place.
_LOST_DIGITS = 100.0
_MADE_OF = {"vjp": pulled, "jvp": pushed, "hvp": bent, "second": second}


@dataclass(frozen=True)
class Yardstick:
    """What every algorithm, and every derivative of one, should answer at some states, found without the code
    under test.

    An algorithm's entry says which formulas these are, and which results are derivatives: those are central
    differences of forward functions.
    """

    robot: Robot
    states: States
    frame: str
    _known: dict[Subject, Found | None] = field(default_factory=dict, repr=False, compare=False)
    _trusted: dict[Subject, Interpreted] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def reference(self) -> Reference:
        return Reference(self.robot)

    @cached_property
    def known(self) -> KnownStates:
        return KnownStates(**vars(self.states), reference=self.reference, frame=self.frame)

    @cached_property
    def differences(self) -> Differences:
        return Differences(self.robot)

    def expected(self, name: str) -> Values | None:
        """Results by name of an algorithm, or of a derivative (`inverse_dynamics.vjp`); None for an algorithm
        that does not say what they should be."""
        found = self.find(Subject.parse(name))
        return None if found is None else found.results

    def find(self, subject: Subject) -> Found | None:
        """What is expected, and the noise of those results that come from differences."""
        if subject not in self._known:
            of = self._algorithm if subject.derivative is None else self._derivative
            self._known[subject] = of(subject)
        return self._known[subject]

    def _algorithm(self, subject: Subject) -> Found | None:
        entry = subject.entry
        formulas = None if entry.textbook is None else entry.textbook(self.known)
        if formulas is None and not entry.derivatives:
            return None
        found = Found(dict(formulas or {}), {})
        for output, (of, by) in entry.derivatives.items():
            found.results[output], found.noise[output] = self._matrix(Subject(of), by)
        if set(found.results) != set(entry.outputs):
            raise ArgumentError(
                f"algorithm {entry.name}: its textbook and derivatives: expected all results, "
                f"{', '.join(entry.outputs)}, found {', '.join(found.results) or 'none'}"
            )
        return found

    def _matrix(self, of: Subject, by: str) -> tuple[Array, Noise]:
        """The derivative (B, m, n) of all results of an algorithm, one below the other, by an argument or by
        q and qd; configurations in the tangent space."""
        function = self.trusted(of)
        at = self.states.of(function.inputs)
        values, columns, noises = function(at), [], []
        for name in ("q", "qd") if by == BY_STATE else (by,):
            found = self.differences.by_entries(partial(self._flat, function, of, values), at, name)
            columns.append(np.concatenate(list(found.values()), axis=1))
            noises.append(self.differences.noise(values, at, name))
        return np.concatenate(columns, axis=-1), max(noises)

    def _flat(self, function: Function, of: Subject, middle: Values, given: Values) -> Values:
        """The values of a function; configurations as steps from those in the middle."""
        found = function(given)
        for name, shape in of.entry.outputs.items():
            if shape == CONFIGURATION:
                start = np.concatenate([middle[name]] * (len(found[name]) // len(middle[name])))
                found[name] = self.robot.difference(start, found[name])
        return found

    def _derivative(self, subject: Subject) -> Found:
        assert subject.derivative is not None
        function = self.trusted(Subject(subject.algorithm, SOURCES.get(subject.derivative)))
        asked = Interpreted(subject, self.robot, self.frame).inputs
        at = self.states.of([*function.inputs, *asked])
        inputs = list(tangents(subject.entry, wrenches=False))
        return _MADE_OF[subject.derivative](self.differences, function, at, inputs)

    def trusted(self, subject: Subject) -> Interpreted:
        """The interpreted float64 program of a subject, much faster than the textbook.

        DistrustError if what is expected of it does not agree: then differences of it prove nothing.
        """
        if subject not in self._trusted:
            function, expected = Interpreted(subject, self.robot, self.frame), self.find(subject)
            found = {} if expected is None else function(self.states.of(function.inputs))
            for output, value in found.items():
                assert expected is not None
                noise, differenced = expected.noise.get(output), ALLOWED["float64"].differences
                allowed = self.textbook_allowance(subject.name, "float64") if noise is None else differenced
                least = noise.lost / allowed if noise else 0.0
                off = error(value, expected.results[output], "float64", least)
                if not off <= allowed:
                    by = "the textbook" if noise is None else "differences"
                    raise DistrustError(
                        f"{subject.name} itself is {off:.1e} off {by}, allowed are {allowed:.1e}"
                    )
            self._trusted[subject] = function
        return self._trusted[subject]

    def textbook_allowance(self, name: str, dtype: str) -> float:
        """The error allowed against textbook formulas."""
        allowed = ALLOWED[dtype].textbook
        if not Subject.parse(name).entry.inverts or dtype == "float32":
            return allowed
        return max(allowed, _LOST * sys.float_info.epsilon * self._condition)

    @cached_property
    def _condition(self) -> float:
        if not self.robot.nv:
            return 1.0
        return float(np.linalg.cond(self.reference.mass_matrix(self.states.q)).max())


def check_kernel(
    robot: Robot, name: str, kernel: Any, yardstick: Yardstick, *, dtype: str, frame: str | None
) -> Verdict:
    """Run a compiled kernel on a batch and on single states, and compare both with every yardstick."""
    subject = Subject.parse(name)
    given = yardstick.states.of(kernel.inputs)
    rounded = [value.astype(dtype) for value in given.values()]
    found = _both_paths(kernel, rounded)
    exact = subject.compile(robot, yardstick.frame if frame is None else frame, target="interpreter")
    defined = results_of(exact, exact(*(a.astype(np.float64) for a in rounded)))
    allowed = ALLOWED[dtype]._replace(textbook=yardstick.textbook_allowance(name, dtype))
    expected, distrust = None, None
    try:
        expected = yardstick.find(subject)
    except DistrustError as why:
        distrust = str(why)
    noise = {} if expected is None else expected.noise
    digits = _LOST_DIGITS * float(np.finfo(dtype).eps)

    def worst(wanted: Values, outputs: Sequence[str], most: float, losing: bool = False) -> float | None:
        off = []
        for output in outputs:
            size, lost = noise.get(output, (0.0, 0.0))
            least = (digits * size + lost * losing) / most  # smaller entries may be noise and no more
            off += [error(f[output], wanted[output], dtype, least) for f in found]
        return max(off) if off else None

    near = worst(defined, list(defined), allowed.interpreter)
    assert near is not None
    if expected is None:
        return Verdict(near, None, None, allowed, distrust)
    formulas = worst(expected.results, [o for o in defined if o not in noise], allowed.textbook)
    differenced = worst(expected.results, list(noise), allowed.differences, losing=True)
    return Verdict(near, formulas, differenced, allowed)


def _both_paths(kernel: Any, arguments: Sequence[Array]) -> list[Values]:
    """Results of a batch, and of its states one by one: a kernel has code of its own for either."""
    rows = [results_of(kernel, kernel(*(a[i] for a in arguments))) for i in range(len(arguments[0]))]
    single = {port.name: np.stack([row[port.name] for row in rows]) for port in kernel.outputs}
    return [results_of(kernel, kernel(*arguments)), single]
