"""Code for vectors of every width: run here where the CPU can, else compiled and looked at."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest

import robomorph
from robomorph.compiler.specialise import make_request
from robomorph.ir.interpret import interpret
from robomorph.ir.program import Program
from robomorph.passes.pipeline import SCHEDULE, run_passes
from robomorph.runtime._native import NativeKernel
from robomorph.runtime.results import result_type
from robomorph.targets.cpu.build import LoadedCode, assembly, compile_object
from robomorph.targets.cpu.emit import emit
from robomorph.targets.cpu.host import host
from robomorph.targets.cpu.writer import Emitted
from tests.oracle.compare import assert_close, assert_same_bits

ITEM_BITS = {"float64": 64, "float32": 32}
ROWS = 37
# Seven columns, narrower than some vectors; mostly structural zeros; and rows of 36 and of 9 numbers.
CASES = {
    "arm": ("iiwa14", "forward_dynamics_gradient"),
    "legs": ("hyq", "inverse_dynamics_gradient"),
    "chain": ("chain:9", "mass_matrix"),
}


@cache
def program_of(case: str) -> Program:
    source, function = CASES[case]
    robot = robomorph.load(source)
    request = make_request(robot.model, function)
    return run_passes(robot.specialiser.specialise(request).program, SCHEDULE)


def inputs_of(program: Program, dtype: str) -> list[Any]:
    rng = np.random.default_rng(4)
    return [rng.uniform(-1.0, 1.0, (ROWS, *port.shape)).astype(dtype) for port in program.inputs]


def run_lanes(program: Program, emitted: Emitted, dtype: Any, lanes: int, inputs: list[Any]) -> list[Any]:
    code = LoadedCode(compile_object(emitted.text), emitted.symbol)
    kernel = NativeKernel(
        in_shapes=tuple(port.shape for port in program.inputs),
        out_shapes=tuple(port.shape for port in program.outputs),
        dtype=dtype,
        lanes=lanes,
        lane_fn=code.address,
        single_fn=code.address,
        workspace=emitted.workspace,
        threads=1,
        result_type=result_type("result", program.outputs),
    )
    found = kernel(*inputs)
    return list(found) if isinstance(found, tuple) else [found]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("case", CASES)
def test_every_width_gives_the_same_bits(case: str, dtype: str) -> None:
    program, inputs = program_of(case), inputs_of(program_of(case), dtype)
    found = {}
    for bits in (128, 256, 512):
        if bits <= host().vector_bits:
            lanes = bits // ITEM_BITS[dtype]
            emitted = emit(program, dtype, lanes, fma=host().fma, vector_bits=bits)
            found[bits] = run_lanes(program, emitted, dtype, lanes, inputs)
    expected = interpret(program, dict(zip((p.name for p in program.inputs), inputs, strict=True)), dtype)
    for k, port in enumerate(program.outputs):
        assert_close(
            found[128][k], expected[port.name], f"{case} {port.name}", 1e-10 if dtype == "float64" else 1e-2
        )
        for bits, results in found.items():
            assert_same_bits(results[k], found[128][k], f"{case} {port.name}: {bits} bits against 128")


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_arm_gets_vector_instructions(dtype: str) -> None:
    """Not run: this looks for NEON's fused multiply-add on vectors, and for no call of a scalar one."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    lanes = 128 // ITEM_BITS[dtype]
    text = emit(program_of("arm"), dtype, lanes, fma=True, vector_bits=128).text
    machine = llvm.Target.from_triple("aarch64-linux-gnu").create_target_machine(cpu="neoverse-n1", opt=2)
    listing = machine.emit_assembly(llvm.parse_assembly(text, llvm.create_context()))
    arrangement = "2d" if dtype == "float64" else "4s"
    assert len(re.findall(rf"\tfml[as]\tv\d+\.{arrangement}", listing)) > 500
    assert not re.search(r"\tbl\tfma", listing)


@pytest.mark.skipif(
    host().vector_bits < 256 or "x86" not in host().triple, reason="vectors as wide as the stack"
)
def test_spilled_vectors_are_aligned() -> None:
    """Unaligned, each would straddle two cache lines: a sixth of the speed."""
    bits = host().vector_bits
    emitted = emit(program_of("arm"), "float64", bits // 64, fma=host().fma, vector_bits=bits)
    wide = {256: "ymm", 512: "zmm"}[bits]
    spills = [
        line for line in assembly(emitted.text).splitlines() if re.search(rf"%{wide}\d+, .*\(%rsp\)", line)
    ]
    assert len(spills) > 50
    assert all("vmova" in line for line in spills)
