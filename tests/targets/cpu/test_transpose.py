"""Ports of every width, in rows between pages that must not be touched: right values, and nothing outside."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import pytest

from robomorph.ir.ops import CONST, INPUT, NEG
from robomorph.ir.program import Node, Port, Program
from robomorph.targets.cpu.build import LoadedCode, compile_object
from robomorph.targets.cpu.emit import emit
from robomorph.targets.cpu.host import host

WIDTHS = range(1, 41)
PAGE = mmap.PAGESIZE
# Lane counts below, at and above common vectors: LLVM splits what the CPU has no register for.
LANES = [("float64", 2), ("float64", 4), ("float64", 8), ("float32", 4), ("float32", 8), ("float32", 16)]


def negating(constant: np.ndarray) -> Program:
    """A port of each width in and out: every entry negated or, where `constant`, its place in the results."""
    count = len(constant)
    nodes = [Node(INPUT, (), float(k)) for k in range(count)]
    nodes += [Node(CONST, (), float(k)) if constant[k] else Node(NEG, (k,)) for k in range(count)]
    inputs = tuple(Port(f"a{n}", (n,)) for n in WIDTHS)
    outputs = tuple(Port(f"b{n}", (n,)) for n in WIDTHS)
    return Program("negate", inputs, outputs, tuple(nodes), tuple(range(count, 2 * count)))


@contextmanager
def fenced(values: np.ndarray, at_end: bool) -> Iterator[Any]:
    """A copy of an array at the start or the end of pages, between two that may not be read or written."""
    pages = -(-values.nbytes // PAGE)
    memory = mmap.mmap(-1, (pages + 2) * PAGE)
    first = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    open_pages = mmap.PROT_READ | mmap.PROT_WRITE
    for fence in (first, first + (pages + 1) * PAGE):
        assert protect(fence, PAGE, 0) == 0
    try:
        offset = PAGE + (pages * PAGE - values.nbytes if at_end else 0)
        copy = np.frombuffer(memory, values.dtype, values.size, offset).reshape(values.shape)
        copy[...] = values
        yield copy
        rest = np.frombuffer(memory, np.uint8, pages * PAGE, PAGE)
        assert not rest[: offset - PAGE].any() and not rest[offset - PAGE + values.nbytes :].any()
    finally:
        assert protect(first, (pages + 2) * PAGE, open_pages) == 0


def call(address: int, inputs: list[Any], outputs: list[Any], workspace: int) -> None:
    space = np.empty(workspace + 64, np.uint8)
    aligned = -(-space.ctypes.data // 64) * 64
    tables = [(ctypes.c_void_p * len(side))(*(a.ctypes.data for a in side)) for side in (inputs, outputs)]
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(address)(
        ctypes.addressof(tables[0]), ctypes.addressof(tables[1]), aligned
    )


@pytest.mark.parametrize("constants", [0.0, 0.3, 0.85, 1.0])
@pytest.mark.parametrize(("dtype", "lanes"), LANES)
def test_rows_of_every_width(dtype: str, lanes: int, constants: float) -> None:
    rng = np.random.default_rng(lanes)
    constant = rng.random(sum(WIDTHS)) < constants
    program = negating(constant)
    emitted = emit(program, dtype, lanes, fma=host().fma, vector_bits=host().vector_bits)
    code = LoadedCode(compile_object(emitted.text, 1), emitted.symbol)
    first = 0
    blocks, expected = [], []
    for n in WIDTHS:
        block = rng.normal(size=(lanes, n)).astype(dtype)
        places = np.arange(first, first + n)
        blocks.append(block)
        expected.append(np.where(constant[places], places, -block).astype(dtype))
        first += n
    for at_end in (False, True):
        _run_fenced(code.address, blocks, expected, emitted.workspace, at_end)


def _run_fenced(address: int, blocks: list[Any], expected: list[Any], workspace: int, at_end: bool) -> None:
    with ExitStack() as fences:
        inputs = [fences.enter_context(fenced(b, at_end)) for b in blocks]
        outputs = [fences.enter_context(fenced(np.full_like(b, np.nan), at_end)) for b in blocks]
        call(address, inputs, outputs, workspace)
        for given, kept, found, wanted in zip(blocks, inputs, outputs, expected, strict=True):
            assert np.array_equal(kept, given)
            assert np.array_equal(found, wanted), f"{wanted.shape[1]} columns"
