"""The passes: what each keeps, and the order in which they run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum

from robomorph.ir.program import Program
from robomorph.passes.chunk import chunk
from robomorph.passes.cse import cse
from robomorph.passes.dce import dce
from robomorph.passes.fold import fold
from robomorph.passes.fuse import fuse
from robomorph.passes.order import order
from robomorph.passes.simplify import simplify

Pass = Callable[[Program], Program]


class Keeps(Enum):
    """What a pass keeps of every result in float64, from most to least. tests/passes/test_meaning.py holds
    each pass to its word, the last two against exact rational arithmetic."""

    BITS = "every bit, on all arguments: the signs of zeros, infinities and NaNs too"
    NUMBERS = "every bit where all values on the way to it are finite, but for the sign of a zero"
    FUSED = (
        "as NUMBERS in the interpreter; on targets no larger an error than each operation rounding by itself"
    )
    SUMS = "every sum of n terms to (n - 1) roundings of the sum of their sizes: in any order"


# A new pass is one file, one line here and its place below. Those in neither pipeline are asked for by a
# target or a driver: sums as trees and sines from the host (hardware), places for values between chunks
# (printers), larger results (native drivers).
PASSES: Mapping[str, Keeps] = {
    "balance": Keeps.SUMS,
    "chunk": Keeps.BITS,
    "cse": Keeps.NUMBERS,
    "dce": Keeps.BITS,
    "fold": Keeps.NUMBERS,
    "fuse": Keeps.FUSED,
    "layout": Keeps.BITS,
    "order": Keeps.BITS,
    "pad": Keeps.BITS,
    "simplify": Keeps.NUMBERS,
    "trigonometry": Keeps.BITS,
}

SIMPLIFY: tuple[Pass, ...] = (dce, fold, simplify, cse, simplify, cse, dce)
# What a target that schedules straight-line code for itself adds.
SCHEDULE: tuple[Pass, ...] = (fuse, order, chunk)


def run_passes(program: Program, passes: tuple[Pass, ...]) -> Program:
    for step in passes:
        program = step(program)
    return program
