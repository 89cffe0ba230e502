"""Export of GPU kernels: a folder with sources, tables, a checking example, a CMake file and a README."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.compiler.program import program_recipe
from robomorph.compiler.recipe import barrier_limit
from robomorph.errors import TargetError
from robomorph.ir.program import Port, Program
from robomorph.targets.gpu.devices import gpu_dialect
from robomorph.targets.gpu.kernel import MAPPINGS, make_launch_plan
from robomorph.targets.gpu.launch import LaunchPlan
from robomorph.targets.templates import fill, source_file

Array = npt.NDArray[Any]

_SHORT = {"float32": "f32", "float64": "f64"}
_REFERENCE_TYPES = """\
typedef struct {
    unsigned input_count, output_count;
    const unsigned* input_sizes; /* numbers per state */
    const unsigned* output_sizes;
    const double* const* inputs; /* RM_STATES states each */
    const double* const* outputs;
} RobomorphReference;
"""


@dataclass(frozen=True)
class GpuFunction:
    """One function: its program and known states with the interpreter's results, by port name."""

    name: str
    program: Program
    reference: Mapping[str, Array]


@dataclass(frozen=True)
class GpuPackage:
    """What is exported for one robot."""

    target: str
    name: str
    robot: str
    version: str
    links: int
    nq: int
    nv: int
    functions: tuple[GpuFunction, ...]
    dtypes: tuple[str, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)  # what could not be exported, and why


@dataclass(frozen=True)
class _Kernel:
    function: int
    plan: LaunchPlan

    @property
    def suffix(self) -> str:
        return _SHORT[self.plan.dtype]


def package_files(package: GpuPackage) -> dict[str, str]:
    """Every file of the export by its path."""
    kernels = _kernels(package)
    cuda = package.target == "cuda"
    suffix = gpu_dialect(package.target).suffix
    files: dict[str, str] = {}
    for kernel in kernels:
        text = kernel.plan.source + (_cuda_launcher(kernel.plan) if cuda else "")
        files[f"kernels/{kernel.plan.symbol}.{suffix}"] = text
    files["kernels.h"] = _cuda_header(package, kernels) if cuda else _opencl_header(package, kernels)
    files["reference.h"] = _reference_header(package)
    check = "check.cu" if cuda else "check.c"
    files[check] = source_file("gpu", f"templates/{check}")
    words = {
        "name": package.name,
        "robot": package.robot,
        "version": package.version,
        "nq": str(package.nq),
        "nv": str(package.nv),
        "sources": "\n".join(f"  kernels/{k.plan.symbol}.{suffix}" for k in kernels),
        "table": _readme_table(kernels),
    }
    files["CMakeLists.txt"] = fill("gpu", f"CMakeLists.{package.target}.txt.in", words)
    files["README.md"] = fill("gpu", f"README.{package.target}.md.in", words)
    return files


def _kernels(package: GpuPackage) -> list[_Kernel]:
    dialect = gpu_dialect(package.target)
    kernels: list[_Kernel] = []
    for k, function in enumerate(package.functions):
        for dtype in package.dtypes:
            for mapping in MAPPINGS:
                program = replace(function.program, name=f"{function.name}_{_SHORT[dtype]}")
                recipe = program_recipe(program, dtype, max_barriers=barrier_limit(package.links))
                try:
                    plan = make_launch_plan(recipe, dialect, mapping)
                except TargetError:
                    continue  # too large for shared memory: only the other mapping is exported
                kernels.append(_Kernel(k, plan))
    return kernels


# --- CUDA ------------------------------------------------------------------------------------------


def _cuda_launcher(plan: LaunchPlan) -> str:
    """Tables in device memory, and a function that launches the kernel."""
    value = "float" if plan.dtype == "float32" else "double"
    lines = ["", "#include <cuda_runtime.h>", ""]
    for name, table in plan.tables:
        kind = value if name == "constants" else "unsigned"
        align = "__align__(8) " if name == "steps" else ""
        lines.append(f"static __device__ const {align}{kind} {name}_data[] = {{{_numbers(table)}}};")
    args = [f"static_cast<const {value}*>(inputs[{k}])" for k in range(len(plan.inputs))]
    args += [f"static_cast<{value}*>(outputs[{k}])" for k in range(len(plan.outputs))]
    lines += [
        "",
        f'extern "C" cudaError_t {plan.symbol}_launch(',
        "    void* const* inputs, void* const* outputs, unsigned n, cudaStream_t stream)",
        "{",
        "    if (n == 0) return cudaSuccess;",
    ]
    if plan.shared_bytes > 48 * 1024:
        lines += [
            f"    cudaError_t larger = cudaFuncSetAttribute((const void*){plan.symbol}, "
            f"cudaFuncAttributeMaxDynamicSharedMemorySize, {plan.shared_bytes});",
            "    if (larger != cudaSuccess) return larger;",
        ]
    for name, _ in plan.tables:
        kind = {"steps": "uint2", "constants": value}.get(name, "unsigned")
        lines += [
            f"    void* {name} = nullptr;",
            f"    if (cudaError_t status = cudaGetSymbolAddress(&{name}, {name}_data)) return status;",
        ]
        args.append(f"static_cast<const {kind}*>({name})")
    grid = f"(n + {plan.evaluations - 1}) / {plan.evaluations}, {plan.block_threads}, {plan.shared_bytes}"
    joined = ",\n        ".join([*args, "n"])
    lines += [
        f"    {plan.symbol}<<<{grid}, stream>>>(\n        {joined});",
        "    return cudaGetLastError();",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _cuda_header(package: GpuPackage, kernels: Sequence[_Kernel]) -> str:
    lines = [
        f"// Kernels of {package.robot}; see README.md.",
        "#pragma once",
        "",
        "#include <cuda_runtime.h>",
        "",
    ]
    arguments = "void* const* inputs, void* const* outputs, unsigned n, cudaStream_t stream"
    lines += [f'extern "C" cudaError_t {k.plan.symbol}_launch({arguments});' for k in kernels]
    lines += [
        "",
        "struct RobomorphKernel {",
        "    const char* name;",
        "    bool single;  // float32",
        "    unsigned reference;  // its entry in reference.h",
        f"    cudaError_t (*launch)({arguments});",
        "};",
        "",
        "static const RobomorphKernel robomorph_kernels[] = {",
    ]
    for k in kernels:
        single = "true" if k.suffix == "f32" else "false"
        lines.append(f'    {{"{k.plan.symbol}", {single}, {k.function}, {k.plan.symbol}_launch}},')
    return "\n".join([*lines, "};"]) + "\n"


# --- OpenCL ----------------------------------------------------------------------------------------


def _opencl_header(package: GpuPackage, kernels: Sequence[_Kernel]) -> str:
    lines = [f"/* Kernels of {package.robot}; see README.md. */", "#pragma once", ""]
    for k in kernels:
        for name, table in k.plan.tables:
            kind = "unsigned" if table.dtype == np.uint32 else ("float" if k.suffix == "f32" else "double")
            lines.append(f"static const {kind} {k.plan.symbol}_{name}[] = {{{_numbers(table)}}};")
    lines += [
        "",
        "typedef struct {",
        "    const char *name, *symbol, *file;",
        "    int single;         /* float32 */",
        "    unsigned reference; /* its entry in reference.h */",
        "    unsigned block_threads, evaluations;",
        "    unsigned table_count;",
        "    const void* tables[4];",
        "    unsigned table_bytes[4];",
        "} RobomorphKernel;",
        "",
        "static const RobomorphKernel robomorph_kernels[] = {",
    ]
    for k in kernels:
        p = k.plan
        tables = ", ".join(f"{p.symbol}_{name}" for name, _ in p.tables) or "0"
        sizes = ", ".join(str(table.nbytes) for _, table in p.tables) or "0"
        lines.append(
            f'    {{"{p.symbol}", "{p.symbol}", "kernels/{p.symbol}.cl", {int(k.suffix == "f32")}, '
            f"{k.function}, {p.block_threads}, {p.evaluations}, {len(p.tables)}, {{{tables}}}, {{{sizes}}}}},"
        )
    return "\n".join([*lines, "};"]) + "\n"


# --- what both have --------------------------------------------------------------------------------


def _reference_header(package: GpuPackage) -> str:
    first = package.functions[0]
    states = len(first.reference[first.program.inputs[0].name])
    lines = ["/* Known states and what the functions give for them. */", "#pragma once", ""]
    lines += [f"enum {{ RM_STATES = {states} }};", "", _REFERENCE_TYPES]
    rows = []
    for k, function in enumerate(package.functions):
        names = []
        for side, ports in (("in", function.program.inputs), ("out", function.program.outputs)):
            lines += _reference_side(f"r{k}_{side}", ports, function.reference)
            names += [f"r{k}_{side}_sizes", f"r{k}_{side}"]
        counts = f"{len(function.program.inputs)}, {len(function.program.outputs)}"
        rows.append(
            f"    {{{counts}, {names[0]}, {names[2]}, {names[1]}, {names[3]}}}, /* {function.name} */"
        )
    lines += ["static const RobomorphReference robomorph_references[] = {", *rows, "};"]
    return "\n".join(lines) + "\n"


def _reference_side(name: str, ports: Sequence[Port], reference: Mapping[str, Array]) -> list[str]:
    lines = []
    for k, port in enumerate(ports):
        lines.append(f"static const double {name}{k}[] = {{{_numbers(reference[port.name])}}};")
    sizes = ", ".join(str(port.size) for port in ports)
    arrays = ", ".join(f"{name}{k}" for k in range(len(ports)))
    lines.append(f"static const unsigned {name}_sizes[] = {{{sizes}}};")
    lines.append(f"static const double* const {name}[] = {{{arrays}}};")
    return lines


def _readme_table(kernels: Sequence[_Kernel]) -> str:
    lines = ["| kernel | inputs | outputs | threads per state | states per block |", "|---|---|---|---|---|"]
    for k in kernels:
        sides = [
            ", ".join(f"{p.name} {list(p.shape)}" for p in ports) for ports in (k.plan.inputs, k.plan.outputs)
        ]
        lines.append(
            f"| `{k.plan.symbol}` | {sides[0]} | {sides[1]} | {k.plan.threads} | {k.plan.evaluations} |"
        )
    return "\n".join(lines)


def _numbers(array: Array) -> str:
    if array.dtype.kind == "u":
        return ",".join(map(str, array.ravel().tolist()))
    tail = "f" if array.dtype == np.float32 else ""
    values = array.ravel().tolist() if array.dtype == np.float64 else map(str, array.ravel())
    return ",".join(_decimal(str(x)) + tail for x in values)


def _decimal(text: str) -> str:
    return text if any(mark in text for mark in ".e") else f"{text}.0"
