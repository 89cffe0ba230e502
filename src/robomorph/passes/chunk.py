"""Chunking: places at which a target may cut a long program into functions.

Compilers and register allocators are more than linear in the length of a basic block; a cut
every few hundred operations costs a few stores and loads and makes them linear.
"""

from __future__ import annotations

from dataclasses import replace

from robomorph.ir.ops import COS, SIN
from robomorph.ir.program import Program

DEFAULT_CHUNK = 1000


def chunk(program: Program, size: int = DEFAULT_CHUNK) -> Program:
    """Cuts after the leading trigonometry and then at about every `size` nodes, evenly."""
    total = len(program.nodes)
    last_trig = max((i for i, n in enumerate(program.nodes) if n.op is SIN or n.op is COS), default=-1)
    start = last_trig + 1
    pieces = max(1, round((total - start) / size))
    bounds = [start + (total - start) * k // pieces for k in range(1, pieces + 1)]
    cuts = ([start] if 0 < start < total else []) + bounds
    return replace(program, cuts=tuple(sorted(set(cuts))) if total else ())
