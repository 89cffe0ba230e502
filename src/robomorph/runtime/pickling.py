"""How a kernel was asked for: what it is pickled and copied as, because machine code cannot be."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from robomorph.compiler.specialise import Request
from robomorph.model import Model


@dataclass(frozen=True)
class KernelRecipe:
    """The arguments from which `make` makes a kernel again. It compiles, or finds its code in the cache, when
    first called."""

    make: Callable[[KernelRecipe], Any]
    model: Model
    request: Request
    target: str
    dtype: str
    threads: int
    check_finite: bool
    options: Mapping[str, Any]


def reduce_kernel(kernel: Any) -> tuple[Any, ...]:
    """What pickle and copy ask of a kernel; settings changed since it was made are kept."""
    recipe: KernelRecipe | None = kernel.recipe
    if recipe is None:
        raise pickle.PicklingError(
            f"{kernel!r} was made from a program and not by robot.compile, so it cannot be made again:"
            " pickle the robot, and compile there"
        )
    threads = getattr(kernel, "threads", recipe.threads)
    return recipe.make, (replace(recipe, threads=threads, check_finite=bool(kernel.check_finite)),)
