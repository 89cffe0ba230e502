"""Accelerators called like any other kernel: arrays in, arrays out, a simulated chip between them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.compiler.specialise import Request, Specialiser
from robomorph.errors import ArgumentError
from robomorph.ir.text import to_text
from robomorph.runtime.arguments import fit_arguments
from robomorph.runtime.kernel import KernelPlan, KernelSource, KernelStats
from robomorph.runtime.outputs import fit_outputs
from robomorph.runtime.pickling import KernelRecipe, reduce_kernel
from robomorph.runtime.results import result_type
from robomorph.runtime.values import UnitPart, check_values
from robomorph.targets.rtl.accelerator import Accelerator, make_accelerator
from robomorph.targets.rtl.design import DesignStats
from robomorph.targets.rtl.options import make_options
from robomorph.targets.rtl.simulate import Run, Simulation

Array = npt.NDArray[Any]


class OverflowWarning(UserWarning):
    """Some operation of a fixed-point computation saturated: the results of those states are wrong."""


@dataclass(frozen=True)
class RtlStats(KernelStats):
    """A kernel's figures and, from the schedule model, those of its hardware."""

    design: DesignStats | None = None
    number_format: str = ""
    states_simulated: int = 0
    cycles_simulated: int = 0
    overflows: int = 0


class RtlKernel:
    """A simulated accelerator: ``kernel(q, qd, ..., out=None)``. The simulation is built when first
    called."""

    recipe: KernelRecipe | None = None

    def __init__(
        self,
        accelerator: Accelerator,
        dtype: str,
        *,
        check_finite: bool = True,
        units: tuple[UnitPart, ...] = (),
    ) -> None:
        self.accelerator, self.dtype, self.check_finite = accelerator, dtype, check_finite
        self._units = units
        self.last_run: Run | None = None
        # Per state of the last call: did an operation, or an argument, saturate?
        self.overflow: Array = np.zeros(0, bool)
        self._states = self._cycles = self._overflows = 0
        self._result = result_type(accelerator.request.algorithm, accelerator.outputs)

    @cached_property
    def simulation(self) -> Simulation:
        options = self.accelerator.options
        return Simulation(self.accelerator.design, trace=options.trace, optimise=options.optimise)

    @property
    def stats(self) -> RtlStats:
        a = self.accelerator
        return RtlStats(
            algorithm=a.request.algorithm,
            formulation=a.made.formulation,
            candidates=dict(a.made.candidates),
            operations=a.chip.counts(),
            flops=a.chip.cost(),
            depth=a.chip.depth(),
            nonzeros=a.chip.nonzeros(),
            design=a.design.stats,
            number_format=a.options.numbers.name,
            states_simulated=self._states,
            cycles_simulated=self._cycles,
            overflows=self._overflows,
        )

    @property
    def source(self) -> KernelSource:
        """The chip's program, and all of its SystemVerilog."""
        files = self.accelerator.design.files
        code = "\n".join(f"// ---- {name}\n{text}" for name, text in files.items())
        return KernelSource(to_text(self.accelerator.chip), code)

    def __call__(self, *args: Any, out: Any = None, waveform: str | Path | None = None) -> Any:
        """Results of the simulated chip. With the option trace, `waveform` names a VCD file to write."""
        ports, outputs = self.accelerator.inputs, self.accelerator.outputs
        fitted = fit_arguments(ports, args, self.dtype)
        if self.check_finite:
            check_values(ports, fitted, self._units)
        lead = fitted[0].shape[: fitted[0].ndim - len(ports[0].shape)]
        targets = [] if out is None else fit_outputs(outputs, out, lead, self.dtype)
        flat = {p.name: a.reshape((-1, *p.shape)) for p, a in zip(ports, fitted, strict=True)}
        reals = self._run(flat, Path(waveform) if waveform is not None else None)
        results = [reals[p.name].reshape((*lead, *p.shape)).astype(self.dtype) for p in outputs]
        if out is None:
            return results[0] if self._result is None else self._result(*results)
        for target, result in zip(targets, results, strict=True):
            target[...] = result
        return out

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_kernel(self)

    def _run(self, arguments: Mapping[str, Array], waveform: Path | None) -> dict[str, Array]:
        words, clipped = self.accelerator.words(arguments)
        run = self.simulation.run(words, waveform=waveform)
        self.last_run = run
        self.overflow = run.overflow | clipped
        self._states += len(words)
        self._cycles += run.cycles
        count = int(np.count_nonzero(self.overflow))
        self._overflows += count
        if count:
            warnings.warn(
                f"{count} of {len(words)} states saturated: widen the format, or sample a wider range of"
                " states (options speed, acceleration)",
                OverflowWarning,
                stacklevel=3,
            )
        return self.accelerator.boundary.decode(run.words)


def make_rtl_kernel(
    specialiser: Specialiser,
    request: Request,
    plan: KernelPlan,
    target: str,
    threads: int,
    check_finite: bool,
    options: Mapping[str, Any],
) -> RtlKernel:
    """A kernel on a simulated chip."""
    if threads > 1:
        raise ArgumentError("threads: a simulated chip runs on one thread")
    accelerator = make_accelerator(specialiser, request, make_options(options))
    return RtlKernel(accelerator, plan.dtype, check_finite=check_finite, units=plan.units)
