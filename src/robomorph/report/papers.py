"""Figures that others published, to stand beside ours: always named as theirs, never mixed with ours."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Anchor:
    """Counted from the authors' public Verilog for iiwa: 32-bit words (Q16.16), gravity zero, ideal glue."""

    name: str = "anchor (authors' Verilog)"
    latency: int = 34
    interval: int = 24
    multipliers: int = 1328
    constant_multipliers: int = 2160
    adders: int = 2492
    flip_flops: int = 62418


@dataclass(frozen=True, slots=True)
class PapersChip:
    """Their synthesised chip at 12 nm, as published, from and to: a placed design in another technology."""

    name: str = "papers, 12 nm, placed"
    area_mm2: tuple[float, float] = (1.627, 1.885)
    power_w: tuple[float, float] = (0.921, 1.095)
    clock_mhz: tuple[float, float] = (250.0, 400.0)


ANCHOR = Anchor()
PAPERS_CHIP = PapersChip()
KEPT_BY_PAPERS = 0.333  # of the average sparsity, by their superposed unit
