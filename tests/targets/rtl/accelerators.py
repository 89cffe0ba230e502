"""Accelerators that tests share."""

from __future__ import annotations

from functools import cache
from typing import Any

import robomorph
from robomorph.compiler.chip import make_accelerator
from robomorph.compiler.specialise import make_request
from robomorph.targets.rtl.accelerator import Accelerator
from robomorph.targets.rtl.options import Options

# The anchor's states: speeds and accelerations up to one.
ANCHOR: dict[str, Any] = {"speed": 1.0, "acceleration": 1.0}
PAPERS: dict[str, Any] = {**ANCHOR, "trig": "host", "minv": "given"}


@cache
def _robot(name: str, floating: bool) -> robomorph.Robot:
    return robomorph.load(name, floating_base=floating)


@cache
def accelerator(name: str, algorithm: str, *, floating: bool = False, **options: Any) -> Accelerator:
    robot = _robot(name, floating)
    return make_accelerator(robot.specialiser, make_request(robot.model, algorithm), Options(**options))
