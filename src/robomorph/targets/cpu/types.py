"""LLVM type and literal spellings for one dtype and lane count."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class LaneType:
    """A number per lane: a vector type, or a plain scalar when there is one lane."""

    dtype: str  # "float32" or "float64"
    lanes: int

    @property
    def scalar(self) -> str:
        return "double" if self.dtype == "float64" else "float"

    @property
    def integer(self) -> str:
        """The integer type of the same width, per lane."""
        return self._wide("i64" if self.dtype == "float64" else "i32")

    @property
    def boolean(self) -> str:
        """A truth per lane."""
        return self._wide("i1")

    @property
    def name(self) -> str:
        return self._wide(self.scalar)

    @property
    def suffix(self) -> str:
        """As intrinsics spell the type: v8f64, f32."""
        bits = "f64" if self.dtype == "float64" else "f32"
        return bits if self.lanes == 1 else f"v{self.lanes}{bits}"

    @property
    def bytes(self) -> int:
        """Size of one value of all lanes."""
        return self.lanes * self.item

    @property
    def align(self) -> int:
        """Of a value in a workspace, which begins at a multiple of 64 bytes."""
        return min(self.bytes, 64)

    @property
    def item(self) -> int:
        return 8 if self.dtype == "float64" else 4

    def literal(self, value: float) -> str:
        """A constant in all lanes, exact to the bit."""
        if self.dtype == "float32":
            value = float(np.float32(value))
        bits = f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
        return bits if self.lanes == 1 else f"splat ({self.scalar} {bits})"

    def integer_literal(self, value: int) -> str:
        kind = "i64" if self.dtype == "float64" else "i32"
        return str(value) if self.lanes == 1 else f"splat ({kind} {value})"

    def _wide(self, kind: str) -> str:
        return kind if self.lanes == 1 else f"<{self.lanes} x {kind}>"
