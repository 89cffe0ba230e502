"""The longest horizon that fits into a period."""

from __future__ import annotations

from collections.abc import Callable

_TRIALS = 7
_CLOSE = 0.01


def longest(measure: Callable[[int], float], budget: float, start: int) -> tuple[int, float]:
    """The largest number of steps tried whose time is within `budget`, and that time; (0, NaN) if none is.
    `measure` gives the time of so many steps, which grows about in proportion; a time within a hundredth of
    the budget ends the search."""
    best, found, above, steps = 0, float("nan"), 0, start
    for _ in range(_TRIALS):
        spent = measure(steps)
        if spent > budget:  # a disturbance would end the search too soon
            spent = min(spent, measure(steps))
        if spent <= budget:
            if steps > best:
                best, found = steps, spent
            if spent >= (1.0 - _CLOSE) * budget:
                break
        else:
            above = min(above, steps) if above else steps
        guess = int(steps * budget / spent)
        least, most = best + 1, above - 1 if above else max(guess, best + 1)
        if least > most:
            break
        steps = min(max(guess, least), most)
    return best, found
