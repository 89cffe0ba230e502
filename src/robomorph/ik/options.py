"""How a search is run: everything about a solver but its targets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.ik.methods import METHODS, Method
from robomorph.model.naming import hint

# Which solution is wanted (IkChoice in native code).
FIRST, NEAREST, ALL = 0, 1, 2
DEFAULT_STARTS = 200
DEFAULT_CANDIDATES = 32
# A solution from q0 itself this near to it (rad, m, over all joints) is taken without looking further.
NEAR_ENOUGH = 0.2


@dataclass(frozen=True)
class Options:
    """Options of a search, checked.

    choice: FIRST, NEAREST or ALL. polish: move along the null space towards the posture. starts: how many
    configurations a search may start from. candidates: how many of them compete to be nearest. fixed:
    joints that keep their value. limits: respect joint limits. seed: of the random starts.
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
    method: a name in `robomorph.ik.METHODS`. speculations: of Quick-IK.
    starts: how many configurations may be tried (1: q0 alone). max_iterations: for each of them.
    fixed: names of joints that keep their value of q0. limits: False ignores the joint limits.
    seed: of the random starts. threads: at most so many.
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
    speculations: int = 64
    fixed: Iterable[str] = ()
    limits: bool = True
    seed: int = 0
    threads: int | None = None

    def thread_count(self) -> int:
        """0 for the default."""
        return 0 if self.threads is None else _whole("threads", self.threads, 0, 1)

    def resolve(self) -> Options:
        """The search that this asks for; each wrong value is named."""
        if self.method not in METHODS:
            raise ArgumentError(
                f"method: unknown name {self.method!r}: {hint(str(self.method), list(METHODS))}"
            )
        rule = METHODS[self.method]
        solutions = _whole("solutions", self.solutions, 1, 1)
        if self.path and solutions > 1:
            raise ArgumentError("solutions: a path has one solution at each pose: leave `solutions` out")
        posture = self.posture is not None
        restarts = DEFAULT_STARTS if rule.restarts and not self.path else 1
        starts = _whole("starts", self.starts, restarts, 1)
        candidates = _whole("candidates", self.candidates, DEFAULT_CANDIDATES, 1)
        choice = ALL if solutions > 1 else NEAREST if (self.nearest or posture) and rule.polish else FIRST
        fixed = (self.fixed,) if isinstance(self.fixed, str) else tuple(self.fixed)
        return Options(
            rule=rule,
            choice=choice,
            polish=rule.polish and (posture or (self.nearest and solutions == 1)),
            starts=starts,
            candidates=min(candidates, starts) if choice == NEAREST else 1,
            max_iterations=_whole("max_iterations", self.max_iterations, rule.max_iterations, 1),
            near_enough=NEAR_ENOUGH if choice == NEAREST else 0.0,
            speculations=_whole("speculations", self.speculations, 64, 1) if rule.speculative else 0,
            fixed=tuple(sorted(fixed)),
            limits=bool(self.limits),
            seed=_whole("seed", self.seed, 0, 0),
        )


def _whole(name: str, value: int | None, default: int, least: int) -> int:
    if value is None:
        return default
    if isinstance(value, bool) or not hasattr(value, "__index__") or not least <= int(value) < 2**31:
        raise ArgumentError(f"{name}: expected a whole number of at least {least}, found {value!r}")
    return int(value)
