"""Powers of two by which values may differ and still share a format in hardware."""

from __future__ import annotations

from collections.abc import Sequence

from robomorph.ir.ops import ADD, MUL, NEG, RECIP, SUB, Op


def result_scale(op: Op, scales: Sequence[int | None]) -> int | None:
    """The scale of a result: factors' add up, a sum has the lowest of its terms'."""
    some = [s for s in scales if s is not None]
    if op is MUL:
        return sum(some) if len(some) == len(scales) else None
    if op in (ADD, SUB, NEG):
        return min(some, default=None)
    return -some[0] if op is RECIP and some else 0
