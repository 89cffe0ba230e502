"""Three partitionings of the forward-dynamics gradient between the host's CPU and a GPU.

split: the host finds the accelerations and the motion and force of every link, the device the gradient of
inverse dynamics from them, the host multiplies by the inverse mass matrix.
fused: the device finds motions and forces itself, from the accelerations.
completely_fused: the device does everything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.algorithms.partitioned import trace_given_motion, trace_motion, trace_product
from robomorph.algorithms.registry import ALGORITHMS
from robomorph.compiler.program import compile_program, program_recipe
from robomorph.compiler.recipe import barrier_limit, robot_recipe
from robomorph.compiler.specialise import Request, Specialiser
from robomorph.errors import ArgumentError
from robomorph.ir.program import Program
from robomorph.passes.dce import dce
from robomorph.passes.pipeline import SIMPLIFY, run_passes
from robomorph.runtime.kernel import HostKernel, KernelSource, KernelStats, Settings
from robomorph.targets.gpu.device import Device
from robomorph.targets.gpu.kernel import GpuKernel, device_options, refuse_stream

Array = npt.NDArray[Any]

PARTITIONINGS = ("split", "fused", "completely_fused")
ALGORITHM = "forward_dynamics_gradient"


@dataclass(frozen=True)
class PartitionCost:
    """Per evaluation: bytes to and from the device. Per call: launches, transfers, and hand-overs between
    host and device work, each of which one side has to wait for."""

    bytes_in: int
    bytes_out: int
    launches: int
    transfers: int
    synchronisations: int

    @property
    def bytes_total(self) -> int:
        return self.bytes_in + self.bytes_out


class PartitionedPrograms:
    """The programs of the partitionings for one robot and request, each made at most once."""

    def __init__(self, specialiser: Specialiser, request: Request) -> None:
        if request.name != ALGORITHM:
            raise ArgumentError(f"partitioning: only {ALGORITHM} has one, found {request.name}")
        specialiser.require_masses(ALGORITHMS[ALGORITHM])
        self.specialiser, self.request = specialiser, request
        self.motion = cache(self._motion)
        self.given_motion = cache(self._given_motion)
        self.product = cache(self._product)
        self.gradient = cache(self._gradient)
        self.whole = cache(self._whole)

    @property
    def links(self) -> int:
        return len(self.specialiser.model.bodies)

    def device_program(self, partitioning: str) -> Program:
        """What the device computes."""
        makers = {"split": self.given_motion, "fused": self.gradient, "completely_fused": self.whole}
        return makers[partitioning]()

    def _simplified(self, program: Program) -> Program:
        return run_passes(dce(program), SIMPLIFY)

    def _motion(self, links: bool) -> Program:
        tree = self.specialiser.tree(regroup=True)
        return self._simplified(trace_motion(tree, links=links, wrench_links=self.request.wrench_links))

    def _given_motion(self) -> Program:
        return self._simplified(trace_given_motion(self.specialiser.tree(regroup=True)))

    def _product(self) -> Program:
        known = _structural_zeros(self.motion(False)) | _structural_zeros(self.given_motion())
        return self._simplified(trace_product(self.specialiser.tree(regroup=True), known))

    def _gradient(self) -> Program:
        request = Request("inverse_dynamics_gradient", ("dtau_dq", "dtau_dqd"), self.request.wrench_links)
        return self.specialiser.specialise(request).program

    def _whole(self) -> Program:
        return self.specialiser.specialise(self.request).program


def partition_cost(programs: PartitionedPrograms, partitioning: str, dtype: str) -> PartitionCost:
    """What a partitioning moves, launches and waits for."""
    program = programs.device_program(partitioning)
    itemsize = int(np.dtype(dtype).itemsize)
    hand_overs = 1 if partitioning == "completely_fused" else 2
    return PartitionCost(program.input_size * itemsize, program.output_size * itemsize, 1, 2, hand_overs)


class PartitionedGradient(HostKernel):
    """The forward-dynamics gradient with the call of a kernel; `cost` says what it moves.

    Device arrays and `stream` are for "completely_fused": the others do part of the work on the host.
    """

    def __init__(
        self,
        specialiser: Specialiser,
        request: Request,
        device: Device,
        *,
        partitioning: str,
        dtype: str,
        check_finite: bool = True,
        threads: int = 0,
        mapping: str | None = None,
        group_threads: int | None = None,
    ) -> None:
        if partitioning not in PARTITIONINGS:
            raise ArgumentError(
                f"partitioning: expected one of {', '.join(PARTITIONINGS)}, found {partitioning!r}"
            )
        self.programs = PartitionedPrograms(specialiser, request)
        super().__init__(robot_recipe(specialiser, request, dtype), check_finite=check_finite)
        self.partitioning = partitioning
        program = self.programs.device_program(partitioning)
        recipe = program_recipe(program, dtype, max_barriers=barrier_limit(self.programs.links))
        self.device_kernel = GpuKernel(
            recipe, device, mapping=mapping, group_threads=group_threads, check_finite=check_finite
        )
        self._host = partial(self._host_kernel, specialiser, threads)
        self._run = getattr(self, f"_run_{partitioning}")
        self._host_kernels: dict[str, Any] = {}

    @property
    def program(self) -> Program:
        """What the device computes."""
        return self.device_kernel.program

    @property
    def device(self) -> Device:
        return self.device_kernel.device

    @property
    def mapping(self) -> str | None:
        return self.device_kernel.mapping

    @property
    def cost(self) -> PartitionCost:
        return partition_cost(self.programs, self.partitioning, self.dtype)

    @property
    def source(self) -> KernelSource:
        """The program of the device and the source generated from it."""
        return self.device_kernel.source

    @property
    def stats(self) -> KernelStats:
        """What the device's part costs."""
        return self.device_kernel.stats

    def prepare(self, batch: int = 1) -> PartitionedGradient:
        """Compile now what a call with this batch size needs, on both sides."""
        self.device_kernel.prepare(batch)
        if self.partitioning != "completely_fused":
            self._before().prepare(batch)
            self._after().prepare(batch)
        return self

    def __call__(self, *args: Any, out: Any = None, stream: Any = None) -> Any:
        if any(self.device.adopt(value, stream) is not None for value in args):
            if self.partitioning == "completely_fused":
                return self.device_kernel(*args, out=out, stream=stream)
            raise ArgumentError(
                f"arguments: partitioning {self.partitioning!r} works on the host too, found device "
                "arrays: pass host arrays, or use partitioning='completely_fused'"
            )
        refuse_stream(stream)
        call = self._begin(args, out)
        named = self._run(call.arguments)
        return self._finish(call, [named[port.name] for port in self.outputs])

    # --- the three ways ----------------------------------------------------------------------------

    def _before(self) -> Any:
        links = self.partitioning == "split"
        return self._host(
            "motion and force" if links else "accelerations", partial(self.programs.motion, links)
        )

    def _after(self) -> Any:
        return self._host("product", self.programs.product)

    def _run_split(self, args: Sequence[Array]) -> dict[str, Array]:
        motion = self._before()(*args)
        gradient = self.device_kernel(args[0], args[1], motion.v, motion.a, motion.f)
        return self._finished(motion, gradient)

    def _run_fused(self, args: Sequence[Array]) -> dict[str, Array]:
        motion = self._before()(*args)
        gradient = self.device_kernel(args[0], args[1], motion.qdd, *args[3:])
        return self._finished(motion, gradient)

    def _run_completely_fused(self, args: Sequence[Array]) -> dict[str, Array]:
        results = self.device_kernel(*args)
        values = [results] if len(self.outputs) == 1 else list(results)
        return {port.name: value for port, value in zip(self.outputs, values, strict=True)}

    def _finished(self, motion: Any, gradient: Any) -> dict[str, Array]:
        product = self._after()(motion.minv, *gradient)
        return {
            "qdd": motion.qdd,
            "minv": motion.minv,
            "dqdd_dq": product.dqdd_dq,
            "dqdd_dqd": product.dqdd_dqd,
        }

    def _host_kernel(
        self, specialiser: Specialiser, threads: int, name: str, make: Callable[[], Program]
    ) -> Any:
        if name not in self._host_kernels:
            key = f"{specialiser.model.digest}|{self.programs.request.key}|partition {name}"
            settings: dict[str, Any] = {"threads": threads, "check_finite": self.check_finite}
            self._host_kernels[name] = compile_program(make(), dtype=self.dtype, key=key, **settings)
        return self._host_kernels[name]


def make_partitioned(
    specialiser: Specialiser, request: Request, target: str, dtype: str, settings: Settings
) -> PartitionedGradient:
    """The gradient that the option `partitioning` asks for."""
    device, chosen = device_options(target, settings)
    return PartitionedGradient(
        specialiser,
        request,
        device,
        partitioning=settings.options["partitioning"],
        dtype=dtype,
        check_finite=settings.check_finite,
        threads=settings.threads,
        **chosen,
    )


def _structural_zeros(program: Program) -> dict[str, list[bool]]:
    """Per output, which entries are the constant zero."""
    found: dict[str, list[bool]] = {}
    at = 0
    for port in program.outputs:
        found[port.name] = [program.is_zero(r) for r in program.results[at : at + port.size]]
        at += port.size
    return found
