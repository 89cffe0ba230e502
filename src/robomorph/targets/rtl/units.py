"""How many units of a template a design has, and how often each is called."""

from __future__ import annotations

from collections.abc import Sequence

from robomorph.errors import TargetError
from robomorph.targets.fixed_point.units import Template


def fold_of(interval: int, calls: int, units: int, most: int) -> int:
    """Cycles between two calls of a unit: the largest divisor of the interval, at most `most`, with which the
    units can make all calls."""
    for fold in range(min(interval, max(1, most)), 0, -1):
        if interval % fold == 0 and calls * fold <= interval * units:
            return fold
    raise TargetError(f"rtl: {units} units cannot make {calls} calls in {interval} cycles")


KINDS = ("forward", "backward", "product")


def check_wishes(templates: Sequence[Template], wishes: Sequence[tuple[str, int]]) -> None:
    """Raise TargetError if a designer asked for units that the design does not have."""
    known = ["all", *KINDS, *(template.name for template in templates)]
    for name, _ in wishes:
        if name not in known:
            raise TargetError(f"rtl: units: unknown name {name!r}: known are {', '.join(known)}")


def wanted_count(template: Template, wishes: Sequence[tuple[str, int]]) -> int:
    """How many units of a template a designer asked for: by its name, its kind, or for "all"; one if not."""
    found = dict(wishes)
    for key in (template.name, template.kind, "all"):
        if key in found:
            return found[key]
    return 1
