"""Sine and cosine of words by CORDIC in vector registers, as LLVM text: `ir/cordic.py`, step by step."""

from __future__ import annotations

from robomorph.ir.cordic import Cordic, cordic
from robomorph.ir.fixed import Format
from robomorph.targets.cpu.fixed.words import WordType


def cordic_name(angle: Format, count: int) -> str:
    """The function for so many angles of a format."""
    return f"cordic_{angle.bits}_{angle.frac}_x{count}".replace("-", "m")


def cordic_function(t: WordType, angle: Format, count: int) -> str:
    """``@cordic_b_f_xn(angle0, ptr cos0, ptr sin0, ...)``: both of all lanes, with the fraction bits of
    `inner`. Every step waits for the one before, so that several angles take little longer than one."""
    c = cordic(angle.bits, angle.frac)
    every = range(count)
    arguments = ", ".join(f"{t.name} %angle_{n}, ptr %cos_out_{n}, ptr %sin_out_{n}" for n in every)
    lines = [f"define internal void @{cordic_name(angle, count)}({arguments}) noinline #0 {{"]
    for n in every:
        lines += [*_turn(t, c, f"_{n}"), *_fold(t, c, f"_{n}")]
    for i, step in enumerate(c.angles):
        for n in every:
            lines += _rotate(t, c, i, step, f"_{n}")
    for n in every:
        for name, value in (("cos", "x"), ("sin", "y")):
            lines += [
                f"  %{name}_minus_{n} = sub {t.name} {t.literal(0)}, %{value}{len(c.angles)}_{n}",
                f"  %{name}_{n} = select {t.boolean} %far_{n}, {t.name} %{name}_minus_{n},"
                f" {t.name} %{value}{len(c.angles)}_{n}",
                f"  store {t.name} %{name}_{n}, ptr %{name}_out_{n}, align {t.bytes}",
            ]
    return "\n".join([*lines, "  ret void", "}"])


def _turn(t: WordType, c: Cordic, n: str) -> list[str]:
    """%turn: the angle in [-1/2, 1/2) of a turn. Its product with the scale takes 64 bits."""
    w, half, span = t.wide, 1 << (c.phase_bits - 1), 1 << c.phase_bits
    wide = f"%angle{n}" if t.bits == 64 else f"%wide{n}"
    lines = [] if t.bits == 64 else [f"  %wide{n} = sext {t.name} %angle{n} to {w.name}"]
    lines.append(f"  %scaled{n} = mul {w.name} {wide}, {w.literal(c.scale)}")
    last = f"%scaled{n}"
    if c.shift:
        lines.append(f"  %half{n} = add {w.name} %scaled{n}, {w.literal(1 << (c.shift - 1))}")
        lines.append(f"  %rounded{n} = ashr {w.name} %half{n}, {w.literal(c.shift)}")
        last = f"%rounded{n}"
    if t.bits < 64:  # the bits above a turn do not count
        lines.append(f"  %short{n} = trunc {w.name} {last} to {t.name}")
        last = f"%short{n}"
    return [
        *lines,
        f"  %moved{n} = add {t.name} {last}, {t.literal(half)}",
        f"  %phase{n} = and {t.name} %moved{n}, {t.literal(span - 1)}",
        f"  %turn{n} = sub {t.name} %phase{n}, {t.literal(half)}",
    ]


def _fold(t: WordType, c: Cordic, n: str) -> list[str]:
    """%z0: the angle, or what is opposite to it, in a half turn about zero; %far: is it the opposite?"""
    half, quarter = 1 << (c.phase_bits - 1), 1 << (c.phase_bits - 2)
    return [
        f"  %above{n} = icmp sge {t.name} %turn{n}, {t.literal(quarter)}",
        f"  %below{n} = icmp slt {t.name} %turn{n}, {t.literal(-quarter)}",
        f"  %far{n} = or {t.boolean} %above{n}, %below{n}",
        f"  %left{n} = icmp slt {t.name} %turn{n}, {t.literal(0)}",
        f"  %up{n} = add {t.name} %turn{n}, {t.literal(half)}",
        f"  %down{n} = sub {t.name} %turn{n}, {t.literal(half)}",
        f"  %opposite{n} = select {t.boolean} %left{n}, {t.name} %up{n}, {t.name} %down{n}",
        f"  %z0{n} = select {t.boolean} %far{n}, {t.name} %opposite{n}, {t.name} %turn{n}",
    ]


def _rotate(t: WordType, c: Cordic, i: int, step: int, n: str) -> list[str]:
    """Step i: from %x<i>, %y<i>, %z<i> to the next."""
    x, y = (f"%x{i}{n}", f"%y{i}{n}") if i else (t.literal(c.start), t.literal(0))
    z = f"%z{i}{n}"
    lines = [
        f"  %u{i}{n} = icmp sge {t.name} {z}, {t.literal(0)}",
        f"  %dx{i}{n} = ashr {t.name} {y}, {t.literal(i)}",
        f"  %dy{i}{n} = ashr {t.name} {x}, {t.literal(i)}",
    ]
    ways = (("x", x, f"%dx{i}{n}", "sub"), ("y", y, f"%dy{i}{n}", "add"), ("z", z, t.literal(step), "sub"))
    for name, value, by, up in ways:
        down = "add" if up == "sub" else "sub"
        lines += [
            f"  %{name}u{i}{n} = {up} {t.name} {value}, {by}",
            f"  %{name}d{i}{n} = {down} {t.name} {value}, {by}",
            f"  %{name}{i + 1}{n} = select {t.boolean} %u{i}{n}, {t.name} %{name}u{i}{n},"
            f" {t.name} %{name}d{i}{n}",
        ]
    return lines
