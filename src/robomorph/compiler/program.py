"""Compile any program, with or without a robot behind it.

`compile_program` gives a kernel of any target, called with arrays. `compile_lanes` gives a handle for native
code that calls the machine code itself, many times, without Python. Inverse kinematics, planning, control
and tests all start here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from robomorph.compiler.fingerprint import source_fingerprint
from robomorph.compiler.specialise import no_collection
from robomorph.ir.program import Port, Program
from robomorph.ir.text import to_text
from robomorph.passes.fuse import fuse
from robomorph.runtime.kernel import AnyKernel, KernelStats, Recipe, Settings
from robomorph.targets import make_kernel
from robomorph.targets.cpu.handle import NativeHandle, compile_handle, stored_handle

if TYPE_CHECKING:
    from robomorph.ir.fixed import FixedProgram
    from robomorph.targets.cpu.fixed.words_kernel import WordsKernel


@dataclass(frozen=True)
class Deferred:
    """A program that is traced when it is first needed: whoever finds its code in the cache never pays for
    it. `key` names all that it is made from; None: its own text does, so that it is traced in any case."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    make: Callable[[], Program]
    key: str | None

    @cached_property
    def program(self) -> Program:
        with no_collection():
            return self.make()

    @property
    def full_key(self) -> str:
        return f"{source_fingerprint()}|{_digest(self.program) if self.key is None else self.key}"

    def recipe(self, dtype: str) -> Recipe:
        return Recipe(
            name=self.name,
            inputs=self.inputs,
            outputs=self.outputs,
            dtype=dtype,
            program=lambda: self.program,
            stats=lambda: KernelStats(**measure(self.program)),
            key=self.full_key,
        )

    def kernel(self, target: str, dtype: str, settings: Settings) -> AnyKernel:
        """A kernel of any target, called with arrays."""
        return make_kernel(self.recipe(dtype), target, settings)

    def lanes(self, lanes: int, dtype: str = "float64") -> NativeHandle:
        """Code for native drivers, see NativeHandle."""
        found = stored_handle(self.full_key, dtype, lanes)
        return compile_handle(self.full_key, self.program, 0, dtype, lanes) if found is None else found


def compile_program(
    program: Program,
    target: str = "cpu",
    *,
    dtype: str = "float64",
    threads: int = 0,
    check_finite: bool = True,
    options: Mapping[str, Any] | None = None,
    key: str | None = None,
) -> AnyKernel:
    """A kernel that computes `program`, whose ports may be anything. `key` names what it was made from, for
    the cache; without one the program's own text does."""
    settings = Settings(threads, check_finite, options or {})
    return make_kernel(program_recipe(program, dtype, key=key), target, settings)


def compile_fixed(fixed: FixedProgram, *, threads: int = 0) -> WordsKernel:
    """Machine code for any program in fixed point: its `run` does what `interpret_fixed` defines, and is
    faster. Kept in the cache under the program's own text."""
    from robomorph.targets.cpu.fixed.words_kernel import WordsKernel  # only who computes so imports it

    formats = hashlib.sha256(repr([(form.bits, form.frac) for form in fixed.formats]).encode()).hexdigest()
    key = f"{source_fingerprint()}|{_digest(fixed.program)}|{formats}"
    return WordsKernel(fixed, key=key, threads=threads)


def program_recipe(
    program: Program, dtype: str, *, key: str | None = None, max_barriers: int | None = None
) -> Recipe:
    """The recipe of a program that is already there."""
    return Recipe(
        name=program.name,
        inputs=program.inputs,
        outputs=program.outputs,
        dtype=dtype,
        program=lambda: program,
        stats=lambda: KernelStats(**measure(program)),
        key=f"{source_fingerprint()}|{_digest(program) if key is None else key}",
        max_barriers=max_barriers,
    )


def compile_lanes(
    program: Program, lanes: int, *, dtype: str = "float64", key: str | None = None, note: int = 0
) -> NativeHandle:
    """Code for native drivers: arrays in lane order (size, lanes), see NativeHandle. `key` names all that the
    program was made from, so that `stored_lanes` finds the code again without it; `note` is kept with it."""
    full_key = f"{source_fingerprint()}|{_digest(program) if key is None else key}"
    found = stored_handle(full_key, dtype, lanes)
    return compile_handle(full_key, program, note, dtype, lanes) if found is None else found


def stored_lanes(key: str, lanes: int, *, dtype: str = "float64") -> NativeHandle | None:
    """What `compile_lanes` left in the cache under this key, or None."""
    return stored_handle(f"{source_fingerprint()}|{key}", dtype, lanes)


def measure(program: Program) -> dict[str, Any]:
    """What a program costs: the fields of KernelStats."""
    fused = fuse(program)
    return {
        "algorithm": program.name,
        "formulation": "",
        "candidates": {},
        "operations": fused.counts(),
        "flops": program.cost(),
        "depth": fused.depth(),
        "nonzeros": program.nonzeros(),
    }


def _digest(program: Program) -> str:
    return f"program|{hashlib.sha256(to_text(program).encode()).hexdigest()}"
