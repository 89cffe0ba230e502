"""NVIDIA architectures: what limits how many blocks a multiprocessor holds, and figures of named GPUs."""

from __future__ import annotations

from dataclasses import dataclass

ARCHITECTURES = (75, 80, 86, 89, 90, 100, 120)  # compute capabilities that robomorph compiles for

REGISTERS = 65536  # per multiprocessor, on all of them
WARP = 32
_REGISTER_STEP = 256  # registers are handed to warps in portions of this many
_WARPS_STEP = 4  # and a block's warps in fours


@dataclass(frozen=True)
class Limits:
    """Per multiprocessor, from the CUDA C++ Programming Guide's table of compute capabilities."""

    threads: int
    blocks: int
    shared_bytes: int
    shared_reserved: int  # bytes of shared memory that every block costs beside its own


LIMITS: dict[int, Limits] = {
    75: Limits(1024, 16, 64 * 1024, 0),
    80: Limits(2048, 32, 164 * 1024, 1024),
    86: Limits(1536, 16, 100 * 1024, 1024),
    89: Limits(1536, 24, 100 * 1024, 1024),
    90: Limits(2048, 32, 228 * 1024, 1024),
    100: Limits(2048, 32, 228 * 1024, 1024),
    120: Limits(1536, 24, 100 * 1024, 1024),
}


@dataclass(frozen=True)
class Gpu:
    """Figures of a product as its maker states them: peak rates in 1e12 operations a second, a
    multiply-add counting two, and 1e9 bytes a second."""

    name: str
    architecture: int
    multiprocessors: int
    tflops32: float
    tflops64: float
    memory_gbs: float
    bus_gbs: float  # host to device, one way, PCIe as the card has it


GPUS: tuple[Gpu, ...] = (
    Gpu("T4", 75, 40, 8.1, 0.25, 320, 15.8),
    Gpu("A100 40GB PCIe", 80, 108, 19.5, 9.7, 1555, 31.5),
    Gpu("RTX 3090", 86, 82, 35.6, 0.56, 936, 31.5),
    Gpu("RTX 4090", 89, 128, 82.6, 1.29, 1008, 31.5),
    Gpu("H100 PCIe", 90, 114, 51.2, 25.6, 2039, 63.0),
    Gpu("B200", 100, 148, 74.5, 37.2, 8000, 63.0),
    Gpu("RTX 5090", 120, 170, 104.8, 1.64, 1792, 63.0),
)


@dataclass(frozen=True)
class Occupancy:
    """How full a multiprocessor can be with blocks of one kernel, and what the limit is."""

    blocks: int
    warps: int
    max_warps: int
    limit: str

    @property
    def fraction(self) -> float:
        return self.warps / self.max_warps


def occupancy(architecture: int, block_threads: int, registers: int, shared_bytes: int) -> Occupancy:
    """Theoretical occupancy, as NVIDIA's occupancy calculator defines it."""
    limits = LIMITS[architecture]
    warps = -(-block_threads // WARP)
    per_warp = -(-registers * WARP // _REGISTER_STEP) * _REGISTER_STEP
    resident = REGISTERS // per_warp // _WARPS_STEP * _WARPS_STEP if registers else limits.threads // WARP
    bounds = {
        "threads": limits.threads // WARP // warps,
        "blocks": limits.blocks,
        "registers": resident // warps,
        "shared memory": limits.shared_bytes // (shared_bytes + limits.shared_reserved)
        if shared_bytes + limits.shared_reserved
        else limits.blocks,
    }
    limit = min(bounds, key=bounds.__getitem__)
    return Occupancy(bounds[limit], bounds[limit] * warps, limits.threads // WARP, limit)
