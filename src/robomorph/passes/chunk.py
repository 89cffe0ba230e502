"""Chunking: places at which a target may cut a long program into functions.

A short program is best left whole: the register allocator sees everything. In a long one the machine's
instruction cache and the compiler's time (more than linear in the length of a basic block) both ask for
small pieces; a cut costs a few stores and loads. The sizes are measured (docs/benchmarks.md).
"""

from __future__ import annotations

from dataclasses import replace

from robomorph.ir.ops import COS, SIN
from robomorph.ir.program import Program

WHOLE = 3500  # nodes up to which a program is not cut
PIECE = 300  # nodes in a piece of a longer one


def chunk(program: Program, whole: int = WHOLE, piece: int = PIECE) -> Program:
    """Marks places where a long program may be cut into functions: compile time stays linear.

    Cuts are after the leading trigonometry and, in a long program, at about every `piece` nodes, evenly.
    """
    total = len(program.nodes)
    last_trig = max((i for i, n in enumerate(program.nodes) if n.op is SIN or n.op is COS), default=-1)
    start = last_trig + 1
    pieces = 1 if total <= whole else max(1, round((total - start) / piece))
    bounds = [start + (total - start) * k // pieces for k in range(1, pieces + 1)]
    cuts = ([start] if 0 < start < total else []) + bounds
    return replace(program, cuts=tuple(sorted(set(cuts))) if total else ())
