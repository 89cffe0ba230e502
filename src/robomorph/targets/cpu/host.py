"""What this machine's CPU offers, as LLVM sees it."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from functools import cache

import llvmlite
import llvmlite.binding as llvm


@dataclass(frozen=True, slots=True)
class Host:
    """The CPU that kernels are compiled for."""

    triple: str
    cpu: str
    features: str
    vector_bits: int
    fma: bool

    def lanes(self, dtype: str) -> int:
        """Numbers of `dtype` in one vector register."""
        return self.vector_bits // (64 if dtype == "float64" else 32)

    @property
    def fingerprint(self) -> str:
        """Everything about the machine and the compiler that compiled code depends on."""
        llvm_version = ".".join(map(str, llvm.llvm_version_info))
        return "|".join((self.triple, self.cpu, self.features, llvmlite.__version__, llvm_version))


def available_cpus() -> int:
    """CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def host() -> Host:
    features = llvm.get_host_cpu_features()
    arm = platform.machine().lower() in ("arm64", "aarch64")
    bits = 512 if features.get("avx512f") else 256 if features.get("avx") else 128
    return Host(
        llvm.get_process_triple(),
        llvm.get_host_cpu_name(),
        features.flatten(),
        bits,
        bool(features.get("fma")) or arm,
    )
