"""The stacked residual of a problem: which blocks it has, and where each keeps its numbers.

A block is one thing asked of one frame (or of the centre of mass). Everything that decides what is traced
is in a `Layout`, which can be hashed; the numbers of a target (positions, weights, tolerances) are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

POSITION, ORIENTATION, AXIS, CENTER_OF_MASS = "position", "orientation", "axis", "center of mass"


class BlockSize(NamedTuple):
    """Numbers a block takes from the target, leaves as raw error, and has as rows of the residual."""

    target: int
    raw: int
    rows: int


# Raw errors are polynomial in the poses; native code turns them into rows (an angle needs a square root).
SIZES: dict[str, BlockSize] = {
    POSITION: BlockSize(3, 3, 3),
    ORIENTATION: BlockSize(9, 9, 3),
    AXIS: BlockSize(9, 3, 2),
    CENTER_OF_MASS: BlockSize(3, 3, 3),
}
# The kinds of raw error that native code knows (IkBlockKind).
_NATIVE_KIND: dict[str, int] = {POSITION: 0, CENTER_OF_MASS: 0, ORIENTATION: 1, AXIS: 2}


@dataclass(frozen=True, slots=True)
class Block:
    """One demand. `axis` is the frame's own axis to be pointed. `own_axes`: the rotation is measured about
    the target's axes (needed when they have different weights), not the world's."""

    kind: str
    frame: str | None = None
    axis: tuple[float, float, float] | None = None
    own_axes: bool = False

    @property
    def size(self) -> BlockSize:
        return SIZES[self.kind]


@dataclass(frozen=True)
class Layout:
    """All blocks of a problem; `weighted` when any row's weight is not one."""

    blocks: tuple[Block, ...]
    weighted: bool = False

    @cached_property
    def target_size(self) -> int:
        return sum(block.size.target for block in self.blocks)

    @cached_property
    def raw_size(self) -> int:
        return sum(block.size.raw for block in self.blocks)

    @cached_property
    def rows(self) -> int:
        return sum(block.size.rows for block in self.blocks)

    @cached_property
    def starts(self) -> tuple[BlockSize, ...]:
        """Where each block begins among targets, raw errors and rows."""
        columns = [[0, *accumulate(b.size[k] for b in self.blocks)][:-1] for k in range(3)]
        return tuple(BlockSize(*triple) for triple in zip(*columns, strict=True))

    @cached_property
    def bends(self) -> tuple[int, ...]:
        """For each block, its place among the rotations measured about their own axes, or -1."""
        out, count = [], 0
        for block in self.blocks:
            out.append(count if block.own_axes else -1)
            count += block.own_axes
        return tuple(out)

    @property
    def bend_count(self) -> int:
        return sum(block.own_axes for block in self.blocks)

    def native_blocks(self) -> list[tuple[int, int, int, int, int]]:
        """(kind, raw start, row start, rows, place among bends) of each block, as native code takes them."""
        return [
            (_NATIVE_KIND[block.kind], start.raw, start.rows, block.size.rows, bend)
            for block, start, bend in zip(self.blocks, self.starts, self.bends, strict=True)
        ]
