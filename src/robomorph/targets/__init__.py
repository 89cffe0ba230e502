"""Targets: from a recipe, which knows no robot, to a kernel. One folder each, with everything of it.

A new target is a folder with a module that has `make_kernel(recipe, target, settings)`, and a line here.
Modules are imported when their target is first asked for, so that nobody pays for what is not used.
"""

from __future__ import annotations

from importlib import import_module
from typing import cast

from robomorph.errors import ArgumentError
from robomorph.runtime.kernel import AnyKernel, Recipe, Settings

TARGETS: dict[str, str] = {
    "cpu": "robomorph.targets.cpu.kernel",
    "interpreter": "robomorph.targets.interpreter",
    "fixed": "robomorph.targets.cpu.fixed.kernel",
    "cuda": "robomorph.targets.gpu.kernel",
    "opencl": "robomorph.targets.gpu.kernel",
    "rtl": "robomorph.targets.rtl.kernel",
}


def check_target(target: str) -> None:
    """ArgumentError for a name that no target has."""
    if target not in TARGETS:
        raise ArgumentError(f"target: expected one of {', '.join(TARGETS)}, found {target!r}")


def make_kernel(recipe: Recipe, target: str, settings: Settings) -> AnyKernel:
    """A kernel of any target. Nothing is traced or compiled before it is needed."""
    check_target(target)
    return cast(AnyKernel, import_module(TARGETS[target]).make_kernel(recipe, target, settings))
