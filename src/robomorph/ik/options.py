"""How a search is run: everything about a solver but its targets."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.ik.devices import CPU, read_device
from robomorph.ik.methods import METHODS, Method
from robomorph.naming import hint

# Which solution is wanted (IkChoice in native code).
FIRST, NEAREST, ALL = 0, 1, 2
DEFAULT_STARTS = 200
DEFAULT_CANDIDATES = 32
# More than any search has use for; without it a slip of the finger would run for hours or exhaust the memory.
MOST_STARTS = 65_536
# A solution from q0 itself this near to it (rad, m, over all joints) is taken without looking further.
NEAR_ENOUGH = 0.2


@dataclass(frozen=True)
class Options:
    """Options of a search, checked.

    choice: FIRST, NEAREST or ALL. polish: move along the null space towards the posture. starts: how many
    configurations a search may start from. candidates: how many of them compete to be nearest. fixed:
    joints that keep their value. limits: respect joint limits. seed: of the random starts. on: the device.
    chip: knobs of a chip, by name.
    """

    rule: Method
    choice: int = FIRST
    polish: bool = False
    starts: int = DEFAULT_STARTS
    candidates: int = 1
    max_iterations: int = 100
    near_enough: float = 0.0
    speculations: int = 0
    fixed: tuple[str, ...] = ()
    limits: bool = True
    seed: int = 0
    on: str = CPU
    chip: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, eq=False)
class IKOptions:
    """What a caller may ask for, by name.

    tolerance: (metres, radians), or one number for both.
    nearest: of the solutions found from `candidates` starts take the one nearest to q0, moved along the null
    space as near to it as it gets; False: the first solution, which is several times quicker.
    posture: (..., nq) to be near to instead of q0.
    solutions: how many distinct solutions are wanted.
    path: the last batch dimension is an order in time: each pose starts from the solution before it.
    max_step: how far a joint may move from one pose to the next (rad, m; default 0.5).
    method: a name in `robomorph.ik.METHODS`. speculations: lengths that a speculative one tries.
    starts: how many configurations may be tried (1: q0 alone). max_iterations: for each of them.
    fixed: names of joints that keep their value of q0. limits: False ignores the joint limits.
    seed: of the random starts. threads: at most so many, of the host.
    on: what the search runs on: "cpu", or a device that takes part of the above ("opencl", "cuda",
    "rtl"). chip: knobs and word widths of on="rtl" (docs/ik-chip.md), a mapping.
    """

    tolerance: Any = (1e-5, 1e-5)
    nearest: bool = True
    posture: npt.ArrayLike | None = None
    solutions: int | None = None
    path: bool = False
    max_step: float | None = None
    method: str = "lm"
    starts: int | None = None
    candidates: int | None = None
    max_iterations: int | None = None
    speculations: int | None = None
    fixed: Iterable[str] = ()
    limits: bool = True
    seed: int = 0
    threads: int | None = None
    on: str = CPU
    chip: Mapping[str, Any] | None = None

    def thread_count(self) -> int:
        """0 for the default."""
        return 0 if self.threads is None else _whole("threads", self.threads, 0, 1)

    def resolve(self) -> Options:
        """The search that this asks for; each wrong value is named."""
        rule = self._method()
        solutions = _whole("solutions", self.solutions, 1, 1, MOST_STARTS)
        if _flag("path", self.path) and solutions > 1:
            raise ArgumentError("solutions: a path has one solution at each pose: leave `solutions` out")
        posture = self.posture is not None
        restarts = DEFAULT_STARTS if rule.restarts and not self.path else 1
        starts = _whole("starts", self.starts, restarts, 1, MOST_STARTS)
        candidates = _whole("candidates", self.candidates, DEFAULT_CANDIDATES, 1)
        nearest = _flag("nearest", self.nearest)
        choice = ALL if solutions > 1 else NEAREST if (nearest or posture) and rule.polish else FIRST
        return Options(
            rule=rule,
            choice=choice,
            polish=rule.polish and (posture or (nearest and solutions == 1)),
            starts=starts,
            candidates=min(candidates, starts) if choice == NEAREST else 1,
            max_iterations=_whole("max_iterations", self.max_iterations, rule.max_iterations, 1),
            near_enough=NEAR_ENOUGH if choice == NEAREST else 0.0,
            speculations=_whole("speculations", self.speculations, rule.speculations, 1, MOST_STARTS)
            if rule.speculative
            else 0,
            fixed=self._fixed(),
            limits=_flag("limits", self.limits),
            seed=_whole("seed", self.seed, 0, 0),
            on=read_device(self.on),
            chip=self._chip(),
        )

    def _method(self) -> Method:
        if not isinstance(self.method, str):
            raise ArgumentError(f"method: expected a name, found {type(self.method).__name__}")
        if self.method not in METHODS:
            raise ArgumentError(f"method: unknown name {self.method!r}: {hint(self.method, list(METHODS))}")
        return METHODS[self.method]

    def _chip(self) -> tuple[tuple[str, Any], ...]:
        if self.chip is None:
            return ()
        if not isinstance(self.chip, Mapping):
            raise ArgumentError(f"chip: expected knobs by name, such as {{'units': 16}}, found {self.chip!r}")
        if self.on != "rtl":
            raise ArgumentError(
                f'chip: only a chip has knobs: leave it out, or use on="rtl", not {self.on!r}'
            )
        from robomorph.ik.devices.rtl import read_chip

        return read_chip(self.chip)

    def _fixed(self) -> tuple[str, ...]:
        given = (self.fixed,) if isinstance(self.fixed, str) else self.fixed
        if not isinstance(given, Iterable):
            raise ArgumentError(f"fixed: expected names of joints, found {given!r}: leave it out for none")
        names = tuple(given)
        for name in names:
            if not isinstance(name, str):
                raise ArgumentError(f"fixed: expected names of joints, found {name!r} among them")
        return tuple(sorted(set(names)))


def read_options(options: dict[str, Any]) -> IKOptions:
    """Options by name; an unknown one is refused with what may have been meant."""
    known = [field.name for field in fields(IKOptions)]
    for name in options:
        if name not in known:
            raise ArgumentError(f"unknown option {name!r}: {hint(name, known)}")
    return IKOptions(**options)


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise ArgumentError(f"{name}: expected True or False, found {value!r}")
    return bool(value)


def _whole(name: str, value: int | None, default: int, least: int, most: int = 2**31 - 1) -> int:
    if value is None:
        return default
    try:
        number = least - 1 if isinstance(value, (bool, np.bool_)) else operator.index(value)
    except TypeError:
        number = least - 1
    if not least <= number <= most:
        raise ArgumentError(f"{name}: expected a whole number from {least} to {most}, found {value!r}")
    return number
