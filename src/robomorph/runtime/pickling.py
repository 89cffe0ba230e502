"""How a kernel came about: what it is pickled and copied as, because machine code cannot be."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Origin:
    """What `make` makes a kernel from again: all that was asked for (`asked`, which pickles), and the
    settings that a user may change on a kernel. It compiles, or finds its code in the cache, when called."""

    make: Callable[[Origin], Any]
    asked: Any
    threads: int
    check_finite: bool


def reduce_kernel(kernel: Any) -> tuple[Any, ...]:
    """What pickle and copy ask of a kernel; settings changed since it was made are kept."""
    origin: Origin | None = kernel.origin
    if origin is None:
        raise pickle.PicklingError(
            f"{kernel!r} was made from a program and not by robot.compile, so it cannot be made again:"
            " pickle the robot, and compile there"
        )
    threads = getattr(kernel, "threads", origin.threads)
    return origin.make, (replace(origin, threads=threads, check_finite=bool(kernel.check_finite)),)
