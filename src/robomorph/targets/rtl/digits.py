"""Multiplication by a constant as additions of shifted copies: its signed digits."""

from __future__ import annotations


def signed_digits(word: int) -> list[tuple[int, int]]:
    """(shift, sign) of the canonical signed-digit form: the fewest nonzero digits that sum to `word`."""
    digits: list[tuple[int, int]] = []
    shift = 0
    while word:
        if word % 2:
            digit = 2 - word % 4  # 1 if the next bit is 0, else -1: no two neighbours are nonzero
            digits.append((shift, digit))
            word -= digit
        word //= 2
        shift += 1
    return digits
