"""Words in vectors of every width: run here where the CPU can, else compiled and looked at."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest

from robomorph.ir.fixed import FixedProgram, interpret_fixed
from robomorph.targets.cpu.fixed.emit import emit_fixed, word_bits
from robomorph.targets.cpu.fixed.words_kernel import WordsKernel
from robomorph.targets.cpu.host import host
from tests.targets.fixed.programs import some_words
from tests.targets.rtl.accelerators import accelerator


def program(**options: Any) -> FixedProgram:
    return accelerator("chain:3", "forward_dynamics_gradient", **options).fixed


@pytest.mark.parametrize("bits", [16, 32])
@pytest.mark.parametrize("vector_bits", [128, 256, 512])
def test_every_width_gives_the_same_words(
    vector_bits: int, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if vector_bits > host().vector_bits:
        pytest.skip(f"this CPU has vectors of {host().vector_bits} bits")
    fixed = program(bits=bits)
    narrow = replace(host(), vector_bits=vector_bits)
    monkeypatch.setattr("robomorph.targets.cpu.fixed.words_kernel.host", lambda: narrow)
    kernel, words = WordsKernel(fixed, key=None), some_words(fixed, 137, seed=4)
    assert kernel.lanes == vector_bits // word_bits(fixed)
    found, expected = kernel.run(words), interpret_fixed(fixed, words)
    np.testing.assert_array_equal(found.words, expected.words)
    np.testing.assert_array_equal(found.overflow, expected.overflow)


@pytest.mark.parametrize("bits", [16, 32])
def test_arm_gets_vector_instructions(bits: int) -> None:
    """Not run: this looks for NEON's minima on vectors, and for no call of anything outside."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    fixed = program(bits=bits)
    text = emit_fixed(fixed, 128 // word_bits(fixed), vector_bits=128).text
    machine = llvm.Target.from_triple("aarch64-linux-gnu").create_target_machine(cpu="neoverse-n1", opt=2)
    listing = machine.emit_assembly(llvm.parse_assembly(text, llvm.create_context()))
    used = r"\tsmin\tv\d+\.4s" if bits == 16 else r"\tcmgt\tv\d+\.2d"
    assert len(re.findall(used, listing)) > 100
    calls = set(re.findall(r"\tbl\t(\w+)", listing))
    assert all(re.match(r"chunk|read|write|tile|cordic", name) for name in calls), calls


def test_words_multiply_in_one_instruction() -> None:
    """Told that words have 32 bits, LLVM takes no multiplication of 64 by 64."""
    if "x86" not in host().triple:
        pytest.skip("for x86")
    fixed = accelerator("iiwa14", "inverse_dynamics", trig="host").fixed
    text = emit_fixed(fixed, 4, vector_bits=256).text
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple("x86_64-linux-gnu").create_target_machine(cpu="haswell", opt=2)
    listing = machine.emit_assembly(llvm.parse_assembly(text, llvm.create_context()))
    products = sum(node.op.name == "mul" for node in fixed.program.nodes)
    assert len(re.findall(r"\tvpmuldq\t", listing)) > 0.9 * products
    assert not re.search(r"\tvpmuludq\t", listing)
