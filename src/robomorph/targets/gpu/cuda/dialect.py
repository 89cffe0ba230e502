"""CUDA C++ in one table."""

from __future__ import annotations

from functools import cache

from robomorph.ir.ops import SQRT
from robomorph.targets.c_family import COMMON, Dialect, fused
from robomorph.targets.gpu.dialect import GpuDialect


@cache
def _arithmetic(dtype: str) -> Dialect:
    single = dtype == "float32"
    sincos = "sincosf" if single else "sincos"
    return Dialect(
        name="CUDA",
        value="float" if single else "double",
        dtype=dtype,
        spelling={
            **COMMON,
            **fused("fmaf" if single else "fma"),
            SQRT: "sqrtf({a})" if single else "sqrt({a})",
        },
        sincos=f"{{t}} {{s}}, {{c}}; {sincos}({{a}}, &{{s}}, &{{c}});",
    )


CUDA = GpuDialect(
    name="CUDA",
    suffix="cu",
    arithmetic=_arithmetic,
    prologue=lambda dtype: "",
    kernel='extern "C" __global__ void __launch_bounds__({n})',
    function="static __device__ __noinline__ void",
    read="const {t}* __restrict__",
    write="{t}* __restrict__",
    private="{t}*",
    share_read="const {t}*",
    share_write="{t}*",
    shared="extern __shared__ {t} pool[];",
    dynamic_shared=True,
    barrier="__syncthreads()",
    thread="threadIdx.x",
    block="blockIdx.x",
    pair="uint2",
    math=lambda name, dtype: f"{name}f" if dtype == "float32" else name,
)
