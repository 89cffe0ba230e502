"""How a search is run: everything about a solver but its targets."""

from __future__ import annotations

from dataclasses import dataclass

from robomorph.errors import ArgumentError
from robomorph.ik.methods import METHODS, Method
from robomorph.model.naming import hint

# Which solution is wanted (IkChoice in native code).
FIRST, NEAREST, ALL = 0, 1, 2
DEFAULT_STARTS = 200
DEFAULT_CANDIDATES = 24


@dataclass(frozen=True)
class Options:
    """Options of a search, checked.

    choice: FIRST, NEAREST or ALL. polish: move along the null space towards the posture. starts: how many
    configurations a search may start from. candidates: how many of them compete to be nearest. fixed:
    joints that keep their value. limits: respect joint limits. seed: of the random starts.
    """

    method: str = "lm"
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

    @property
    def rule(self) -> Method:
        return METHODS[self.method]


def make_options(
    *,
    method: str = "lm",
    nearest: bool = True,
    posture: bool = False,
    solutions: int | None = None,
    starts: int | None = None,
    candidates: int | None = None,
    max_iterations: int | None = None,
    speculations: int = 64,
    fixed: tuple[str, ...] = (),
    limits: bool = True,
    seed: int = 0,
) -> Options:
    """Options from what a user says; each wrong value is named."""
    if method not in METHODS:
        raise ArgumentError(f"method: unknown name {method!r}: {hint(str(method), list(METHODS))}")
    rule = METHODS[method]
    starts = _whole("starts", starts, DEFAULT_STARTS if rule.restarts else 1, 1)
    solutions = _whole("solutions", solutions, 1, 1)
    candidates = _whole("candidates", candidates, DEFAULT_CANDIDATES, 1)
    choice = ALL if solutions > 1 else NEAREST if (nearest or posture) and rule.polish else FIRST
    if starts == 1 and choice == NEAREST:
        candidates = 1
    return Options(
        method=method,
        choice=choice,
        polish=rule.polish and (posture or (nearest and solutions == 1)),
        starts=starts,
        candidates=min(candidates, starts) if choice == NEAREST else 1,
        max_iterations=_whole("max_iterations", max_iterations, rule.max_iterations, 1),
        near_enough=0.2 if choice == NEAREST else 0.0,
        speculations=_whole("speculations", speculations, 64, 1) if rule.speculative else 0,
        fixed=tuple(sorted(fixed)),
        limits=bool(limits),
        seed=_whole("seed", seed, 0, 0),
    )


def _whole(name: str, value: int | None, default: int, least: int) -> int:
    if value is None:
        return default
    if isinstance(value, bool) or not hasattr(value, "__index__") or not least <= int(value) < 2**31:
        raise ArgumentError(f"{name}: expected a whole number of at least {least}, found {value!r}")
    return int(value)
