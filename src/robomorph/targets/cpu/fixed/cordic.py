"""Sine and cosine of words by CORDIC in vector registers, as LLVM text: `ir/cordic.py`, step by step."""

from __future__ import annotations

from robomorph.ir.cordic import Cordic, cordic
from robomorph.ir.fixed import Format
from robomorph.targets.cpu.fixed.words import WordType


def cordic_name(angle: Format) -> str:
    """The function for angles of a format."""
    return f"cordic_{angle.bits}_{angle.frac}".replace("-", "m")


def cordic_function(t: WordType, angle: Format) -> str:
    """``@cordic_b_f(angle, ptr cos, ptr sin)``: both of all lanes, with the fraction bits of `inner`."""
    c = cordic(angle.bits, angle.frac)
    arguments = f"{t.name} %angle, ptr %cos_out, ptr %sin_out"
    lines = [f"define internal void @{cordic_name(angle)}({arguments}) noinline #0 {{"]
    lines += _turn(t, c)
    lines += _fold(t, c)
    x, y, z = t.literal(c.start), t.literal(0), "%z"
    for i, step in enumerate(c.angles):
        lines += _rotate(t, i, step, x, y, z)
        x, y, z = f"%x{i}", f"%y{i}", f"%z{i}"
    for name, value in (("cos", x), ("sin", y)):
        lines += [
            f"  %{name}_minus = sub {t.name} {t.literal(0)}, {value}",
            f"  %{name} = select {t.boolean} %far, {t.name} %{name}_minus, {t.name} {value}",
            f"  store {t.name} %{name}, ptr %{name}_out, align {t.bytes}",
        ]
    return "\n".join([*lines, "  ret void", "}"])


def _turn(t: WordType, c: Cordic) -> list[str]:
    """%turn: the angle in [-1/2, 1/2) of a turn. Its product with the scale takes 64 bits."""
    w, half, span = t.wide, 1 << (c.phase_bits - 1), 1 << c.phase_bits
    wide = "%angle" if t.bits == 64 else "%wide"
    lines = [] if t.bits == 64 else [f"  %wide = sext {t.name} %angle to {w.name}"]
    lines.append(f"  %scaled = mul {w.name} {wide}, {w.literal(c.scale)}")
    last = "%scaled"
    if c.shift:
        lines.append(f"  %half = add {w.name} %scaled, {w.literal(1 << (c.shift - 1))}")
        lines.append(f"  %rounded = ashr {w.name} %half, {w.literal(c.shift)}")
        last = "%rounded"
    if t.bits < 64:  # the bits above a turn do not count
        lines.append(f"  %short = trunc {w.name} {last} to {t.name}")
        last = "%short"
    return [
        *lines,
        f"  %moved = add {t.name} {last}, {t.literal(half)}",
        f"  %phase = and {t.name} %moved, {t.literal(span - 1)}",
        f"  %turn = sub {t.name} %phase, {t.literal(half)}",
    ]


def _fold(t: WordType, c: Cordic) -> list[str]:
    """%z: the angle, or what is opposite to it, in a half turn about zero; %far: is it the opposite?"""
    half, quarter = 1 << (c.phase_bits - 1), 1 << (c.phase_bits - 2)
    return [
        f"  %above = icmp sge {t.name} %turn, {t.literal(quarter)}",
        f"  %below = icmp slt {t.name} %turn, {t.literal(-quarter)}",
        f"  %far = or {t.boolean} %above, %below",
        f"  %left = icmp slt {t.name} %turn, {t.literal(0)}",
        f"  %up = add {t.name} %turn, {t.literal(half)}",
        f"  %down = sub {t.name} %turn, {t.literal(half)}",
        f"  %opposite = select {t.boolean} %left, {t.name} %up, {t.name} %down",
        f"  %z = select {t.boolean} %far, {t.name} %opposite, {t.name} %turn",
    ]


def _rotate(t: WordType, i: int, step: int, x: str, y: str, z: str) -> list[str]:
    """One step: %x<i>, %y<i>, %z<i>."""
    lines = [
        f"  %u{i} = icmp sge {t.name} {z}, {t.literal(0)}",
        f"  %dx{i} = ashr {t.name} {y}, {t.literal(i)}",
        f"  %dy{i} = ashr {t.name} {x}, {t.literal(i)}",
    ]
    ways = (("x", x, f"%dx{i}", "sub"), ("y", y, f"%dy{i}", "add"), ("z", z, t.literal(step), "sub"))
    for name, value, by, up in ways:
        down = "add" if up == "sub" else "sub"
        lines += [
            f"  %{name}u{i} = {up} {t.name} {value}, {by}",
            f"  %{name}d{i} = {down} {t.name} {value}, {by}",
            f"  %{name}{i} = select {t.boolean} %u{i}, {t.name} %{name}u{i}, {t.name} %{name}d{i}",
        ]
    return lines
