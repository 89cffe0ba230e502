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

from robomorph.errors import ArgumentError, OverflowWarning
from robomorph.ir.program import Port, Program
from robomorph.runtime.kernel import HostKernel, KernelStats, Recipe, Settings
from robomorph.targets.rtl.accelerator import Accelerator, make_accelerator
from robomorph.targets.rtl.design import DesignStats
from robomorph.targets.rtl.options import make_options
from robomorph.targets.rtl.simulate import Run, Simulation

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class RtlStats(KernelStats):
    """A kernel's figures and, from the schedule model, those of its hardware."""

    design: DesignStats | None = None
    number_format: str = ""
    states_simulated: int = 0
    cycles_simulated: int = 0
    overflows: int = 0


class RtlKernel(HostKernel):
    """A simulated accelerator: ``kernel(q, qd, ..., out=None)``. The simulation is built when first
    called."""

    def __init__(self, accelerator: Accelerator, recipe: Recipe, *, check_finite: bool = True) -> None:
        self.accelerator = accelerator
        super().__init__(recipe, check_finite=check_finite)
        self.last_run: Run | None = None
        # Per state of the last call: did an operation, or an argument, saturate?
        self.overflow: Array = np.zeros(0, bool)
        self._states = self._cycles = self._overflows = 0

    @property
    def inputs(self) -> tuple[Port, ...]:
        """The accelerator's: it may take more than the function does (M^-1)."""
        return self.accelerator.inputs

    @property
    def outputs(self) -> tuple[Port, ...]:
        return self.accelerator.outputs

    @property
    def program(self) -> Program:
        """What the chip computes, in real numbers."""
        return self.accelerator.chip

    @cached_property
    def simulation(self) -> Simulation:
        options = self.accelerator.options
        return Simulation(self.accelerator.design, trace=options.trace, optimise=options.optimise)

    @property
    def stats(self) -> RtlStats:
        a = self.accelerator
        return RtlStats(
            algorithm=self.name,
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

    def _code(self) -> str:
        """All of the chip's SystemVerilog."""
        return "\n".join(f"// ---- {n}\n{text}" for n, text in self.accelerator.design.files.items())

    def __call__(self, *args: Any, out: Any = None, waveform: str | Path | None = None) -> Any:
        """Results of the simulated chip. With the option trace, `waveform` names a VCD file to write."""
        call = self._begin(args, out)
        flat = {p.name: a.reshape((-1, *p.shape)) for p, a in zip(self.inputs, call.arguments, strict=True)}
        reals = self._run(flat, None if waveform is None else Path(waveform))
        shaped = [reals[p.name].reshape((*call.lead, *p.shape)) for p in self.outputs]
        return self._finish(call, [result.astype(self.dtype) for result in shaped])

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


def make_kernel(recipe: Recipe, target: str, settings: Settings) -> RtlKernel:
    """A kernel on a simulated chip."""
    if settings.threads > 1:
        raise ArgumentError("threads: a simulated chip runs on one thread")
    if recipe.chip is None:
        raise ArgumentError(
            f"target: {target!r} samples states of a robot to choose number formats, and {recipe.name} is a"
            " bare program: compile an algorithm of a robot, or use another target"
        )
    accelerator = make_accelerator(recipe.chip(), make_options(settings.options, recipe.name))
    return RtlKernel(accelerator, recipe, check_finite=settings.check_finite)
