"""The compiler's front: from a robot and a request to a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from robomorph.compiler.recipe import robot_recipe
from robomorph.compiler.specialise import Request, Specialiser
from robomorph.model import Model
from robomorph.runtime.kernel import AnyKernel, Settings
from robomorph.runtime.pickling import Origin
from robomorph.targets import check_target
from robomorph.targets import make_kernel as make_target_kernel

_GROUP = 64  # threads of a large group


class Asked(NamedTuple):
    """What a kernel was made from; all of it pickles."""

    model: Model
    request: Request
    target: str
    dtype: str
    options: Mapping[str, Any]


def make_kernel(
    specialiser: Specialiser,
    request: Request,
    *,
    target: str,
    dtype: str,
    threads: int,
    check_finite: bool,
    options: Mapping[str, Any] | None = None,
) -> AnyKernel:
    """A kernel for any target; `options` are those of the target. Nothing is traced or compiled before it
    is needed."""
    check_target(target)
    settings = Settings(threads, check_finite, options or {})
    kernel: Any
    if settings.options.get("partitioning") is not None and target in ("cuda", "opencl"):
        from robomorph.compiler.partition import make_partitioned  # only who has a GPU pays for its import

        kernel = make_partitioned(specialiser, request, target, dtype, settings)
    else:
        wide = replace(request, parallel=_at_a_time(target, settings.options))
        kernel = make_target_kernel(robot_recipe(specialiser, wide, dtype), target, settings)
    asked = Asked(specialiser.model, request, target, dtype, settings.options)
    kernel.origin = Origin(make_again, asked, threads, check_finite)
    made: AnyKernel = kernel
    return made


def _at_a_time(target: str, options: Mapping[str, Any]) -> int:
    """How many operations a target does at a time on one state: many only where threads share a state."""
    if target in ("cuda", "opencl") and options.get("mapping") == "group":
        threads = options.get("group_threads")
        return threads if isinstance(threads, int) and threads > 1 else _GROUP
    return 1


def make_again(origin: Origin) -> AnyKernel:
    """The kernel of an origin, in another process or as a copy."""
    asked: Asked = origin.asked
    return make_kernel(
        Specialiser(asked.model),
        asked.request,
        target=asked.target,
        dtype=asked.dtype,
        threads=origin.threads,
        check_finite=origin.check_finite,
        options=asked.options,
    )
