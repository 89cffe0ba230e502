"""Operations on words as LLVM text: exact, rounded once, saturated; as `ir/fixed.py` defines them."""

from __future__ import annotations

from robomorph.ir.word_ranges import WordRange
from robomorph.targets.cpu.fixed.words import WordType

# 2**52: a double that large has a whole number in its last bits.
_LARGE = 2.0**52
# Quotients from here on leave every format.
_MOST_QUOTIENT = 2.0**40


class Arithmetic:
    """Writes operations of words of type `t` into `lines`. `flags` are values that are not zero where
    something has saturated: several, so that no operation has to wait for the one before."""

    def __init__(self, t: WordType, lines: list[str], flags: list[str]) -> None:
        self.t, self.lines, self.flags = t, lines, flags

    def add(self, out: str, a: str, b: str, *, shifts: tuple[int, int], drop: int, within: WordRange) -> None:
        """a * 2**shifts[0] + b * 2**shifts[1], over 2**drop."""
        self._sum("add", out, (a, b), shifts, drop, within)

    def sub(self, out: str, a: str, b: str, *, shifts: tuple[int, int], drop: int, within: WordRange) -> None:
        self._sum("sub", out, (a, b), shifts, drop, within)

    def neg(self, out: str, a: str, *, drop: int, within: WordRange) -> None:
        t, (x,) = self._wide_enough(within, out, a)
        self._fit(out, f"sub {t.name} {t.literal(0)}, {x}", t, drop, within)

    def mul(self, out: str, a: str, b: str, *, drop: int, within: WordRange) -> None:
        t, (x, y) = self._wide_enough(within, out, a, b)
        if t.bits == 64:
            # Told that these are words of 32 bits, LLVM takes one multiplication instead of three.
            x, y = (self._short(f"{out}{side}", v) for side, v in zip("xy", (x, y), strict=True))
        self._fit(out, f"mul {t.name} {x}, {y}", t, drop, within)

    def recip(self, out: str, a: str, *, power: int, within: WordRange) -> None:
        """2**power / a, rounded to the nearest, halves away from zero; of zero, the largest word.

        A division of doubles gives the next whole number below 2**(power + 1) / |a|, or one more where that
        is nearly whole, which the remainder tells. Divided by zero it is infinite, and so too large.
        """
        wide, twice = self.t.wide, 1 << (power + 1)
        w, r, one = wide.name, wide.reals.name, wide.literal(1)
        x = a if self.t.bits == 64 else self._value(f"{out}w", f"sext {self.t.name} {a} to {w}")
        large, pattern = wide.reals.literal(_LARGE), wide.literal(0x433 << 52)
        negative = self._value(f"{out}n", f"icmp slt {w} {x}, {wide.literal(0)}")
        minus = self._value(f"{out}o", f"sub {w} {wide.literal(0)}, {x}")
        size = self._value(f"{out}s", f"select {wide.boolean} {negative}, {w} {minus}, {w} {x}")
        bits = self._value(f"{out}b", f"or {w} {size}, {pattern}")
        real = self._value(f"{out}c", f"bitcast {w} {bits} to {r}")
        real = self._value(f"{out}d", f"fsub {r} {real}, {large}")
        ratio = self._value(f"{out}e", f"fdiv {r} {wide.reals.literal(float(twice))}, {real}")
        most = wide.reals.literal(_MOST_QUOTIENT)
        small = self._value(f"{out}f", f"fcmp olt {r} {ratio}, {most}")
        ratio = self._value(f"{out}g", f"select {wide.boolean} {small}, {r} {ratio}, {r} {most}")
        whole = self._value(f"{out}h", f"call {r} @llvm.floor.{wide.reals.suffix}({r} {ratio})")
        whole = self._value(f"{out}i", f"fadd {r} {whole}, {large}")
        bits = self._value(f"{out}j", f"bitcast {r} {whole} to {w}")
        quotient = self._value(f"{out}k", f"xor {w} {bits}, {pattern}")
        product = self._value(f"{out}l", f"mul {w} {quotient}, {size}")
        rest = self._value(f"{out}p", f"sub {w} {wide.literal(twice)}, {product}")
        less = self._value(f"{out}r", f"ashr {w} {rest}, {wide.literal(63)}")
        quotient = self._value(f"{out}t", f"add {w} {quotient}, {less}")
        quotient = self._value(f"{out}u", f"add {w} {quotient}, {one}")
        quotient = self._value(f"{out}v", f"lshr {w} {quotient}, {one}")
        minus = self._value(f"{out}x", f"sub {w} {wide.literal(0)}, {quotient}")
        signed = f"select {wide.boolean} {negative}, {w} {minus}, {w} {quotient}"
        self._fit(out, signed, wide, 0, within)

    def shorten(self, out: str, text: str, *, drop: int, within: WordRange) -> None:
        """A value that is there already, over 2**drop."""
        if within.bits <= self.t.bits:
            self._fit(out, text, self.t, drop, within)
            return
        wide, value = self.t.wide, self._value(f"{out}w", text)
        self._fit(out, f"sext {self.t.name} {value} to {wide.name}", wide, drop, within)

    def _fit(self, out: str, text: str, t: WordType, drop: int, within: WordRange) -> None:
        """`out`, a word, from what gives an exact value of type t: over 2**drop, rounded halves upwards,
        saturated where that can be needed."""
        if drop:
            exact = self._value(f"{out}m", text)
            half = self._value(f"{out}h", f"add {t.name} {exact}, {t.literal(1 << (drop - 1))}")
            text = f"ashr {t.name} {half}, {t.literal(drop)}"
        bounds = [("smax", within.least)] if within.too_low else []
        bounds += [("smin", within.most)] if within.too_high else []
        narrow = t.bits > self.t.bits
        if not bounds and not narrow:
            self._line(f"{out} = {text}")
            return
        value = kept = self._value(f"{out}q", text)
        for k, (which, bound) in enumerate(bounds):
            last = k + 1 == len(bounds) and not narrow
            clip = f"call {t.name} @llvm.{which}.{t.suffix}({t.name} {kept}, {t.name} {t.literal(bound)})"
            kept = self._value(out if last else f"{out}{which}", clip)
        if bounds:
            self._raise(self._differ(out, value, kept, t))
        if narrow:
            self._line(f"{out} = trunc {t.name} {kept} to {self.t.name}")

    def raise_where(self, truth: str, name: str) -> None:
        """Raises the flag of lanes where a truth holds."""
        self._raise(self._value(name, f"sext {self.t.boolean} {truth} to {self.t.name}"))

    def _differ(self, out: str, value: str, kept: str, t: WordType) -> str:
        if t.bits == self.t.bits:
            return self._value(f"{out}lost", f"xor {t.name} {value}, {kept}")
        truth = self._value(f"{out}other", f"icmp ne {t.name} {value}, {kept}")
        return self._value(f"{out}lost", f"sext {t.boolean} {truth} to {self.t.name}")

    def _raise(self, lost: str) -> None:
        oldest = self.flags.pop(0)
        self.flags.append(self._value(f"{lost}f", f"or {self.t.name} {oldest}, {lost}"))

    def _sum(
        self,
        name: str,
        out: str,
        terms: tuple[str, str],
        shifts: tuple[int, int],
        drop: int,
        within: WordRange,
    ) -> None:
        t, values = self._wide_enough(within, out, *terms)
        aligned = [
            self._value(f"{out}{side}", f"shl {t.name} {value}, {t.literal(shift)}") if shift else value
            for side, value, shift in zip("xy", values, shifts, strict=True)
        ]
        self._fit(out, f"{name} {t.name} {aligned[0]}, {aligned[1]}", t, drop, within)

    def _wide_enough(self, within: WordRange, out: str, *values: str) -> tuple[WordType, list[str]]:
        """A type that holds everything on the way, and the values in it."""
        if within.bits <= self.t.bits:
            return self.t, list(values)
        wide = self.t.wide
        names = [f"{out}w{k}" for k in range(len(values))]
        pairs = zip(names, values, strict=True)
        return wide, [self._value(n, f"sext {self.t.name} {v} to {wide.name}") for n, v in pairs]

    def _short(self, name: str, value: str) -> str:
        t = self.t.wide
        if not value.startswith("%") or self.t.bits < 64:
            return value  # a constant, or known to be one from its type
        high = self._value(f"{name}s", f"shl {t.name} {value}, {t.literal(32)}")
        return self._value(f"{name}a", f"ashr {t.name} {high}, {t.literal(32)}")

    def _value(self, name: str, text: str) -> str:
        self._line(f"{name} = {text}")
        return name

    def _line(self, text: str) -> None:
        self.lines.append(f"  {text}")
