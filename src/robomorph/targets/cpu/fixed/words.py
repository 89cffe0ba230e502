"""LLVM type and literal spellings for words in lanes."""

from __future__ import annotations

from dataclasses import dataclass

from robomorph.targets.cpu.types import LaneType

# Words of up to so many bits have products of 32.
NARROW = 16


@dataclass(frozen=True, slots=True)
class WordType:
    """A signed integer of 32 or 64 bits per lane: a vector type, or a plain one when there is one lane."""

    bits: int
    lanes: int

    @property
    def scalar(self) -> str:
        return f"i{self.bits}"

    @property
    def name(self) -> str:
        return self.of(self.scalar)

    @property
    def boolean(self) -> str:
        """A truth per lane."""
        return self.of("i1")

    @property
    def bytes(self) -> int:
        return self.lanes * self.bits // 8

    @property
    def suffix(self) -> str:
        """As intrinsics spell the type."""
        return self.scalar if self.lanes == 1 else f"v{self.lanes}{self.scalar}"

    @property
    def wide(self) -> WordType:
        """As many words of 64 bits."""
        return WordType(64, self.lanes)

    @property
    def reals(self) -> LaneType:
        """As many numbers of the arrays."""
        return LaneType("float64", self.lanes)

    def of(self, kind: str) -> str:
        """So many of a kind of scalar."""
        return kind if self.lanes == 1 else f"<{self.lanes} x {kind}>"

    def literal(self, value: int) -> str:
        """A constant in all lanes."""
        return str(value) if self.lanes == 1 else f"splat ({self.scalar} {value})"
