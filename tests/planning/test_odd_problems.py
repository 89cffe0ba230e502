"""Odd problems by class: each ends in a RobomorphError or in an explained answer, soon, and never in silence.

tests/planning/test_fuzz.py mixes odd numbers at random; here every class is odd in one way that is known, on
robots that lack what planning needs too, so that the words of the answer can be asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from robomorph import RobomorphError
from robomorph.planning import Plan
from tests.planning import odd_problems as odd

Rng = np.random.Generator
_LONGEST = 20.0  # s: far above what any of these takes, on a busy machine too
_ROUNDS, _MANY = 2, 40  # of every class, in an ordinary run and in a slow one


@dataclass(frozen=True)
class Odd:
    """A class. words: one of them is in every answer that is not a plan that was found; never: no plan is."""

    make: Callable[[Rng], Any]
    words: tuple[str, ...] = ()
    never: bool = True


CLASSES = (
    Odd(odd.contradictory, ("contradict", "misses", "alone")),
    Odd(odd.contradictory_joints, ("contradict", "misses", "alone")),
    Odd(odd.beyond_reach, ("position of 'l2'",)),
    Odd(odd.excluded_start, ("start or end state alone breaks position limits",)),
    Odd(odd.excluded_by_torque, ("start or end state alone breaks torque limits",)),
    Odd(odd.too_fast, ("limits",)),
    Odd(odd.no_duration, ("seconds",)),
    Odd(odd.few_intervals, ("intervals",)),
    Odd(odd.odd_intervals, ("intervals",), never=False),
    Odd(odd.odd_states, ("start", "end"), never=False),
    Odd(odd.huge_numbers, never=False),
    Odd(odd.huge_speeds, ("velocity", "position", "start"), never=False),
    Odd(odd.tiny_bounds, never=False),
    Odd(odd.unknown_frame, ("frame", "unknown", "expected")),
    Odd(odd.odd_windows, ("during",)),
    Odd(odd.instants, never=False),
    Odd(odd.odd_bounds, never=False),
    Odd(odd.crossed_bounds, ("bound", "expected")),
    Odd(odd.odd_references, never=False),
    Odd(odd.odd_limits, never=False),
    Odd(odd.odd_tasks, ("task",)),
    Odd(odd.odd_rates, never=False),
    Odd(odd.odd_costs, ("cost",), never=False),
    Odd(odd.odd_options, never=False),
    Odd(odd.no_limits, ("limit",), never=False),
    Odd(odd.no_limits_asked, never=False),
    Odd(odd.no_masses, ("mass",)),
    Odd(odd.heavy, ("torque",)),
    Odd(odd.floating, ("fixed base",)),
    Odd(odd.standing_still, never=False),
    Odd(odd.periodic_ends, ("periodic",)),
    Odd(odd.moving_ends_of_free_duration, ("free duration",)),
    Odd(odd.stopped, ("stopped",), never=False),
    Odd(odd.many_pieces, ("refine",), never=False),
    Odd(odd.odd_files, never=False),
)


def check(one: Odd, seed: int) -> None:
    """Anything but a RobomorphError ends the test; NaN in a plan does, too."""
    rng, begin = np.random.default_rng(seed), time.perf_counter()
    try:
        plan = one.make(rng)
    except RobomorphError as error:
        said, found = str(error), False
    else:
        assert isinstance(plan, Plan)
        said, found = plan.reason, plan.success
        assert np.isfinite(plan.control).all() and np.isfinite(plan.seconds)
        broken = (
            [m for m in plan.violations(500) if m.scaled < -1e-6] if found and plan.method != "grid" else []
        )
        assert not broken, f"claimed, and broken: {broken[0]}"
    assert time.perf_counter() - begin < _LONGEST
    assert len(said) > 5 and "Traceback" not in said
    if not found:
        assert len(said) > 20, f"no reason: {said!r}"
        assert not one.words or any(word in said for word in one.words), said
    assert not (found and one.never), "a plan where none can be"


def _blocks(rounds: int) -> list[Any]:
    return [pytest.param(one, rounds, id=one.make.__name__) for one in CLASSES]


@pytest.mark.parametrize(("one", "rounds"), _blocks(_ROUNDS))
@pytest.mark.filterwarnings("ignore")
def test_odd_problems_end_in_words(one: Odd, rounds: int) -> None:
    for seed in range(rounds):
        check(one, seed)


@pytest.mark.slow
@pytest.mark.parametrize(("one", "rounds"), _blocks(_MANY))
@pytest.mark.filterwarnings("ignore")
def test_a_thousand_odd_problems_end_in_words(one: Odd, rounds: int) -> None:
    for seed in range(1000, 1000 + rounds):
        check(one, seed)
