"""Kernels: one algorithm for one robot, compiled for one target, called with arrays."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from robomorph.errors import ArgumentError
from robomorph.ir.interpret import interpret
from robomorph.ir.program import Port, Program
from robomorph.ir.text import to_text
from robomorph.runtime._native import NativeKernel
from robomorph.runtime.arguments import fit_arguments
from robomorph.runtime.outputs import fit_outputs
from robomorph.runtime.pickling import KernelRecipe, reduce_kernel
from robomorph.runtime.results import result_type
from robomorph.runtime.values import UNIT_TOLERANCE, UnitPart, check_values
from robomorph.targets.cpu.compile import CompiledVariant

# About half a microsecond of arithmetic: less than this is done sooner than another thread hears of it.
_FLOPS_WORTH_A_THREAD = 15_000
# Some five microseconds on one core: calls that take longer let other Python threads run meanwhile.
_FLOPS_WORTH_A_RELEASE = 100_000
# The native scan compares squares: a report of what it refused must not accept it by a rounding.
_REPORT_SLACK = 1.0 - 1e-6


@dataclass(frozen=True)
class KernelStats:
    """What a kernel costs. `operations` counts nodes by kind (a fused multiply-add is one node);
    `flops` counts arithmetic (a fused multiply-add counts two). `from_cache`: all code in use came from
    the cache on disk; before the first call: the cache has code of this kernel, for single states or for
    batches."""

    algorithm: str
    formulation: str
    candidates: dict[str, int | None]
    operations: dict[str, int]
    flops: int
    depth: int
    nonzeros: dict[str, int]
    compile_seconds: dict[str, float] = field(default_factory=dict)
    from_cache: bool = False


@dataclass(frozen=True)
class KernelSource:
    """The program of a kernel in its canonical text form, and the code generated from it."""

    ir: str
    code: str

    def __str__(self) -> str:
        return f"{self.ir}\n{self.code}"


@dataclass(frozen=True)
class KernelPlan:
    """What a kernel needs from the compiler, each part made when first asked for."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    dtype: str
    program: Callable[[], Program]
    stats: Callable[[], KernelStats]
    variant: Callable[[int], CompiledVariant]  # by number of lanes
    code: Callable[[], str]
    lanes: int
    stored: Callable[[int], bool] = lambda lanes: False  # by number of lanes: is the variant in the cache?
    units: tuple[UnitPart, ...] = ()  # of the input q

    def unit_slots(self) -> tuple[tuple[int, int, int], ...]:
        """(input, first entry, count) of every unit, as the launcher takes them."""
        names = [port.name for port in self.inputs]
        return tuple((names.index("q"), unit.start, unit.stop - unit.start) for unit in self.units)


class AnyKernel(Protocol):
    """What every kernel offers, whatever its target."""

    @property
    def stats(self) -> Any:
        """What the kernel costs."""

    @property
    def source(self) -> Any:
        """The program's text and the generated code."""

    def __call__(self, *args: Any, out: Any = None) -> Any:
        """Arguments (..., n) with any leading batch dimensions; results likewise."""


class Kernel(NativeKernel):
    """A compiled algorithm: ``kernel(q, qd, ..., out=None)``.

    Arguments are arrays (..., n) with any leading batch dimensions, which broadcast; results are arrays
    (or a named tuple of arrays) of the kernel's dtype. With `out`, results are written there and
    nothing is allocated. Code for single states and for batches is compiled when first needed.
    A kernel is pickled and copied as its recipe.
    """

    recipe: KernelRecipe | None = None

    def __init__(self, plan: KernelPlan, *, threads: int = 0, check_finite: bool = True) -> None:
        super().__init__(
            in_shapes=tuple(port.shape for port in plan.inputs),
            out_shapes=tuple(port.shape for port in plan.outputs),
            dtype=plan.dtype,  # type: ignore[arg-type]
            lanes=plan.lanes,
            result_type=result_type(plan.name, plan.outputs),
            threads=threads,
            check_finite=check_finite,
            unit_parts=plan.unit_slots(),
            unit_tolerance=UNIT_TOLERANCE[plan.dtype],
        )
        self._plan = plan
        self._variants: dict[int, CompiledVariant] = {}
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self._plan.name

    @property
    def inputs(self) -> tuple[Port, ...]:
        return self._plan.inputs

    @property
    def outputs(self) -> tuple[Port, ...]:
        return self._plan.outputs

    @property
    def stats(self) -> KernelStats:
        """Operations, depth, nonzeros, formulation, and the compile times so far (seconds)."""
        base = self._plan.stats()
        times = {("single" if n == 1 else f"x{n}"): v.seconds for n, v in self._variants.items()}
        cached = all(v.from_cache for v in self._variants.values())
        if not self._variants:
            cached = any(self._plan.stored(lanes) for lanes in (1, self.lanes))
        return KernelStats(**{**base.__dict__, "compile_seconds": times, "from_cache": cached})

    @property
    def source(self) -> KernelSource:
        """The program's text and the generated code."""
        return KernelSource(to_text(self._plan.program()), self._plan.code())

    @property
    def program(self) -> Program:
        """The program this kernel computes, as the interpreter defines it."""
        return self._plan.program()

    def prepare(self, batch: int = 1) -> Kernel:
        """Compile now what a call with this batch size needs."""
        self._prepare(batch)
        return self

    def _prepare(self, batch: int, /) -> None:
        lanes = 1 if batch < self.single_limit else self.lanes
        with self._lock:
            if lanes in self._variants:
                return
            variant = self._plan.variant(lanes)
            self._variants[lanes] = variant
            self.workspace = max(self.workspace, variant.workspace)
            short = _FLOPS_WORTH_A_RELEASE * lanes // max(1, variant.flops)  # rows
            self.release_gil_above = min(self.release_gil_above, short)
            if lanes == 1:
                self.set_single_fn(variant.address)
            else:
                self.min_blocks_per_thread = max(1, round(_FLOPS_WORTH_A_THREAD / max(1, variant.flops)))
                self.set_lane_fn(variant.address)

    def _slow_call(self, args: tuple[object, ...], out: object = None, /) -> Any:
        plan = self._plan
        fitted = fit_arguments(plan.inputs, args, plan.dtype)
        if out is None:
            return self._run(tuple(fitted))
        lead = fitted[0].shape[: fitted[0].ndim - len(plan.inputs[0].shape)]
        targets = fit_outputs(plan.outputs, out, lead, plan.dtype)
        results = self._run(tuple(fitted))  # through fresh arrays: `out` may overlap the arguments
        for target, result in zip(targets, results if len(targets) > 1 else [results], strict=True):
            target[...] = result
        return out

    def _report_bad_values(self, args: tuple[object, ...], /) -> None:
        check_values(self._plan.inputs, args, self._plan.units, _REPORT_SLACK)

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_kernel(self)

    def __repr__(self) -> str:
        ports = ", ".join(f"{p.name}{list(p.shape)}" for p in self.inputs)
        results = ", ".join(f"{p.name}{list(p.shape)}" for p in self.outputs)
        return f"<Kernel {self.name}({ports}) -> {results}, {self.dtype}, {self.lanes} lanes>"


class InterpreterKernel:
    """The same call as a Kernel, answered by the NumPy interpreter: slow, and the definition."""

    recipe: KernelRecipe | None = None

    def __init__(self, plan: KernelPlan, *, check_finite: bool = True) -> None:
        self._plan = plan
        self.check_finite = check_finite
        self._result = result_type(plan.name, plan.outputs)

    @property
    def stats(self) -> KernelStats:
        return self._plan.stats()

    @property
    def source(self) -> KernelSource:
        return KernelSource(to_text(self._plan.program()), "")

    @property
    def program(self) -> Program:
        return self._plan.program()

    def __call__(self, *args: Any, out: Any = None) -> Any:
        plan = self._plan
        fitted = fit_arguments(plan.inputs, args, plan.dtype)
        if self.check_finite:
            check_values(plan.inputs, fitted, plan.units)
        lead = fitted[0].shape[: fitted[0].ndim - len(plan.inputs[0].shape)]
        targets = [] if out is None else fit_outputs(plan.outputs, out, lead, plan.dtype)
        named = {port.name: a for port, a in zip(plan.inputs, fitted, strict=True)}
        results = list(interpret(plan.program(), named, plan.dtype).values())
        if out is None:
            return results[0] if self._result is None else self._result(*results)
        for target, result in zip(targets, results, strict=True):
            target[...] = result
        return out

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_kernel(self)


def make_cpu_kernel(
    specialiser: object,
    request: object,
    plan: KernelPlan,
    target: str,
    threads: int,
    check_finite: bool,
    options: Mapping[str, Any],
) -> Kernel:
    _refuse_options(target, options)
    return Kernel(plan, threads=threads, check_finite=check_finite)


def make_interpreter_kernel(
    specialiser: object,
    request: object,
    plan: KernelPlan,
    target: str,
    threads: int,
    check_finite: bool,
    options: Mapping[str, Any],
) -> InterpreterKernel:
    _refuse_options(target, options)
    return InterpreterKernel(plan, check_finite=check_finite)


def _refuse_options(target: str, options: Mapping[str, Any]) -> None:
    if options:
        raise ArgumentError(f"options: target {target!r} has none, found {', '.join(options)}")
