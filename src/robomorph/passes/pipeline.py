"""The passes in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable

from robomorph.ir.program import Program
from robomorph.passes.chunk import chunk
from robomorph.passes.cse import cse
from robomorph.passes.dce import dce
from robomorph.passes.fold import fold
from robomorph.passes.fuse import fuse
from robomorph.passes.order import order
from robomorph.passes.simplify import simplify

Pass = Callable[[Program], Program]

# A new pass is one file and one entry here.
SIMPLIFY: tuple[Pass, ...] = (dce, fold, simplify, cse, simplify, cse, dce)
# What a target that schedules straight-line code for itself adds.
SCHEDULE: tuple[Pass, ...] = (fuse, order, chunk)

# Files here that a target or a driver asks for by itself: sums as trees and sines from the host (hardware),
# places for values between chunks (printers), larger results (native drivers).
BY_REQUEST = ("balance", "layout", "pad", "trigonometry")


def run_passes(program: Program, passes: tuple[Pass, ...]) -> Program:
    for step in passes:
        program = step(program)
    return program
