"""Sine and cosine in vector registers, as LLVM text.

The argument is reduced by multiples of pi/2 held in three parts; fused multiply-adds keep the
reduction exact, so results are good to an ulp or two of 1 for every angle up to 2^45 rad (float64) or
2^18 rad (float32). Beyond that the answer is NaN, never a wrong number. On [-pi/4, pi/4] the Taylor
polynomials used here are truncated below half an ulp.
"""

from __future__ import annotations

from robomorph.targets.cpu.types import LaneType

# pi/2 as a sum of numbers of the format, largest first.
_HALF_PI = {
    "float64": (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33),
    "float32": (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
}
_ROUNDER = {"float64": 1.5 * 2.0**52, "float32": 1.5 * 2.0**23}
_LARGEST = {"float64": 2.0**45, "float32": 2.0**18}
# sin r = r + r z S(z), cos r = 1 - z/2 + z z C(z), z = r r; lowest power first.
_SIN = {
    "float64": (
        -1.0 / 6.0,
        1.0 / 120.0,
        -1.0 / 5040.0,
        1.0 / 362880.0,
        -1.0 / 39916800.0,
        1.0 / 6227020800.0,
        -1.0 / 1307674368000.0,
    ),
    "float32": (-1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362880.0),
}
_COS = {
    "float64": (
        1.0 / 24.0,
        -1.0 / 720.0,
        1.0 / 40320.0,
        -1.0 / 3628800.0,
        1.0 / 479001600.0,
        -1.0 / 87178291200.0,
        1.0 / 20922789888000.0,
    ),
    "float32": (1.0 / 24.0, -1.0 / 720.0, 1.0 / 40320.0, -1.0 / 3628800.0),
}


def sincos_function(t: LaneType) -> str:
    """``@sincos(x, ptr sin, ptr cos)``: both functions of all lanes, stored through the pointers."""
    lines = [f"define internal void @sincos({t.name} %x, ptr %sin_out, ptr %cos_out) noinline #0 {{"]
    lines += _reduction(t)
    lines += _polynomial(t, "s", _SIN[t.dtype])
    lines += _polynomial(t, "c", _COS[t.dtype])
    lines += [
        f"  %rz = fmul {t.name} %r, %z",
        _fma(t, "%sine", "%rz", "%s0", "%r"),
        f"  %zz = fmul {t.name} %z, %z",
        _fma(t, "%near", t.literal(-0.5), "%z", t.literal(1.0)),
        _fma(t, "%cosine", "%zz", "%c0", "%near"),
    ]
    lines += _quadrant(t)
    lines += [
        f"  store {t.name} %sin, ptr %sin_out, align {t.bytes}",
        f"  store {t.name} %cos, ptr %cos_out, align {t.bytes}",
        "  ret void",
        "}",
        f"declare {t.name} @llvm.fabs.{t.suffix}({t.name})",
    ]
    return "\n".join(lines)


def _fma(t: LaneType, out: str, a: str, b: str, c: str) -> str:
    return f"  {out} = call {t.name} @llvm.fma.{t.suffix}({t.name} {a}, {t.name} {b}, {t.name} {c})"


def _reduction(t: LaneType) -> list[str]:
    """r = x - k pi/2 with k the nearest integer, and z = r r.

    Adding 1.5 times the number whose ulp is one rounds to an integer, and leaves k in the low bits.
    """
    magic = t.literal(_ROUNDER[t.dtype])
    lines = [
        _fma(t, "%shifted", "%x", t.literal(0.6366197723675814), magic),
        f"  %k = fsub {t.name} %shifted, {magic}",
        f"  %minus_k = fneg {t.name} %k",
    ]
    previous = "%x"
    for i, part in enumerate(_HALF_PI[t.dtype]):
        out = "%r" if i == 2 else f"%r{i}"
        lines.append(_fma(t, out, "%minus_k", t.literal(part), previous))
        previous = out
    return [*lines, f"  %z = fmul {t.name} %r, %r"]


def _polynomial(t: LaneType, name: str, coefficients: tuple[float, ...]) -> list[str]:
    """Horner's rule; the result is %<name>0."""
    last = len(coefficients) - 1
    previous = t.literal(coefficients[last])
    lines = []
    for i in reversed(range(last)):
        lines.append(_fma(t, f"%{name}{i}", "%z", previous, t.literal(coefficients[i])))
        previous = f"%{name}{i}"
    return lines


def _quadrant(t: LaneType) -> list[str]:
    """Swap and negate by k modulo 4."""
    one, two = t.integer_literal(1), t.integer_literal(2)
    shift = t.integer_literal(62 if t.dtype == "float64" else 30)  # bit 1 to the sign bit
    boolean = t.boolean
    return [
        f"  %q = bitcast {t.name} %shifted to {t.integer}",
        f"  %odd_bit = and {t.integer} %q, {one}",
        f"  %odd = icmp ne {t.integer} %odd_bit, {t.integer_literal(0)}",
        f"  %sin_raw = select {boolean} %odd, {t.name} %cosine, {t.name} %sine",
        f"  %cos_raw = select {boolean} %odd, {t.name} %sine, {t.name} %cosine",
        f"  %sin_half = and {t.integer} %q, {two}",
        f"  %q1 = add {t.integer} %q, {one}",
        f"  %cos_half = and {t.integer} %q1, {two}",
        f"  %sin_sign = shl {t.integer} %sin_half, {shift}",
        f"  %cos_sign = shl {t.integer} %cos_half, {shift}",
        f"  %sin_bits = bitcast {t.name} %sin_raw to {t.integer}",
        f"  %cos_bits = bitcast {t.name} %cos_raw to {t.integer}",
        f"  %sin_flip = xor {t.integer} %sin_bits, %sin_sign",
        f"  %cos_flip = xor {t.integer} %cos_bits, %cos_sign",
        f"  %sin_good = bitcast {t.integer} %sin_flip to {t.name}",
        f"  %cos_good = bitcast {t.integer} %cos_flip to {t.name}",
        f"  %size = call {t.name} @llvm.fabs.{t.suffix}({t.name} %x)",
        f"  %fits = fcmp ole {t.name} %size, {t.literal(_LARGEST[t.dtype])}",
        f"  %sin = select {boolean} %fits, {t.name} %sin_good, {t.name} {t.literal(float('nan'))}",
        f"  %cos = select {boolean} %fits, {t.name} %cos_good, {t.name} {t.literal(float('nan'))}",
    ]
