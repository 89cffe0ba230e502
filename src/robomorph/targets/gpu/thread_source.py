"""Source of the mapping with one thread per evaluation: the program as straight-line code."""

from __future__ import annotations

import numpy as np

from robomorph.ir.program import Program
from robomorph.passes.chunk import chunk
from robomorph.passes.order import order
from robomorph.targets.c_family import BlockPrinter, Places, port_of
from robomorph.targets.cpu.layout import plan_layout
from robomorph.targets.gpu.dialect import GpuDialect
from robomorph.targets.gpu.launch import SHARED_LIMIT, LaunchPlan
from robomorph.targets.gpu.signature import heading, kernel_lines, load_lines, output_names, parameters

BLOCK_THREADS = 64  # small: single threads need many registers, and small batches many blocks
# Longer programs become several functions: compilers need more than linear time for a basic block.
CHUNK = 3000


def thread_plan(program: Program, dialect: GpuDialect, dtype: str) -> LaunchPlan:
    """The thread-per-evaluation kernel of a fused program."""
    program = chunk(order(program), CHUNK)
    itemsize = int(np.dtype(dtype).itemsize)
    stride = program.input_size | 1  # odd: rows of neighbouring threads meet in different banks
    threads = BLOCK_THREADS
    while threads > 32 and threads * stride * itemsize > SHARED_LIMIT:
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
        places = Places(input=lambda k: f"own[{k}]", output=self._output, slot=lambda k: f"work[{k}]")
        self.printer = BlockPrinter(program, self.layout, dialect.arithmetic(dtype), places)

    def _output(self, entry: int) -> str:
        port, k = port_of(self.program.outputs, entry)
        name = self.outputs[self.program.outputs.index(port)]
        return f"{name}[{k}]"

    def text(self) -> str:
        about = [
            f"one thread per evaluation, {self.threads} per block; "
            f"{sum(self.program.counts().values())} operations in {len(self.layout.chunks)} functions, "
            f"{self.layout.slot_count} values kept between them"
        ]
        lines = heading(self.program, self.dialect, self.dtype, about)
        for c in range(len(self.layout.chunks)):
            lines += self._function(c)
        return "\n".join([*lines, *self._kernel()]) + "\n"

    def _arguments(self) -> list[str]:
        names = [f"{self.dialect.write.format(t=self.value)} {name}" for name in self.outputs]
        slots = [f"{self.dialect.private.format(t=self.value)} work"] if self.layout.slot_count else []
        return [f"{self.dialect.share_read.format(t=self.value)} own", *names, *slots]

    def _function(self, c: int) -> list[str]:
        block = self.printer.block(c)
        head = f"{self.dialect.function} part{c}({', '.join(self._arguments())})"
        return [head, "{", *(f"    {line}" for line in block.lines), "}", ""]

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
        names = [
            f"{name} + row * {port.size}"
            for name, port in zip(self.outputs, self.program.outputs, strict=True)
        ]
        call = ", ".join([f"pool + thread * {self.stride}", *names, *(["work"] if slots else [])])
        lines += [f"    part{c}({call});" for c in range(len(self.layout.chunks))]
        return [*lines, "}"]
