"""The CPU's kernel: machine code for single states and for batches, called by the native launcher."""

from __future__ import annotations

import threading
from typing import Any

from robomorph.ir.program import Port, Program
from robomorph.ir.text import to_text
from robomorph.runtime._native import NativeKernel
from robomorph.runtime.arguments import fit_arguments
from robomorph.runtime.kernel import KernelSource, KernelStats, Recipe, Settings
from robomorph.runtime.outputs import fit_outputs
from robomorph.runtime.pickling import Origin, reduce_kernel
from robomorph.runtime.results import result_type
from robomorph.runtime.values import UNIT_TOLERANCE, check_values
from robomorph.targets.cpu.compile import CompiledVariant, compile_variant, emit_for_host, is_stored
from robomorph.targets.cpu.host import host
from robomorph.targets.cpu.writer import Emitted

# About half a microsecond of arithmetic: less than this is done sooner than another thread hears of it.
_FLOPS_WORTH_A_THREAD = 15_000
# Some five microseconds on one core: calls that take longer let other Python threads run meanwhile.
_FLOPS_WORTH_A_RELEASE = 100_000
# The native scan compares squares: a report of what it refused must not accept it by a rounding.
_REPORT_SLACK = 1.0 - 1e-6


class Kernel(NativeKernel):
    """A compiled algorithm: ``kernel(q, qd, ..., out=None)``.

    Arguments are arrays (..., n) with any leading batch dimensions, which broadcast; results are arrays
    (or a named tuple of arrays) of the kernel's dtype. With `out`, results are written there and
    nothing is allocated. Code for single states and for batches is compiled when first needed.
    A kernel is pickled and copied as what it was made from.
    """

    origin: Origin | None = None

    def __init__(
        self, recipe: Recipe, *, threads: int = 0, check_finite: bool = True, lanes: int | None = None
    ) -> None:
        super().__init__(
            in_shapes=tuple(port.shape for port in recipe.inputs),
            out_shapes=tuple(port.shape for port in recipe.outputs),
            dtype=recipe.dtype,  # type: ignore[arg-type]
            lanes=host().lanes(recipe.dtype) if lanes is None else lanes,
            result_type=result_type(recipe.name, recipe.outputs),
            threads=threads,
            check_finite=check_finite,
            unit_parts=recipe.unit_slots(),
            unit_tolerance=UNIT_TOLERANCE[recipe.dtype],
        )
        self.recipe = recipe
        self._variants: dict[int, CompiledVariant] = {}
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self.recipe.name

    @property
    def inputs(self) -> tuple[Port, ...]:
        return self.recipe.inputs

    @property
    def outputs(self) -> tuple[Port, ...]:
        return self.recipe.outputs

    @property
    def stats(self) -> KernelStats:
        """Operations, depth, nonzeros, formulation, and the compile times so far (seconds)."""
        recipe = self.recipe
        times = {("single" if n == 1 else f"x{n}"): v.seconds for n, v in self._variants.items()}
        cached = all(v.from_cache for v in self._variants.values())
        if not self._variants:
            cached = any(is_stored(recipe.key, recipe.dtype, lanes) for lanes in (1, self.lanes))
        return KernelStats(**{**recipe.stats().__dict__, "compile_seconds": times, "from_cache": cached})

    @property
    def source(self) -> KernelSource:
        """The program's text and the generated code."""
        return KernelSource(to_text(self.program), self._emitted(self.lanes).text)

    @property
    def program(self) -> Program:
        """The program this kernel computes, as the interpreter defines it."""
        return self.recipe.program()

    def prepare(self, batch: int = 1) -> Kernel:
        """Compile now what a call with this batch size needs."""
        self._prepare(batch)
        return self

    def _prepare(self, batch: int, /) -> None:
        lanes = 1 if batch < self.single_limit else self.lanes
        with self._lock:
            if lanes in self._variants:
                return
            recipe = self.recipe
            variant = compile_variant(recipe.key, self._emitted, recipe.dtype, lanes)
            self._variants[lanes] = variant
            self.workspace = max(self.workspace, variant.workspace)
            short = _FLOPS_WORTH_A_RELEASE * lanes // max(1, variant.flops)  # rows
            self.release_gil_above = min(self.release_gil_above, short)
            if lanes == 1:
                self.set_single_fn(variant.address)
            else:
                self.min_blocks_per_thread = max(1, round(_FLOPS_WORTH_A_THREAD / max(1, variant.flops)))
                if variant.several:
                    self.set_blocks_fn(variant.several, variant.blocks)
                self.set_lane_fn(variant.address)

    def _emitted(self, lanes: int) -> Emitted:
        """The code for so many rows at a time, before LLVM has seen it."""
        return emit_for_host(self.recipe.program(), self.recipe.dtype, lanes)

    def _slow_call(self, args: tuple[object, ...], out: object = None, /) -> Any:
        """What the launcher does not take as it is: arguments are fitted first, results copied last."""
        fitted = fit_arguments(self.inputs, args, self.recipe.dtype)
        if out is None:
            return self._run(tuple(fitted))
        lead = fitted[0].shape[: fitted[0].ndim - len(self.inputs[0].shape)]
        places = fit_outputs(self.outputs, out, lead, self.recipe.dtype)
        results = self._run(tuple(fitted))  # through fresh arrays: `out` may overlap the arguments
        for place, result in zip(places, results if len(places) > 1 else [results], strict=True):
            place[...] = result
        return out

    def _report_bad_values(self, args: tuple[object, ...], /) -> None:
        check_values(self.inputs, args, self.recipe.units, _REPORT_SLACK)

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_kernel(self)

    def __repr__(self) -> str:
        ports = ", ".join(f"{p.name}{list(p.shape)}" for p in self.inputs)
        results = ", ".join(f"{p.name}{list(p.shape)}" for p in self.outputs)
        return f"<Kernel {self.name}({ports}) -> {results}, {self.dtype}, {self.lanes} lanes>"


def make_kernel(recipe: Recipe, target: str, settings: Settings) -> Kernel:
    settings.refuse_options(target)
    return Kernel(recipe, threads=settings.threads, check_finite=settings.check_finite)
