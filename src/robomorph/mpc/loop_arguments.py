"""What a closed loop is given, checked before it begins."""

from __future__ import annotations

from typing import Any

from robomorph.errors import ArgumentError
from robomorph.given.numbers import number
from robomorph.mpc.disturbances import Delay, Late, Noise, Push

_LONGEST = 3600.0  # s that a torque or a measurement may be under way


def check_loop(controller: Any, *, seconds: Any, rate: Any, tolerance: Any) -> None:
    """A controller, and numbers that are numbers."""
    if not hasattr(controller, "period") or not hasattr(controller, "step"):
        raise ArgumentError(
            f"controller: expected an mpc.Controller, found {type(controller).__name__} {controller!r}"
        )
    if not isinstance(seconds, float):  # infinity is told apart from words, where ticks are counted
        number("seconds", seconds)
    if rate is not None:
        number("rate", rate)
    if not number("tolerance", tolerance) > 0.0:
        raise ArgumentError(f"tolerance: expected a number above 0, found {tolerance!r}")


def check_disturbances(pushes: Any, noise: Any, delay: Any, late: Any) -> None:
    if not isinstance(pushes, (list, tuple)) or not all(isinstance(push, Push) for push in pushes):
        raise ArgumentError(f"pushes: expected a list of mpc.Push, found {pushes!r}")
    for name, value, kind in (("noise", noise, Noise), ("delay", delay, Delay), ("late", late, Late)):
        if value is not None and not isinstance(value, kind):
            raise ArgumentError(f"{name}: expected an mpc.{kind.__name__}(...) or None, found {value!r}")
    if delay is not None and delay.total > _LONGEST:
        raise ArgumentError(f"delay: expected at most {_LONGEST:g} s, found {delay.total:g}")


def check_callables(**functions: Any) -> None:
    for name, value in functions.items():
        if value is not None and not callable(value):
            raise ArgumentError(f"{name}: expected a function or None, found {value!r}")
