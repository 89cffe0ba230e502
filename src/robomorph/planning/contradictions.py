"""Windows that contradict each other: found by their bounds alone, before anything is solved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from robomorph.planning.channels import Channels
from robomorph.planning.requirements import OfJoints, OfTask, OfTorques, Requirement

if TYPE_CHECKING:
    from robomorph.planning.assemble import Assembled


@dataclass(frozen=True)
class _Held:
    """One value between two numbers during a window (s)."""

    requirement: Requirement
    row: str
    lower: float
    upper: float

    def __str__(self) -> str:
        return f"{self.requirement.name}, {self.row}"


def contradiction(assembled: Assembled) -> str:
    """A pair of constraints on the same value at the same time that leave nothing between them, in words."""
    known: dict[tuple[str, int, int], list[_Held]] = {}
    for index, requirement in enumerate(assembled.requirements):
        for value, held in _values(assembled.channels, index, requirement):
            others = known.setdefault((*value, requirement.rate), [])
            for other in others:
                if found := _apart(held, other) or _apart(other, held):
                    return found
            others.append(held)
    return ""


def _values(
    channels: Channels, index: int, requirement: Requirement
) -> Iterator[tuple[tuple[str, int], _Held]]:
    """Which value each bound row is about, and what is asked of it."""
    for k in requirement.live:
        shift, kind = 0.0, type(requirement).__name__
        if isinstance(requirement, OfTask):
            place, offset = channels.place(index, k)
            shift = offset if requirement.rate == 0 else 0.0
        else:
            assert isinstance(requirement, (OfJoints, OfTorques))
            place = requirement.joints[k]
        low, high = float(requirement.lower[k]) + shift, float(requirement.upper[k]) + shift
        yield (kind, place), _Held(requirement, requirement.names[k], low, high)


def _apart(low: _Held, high: _Held) -> str:
    begin = max(low.requirement.window[0], high.requirement.window[0])
    end = min(low.requirement.window[1], high.requirement.window[1])
    gap = low.lower - high.upper
    if begin > end or gap <= 0.0:
        return ""
    return (
        f"{low} and {high} contradict each other from t = {begin:.4g} s on: the one's lower bound is "
        f"{gap:.4g} {low.requirement.unit} above the other's upper bound. Change a bound or a window"
    )
