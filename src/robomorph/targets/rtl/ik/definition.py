"""Quick-IK, relaxed Quick-IK and speculative Newton in fixed point: every word of the chip, defined.

Lanes are problems, and problems times speculations. An iteration is a serial pass (angles moved by the step
that was chosen, axes, columns, M = J J^T), the w unit, and a search: of the steps k/K, k = 1..K, the one that
ends nearest to the target, the lowest k at a tie. Positions are exact in neither: both sweeps round after
every operation (`ir/fixed.py`); squared errors and M are exact."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robomorph.ir.cordic import cordic_turns, rotated
from robomorph.ir.fixed import Format, interpret_columns, round_shift, saturate
from robomorph.targets.rtl.ik.plan import FACTOR_FRAC, HEADER_OUT, RATIO_FRAC, IkPlan
from robomorph.targets.rtl.ik.stream_words import CAP, CONVERGED, STALLED, Header, read_words, result_words
from robomorph.targets.rtl.ik.turning import turned_tip
from robomorph.targets.rtl.ik.weights import NEWTON, QUICK, WeightSpec, weights

Array = npt.NDArray[Any]
_LANES = 16_384  # of a search at a time: their words stay in the processor's cache
_PROBLEMS = 4096  # together: the last ones of many cost what few cost
_TAPS = 0xB400  # of the shift register that relaxed steps are drawn from
_LEAST_SHARE, _SHARES = 179, 78  # in 256ths: from 0.7 to 1


@dataclass(frozen=True)
class Answers:
    """Result words (n, output_words), flags (n,) of saturations, iterations (n,) and statuses (n,)."""

    words: Array
    overflow: Array
    iterations: Array
    status: Array


class Choice(NamedTuple):
    """What a search found: the chosen k, its position (n, 3), squared error, and whether anything
    saturated."""

    k: Array
    tip: Array
    square: Array
    overflow: Array


def weight_spec(plan: IkPlan) -> WeightSpec:
    """The w unit that belongs to a chip."""
    w = plan.widths
    return WeightSpec(
        m_bits=plan.gram_bits,
        m_frac=2 * plan.serial_frac,
        e_bits=plan.error_bits,
        e_frac=plan.unit_frac,
        j_frac=plan.serial_frac,
        delta_frac=plan.delta_frac,
        w_bits=w.weight,
        mantissa=w.mantissa,
        damping=min(plan.damping, (w.mantissa - 6) // 2),
        multipliers=2,
        adders=2,
        converters=2,
    )


def solve(plan: IkPlan, words: Array) -> Answers:
    """What the chip answers to problems (n, input_words)."""
    words = np.asarray(words, np.int64)
    parts = [_Chip(plan, words[i : i + _PROBLEMS]).run() for i in range(0, len(words), _PROBLEMS)]
    if not parts:
        empty = np.zeros((0, plan.output_words), np.int64)
        return Answers(empty, np.zeros(0, bool), np.zeros(0, np.int64), np.zeros(0, np.int64))
    fields = ("words", "overflow", "iterations", "status")
    return Answers(*(np.concatenate([getattr(part, name) for part in parts]) for name in fields))


class Trig:
    """Cosines and sines of all angles of a width, as words of `bits` bits."""

    def __init__(self, angle_bits: int, bits: int) -> None:
        c = cordic_turns(angle_bits)
        half = 1 << angle_bits - 1
        angles = np.arange(-half, half, dtype=np.int64)
        pair = rotated(c, angles)
        self.mask = 2 * half - 1
        form = Format(bits, bits - 2)
        words = (saturate(round_shift(x, c.inner - form.frac), form)[0] for x in pair)
        self.cos, self.sin = (np.roll(x, half).astype(np.int64) for x in words)

    def __call__(self, angle: Array) -> tuple[Array, Array]:
        at = angle & self.mask
        return self.cos[at], self.sin[at]


_TABLES: dict[tuple[int, int], Trig] = {}


def trig(angle_bits: int, bits: int) -> Trig:
    return _TABLES.setdefault((angle_bits, bits), _TABLES.get((angle_bits, bits)) or Trig(angle_bits, bits))


def wrap(value: Array, bits: int) -> Array:
    """The lowest bits of a word, with their sign."""
    half = 1 << bits - 1
    return np.asarray(((value + half) & (2 * half - 1)) - half)


@dataclass
class _Chip:
    """Some problems, as the chip works on them: all at once, each until it ends."""

    plan: IkPlan
    given: Array
    head: Header = field(init=False)
    theta: Array = field(init=False)  # (n, C), kept between iterations

    def __post_init__(self) -> None:
        self.head, self.theta = read_words(self.plan, self.given)

    @cached_property
    def _spec(self) -> WeightSpec:
        return weight_spec(self.plan)

    def run(self) -> Answers:
        p, n = self.plan, len(self.given)
        iterations, status = np.zeros(n, np.int64), np.full(n, -1, np.int64)
        square, tip, k = np.zeros(n, np.int64), np.zeros((n, 3), np.int64), np.zeros(n, np.int64)
        best, still = np.zeros(n, np.int64), np.zeros(n, np.int64)
        delta = np.zeros((n, p.coordinates), np.int64)
        overflow = np.zeros(n, bool)
        draw = self.head.seed.copy()
        every = np.arange(n)
        first = self._search(every, delta, np.zeros(n, np.int64), np.zeros(n, np.int64))
        square, tip, best = first.square, first.tip, first.square.copy()
        overflow |= first.overflow
        while (live := every[status < 0]).size:
            ended = self._ended(live, square, iterations, still)
            status[live] = ended
            live = live[ended < 0]
            if not live.size:
                break
            columns, gram, lost = self._serial(live, k[live], delta[live], tip[live])
            overflow[live] |= lost
            k[live] = 0  # the angles have moved
            w = weights(
                self._spec,
                gram,
                self.head.target[live] - tip[live],
                np.where(self.head.newton[live], NEWTON, QUICK),
                self.head.k_log[live],
            )
            status[live[w.stalled]] = STALLED
            going = ~w.stalled
            live = live[going]
            if not live.size:
                continue
            made, lost = self._steps(columns[going], w.m[going], w.shift[going])
            delta[live] = made
            draw[live] = advanced(draw[live])
            found = self._search(live, made, self.head.k_log[live], draw[live])
            overflow[live] |= lost | found.overflow
            k[live], tip[live], square[live] = found.k, found.tip, found.square
            iterations[live] += 1
            better = square[live] < best[live]
            still[live] = np.where(better, 0, still[live] + 1)
            best[live] = np.minimum(best[live], square[live])
        theta = self._moved(every, k, delta)
        return Answers(
            result_words(status, iterations, square, theta, overflow), overflow, iterations, status
        )

    def _ended(self, live: Array, square: Array, iterations: Array, still: Array) -> Array:
        """Why problems end now; -1 if they go on."""
        h = self.head
        patient = (h.patience[live] == 0) | (still[live] < h.patience[live])
        waiting = np.where(patient, -1, STALLED)
        going = np.where(iterations[live] >= h.cap[live], CAP, waiting)
        return np.asarray(np.where(square[live] <= h.threshold[live], CONVERGED, going))

    # --- the serial pass ----------------------------------------------------------------------------------

    def _moved(self, live: Array, k: Array, delta: Array) -> Array:
        """Coordinates (n, C) after the chosen step, inside their limits."""
        t, guard = self.plan.tables, self.plan.widths.guard
        moved = round_shift((self.theta[live] << guard) + k[:, None] * delta, guard)
        clamped = np.clip(moved, t.coordinate_lower, t.coordinate_upper)
        return np.where(t.coordinate_clamped, clamped, wrap(moved, self.plan.theta_bits))

    def _serial(self, live: Array, k: Array, delta: Array, tip: Array) -> tuple[Array, Array, Array]:
        """Columns (n, C, 3) of the Jacobian, M (n, 6), and what saturated."""
        p, t = self.plan, self.plan.tables
        self.theta[live] = theta = self._moved(live, k, delta)
        n, serial = len(live), Format(p.widths.serial, p.serial_frac)
        one, zero = np.full(n, 1 << serial.frac, np.int64), np.zeros(n, np.int64)
        frame = [one, zero, zero, zero, one, zero, zero, zero, one, zero, zero, zero]
        point = [tip[:, a] << (serial.frac - p.unit_frac) for a in range(3)]
        columns, overflow = np.zeros((n, p.coordinates, 3), np.int64), np.zeros(n, bool)
        table = trig(p.widths.serial_angle, p.widths.serial)
        for i in range(p.joints):
            own = self._own(i, theta[:, t.coordinate[i]], 0)
            turn = np.where(t.slides[i], t.stand[i], own)
            c, s = table(round_shift(turn, p.widths.theta - p.widths.serial_angle))
            slide = self._slide(i, own, p.widths.theta, serial)
            operands = [*frame, *point, c, s, *slide, *t.columns[i]]
            results, lost = interpret_columns(p.columns, operands)
            results = [np.broadcast_to(x, (n,)) for x in results]
            overflow |= lost
            frame = results[:12]
            column = np.stack(frame[6:9] if t.slides[i] else results[12:], axis=-1)
            if p.coupled:
                scaled = round_shift(column * t.ratio[i], RATIO_FRAC)
                column, lost = saturate(columns[:, t.coordinate[i]] + saturate(scaled, serial)[0], serial)
                overflow |= (lost | (saturate(scaled, serial)[1])).any(axis=-1)
            columns[:, t.coordinate[i]] = column
        columns[self._held(live, theta, columns, tip)] = 0
        x, y, z = (columns[..., a] for a in range(3))
        pairs = ((x, x), (x, y), (x, z), (y, y), (y, z), (z, z))
        return columns, np.stack([(a * b).sum(axis=1) for a, b in pairs], axis=-1), overflow

    def _held(self, live: Array, theta: Array, columns: Array, tip: Array) -> Array:
        """(n, C): coordinates at a limit that the error pushes further."""
        t = self.plan.tables
        push = np.einsum("nca,na->nc", columns, self.head.target[live] - tip)
        low, high = theta <= t.coordinate_lower, theta >= t.coordinate_upper
        return np.asarray(t.coordinate_clamped & ((low & (push < 0)) | (high & (push > 0))))

    def _own(self, i: int, coordinate: Array, guard: int) -> Array:
        """A joint's own angle or slide, from its coordinate with `guard` more fraction bits."""
        t = self.plan.tables
        if not self.plan.coupled:
            return coordinate
        return np.asarray(round_shift(coordinate * t.ratio[i], RATIO_FRAC) + (t.shift[i] << guard))

    def _slide(self, i: int, own: Array, frac: int, form: Format) -> tuple[Array, ...]:
        """The slide of a joint in a format of positions; zero of one that turns; nothing if none slides."""
        if not self.plan.sliding:
            return ()
        drop = frac - form.frac - self.plan.slide_log
        moved = round_shift(own, drop) if drop >= 0 else own << -drop
        return (saturate(moved, form)[0] if self.plan.tables.slides[i] else own * 0,)

    # --- steps and the search ---------------------------------------------------------------------------

    def _steps(self, columns: Array, m: Array, shift: Array) -> tuple[Array, Array]:
        """A K-th of the whole step of every coordinate (n, C), and what saturated."""
        total = np.einsum("nca,na->nc", columns, m)
        half = np.where(shift > 0, 1 << np.maximum(shift - 1, 0), 0)[:, None]
        value = (total + half) >> shift[:, None]
        form = (1 << self.plan.delta_bits - 1) - 1
        made = np.clip(value, -form - 1, form)
        lost = (made != value).any(axis=1)
        if self.plan.sliding:
            made = round_shift(made * self._factors, FACTOR_FRAC)
        return made, lost

    @cached_property
    def _factors(self) -> Array:
        t = self.plan.tables
        factors = np.zeros(self.plan.coordinates, np.int64)
        factors[t.coordinate] = t.factor
        return factors

    def _search(self, live: Array, delta: Array, k_log: Array, draw: Array) -> Choice:
        """The step to take, of K = 2**k_log, where there is one."""
        most = 1 << int(k_log.max(initial=0))
        chunk = max(1, _LANES // most)
        places = [slice(i, i + chunk) for i in range(0, len(live), chunk)]
        parts = [self._choice(live[p], delta[p], k_log[p], draw[p]) for p in places]
        return Choice(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def _choice(self, live: Array, delta: Array, k_log: Array, draw: Array) -> Choice:
        """Of some problems; positions of all their speculations are found in lanes."""
        n, relaxed = len(live), self.head.relaxed[live]
        most = 1 << int(k_log.max(initial=0))
        steps = np.arange(1, most + 1, dtype=np.int64)
        tips, lost = self._tips(live, delta, steps)
        error = self.head.target[live][:, None] - tips
        square = (error * error).sum(axis=-1)
        tried = steps <= (1 << k_log)[:, None]
        ranked = np.where(tried, square, np.iinfo(np.int64).max)
        best = np.argmin(ranked, axis=1)  # the first of equals
        rows = np.arange(n)
        share = _LEAST_SHARE + (((draw & 255) * _SHARES) >> 8)
        shorter = np.maximum(1, ((best + 1) * share + 128) >> 8)
        reached = square[rows, best] <= self.head.threshold[live]
        k = np.where(relaxed & ~reached, shorter, best + 1)
        return Choice(k, tips[rows, k - 1], square[rows, k - 1], np.asarray((lost & tried).any(axis=1)))

    def _tips(self, live: Array, delta: Array, steps: Array) -> tuple[Array, Array]:
        """Positions (n, K, 3) after k K-ths of the step, and what saturated (n, K)."""
        p, t, w = self.plan, self.plan.tables, self.plan.widths
        unit = Format(w.unit, p.unit_frac)
        lanes = (len(live), len(steps))
        tip: list[Any] = [np.full(lanes, t.tip[a], np.int64) for a in range(3)]
        overflow = np.zeros(lanes, bool)
        for i in reversed(range(p.joints)):
            c = t.coordinate[i]
            start = self._own(i, self.theta[live, c] << w.guard, w.guard)[:, None]
            step = delta[:, c] if not p.coupled else round_shift(delta[:, c] * t.ratio[i], RATIO_FRAC)
            own = start + steps * step[:, None]
            if t.clamped[i]:
                own = np.clip(own, t.lower[i] << w.guard, t.upper[i] << w.guard)
            turn = own if not t.slides[i] else np.full(lanes, t.stand[i] << w.guard)
            angle, slide = round_shift(turn, p.delta_frac - w.angle), self._slide(i, own, p.delta_frac, unit)
            if p.cordic:
                tip, lost = turned_tip(p, i, tip, angle, slide)
            else:
                cos, sin = trig(w.angle, w.unit)(angle)
                tip, lost = interpret_columns(p.reach, [*tip, cos, sin, *slide, *t.reach[i]])
            overflow |= lost
        return np.stack([np.broadcast_to(x, lanes) for x in tip], axis=-1), overflow


def advanced(draw: Array) -> Array:
    """The shift register of 16 bits, eight steps on."""
    for _ in range(8):
        draw = (draw >> 1) ^ np.where(draw & 1, _TAPS, 0)
    return draw


__all__ = ["HEADER_OUT", "Answers", "solve", "weight_spec"]
