"""What the GPU kernels of a robot would cost, found without a GPU: compiled for real, the rest computed.

Reported by the compiler: registers, spills, stack, code size. Counted: barriers, bytes, operations. Computed
from makers' figures: occupancy, arithmetic intensity. Estimated: the roofline, an upper bound and no
measurement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from robomorph.compiler.partition import (
    ALGORITHM,
    PARTITIONINGS,
    PartitionCost,
    PartitionedPrograms,
    partition_cost,
)
from robomorph.compiler.program import program_recipe
from robomorph.compiler.recipe import barrier_limit
from robomorph.compiler.specialise import make_request
from robomorph.errors import TargetError
from robomorph.robot import Robot
from robomorph.targets.gpu.cuda.architectures import GPUS, Gpu, Occupancy, occupancy
from robomorph.targets.gpu.cuda.dialect import CUDA
from robomorph.targets.gpu.cuda.nvrtc import CubinInfo, nvrtc
from robomorph.targets.gpu.kernel import MAPPINGS, make_launch_plan
from robomorph.targets.gpu.launch import LaunchPlan

# The derivatives themselves: what every partitioning delivers.
OUTPUTS = ("dqdd_dq", "dqdd_dqd")
# Straight-line code of more operations than this takes the assembler minutes per architecture.
LARGE = 8000
_WORKERS = 2


@dataclass(frozen=True)
class Compiled:
    """One kernel for one architecture."""

    architecture: int
    info: CubinInfo
    occupancy: Occupancy


@dataclass(frozen=True)
class Roofline:
    """Evaluations per second that a GPU's peak rates allow at most, and which of them is the limit: with data
    that comes from the host and goes back, and with data that stays on the device."""

    gpu: Gpu
    per_second: float
    limit: str
    resident_per_second: float
    resident_limit: str


@dataclass(frozen=True)
class KernelReport:
    """One partitioning in one mapping. `host_flops` is what the CPU does per evaluation beside it."""

    partitioning: str
    mapping: str
    plan: LaunchPlan
    cost: PartitionCost
    host_flops: int
    barrier_limit: int
    compiled: tuple[Compiled, ...]
    roofline: tuple[Roofline, ...]
    problem: str | None = None  # why it was not compiled

    @property
    def executed_flops(self) -> int:
        """Arithmetic per evaluation as carried out: in a group, waiting threads and repeated work count."""
        if self.mapping == "thread":
            return self.plan.flops
        return 2 * self.plan.instructions * self.plan.threads

    @property
    def intensity(self) -> float:
        """Operations of the program per byte moved to or from device memory."""
        return self.plan.flops / self.cost.bytes_total


@dataclass(frozen=True)
class MissingKernel:
    """A mapping that does not exist for a robot, and why."""

    partitioning: str
    mapping: str
    problem: str


def gpu_report(
    robot: Robot,
    *,
    dtype: str = "float32",
    architectures: Sequence[int],
    mappings: Sequence[str] = MAPPINGS,
    compile_large: bool = False,
    progress: Callable[[str], None] = lambda name: None,
) -> tuple[list[KernelReport], list[MissingKernel]]:
    """Every partitioning in the mappings, compiled for every architecture, and those that do not exist."""
    programs = PartitionedPrograms(robot.specialiser, make_request(robot.model, ALGORITHM, outputs=OUTPUTS))
    found = list(_reports(programs, dtype, architectures, mappings, compile_large, progress))
    kernels = [kernel for kernel in found if isinstance(kernel, KernelReport)]
    return kernels, [kernel for kernel in found if isinstance(kernel, MissingKernel)]


def _reports(
    programs: PartitionedPrograms,
    dtype: str,
    architectures: Sequence[int],
    mappings: Sequence[str],
    compile_large: bool,
    progress: Callable[[str], None],
) -> Iterator[KernelReport | MissingKernel]:
    limit = barrier_limit(programs.links)
    for partitioning in PARTITIONINGS:
        recipe = program_recipe(programs.device_program(partitioning), dtype, max_barriers=limit)
        for mapping in mappings:
            progress(f"{partitioning}, {mapping}")
            try:
                plan = make_launch_plan(recipe, CUDA, mapping)
            except TargetError as error:  # larger than any shared memory
                yield MissingKernel(partitioning, mapping, str(error))
                continue
            problem = None
            if mapping == "thread" and plan.instructions > LARGE and not compile_large:
                problem = f"straight-line code of {plan.instructions} operations: compile with --large"
            yield KernelReport(
                partitioning,
                mapping,
                plan,
                partition_cost(programs, partitioning, dtype),
                _host_flops(programs, partitioning),
                limit,
                () if problem else _compile(plan, architectures),
                tuple(_roofline(plan, gpu) for gpu in GPUS if gpu.architecture in architectures),
                problem,
            )


def _compile(plan: LaunchPlan, architectures: Sequence[int]) -> tuple[Compiled, ...]:
    compiler = nvrtc()

    def one(architecture: int) -> Compiled:
        info = compiler.compile(plan.source, architecture, plan.symbol).info
        full = occupancy(architecture, plan.block_threads, info.registers, plan.shared_bytes)
        return Compiled(architecture, info, full)

    with ThreadPoolExecutor(_WORKERS) as pool:  # the compiler runs outside Python's lock
        return tuple(pool.map(one, architectures))


def _host_flops(programs: PartitionedPrograms, partitioning: str) -> int:
    if partitioning == "completely_fused":
        return 0
    return programs.motion(partitioning == "split").cost() + programs.product().cost()


def _roofline(plan: LaunchPlan, gpu: Gpu) -> Roofline:
    """The classical roofline, and the same with the bus as a third roof."""
    flops = plan.flops if plan.mapping == "thread" else 2 * plan.instructions * plan.threads
    peak = gpu.tflops32 if plan.dtype == "float32" else gpu.tflops64
    seconds = {
        "arithmetic": flops / (peak * 1e12),
        "device memory": (plan.bytes_in + plan.bytes_out) / (gpu.memory_gbs * 1e9),
        "bus": max(plan.bytes_in, plan.bytes_out) / (gpu.bus_gbs * 1e9),  # both ways at once
    }
    limit = max(seconds, key=seconds.__getitem__)
    on_device = max(("arithmetic", "device memory"), key=seconds.__getitem__)
    return Roofline(gpu, 1.0 / seconds[limit], limit, 1.0 / seconds[on_device], on_device)


def kernel_data(report: KernelReport) -> dict[str, Any]:
    """One kernel as plain data."""
    plan, cost = report.plan, report.cost
    return {
        "partitioning": report.partitioning,
        "mapping": report.mapping,
        "threads_per_evaluation": plan.threads,
        "evaluations_per_block": plan.evaluations,
        "barriers": plan.barriers,
        "barrier_limit": report.barrier_limit,
        "instructions_per_thread": plan.instructions,
        "flops": plan.flops,
        "flops_executed": report.executed_flops,
        "host_flops": report.host_flops,
        "shared_bytes_per_block": plan.shared_bytes,
        "table_bytes": plan.table_bytes,
        "bytes_in": cost.bytes_in,
        "bytes_out": cost.bytes_out,
        "launches": cost.launches,
        "transfers": cost.transfers,
        "host_synchronisations": cost.synchronisations,
        "flops_per_byte": report.intensity,
        "not_compiled": report.problem,
        "compiled": [
            {
                "architecture": f"sm_{c.architecture}",
                "registers": c.info.registers,
                "warnings": list(c.info.warnings),
                "spill_store_bytes": c.info.spill_stores,
                "spill_load_bytes": c.info.spill_loads,
                "stack_bytes": c.info.stack,
                "code_bytes": c.info.code_bytes,
                "occupancy": c.occupancy.fraction,
                "occupancy_limit": c.occupancy.limit,
            }
            for c in report.compiled
        ],
        "roofline_estimates": [
            {
                "gpu": r.gpu.name,
                "evaluations_per_second_at_most": r.per_second,
                "limit": r.limit,
                "resident_evaluations_per_second_at_most": r.resident_per_second,
                "resident_limit": r.resident_limit,
            }
            for r in report.roofline
        ],
    }
