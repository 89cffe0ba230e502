"""Between real numbers and words, as LLVM text: what `Format.to_words` and `Format.to_reals` do."""

from __future__ import annotations

import math

from robomorph.ir.fixed import Format
from robomorph.targets.cpu.fixed.arithmetic import Arithmetic
from robomorph.targets.cpu.fixed.words import WordType


def to_words(use: Arithmetic, name: str, real: str, form: Format) -> str:
    """The word nearest to a number, halves upwards, saturated and flagged; NaNs as infinities of their
    sign."""
    t, r = use.t, use.t.reals
    steps = [
        f"{name}nan = fcmp uno {r.name} {real}, {real}",
        f"{name}end = call {r.name} @llvm.copysign.{r.suffix}"
        f"({r.name} {r.literal(math.inf)}, {r.name} {real})",
        f"{name}x = select {t.boolean} {name}nan, {r.name} {name}end, {r.name} {real}",
        f"{name}s = fmul {r.name} {name}x, {r.literal(2.0**form.frac)}",
        f"{name}h = fadd {r.name} {name}s, {r.literal(0.5)}",
        f"{name}f = call {r.name} @llvm.floor.{r.suffix}({r.name} {name}h)",
        f"{name}a = fcmp olt {r.name} {name}f, {r.literal(-form.top - 1.0)}",
        f"{name}l = select {t.boolean} {name}a, {r.name} {r.literal(-form.top - 1.0)}, {r.name} {name}f",
        f"{name}b = fcmp ogt {r.name} {name}l, {r.literal(float(form.top))}",
        f"{name}c = select {t.boolean} {name}b, {r.name} {r.literal(float(form.top))}, {r.name} {name}l",
        f"{name}d = fcmp une {r.name} {name}c, {name}f",
        f"{name}i = fptosi {r.name} {name}c to {t.of('i32')}",
    ]
    use.lines += [f"  {step}" for step in steps]
    use.raise_where(f"{name}d", f"{name}lost")
    if t.bits == 32:
        return f"{name}i"
    use.lines.append(f"  {name}w = sext {t.of('i32')} {name}i to {t.name}")
    return f"{name}w"


def to_reals(t: WordType, name: str, word: str, form: Format, lines: list[str]) -> str:
    """The number that a word stands for: exact, as no word has more bits than a double."""
    r, narrow = t.reals, word
    if t.bits > 32:
        lines.append(f"  {name}i = trunc {t.name} {word} to {t.of('i32')}")
        narrow = f"{name}i"
    lines.append(f"  {name}r = sitofp {t.of('i32')} {narrow} to {r.name}")
    lines.append(f"  {name}y = fmul {r.name} {name}r, {r.literal(form.ulp)}")
    return f"{name}y"
