"""Functions in fixed point called like any other kernel: real numbers in and out, words between them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import OverflowWarning
from robomorph.ir.fixed import FixedProgram, FixedResult
from robomorph.ir.floats import float_values, float_words
from robomorph.ir.program import Port, Program
from robomorph.runtime.cache import default_cache
from robomorph.runtime.kernel import Call, HostKernel, KernelStats, Recipe, Settings
from robomorph.targets.cpu.fixed.emit import word_bits
from robomorph.targets.cpu.fixed.words_kernel import WordsKernel, fixed_stats, flat_results, words_of
from robomorph.targets.fixed_point.bare import BareProgram
from robomorph.targets.fixed_point.function import make_function
from robomorph.targets.fixed_point.options import PAPERS, NumberOptions, read_options
from robomorph.targets.fixed_point.plan import Plan

Array = npt.NDArray[Any]
PRESETS: dict[str, dict[str, Any]] = {"complete": {}, "papers": PAPERS}


@dataclass(frozen=True)
class FixedStats(KernelStats):
    """A kernel's figures, and of its numbers: their format, the bits of the integers that words are kept in,
    and how many states were computed, and saturated, so far."""

    number_format: str = ""
    lane_bits: int = 0
    states: int = 0
    overflows: int = 0


class FixedKernel(HostKernel):
    """A function in fixed point: ``kernel(q, qd, ..., out=None)``.

    Arguments become words, results are what words stand for; every bit is as `interpret_fixed` has it.
    Where anything saturates, `overflow` has it per state of the last call, and a warning tells. `words` gives
    words and flags instead, without a warning."""

    def __init__(self, recipe: Recipe, options: NumberOptions, settings: Settings) -> None:
        self.options, self.plan = options, _plan(recipe, options)
        # Only then is there nothing between the arguments and the machine code.
        self._direct = (
            not self.plan.host.results and options.boundary == "fixed" and recipe.dtype == "float64"
        )
        # From words to words without anything around it: `compiled.run`.
        self.compiled = WordsKernel(
            self.plan.fixed,
            key=None if recipe.key is None else f"{recipe.key}|{options}",
            threads=settings.threads,
            check_finite=self._direct and settings.check_finite,
            units=recipe.units if self._direct else (),
        )
        super().__init__(recipe, check_finite=settings.check_finite)
        # Per state (*batch) of the last call: did an operation, or an argument, saturate?
        self.overflow: Array = np.zeros(0, bool)
        self._states = self._overflows = 0

    @property
    def inputs(self) -> tuple[Port, ...]:
        """It may take more than the function does (M^-1)."""
        return self.plan.inputs

    @property
    def outputs(self) -> tuple[Port, ...]:
        return self.plan.outputs

    @property
    def fixed(self) -> FixedProgram:
        """The program in fixed point, with the format of every value: what defines every bit."""
        return self.plan.fixed

    @property
    def program(self) -> Program:
        """What is computed, in real numbers."""
        return self.plan.fixed.program

    @property
    def threads(self) -> int:
        """At most so many; 0 for the global default."""
        return self.compiled.threads

    @threads.setter
    def threads(self, count: int) -> None:
        self.compiled.threads = count

    @property
    def check_finite(self) -> bool:
        """Are arguments refused that are NaN or infinite? They saturate if not."""
        return self._check_finite

    @check_finite.setter
    def check_finite(self, value: bool) -> None:
        self._check_finite = bool(value)
        self.compiled.check_finite = self._direct and self._check_finite

    @property
    def stats(self) -> FixedStats:
        code, fixed = self.compiled.stats, self.plan.fixed
        known = {
            **fixed_stats(fixed).__dict__,
            "algorithm": self.name,
            "formulation": self.plan.formulation,
            "candidates": dict(self.plan.candidates),
            "compile_seconds": code.compile_seconds,
            "from_cache": code.from_cache,
        }
        return FixedStats(
            **known,
            number_format=self.options.numbers.name,
            lane_bits=word_bits(fixed),
            states=self._states,
            overflows=self._overflows,
        )

    def _code(self) -> str:
        return self.compiled.source.code

    def prepare(self, batch: int = 1) -> FixedKernel:
        """Compile now what a call with this batch size needs."""
        self.compiled.prepare(batch)
        return self

    def __call__(self, *args: Any, out: Any = None) -> Any:
        if self._direct and out is None:
            *results, flags = self.compiled(*args)
            self._tell(flags)
            return self._bundle(results)
        call = self._begin(args, out)
        results, flags = self._evaluate(call)
        self._tell(flags)
        return self._finish(call, [result.astype(self.dtype, copy=False) for result in results])

    def words(self, *args: Any) -> FixedResult:
        """Words (..., output_size), as they leave a chip with these options: the results' entries one after
        the other, in `fixed.output_formats`, or as patterns of float32 with boundary="float32". And per
        state whether anything saturated."""
        results, flags = self._evaluate(self._begin(args, None))
        if self.options.boundary == "fixed":
            return FixedResult(words_of(self.plan.fixed, results), np.asarray(flags != 0.0))
        return FixedResult(float_words(flat_results(self.outputs, results)), np.asarray(flags != 0.0))

    def _evaluate(self, call: Call) -> tuple[list[Array], Array]:
        """Results (*lead, *port.shape) in float64, and the flags (*lead)."""
        named = {
            p.name: a.astype(np.float64, copy=False) for p, a in zip(self.inputs, call.arguments, strict=True)
        }
        given = list(self.plan.chip_arguments(named).values())
        float32 = self.options.boundary == "float32"
        if float32:
            given = [float_values(float_words(x)).reshape(x.shape) for x in given]
        *results, flags = self.compiled(*given)
        if float32:
            results = [float_values(float_words(x)).reshape(x.shape) for x in results]
        return results, flags

    def _tell(self, flags: Array) -> None:
        self.overflow = np.asarray(flags != 0.0)
        count = int(np.count_nonzero(self.overflow))
        self._states += self.overflow.size
        self._overflows += count
        if count:
            warnings.warn(
                f"{count} of {self.overflow.size} states saturated: widen the format, or sample a wider range"
                " of states (options speed, acceleration)",
                OverflowWarning,
                stacklevel=3,
            )


def _plan(recipe: Recipe, options: NumberOptions) -> Plan:
    """The function in fixed point: from the cache, if another process has made it."""
    key = None if recipe.key is None else f"{recipe.key}|{options}|plan"
    stored = default_cache().get(key) if key is not None else None
    if stored is not None:
        return Plan.from_bytes(stored)
    source = BareProgram(recipe.program()) if recipe.chip is None else recipe.chip()
    plan = Plan.of(make_function(source, options))
    if key is not None:
        default_cache().put(key, plan.to_bytes())
    return plan


def make_kernel(recipe: Recipe, target: str, settings: Settings) -> FixedKernel:
    """A kernel in fixed point on this CPU."""
    options = NumberOptions(**read_options(NumberOptions, target, PRESETS, settings.options, recipe.name))
    return FixedKernel(recipe, options, settings)
