"""What `Robot.compile` may be asked for beside an algorithm, by target: for type checkers alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict


class Wishes(TypedDict, total=False):
    """Of every target."""

    dtype: str
    threads: int | None
    outputs: Sequence[str] | None
    frame: str | None
    f_ext: bool | Sequence[str]
    formulation: str | None
    frames: Sequence[str] | None
    derivative: str | None
    check_finite: bool | None


class GpuWishes(Wishes, total=False):
    """Of "cuda" and "opencl" (docs/gpu.md)."""

    device: int | None
    mapping: str | None
    group_threads: int | None


class FixedWishes(Wishes, total=False):
    """Of "fixed": a preset, and whatever `targets.fixed_point.options.NumberOptions` has."""

    preset: str
    format: str | None
    bits: int
    ranges: str
    constant_bits: int | None
    speed: float
    acceleration: float
    samples: int
    step: int
    trig: str
    minv: str
    boundary: str
    structure: str
    link_scale: int


class RtlWishes(FixedWishes, total=False):
    """Of "rtl": the same, and whatever `targets.rtl.options.Options` has."""

    queue: int
    pipelines: int
    units: str
    fold: int | None
    unit_latency: int | None
    memories: bool
    interval: int | None
    period: float
    latency: int | None
    levels: int
    reciprocal_stages: int
    rotate_stages: int
    multiply_stages: int
    scale_by_adders: bool
    optimise: bool
    trace: bool
