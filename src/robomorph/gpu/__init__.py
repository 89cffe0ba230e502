"""Kernels on GPUs: calls, partitionings of the forward-dynamics gradient, export and report."""

from __future__ import annotations

from robomorph.gpu.devices import GPU_TARGETS, open_gpu
from robomorph.gpu.kernel import GpuKernel
from robomorph.gpu.partition import PARTITIONINGS, PartitionedGradient

__all__ = ["GPU_TARGETS", "PARTITIONINGS", "GpuKernel", "PartitionedGradient", "open_gpu"]
