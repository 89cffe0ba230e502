"""Compiled kernels of bare programs, without a robot."""

from __future__ import annotations

from typing import cast

from robomorph.compiler.program import compile_program
from robomorph.ir.program import Program
from robomorph.targets.cpu.kernel import Kernel


def kernel_of(program: Program, dtype: str, *, check_finite: bool = False) -> Kernel:
    """A CPU kernel that computes `program`."""
    return cast(Kernel, compile_program(program, dtype=dtype, check_finite=check_finite))
