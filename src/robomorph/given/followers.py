"""Joints that follow others (`<mimic>`) have limits of their own, which those of the followed must keep."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from robomorph.algorithms.configuration import coordinates
from robomorph.errors import ArgumentError
from robomorph.model.model import Body, Model

Array = npt.NDArray[np.float64]
_ROUNDING = 1e-9  # of a limit: files give few digits of what follows from another number


def check_positions(model: Model, lower: Array, upper: Array) -> None:
    """Refuses bounds (nv,) on the followed joints within which a follower leaves its own limits."""
    for body, place, scale, offset in _followers(model):
        own = body.limits
        ends = sorted((scale * lower[place] + offset, scale * upper[place] + offset))
        slack = _ROUNDING * (1.0 + abs(offset))
        if ends[0] < own.lower - slack or ends[1] > own.upper + slack:
            allowed = sorted(((own.lower - offset) / scale, (own.upper - offset) / scale))
            raise ArgumentError(
                f"limits: joint {body.joint_name!r} follows {_followed(model, body)!r} and would move from "
                f"{ends[0]:g} to {ends[1]:g}, but its own limits are {own.lower:g} and {own.upper:g}: give "
                f"position=(lower, upper) with entry {place} within {allowed[0]:g} and {allowed[1]:g}"
            )


def check_speeds(model: Model, most: Array, share: float) -> None:
    """Refuses speeds (nv,) of the followed at which a follower is faster than this share of its own."""
    for body, place, scale, _ in _followers(model):
        own, found = share * body.limits.velocity, abs(scale) * most[place]
        if found > own * (1.0 + _ROUNDING):
            raise ArgumentError(
                f"limits: joint {body.joint_name!r} follows {_followed(model, body)!r} at up to {found:g} a "
                f"second, but its own limit is {own:g}: give velocity=(nv,) with entry {place} at most "
                f"{own / abs(scale):g}"
            )


def _followers(model: Model) -> Iterator[tuple[Body, int, float, float]]:
    for body in model.bodies:
        if body.mimic is not None and body.mimic[1] != 0.0 and np.isfinite(body.mimic[1:]).all():
            yield body, coordinates(model, body.joint_name)[1].start, body.mimic[1], body.mimic[2]


def _followed(model: Model, body: Body) -> str:
    assert body.mimic is not None
    return model.bodies[body.mimic[0]].joint_name
