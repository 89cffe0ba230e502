"""OpenCL C in one table."""

from __future__ import annotations

from functools import cache

from robomorph.ir.ops import SQRT
from robomorph.targets.c_family import COMMON, Dialect, fused
from robomorph.targets.gpu.dialect import GpuDialect


@cache
def _arithmetic(dtype: str) -> Dialect:
    return Dialect(
        name="OpenCL",
        value="float" if dtype == "float32" else "double",
        dtype=dtype,
        spelling={**COMMON, **fused("fma"), SQRT: "sqrt({a})"},
        sincos="{t} {c}; const {t} {s} = sincos({a}, &{c});",
    )


def _prologue(dtype: str) -> str:
    # Without this, a compiler may fuse or not as it likes, and results would differ between devices.
    lines = ["#pragma OPENCL FP_CONTRACT OFF"]
    if dtype == "float64":
        lines.append("#pragma OPENCL EXTENSION cl_khr_fp64 : enable")
    return "\n".join(lines)


OPENCL = GpuDialect(
    name="OpenCL",
    suffix="cl",
    arithmetic=_arithmetic,
    prologue=_prologue,
    kernel="__kernel __attribute__((reqd_work_group_size({n}, 1, 1))) void",
    function="__attribute__((noinline)) void",
    read="__global const {t}* restrict",
    write="__global {t}* restrict",
    private="{t}*",
    share_read="__local const {t}*",
    share_write="__local {t}*",
    shared="__local {t} pool[{size}];",
    dynamic_shared=False,
    barrier="barrier(CLK_LOCAL_MEM_FENCE)",
    thread="(uint)get_local_id(0)",
    block="(uint)get_group_id(0)",
    pair="uint2",
    math=lambda name, dtype: name,
)
