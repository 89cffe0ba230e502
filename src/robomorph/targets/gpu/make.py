"""From a request to a kernel on a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robomorph.compiler.partition import PartitionedGradient
from robomorph.compiler.specialise import Request, Specialiser
from robomorph.errors import ArgumentError
from robomorph.runtime.kernel import KernelPlan
from robomorph.targets.gpu.devices import open_gpu
from robomorph.targets.gpu.kernel import OPTIONS, GpuKernel, GpuRecipe, barrier_limit


def make_gpu_kernel(
    specialiser: Specialiser,
    request: Request,
    plan: KernelPlan,
    target: str,
    threads: int,
    check_finite: bool,
    options: Mapping[str, Any],
) -> GpuKernel | PartitionedGradient:
    """A kernel, or with the option `partitioning` a gradient that host and device share."""
    known = (*OPTIONS, "partitioning")
    for name in options:
        if name not in known:
            raise ArgumentError(f"{name}: not an option of target {target!r}: it has {', '.join(known)}")
    device = open_gpu(target, options.get("device"))
    chosen = {key: options[key] for key in ("mapping", "group_threads") if key in options}
    if options.get("partitioning") is not None:
        return PartitionedGradient(
            specialiser,
            request,
            device,
            partitioning=options["partitioning"],
            dtype=plan.dtype,
            check_finite=check_finite,
            threads=threads,
            **chosen,
        )
    limit = barrier_limit(len(specialiser.model.bodies))
    recipe = GpuRecipe(
        plan.name, plan.inputs, plan.outputs, plan.dtype, plan.program, plan.stats, limit, plan.units
    )
    return GpuKernel(recipe, device, check_finite=check_finite, **chosen)
