"""How many times faster ours is than Pinocchio, as goals and figures count it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from robomorph.bench.ours import INTO_OUT
from robomorph.bench.peers.pinocchio import CALLS, PINOCCHIO
from robomorph.bench.records import OURS, Record, first, speedup


def over_pinocchio(robot: str, function: str, batch: int) -> Callable[[Sequence[Record]], float | None]:
    """Our call with out= over Pinocchio's calls alone, both in float64."""

    def ratio(records: Sequence[Record]) -> float | None:
        common = {"robot": robot, "function": function, "batch": batch}
        ours = first(records, **common, who=OURS, how=INTO_OUT, dtype="float64")
        return speedup(ours, first(records, **common, who=PINOCCHIO, how=CALLS))

    return ratio
