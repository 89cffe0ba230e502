"""Small things that the generators of the chip's modules share: delays, tables, words side by side."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from robomorph.ir.cordic import cordic_turns
from robomorph.targets.rtl.cell_table import ROTATE, ROUND
from robomorph.targets.rtl.expressions import Expression, Literal, Signal, join
from robomorph.targets.rtl.netlist import Module


class Delays:
    """Signals of earlier cycles: a chain of registers each, made as long as it is asked for."""

    def __init__(self, module: Module) -> None:
        self.m = module
        self._chains: dict[Signal, list[Signal]] = {}

    def __call__(self, signal: Signal, cycles: int, *, reset: bool = False) -> Signal:
        chain = self._chains.setdefault(signal, [signal])
        while len(chain) <= cycles:
            later = self.m.signal(f"{signal.name}_{len(chain)}", signal.width)
            self.m.register(later, chain[-1], reset=0 if reset else None)
            chain.append(later)
        return chain[cycles]


def table(m: Module, name: str, index: Expression, values: Iterable[Any], width: int) -> Expression:
    """A constant of every joint, chosen by its number; a plain one if all are alike."""
    words = [int(value) for value in values]
    if len(set(words)) == 1:
        return Literal(words[0], width)
    out = m.signal(name, width)
    m.select(out, index, {k: Literal(word, width) for k, word in enumerate(words)})
    return out


def chosen(m: Module, name: str, index: Signal, words: Signal, count: int) -> Expression:
    """One of `count` words side by side, by its number."""
    width = words.width // count
    if count == 1:
        return words
    out = m.signal(name, width)
    m.select(out, index, {k: words.bits(k * width, width) for k in range(count)})
    return out


def address(index: Signal, place: Expression, problems: int) -> Expression:
    """Of a problem's word in a memory of several problems."""
    return place if problems == 1 else join(index, place)


def memory_depth(places: int, problems: int) -> int:
    return problem_rooms(problems) << max(1, (places - 1).bit_length())


def problem_rooms(problems: int) -> int:
    """Problems that memories have room for: a power of two."""
    return 1 << (problems - 1).bit_length()


def place_bits(places: int) -> int:
    return max(1, (places - 1).bit_length())


def add_rotation(
    m: Module, name: str, angle: Expression, bits: int, out_bits: int, stages: int
) -> tuple[Signal, Signal]:
    """Cosine and sine of an angle in turns, in registers of `out_bits` bits, stages + 1 cycles later."""
    c = cordic_turns(bits)
    drop = max(0, c.inner - (out_bits - 2))
    raw = [m.signal(f"{name}_{which}_raw", c.inner + 2 - drop) for which in ("cos", "sin")]
    m.instance(
        f"u_{name}_rotate",
        ROTATE,
        {"clk_i": m["clk_i"], "en_i": Literal(1, 1), "angle_i": angle, "cos_o": raw[0], "sin_o": raw[1]},
        W=bits,
        PhaseW=c.phase_bits,
        Inner=c.inner,
        ScaleW=c.scale.bit_length(),
        Scale=Literal(c.scale, c.scale.bit_length()),
        Shift=c.shift,
        Start=Literal(c.start, c.inner),
        Angles=Literal(sum(a << (k * c.phase_bits) for k, a in enumerate(c.angles)), c.inner * c.phase_bits),
        Stages=stages,
        Drop=drop,
    )
    made = []
    for which, word in zip(("cos", "sin"), raw, strict=True):
        made.append(m.signal(f"{name}_{which}", out_bits))
        more = out_bits - word.width
        m.register(made[-1], join(word, Literal(0, more)) if more else word)
    return made[0], made[1]


def add_round(m: Module, name: str, word: Expression, shift: int, bits: int) -> Signal:
    """A word without its lowest bits, rounded and saturated; whether it was is of no interest."""
    out, lost = m.signal(name, bits), m.signal(f"{name}_lost")
    m.instance(
        f"u_{name}",
        ROUND,
        {"x_i": word, "y_o": out, "overflow_o": lost},
        InW=word.width,
        Shift=shift,
        OutW=bits,
        Rounded=Literal(0, 1),
    )
    return out


def add_wrapped_round(m: Module, name: str, word: Signal, shift: int, bits: int) -> Expression:
    """Bits of a word from `shift` on, rounded; what is above them drops out, as whole turns do."""
    kept = word.bits(shift, bits)
    if shift == 0:
        return kept
    out = m.signal(name, bits)
    carry = join(Literal(0, bits - 1), word.bits(shift - 1))
    m.assign(out, kept + carry)
    return out
