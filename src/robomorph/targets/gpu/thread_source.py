"""Source of the mapping with one thread per evaluation: the program as straight-line code."""

from __future__ import annotations

import numpy as np

from robomorph.ir.program import Program
from robomorph.passes.chunk import chunk
from robomorph.passes.layout import plan_layout
from robomorph.passes.order import order
from robomorph.targets.c_family import Block, BlockPrinter, Places, port_of
from robomorph.targets.gpu.dialect import GpuDialect
from robomorph.targets.gpu.launch import SHARED_LIMIT, LaunchPlan
from robomorph.targets.gpu.signature import heading, kernel_lines, load_lines, output_names, parameters

BLOCK_THREADS = 64  # small: single threads need many registers, and small batches many blocks
# Longer programs become several functions: compilers need more than linear time for a basic block.
CHUNK = 3000


def thread_plan(
    program: Program, dialect: GpuDialect, dtype: str, *, shared_limit: int = SHARED_LIMIT
) -> LaunchPlan:
    """The thread-per-evaluation kernel of a fused program, for blocks of `shared_limit` bytes."""
    program = chunk(order(program), CHUNK)
    itemsize = int(np.dtype(dtype).itemsize)
    stride = program.input_size | 1  # odd: rows of neighbouring threads meet in different banks
    threads = BLOCK_THREADS
    while threads > 8 and threads * stride * itemsize > min(SHARED_LIMIT, shared_limit):
        threads //= 2
    source = _Source(program, dialect, dtype, threads, stride)
    return LaunchPlan(
        mapping="thread",
        symbol=source.symbol,
        source=source.text(),
        dtype=dtype,
        inputs=program.inputs,
        outputs=program.outputs,
        tables=(),
        block_threads=threads,
        evaluations=threads,
        shared_bytes=threads * stride * itemsize,
        barriers=1,
        instructions=sum(program.counts().values()),
        flops=program.cost(),
        threads=1,
    )


class _Source:
    def __init__(self, program: Program, dialect: GpuDialect, dtype: str, threads: int, stride: int) -> None:
        self.program, self.dialect, self.dtype = program, dialect, dtype
        self.threads, self.stride = threads, stride
        self.symbol = f"{program.name}_thread"
        self.value = dialect.arithmetic(dtype).value
        self.layout = plan_layout(program)
        self.outputs = output_names(program)
        printer = BlockPrinter(program, self.layout, dialect.arithmetic(dtype), self._places())
        self.blocks = [printer.block(c) for c in range(len(self.layout.chunks))]

    def _places(self) -> Places:
        outputs = zip(self.outputs, self.program.outputs, strict=True)
        return Places(
            inputs=[f"own[{k}]" for k in range(self.program.input_size)],
            outputs=[f"{name}[{k}]" for name, port in outputs for k in range(port.size)],
            work="work",
        )

    def text(self) -> str:
        about = [
            f"one thread per evaluation, {self.threads} per block; "
            f"{sum(self.program.counts().values())} operations in {len(self.layout.chunks)} functions, "
            f"{self.layout.slot_count} values kept between them"
        ]
        lines = heading(self.program, self.dialect, self.dtype, about)
        for c, block in enumerate(self.blocks):
            lines += self._function(c, block)
        return "\n".join([*lines, *self._kernel()]) + "\n"

    def _used(self, block: Block) -> tuple[bool, list[int], bool]:
        """Which parameters a function needs: the arguments, these outputs, the workspace."""
        ports = [port_of(self.program.outputs, entry)[0] for entry in block.writes]
        outputs = [k for k, port in enumerate(self.program.outputs) if port in ports]
        return bool(block.reads), outputs, block.uses_slots

    def _function(self, c: int, block: Block) -> list[str]:
        reads, outputs, slots = self._used(block)
        params = [f"{self.dialect.share_read.format(t=self.value)} own"] if reads else []
        params += [f"{self.dialect.write.format(t=self.value)} {self.outputs[k]}" for k in outputs]
        params += [f"{self.dialect.private.format(t=self.value)} work"] if slots else []
        head = f"{self.dialect.function} part{c}({', '.join(params)})"
        return [head, "{", *(f"    {line}" for line in block.lines), "}", ""]

    def _call(self, c: int, block: Block) -> str:
        reads, outputs, slots = self._used(block)
        args = [f"pool + thread * {self.stride}"] if reads else []
        args += [f"{self.outputs[k]} + row * {self.program.outputs[k].size}" for k in outputs]
        args += ["work"] if slots else []
        return f"    part{c}({', '.join(args)});"

    def _kernel(self) -> list[str]:
        params = parameters(self.program, self.dialect, self.value)
        lines = kernel_lines(self.dialect, self.symbol, self.threads, params)
        lines += [
            f"    {self.dialect.shared.format(t=self.value, size=self.threads * self.stride)}",
            f"    const unsigned thread = {self.dialect.thread};",
            f"    const unsigned first = {self.dialect.block} * {self.threads};",
            "    const size_t row = first + thread;",
        ]
        lines += load_lines(
            self.program.inputs, evaluations=self.threads, threads=self.threads, stride=self.stride, first=0
        )
        lines += [f"    {self.dialect.barrier};", "    if (row >= n) return;"]
        slots = self.layout.slot_count
        if slots:
            lines.append(f"    {self.value} work[{slots}];")
        lines += [self._call(c, block) for c, block in enumerate(self.blocks)]
        return [*lines, "}"]
