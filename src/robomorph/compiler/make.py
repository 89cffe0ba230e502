"""The compiler's front: from a robot and a request to a kernel."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any, cast

from robomorph.algorithms.registry import ALGORITHMS, Algorithm
from robomorph.algorithms.sweep import Sweep
from robomorph.algorithms.tree import model_sizes
from robomorph.compiler.fingerprint import source_fingerprint
from robomorph.compiler.specialise import Request, Specialised, Specialiser
from robomorph.errors import ArgumentError
from robomorph.ir.program import Port, Program
from robomorph.model import Model
from robomorph.model.joints import JOINT_TYPES
from robomorph.passes.fuse import fuse
from robomorph.runtime.cache import default_cache
from robomorph.runtime.kernel import AnyKernel, KernelPlan, KernelStats
from robomorph.runtime.pickling import KernelRecipe
from robomorph.runtime.values import unit_parts
from robomorph.targets.cpu.compile import CompiledVariant, compile_variant, emit_for_host, is_stored
from robomorph.targets.cpu.host import host

# Where each target makes its kernels. A new target is one entry here and a function like these.
TARGETS: dict[str, str] = {
    "cpu": "robomorph.runtime.kernel:make_cpu_kernel",
    "interpreter": "robomorph.runtime.kernel:make_interpreter_kernel",
    "cuda": "robomorph.targets.gpu.make:make_gpu_kernel",
    "opencl": "robomorph.targets.gpu.make:make_gpu_kernel",
    "rtl": "robomorph.targets.rtl.kernel:make_rtl_kernel",
}


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
    if target not in TARGETS:
        raise ArgumentError(f"target: expected one of {', '.join(TARGETS)}, found {target!r}")
    module, function = TARGETS[target].split(":")
    make = getattr(import_module(module), function)
    plan = _Recipe(specialiser, request, dtype).plan()
    options = options or {}
    kernel = make(specialiser, request, plan, target, threads, check_finite, options)
    kernel.recipe = KernelRecipe(
        make_again, specialiser.model, request, target, dtype, threads, check_finite, options
    )
    return cast(AnyKernel, kernel)


def make_again(recipe: KernelRecipe) -> AnyKernel:
    """The kernel of a recipe, in another process or as a copy."""
    return make_kernel(
        Specialiser(recipe.model),
        recipe.request,
        target=recipe.target,
        dtype=recipe.dtype,
        threads=recipe.threads,
        check_finite=recipe.check_finite,
        options=recipe.options,
    )


class _Recipe:
    """Everything about one kernel that may have to be made, made at most once."""

    def __init__(self, specialiser: Specialiser, request: Request, dtype: str) -> None:
        self.specialiser, self.request, self.dtype = specialiser, request, dtype
        # None: made from code that the fingerprint does not cover, so never kept on disk.
        self.key: str | None = None
        if _is_own(specialiser.model, ALGORITHMS[request.algorithm]):
            self.key = f"{source_fingerprint()}|{specialiser.model.digest}|{request.key}"
        self._made: Specialised | None = None
        self._stats: KernelStats | None = None

    def plan(self) -> KernelPlan:
        inputs, outputs = self._ports()
        return KernelPlan(
            name=self.request.algorithm,
            inputs=inputs,
            outputs=outputs,
            dtype=self.dtype,
            program=self.program,
            stats=self.stats,
            variant=self._variant,
            code=self._code,
            lanes=host().lanes(self.dtype),
            stored=self._stored,
            units=unit_parts(self.specialiser.model),
        )

    def _ports(self) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
        algorithm = ALGORITHMS[self.request.algorithm]
        sizes = model_sizes(self.specialiser.model)
        return (
            algorithm.input_ports(sizes, self.request.wrench_links),
            tuple(algorithm.output_port(name, sizes) for name in self.request.outputs),
        )

    def specialised(self) -> Specialised:
        if self._made is None:
            self._made = self.specialiser.specialise(self.request)
            if self.key is not None:
                default_cache().put(self.key, json.dumps(self._measure(self._made)).encode())
        return self._made

    def program(self) -> Program:
        return self.specialised().program

    def stats(self) -> KernelStats:
        """From the cache if another process has traced this program, else by tracing it."""
        if self._stats is None:
            known = self.key if self._made is None else None
            stored = default_cache().get(known) if known is not None else None
            data = json.loads(stored) if stored else self._measure(self.specialised())
            self._stats = KernelStats(**data)
        return self._stats

    def _measure(self, made: Specialised) -> dict[str, object]:
        fused = fuse(made.program)
        return {
            "algorithm": self.request.algorithm,
            "formulation": made.formulation,
            "candidates": made.candidates,
            "operations": fused.counts(),
            "flops": made.program.cost(),
            "depth": fused.depth(),
            "nonzeros": made.program.nonzeros(),
        }

    def _variant(self, lanes: int) -> CompiledVariant:
        return compile_variant(self.key, self.program, self.dtype, lanes)

    def _stored(self, lanes: int) -> bool:
        return is_stored(self.key, self.dtype, lanes)

    def _code(self) -> str:
        return emit_for_host(self.program(), self.dtype, host().lanes(self.dtype)).text


def _is_own(model: Model, algorithm: Algorithm) -> bool:
    """Are the algorithm and the joint types part of robomorph, or were they registered by the user?"""
    modules = [type(JOINT_TYPES[body.kind]).__module__ for body in model.bodies]
    for parts in algorithm.formulations.values():
        modules += [(part.step if isinstance(part, Sweep) else part.work).__module__ for part in parts]
    return all(module.startswith("robomorph.") for module in modules)
