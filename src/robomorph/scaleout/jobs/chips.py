"""An accelerator that goes to workers by value: what it is made from, and it is made once in each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from robomorph.compiler.chip import RobotChip
from robomorph.compiler.specialise import make_request
from robomorph.errors import ArgumentError
from robomorph.robot import Robot
from robomorph.scaleout.jobs.files import canonical, kept
from robomorph.targets.rtl.accelerator import Accelerator, make_accelerator
from robomorph.targets.rtl.options import Options, make_options


def checked_options(robot: Robot, algorithm: str, frame: str | None, options: Any) -> Options:
    """Options of a design; ArgumentError for what there is not."""
    make_request(robot.model, algorithm, frame=frame)
    if isinstance(options, Options):
        return options
    if not isinstance(options, Mapping):
        raise ArgumentError(f"options: expected a mapping or Options, found {options!r}")
    return make_options(dict(options), algorithm)


def options_facts(options: Options) -> dict[str, Any]:
    return asdict(options)


def accelerator_of(robot: Robot, algorithm: str, frame: str | None, options: Options) -> Accelerator:
    """Made when first asked for in this thread."""

    def make() -> Accelerator:
        request = make_request(robot.model, algorithm, frame=frame)
        return make_accelerator(RobotChip(robot.specialiser, request), options)

    facts = [robot.model.digest, algorithm, frame, options_facts(options)]
    made: Accelerator = kept(f"chip {canonical(facts)}", make)
    return made
