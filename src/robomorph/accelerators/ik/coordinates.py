"""Coordinates as words: which range a chip keeps of each, and how a host's numbers become words and back.

A word counts turns, or 2**slide_log lengths of a slide. A coordinate without limits goes round: its whole
turns stay on the host. One that a joint follows at a rate of its own cannot, and one with a limit on one side
goes no further round than the chip counts: those have ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.accelerators.ik.chain import Chain, ChainJoint
from robomorph.errors import ArgumentError

Array = npt.NDArray[Any]
TURN = 2 * math.pi
SLIDE_LOG = 3
_MOST_TURNS = 8.0  # either way
_ROOM = 2.0  # turns beyond the only limit of a joint, and either way of one that others follow
_FARTHEST = 2.0**28  # turns: beyond, float64 has fewer places than a word


@dataclass(frozen=True)
class Coordinates:
    """The coordinates (C,) of a chain whose unit is `length` m."""

    chain: Chain
    length: float

    @cached_property
    def drivers(self) -> list[ChainJoint]:
        """Per coordinate, the joint in whose units its word is: the first that it moves."""
        return [next(self._moved(k)) for k in range(len(self.chain.coordinates))]

    def unit(self, joint: ChainJoint) -> float:
        """A word's units in a radian or metre of a joint."""
        return 1.0 / (self.length * 2.0**SLIDE_LOG) if joint.slides else 1.0 / TURN

    def ratio(self, joint: ChainJoint) -> float:
        """A joint's own words in one of its coordinate's."""
        return joint.scale * self.unit(joint) / self.unit(self.drivers[joint.coordinate])

    def shift(self, joint: ChainJoint) -> float:
        """What a joint's own word has more than that; whole turns of an angle say nothing."""
        return joint.shift * self.unit(joint) if joint.slides else _fraction(joint.shift + joint.turn)

    def stand(self, joint: ChainJoint) -> float:
        """The angle of a sliding joint."""
        return _fraction(joint.turn) if joint.slides else 0.0

    @cached_property
    def per_coordinate(self) -> Array:
        return np.array([self.unit(joint) for joint in self.drivers])

    @cached_property
    def zero(self) -> Array:
        """What the word of a coordinate at zero stands for; coupled chains have that on the chip."""
        plain = not self.chain.coupled
        return np.array([_fraction(j.turn) if plain and not j.slides else 0.0 for j in self.drivers])

    @cached_property
    def turns_back(self) -> Array:
        """(C,): is everything where it was after a whole turn?"""
        still = [j.scale == 0.0 or (not j.slides and float(j.scale).is_integer()) for j in self.chain.joints]
        moving = {j.coordinate for j, ok in zip(self.chain.joints, still, strict=True) if not ok}
        return np.array([k not in moving for k in range(len(self.chain.coordinates))])

    @cached_property
    def limits(self) -> Array:
        """(2, C): the chain's, in words' units."""
        return np.array([self.chain.lower, self.chain.upper]) * self.per_coordinate + self.zero

    @cached_property
    def bounded(self) -> Array:
        """(C,): has it an end? Others wrap."""
        return np.asarray(np.isfinite(self.limits).any(axis=0) | ~self.turns_back)

    @cached_property
    def ends(self) -> Array:
        """(2, C): limits where there are any; elsewhere as far as joints that follow have use for."""
        low, high = self.limits
        room = np.array([self._room(k) for k in range(len(low))])
        open_low, open_high = np.isinf(low), np.isinf(high)
        below = np.where(open_high, -room, high - room)
        above = np.where(open_low, room, low + room)
        return np.array([np.where(open_low, below, low), np.where(open_high, above, high)])

    @cached_property
    def whole_bits(self) -> int:
        """Bits of a word before its point: one if all are within half a turn."""
        reach = np.where(self.bounded, np.abs(self.ends).max(axis=0) + 1e-6, 0.5)
        worst = int(np.argmax(reach))
        if not reach[worst] <= _MOST_TURNS:
            raise ArgumentError(
                f"joint {self.drivers[worst].name!r}: a range up to {reach[worst]:.3g} turns (or "
                f"{2**SLIDE_LOG} lengths of the chip's unit): a chip counts up to {_MOST_TURNS:g} either way"
            )
        bits = 1 + max(0, math.ceil(math.log2(reach[worst] / 0.5)))
        return max(bits, 3) if self.chain.coupled else bits

    def end_words(self, theta: int) -> Array:
        """(2, C): the lowest and the highest word inside the ends; of a range without a word, the nearest."""
        most = 2 ** (theta + self.whole_bits - 1) - 1
        places = np.where(self.bounded, self.ends, 0.0) * 2.0**theta
        low, high = np.ceil(places[0] - 1e-6), np.floor(places[1] + 1e-6)
        middle = np.floor(places.mean(axis=0) + 0.5)
        made = np.where(low > high, middle, np.array([low, high]))
        free = np.array([[-most - 1.0], [most]])
        return np.clip(np.where(self.bounded, made, free), -most - 1, most).astype(np.int64)

    # --- the host's numbers -----------------------------------------------------------------------------

    def to_words(self, q: Array, theta: int) -> tuple[Array, Array]:
        """Words (n, C) of coordinates (n, C), and the whole turns (n, C) that are left out of them."""
        own = q * self.per_coordinate + self.zero
        self._check(q, own)
        words = np.floor(own * 2.0**theta + 0.5)
        whole = self._whole(words * 2.0**-theta)
        low, high = self.end_words(theta)
        left = words - whole * 2.0**theta
        return np.where(self.bounded, np.clip(left, low, high), left).astype(np.int64), whole

    def _whole(self, own: Array) -> Array:
        """Turns to leave out: of a joint without limits, what the chip does not count; of one with a single
        limit, all but those that leave it half a turn of room."""
        span = 2.0**self.whole_bits
        (open_low, open_high), (low, high) = np.isinf(self.limits), self.ends
        around = span * np.floor(own / span + 0.5)
        above = np.maximum(0.0, np.floor(own - low - 0.5))
        below = np.minimum(0.0, np.ceil(own - high + 0.5))
        one_side = np.where(open_high, above, np.where(open_low, below, 0.0))
        return np.where(self.turns_back, np.where(open_low & open_high, around, one_side), 0.0)

    def to_numbers(self, words: Array, whole: Array, theta: int) -> Array:
        """Coordinates (n, C) of words, inside the limits: where those are between two words as well."""
        q = (words * 2.0**-theta + whole - self.zero) / self.per_coordinate
        return np.asarray(np.clip(q, np.array(self.chain.lower), np.array(self.chain.upper)))

    def _check(self, q: Array, own: Array) -> None:
        """A start beyond what the chip counts is refused; one beyond a limit is held by that."""
        low, high = np.where(self.turns_back, [[-_FARTHEST], [_FARTHEST]], self.ends)
        open_low, open_high = np.isinf(self.limits)
        bad = np.argwhere((open_low & (own < low - 1e-6)) | (open_high & (own > high + 1e-6)))
        if len(bad):
            n, k = (int(x) for x in bad[0])
            least, most = ((x[k] - self.zero[k]) / self.per_coordinate[k] for x in (low, high))
            raise ArgumentError(
                f"q0: entry {self.chain.coordinates[k]} moves joint {self.drivers[k].name!r}: expected "
                f"{least:.4g} to {most:.4g}, which is what a chip keeps of it, found {q[n, k]:g}: start "
                'inside, or use on="cpu"'
            )

    def _room(self, k: int) -> float:
        """Turns that a coordinate needs for a whole turn of each joint that it moves."""
        ratios = [abs(self.ratio(j)) for j in self._moved(k) if not j.slides and j.scale]
        return max([_ROOM, *(1.0 / r for r in ratios)])

    def _moved(self, k: int) -> Iterator[ChainJoint]:
        return (joint for joint in self.chain.joints if joint.coordinate == k)


def _fraction(angle: float) -> float:
    """Of a turn, without whole ones."""
    turns = angle / TURN
    return turns - round(turns)
