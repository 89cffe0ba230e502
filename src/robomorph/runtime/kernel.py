"""What every kernel is, whatever its target: what it is made from, what it tells, and how it is called."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from robomorph.errors import ArgumentError
from robomorph.ir.program import Port, Program
from robomorph.ir.text import to_text
from robomorph.runtime.arguments import fit_arguments
from robomorph.runtime.array_kinds import Array
from robomorph.runtime.outputs import fit_outputs
from robomorph.runtime.pickling import Origin, reduce_kernel
from robomorph.runtime.results import result_type
from robomorph.runtime.values import UnitPart, check_values


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
class Recipe:
    """What a target makes a kernel from. It knows no robot: ports are known at once, everything else is made
    when it is first asked for.

    key: names all that the program was made from, for the cache; None keeps nothing on disk. units: parts of
    the input q that must have length one. max_barriers: how often the threads of a GPU's group may wait for
    each other. chip: what fixed point asks about the function (`targets.fixed_point.function.ChipSource`)."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    dtype: str
    program: Callable[[], Program]
    stats: Callable[[], KernelStats]
    key: str | None = None
    units: tuple[UnitPart, ...] = ()
    max_barriers: int | None = None
    chip: Callable[[], Any] | None = None

    def unit_slots(self) -> tuple[tuple[int, int, int], ...]:
        """(input, first entry, count) of every unit, as the launcher takes them."""
        names = [port.name for port in self.inputs]
        return tuple((names.index("q"), unit.start, unit.stop - unit.start) for unit in self.units)


@dataclass(frozen=True)
class Settings:
    """How a kernel is to work, beside what it computes; `options` are the target's own."""

    threads: int = 0
    check_finite: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)

    def refuse_options(self, target: str) -> None:
        if self.options:
            raise ArgumentError(f"options: target {target!r} has none, found {', '.join(self.options)}")


class AnyKernel(Protocol):
    """What every kernel offers, whatever its target."""

    @property
    def dtype(self) -> str:
        """Of arguments and results: "float32" or "float64"."""

    @property
    def inputs(self) -> tuple[Port, ...]:
        """The arguments of a call, in their order."""

    @property
    def outputs(self) -> tuple[Port, ...]:
        """The results of a call, in their order."""

    @property
    def program(self) -> Program:
        """What the target computes."""

    @property
    def stats(self) -> Any:
        """What the kernel costs."""

    @property
    def source(self) -> Any:
        """The program's text and the generated code."""

    def __call__(self, *args: Any, out: Any = None) -> Any:
        """Arguments (..., n) with any leading batch dimensions; results likewise."""


@dataclass(frozen=True)
class Call:
    """A call that was read: arguments (*lead, *port.shape), fitted and checked, and where results go."""

    arguments: list[Array]
    lead: tuple[int, ...]
    out: Any
    places: list[Array] | None


class HostKernel(ABC):
    """A kernel that is called with arrays of the host: everything but the computing itself.

    A target's `__call__` reads the call (`_begin`), computes, and hands over the results (`_finish`):
    arguments are fitted and checked, `out` is checked before anything is computed, results go where they
    belong."""

    origin: Origin | None = None

    def __init__(self, recipe: Recipe, *, check_finite: bool = True) -> None:
        self.recipe, self.check_finite = recipe, check_finite
        self._result = result_type(recipe.name, self.outputs)

    @property
    def name(self) -> str:
        return self.recipe.name

    @property
    def dtype(self) -> str:
        return self.recipe.dtype

    @property
    def inputs(self) -> tuple[Port, ...]:
        return self.recipe.inputs

    @property
    def outputs(self) -> tuple[Port, ...]:
        return self.recipe.outputs

    @property
    def program(self) -> Program:
        """The program this kernel computes, as the interpreter defines it."""
        return self.recipe.program()

    @property
    def stats(self) -> KernelStats:
        """Operations, depth, nonzeros and formulation."""
        return self.recipe.stats()

    @property
    def source(self) -> KernelSource:
        """The program's text and the generated code."""
        return KernelSource(to_text(self.program), self._code())

    def _code(self) -> str:
        return ""

    @abstractmethod
    def __call__(self, *args: Any, out: Any = None) -> Any:
        """Arguments (..., n) with any leading batch dimensions; results likewise."""

    def _begin(self, args: Sequence[Any], out: Any) -> Call:
        """The call, read and checked."""
        fitted = fit_arguments(self.inputs, args, self.dtype)
        if self.check_finite:
            check_values(self.inputs, fitted, self.recipe.units)
        lead = fitted[0].shape[: fitted[0].ndim - len(self.inputs[0].shape)]
        places = None if out is None else fit_outputs(self.outputs, out, lead, self.dtype)
        return Call(fitted, lead, out, places)

    def _finish(self, call: Call, results: Sequence[Array]) -> Any:
        """What the call returns, from results (*lead, *port.shape), one per output."""
        if call.places is None:
            return self._bundle(results)
        for place, result in zip(call.places, results, strict=True):
            place[...] = result
        return call.out

    def _bundle(self, results: Sequence[Any]) -> Any:
        return results[0] if self._result is None else self._result(*results)

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_kernel(self)
