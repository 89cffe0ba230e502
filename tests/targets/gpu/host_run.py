"""Generated CUDA source executed on the CPU: compiled by g++ with the host shim, one fibre per thread."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.targets.gpu.launch import LaunchPlan

Array = npt.NDArray[Any]

SHIM = str(resources.files("robomorph.targets.gpu.cuda"))
SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")

_MAIN = """
template <class T>
std::vector<T> read_values(std::size_t count) {{
  std::vector<T> values(count);
  if (std::fread(values.data(), sizeof(T), count, stdin) != count) std::exit(4);
  return values;
}}

int main(int argc, char** argv) {{
  const unsigned n = std::atoi(argv[1]), blocks = std::atoi(argv[2]);
  const bool backwards = argc > 3 && argv[3][0] == 'b';
{reads}
{outs}
  robomorph_host::launch(blocks, {threads}, backwards, [&] {{ {symbol}({args}, n); }});
{writes}
  return 0;
}}
"""


def host_source(plan: LaunchPlan) -> str:
    """A program that reads arguments and tables from its input and writes the results to its output."""
    value = "float" if plan.dtype == "float32" else "double"
    kinds = {"steps": "uint2", "constants": value}
    reads, outs, writes, args = [], [], [], []
    for k, port in enumerate(plan.inputs):
        reads.append(f"  auto in{k} = read_values<{value}>(std::size_t(n) * {port.size});")
        args.append(f"in{k}.data()")
    for k, port in enumerate(plan.outputs):
        outs.append(f"  std::vector<{value}> out{k}(std::size_t(n) * {port.size});")
        writes.append(f"  std::fwrite(out{k}.data(), sizeof({value}), out{k}.size(), stdout);")
        args.append(f"out{k}.data()")
    for name, table in plan.tables:
        count = table.size // 2 if name == "steps" else table.size
        reads.append(f"  auto {name} = read_values<{kinds.get(name, 'unsigned')}>({count});")
        args.append(f"{name}.data()")
    main = _MAIN.format(
        reads="\n".join(reads),
        outs="\n".join(outs),
        writes="\n".join(writes),
        threads=plan.block_threads,
        symbol=plan.symbol,
        args=", ".join(args),
    )
    pool = f"{value} pool[{plan.shared_bytes // plan.itemsize}];"
    return f'#include "host_shim.h"\n{pool}\n{plan.source}{main}'


@dataclass(frozen=True)
class HostKernel:
    """A compiled host program of one plan."""

    plan: LaunchPlan
    binary: Path

    def __call__(self, args: Sequence[Array], order: str) -> list[Array]:
        """Results (batch, *shape); `order` is "forward" or "backward"."""
        plan, batch = self.plan, len(args[0])
        stream = b"".join(np.ascontiguousarray(a, plan.dtype).tobytes() for a in args)
        stream += b"".join(table.tobytes() for _, table in plan.tables)
        command = [str(self.binary), str(batch), str(plan.blocks(batch)), order]
        done = subprocess.run(command, input=stream, capture_output=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr.decode()[-3000:]
        values = np.frombuffer(done.stdout, plan.dtype)
        results, at = [], 0
        for port in plan.outputs:
            size = batch * port.size
            results.append(values[at : at + size].reshape(batch, *port.shape))
            at += size
        return results


def compile_host(plan: LaunchPlan, folder: Path, *, sanitize: bool = True) -> HostKernel:
    source, binary = folder / f"{plan.symbol}.cpp", folder / plan.symbol
    source.write_text(host_source(plan))
    flags = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", f"-I{SHIM}"]
    command = ["g++", *flags, *(SANITIZE if sanitize else ()), str(source), "-o", str(binary)]
    subprocess.run(command, check=True, timeout=300)
    return HostKernel(plan, binary)
