"""Closed forms of derivatives, which compete with the programs that reverse and forward mode make."""

from __future__ import annotations

from robomorph.algorithms.algorithm import Parts

# By algorithm and kind of derivative, formulations by name.
CLOSED: dict[tuple[str, str], dict[str, Parts]] = {}


def closed_forms(algorithm: str, derivative: str, *, wrenches: bool) -> dict[str, Parts]:
    """The closed forms of an algorithm's derivative; none knows derivatives by external wrenches."""
    return {} if wrenches else CLOSED.get((algorithm, derivative), {})
