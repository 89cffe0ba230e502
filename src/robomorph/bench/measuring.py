"""Timing several contestants fairly: in one run, in interleaved rounds, with the garbage collector off.

Every round times each contestant once, in a fixed order, so that whatever slows the machine for a while
slows all of them. The least time of all rounds is what the code costs; the median tells how quiet it was.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from robomorph.bench.records import Timing

Array = npt.NDArray[np.float64]
Results = dict[str, Array]

# Workers of other libraries spin for a while after a parallel call; a sample must not start beside them.
_SETTLE_S = 0.003
_SPIN = 20_000
_LONG_LOOP = 4096  # evaluations


@dataclass(frozen=True)
class Contestant:
    """Something to time. `loop(count)` does all `evaluations` of the contest `count` times over.

    `results` gives what it computed, each (evaluations, ...) in our order of joints, after a loop has run.
    `prepared_s` is what building it took; it is reported with the first call as warm-up.
    """

    who: str
    how: str
    loop: Callable[[int], None]
    evaluations: int
    results: Callable[[], Results] | None = None
    dtype: str = "float64"
    threads: int = 1
    prepared_s: float = 0.0
    figures: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Effort:
    """How hard to measure: rounds, the least length of one sample, and the time one contest may take."""

    rounds: int
    sample_s: float
    budget_s: float
    least_rounds: int = 3


THOROUGH = Effort(rounds=60, sample_s=2e-3, budget_s=6.0)
QUICK = Effort(rounds=12, sample_s=1e-3, budget_s=0.6)


def measure(contestants: Sequence[Contestant], effort: Effort) -> list[Timing]:
    """Times of all contestants, in their order."""
    warmups = [c.prepared_s + _seconds(c.loop, 1) for c in contestants]
    repeats = [_repeats(c, effort.sample_s) for c in contestants]
    samples: list[list[float]] = [[] for _ in contestants]
    start = time.perf_counter()
    with _no_garbage_collection():
        for done in range(1, effort.rounds + 1):
            for contestant, count, found in zip(contestants, repeats, samples, strict=True):
                found.append(_sample(contestant, count) / (count * contestant.evaluations))
            if done >= effort.least_rounds and time.perf_counter() - start > effort.budget_s:
                break
    return [summarise(s, w) for s, w in zip(samples, warmups, strict=True)]


def summarise(seconds: Sequence[float], warmup_s: float) -> Timing:
    """Least and median of samples given in seconds per evaluation."""
    return Timing(min(seconds) * 1e9, statistics.median(seconds) * 1e9, len(seconds), warmup_s)


def time_calls(call: Callable[[], object], rounds: int, evaluations: int = 1) -> Timing:
    """Times of one call that does some evaluations, after one to warm up: for what takes too long, or varies
    too much from problem to problem, to be a contestant."""
    warmup, *rest = seconds_of_calls(call, rounds)
    return summarise([seconds / evaluations for seconds in rest], warmup)


def seconds_of_calls(call: Callable[[], object], rounds: int) -> list[float]:
    """The first call, which warms up, and as many rounds after it."""
    found = []
    for _ in range(rounds + 1):
        begin = time.perf_counter()
        call()
        found.append(time.perf_counter() - begin)
    return found


def timing_of_each(seconds: Array) -> Timing:
    """The mean over problems of the least and the median of their rounds; seconds are (rounds, problems)."""
    least, median = (float(f(seconds, axis=0).mean()) * 1e9 for f in (np.min, np.median))
    return Timing(least, median, len(seconds), 0.0)


def _sample(contestant: Contestant, count: int) -> float:
    """One timed stretch. Everybody first runs untimed, for what the one before left in the caches is not
    this one's doing; whoever takes long for one loop has warmed up on its way."""
    if contestant.evaluations < _LONG_LOOP:
        contestant.loop(1)
    seconds = _seconds(contestant.loop, count)
    if contestant.threads > 1:
        time.sleep(_SETTLE_S)  # after, never before: waking from a sleep costs the next one time
        _seconds(_spin, _SPIN)
    return seconds


def _spin(count: int) -> None:
    """Keep the core busy, so that the one after a pause finds it as awake as all others do."""
    for _ in range(count):
        pass


def _repeats(contestant: Contestant, sample_s: float) -> int:
    """Loops that fill a sample, from the fastest of a few growing trials."""
    count = 1
    while True:
        seconds = _seconds(contestant.loop, count)
        if seconds >= sample_s / 2 or count >= 1_000_000:
            return max(1, round(count * sample_s / max(seconds, 1e-9)))
        count *= 4


def _seconds(loop: Callable[[int], None], count: int) -> float:
    start = time.perf_counter_ns()
    loop(count)
    return (time.perf_counter_ns() - start) * 1e-9


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def relative_error(found: Results, reference: Results) -> float | None:
    """Largest difference relative to the largest entry of the same output; None if nothing is in common.
    Where one side has fewer evaluations, the leading ones are compared."""
    worst: float | None = None
    for name in found.keys() & reference.keys():
        rows = min(len(found[name]), len(reference[name]))
        a, b = found[name][:rows], reference[name][:rows]
        error = float(np.max(np.abs(a - b)) / max(float(np.max(np.abs(b))), 1e-300))
        # NaN must not lose against a number, as it does in max().
        worst = error if worst is None else float(np.maximum(worst, error))
    return worst
