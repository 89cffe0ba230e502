"""Compiled kernels of bare programs, without a robot."""

from __future__ import annotations

import hashlib

from robomorph.compiler.fingerprint import source_fingerprint
from robomorph.ir.program import Program
from robomorph.ir.text import to_text
from robomorph.runtime.kernel import Kernel, KernelPlan, KernelStats
from robomorph.targets.cpu.compile import compile_variant, emit_for_host
from robomorph.targets.cpu.host import host


def kernel_of(program: Program, dtype: str, *, check_finite: bool = False) -> Kernel:
    """A CPU kernel that computes `program`."""
    key = source_fingerprint() + hashlib.sha256(to_text(program).encode()).hexdigest()
    lanes = host().lanes(dtype)
    plan = KernelPlan(
        name=program.name,
        inputs=program.inputs,
        outputs=program.outputs,
        dtype=dtype,
        program=lambda: program,
        stats=lambda: KernelStats(
            program.name, "", {}, program.counts(), program.cost(), program.depth(), {}
        ),
        variant=lambda n: compile_variant(key, lambda: program, dtype, n),
        code=lambda: emit_for_host(program, dtype, lanes).text,
        lanes=lanes,
    )
    return Kernel(plan, check_finite=check_finite)
