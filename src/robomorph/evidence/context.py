"""What every chapter is given: the robots, how thorough to be, and whom to tell what it does."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from robomorph.errors import ArgumentError, ModelWarning
from robomorph.loading import load
from robomorph.robot import Robot

DEFAULT_ROBOTS = ("iiwa14", "hyq")


def _silent(what: str) -> None:
    pass


@dataclass
class Context:
    """`sources` name robots as `robomorph.load` takes them; `results` are files of `robomorph rtl --save`."""

    sources: tuple[str, ...] = DEFAULT_ROBOTS
    quick: bool = False
    results: tuple[Path, ...] = ()
    tell: Callable[[str], None] = field(default=_silent)
    warnings: list[str] = field(default_factory=list)

    @cached_property
    def robots(self) -> tuple[Robot, ...]:
        """Loaded, all different; what loading warns of is kept in `warnings`."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ModelWarning)
            found = tuple(load(source) for source in self.sources)
        self.warnings += dict.fromkeys(str(w.message) for w in caught)
        _check_different(self.sources, found)
        return found

    @property
    def digests(self) -> list[str]:
        return [robot.model.digest for robot in self.robots]

    def pairs(self) -> Sequence[tuple[str, Robot]]:
        """(source, robot) of each."""
        return list(zip(self.sources, self.robots, strict=True))

    def result_digests(self) -> list[str]:
        return [hashlib.sha256(path.read_bytes()).hexdigest() for path in self.results]

    def options(self) -> dict[str, Any]:
        """What decides the figures of a run, beside code and machine."""
        return {"robots": list(self.sources), "digests": self.digests, "quick": self.quick}


def _check_different(sources: Sequence[str], robots: Sequence[Robot]) -> None:
    seen: dict[str, str] = {}
    for source, robot in zip(sources, robots, strict=True):
        if robot.nv == 0:
            raise ArgumentError(f"{source!r}: expected a robot with a moving joint, found none")
        if robot.model.digest in seen:
            raise ArgumentError(
                f"{source!r}: the same robot as {seen[robot.model.digest]!r}: name each robot once"
            )
        seen[robot.model.digest] = source
