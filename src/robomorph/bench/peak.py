"""The most arithmetic one core can do: a loop of independent multiply-adds at full vector width."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from robomorph.bench.measuring import Contestant
from robomorph.targets.cpu.build import LoadedCode, compile_object
from robomorph.targets.cpu.host import host
from robomorph.targets.cpu.types import LaneType

# Independent chains: more than latency times throughput of any core, fewer than the 16 registers of AVX2.
_CHAINS = 12
_UNROLL = 8
_TURNS = 2_000
_SYMBOL = "robomorph_peak"
PEAK = "multiply-add loop"


def flops_per_turn(lanes: int) -> int:
    """Arithmetic operations in one turn of the loop; a multiply-add counts two."""
    return 2 * lanes * _CHAINS * _UNROLL


def peak_contestant(dtype: str) -> Contestant:
    """One `evaluation` is one arithmetic operation, so the time per evaluation is 1 / peak."""
    lanes = host().lanes(dtype)
    code = LoadedCode(compile_object(peak_text(LaneType(dtype, lanes), fma=host().fma)), _SYMBOL)
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(code.address)
    data = _operands(dtype, lanes)

    def loop(count: int) -> None:
        call(data.ctypes.data, count * _TURNS)

    loop.__dict__["kept"] = code
    return Contestant(PEAK, f"{lanes} lanes", loop, _TURNS * flops_per_turn(lanes), dtype=dtype)


def _operands(dtype: str, lanes: int) -> Any:
    """A factor below one, an addend, and the chains' start: values stay near 1, never denormal."""
    data = np.ones((2 + _CHAINS, lanes), dtype)
    data[0], data[1] = 0.5, 0.5
    return data


def peak_text(t: LaneType, *, fma: bool) -> str:
    """LLVM text of `void robomorph_peak(ptr data, i64 turns)`; data as `_operands` makes it."""
    align, n = t.item, _CHAINS
    lines = [f"define void @{_SYMBOL}(ptr %data, i64 %turns) #0 {{", "entry:"]
    for k in range(2 + n):
        lines.append(f"  %p{k} = getelementptr {t.name}, ptr %data, i64 {k}")
        lines.append(f"  %x{k} = load {t.name}, ptr %p{k}, align {align}")
    lines += ["  br label %loop", "loop:", "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]"]
    lines += [f"  %s{k} = phi {t.name} [ %x{k + 2}, %entry ], [ %v{_UNROLL}_{k}, %loop ]" for k in range(n)]
    for step in range(1, _UNROLL + 1):
        for k in range(n):
            source = f"%s{k}" if step == 1 else f"%v{step - 1}_{k}"
            lines.append(_multiply_add(t, f"%v{step}_{k}", source, fma))
    lines += ["  %next = add i64 %i, 1", "  %more = icmp slt i64 %next, %turns"]
    lines += ["  br i1 %more, label %loop, label %done", "done:"]
    lines += [f"  store {t.name} %v{_UNROLL}_{k}, ptr %p{k + 2}, align {align}" for k in range(n)]
    lines += ["  ret void", "}", f"declare {t.name} @llvm.fma.{t.suffix}({t.name}, {t.name}, {t.name})"]
    lines.append(f'attributes #0 = {{ nounwind "min-legal-vector-width"="{host().vector_bits}" }}')
    return "\n".join(lines) + "\n"


def _multiply_add(t: LaneType, result: str, source: str, fma: bool) -> str:
    if fma:
        return (
            f"  {result} = call {t.name} @llvm.fma.{t.suffix}({t.name} {source}, {t.name} %x0, {t.name} %x1)"
        )
    return f"  {result}m = fmul {t.name} {source}, %x0\n  {result} = fadd {t.name} {result}m, %x1"
