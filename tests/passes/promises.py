"""Whether a pass keeps its word on programs over every operation: the first place where it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ProgramError
from robomorph.ir.ops import CONST, INPUT
from robomorph.ir.program import Program
from robomorph.ir.text import to_text
from robomorph.ir.verify import verify
from robomorph.passes.pipeline import Keeps
from tests.passes.exact import computed_results, exact_results
from tests.passes.programs import arguments, pairs, sums, tangles

Array = npt.NDArray[Any]
Pass = Callable[[Program], Program]
ROWS, EXACT_ROWS = 96, 3


@dataclass
class Findings:
    """How much was compared, and the first broken promise."""

    compared: int = 0
    sharp: int = 0  # bounds that leave little room: what makes the comparison worth something
    broken: str | None = None


@cache
def programs() -> tuple[Program, ...]:
    return tuple(chain(pairs(0), pairs(1), pairs(2), tangles(0, 120, 14), sums(0, 80)))


def check(transform: Pass, keeps: Keeps) -> Findings:
    """Run a pass on every program, until it breaks its promise."""
    found = Findings()
    for seed, before in enumerate(programs()):
        try:
            after = transform(before)
            verify(after)
        except ProgramError as error:
            found.broken = str(error)
            return found
        found.broken = _difference(found, before, after, keeps, seed)
        if found.broken is not None:
            found.broken += f"\n{to_text(before)}\nbecame\n{to_text(after)}"
            return found
    return found


def _difference(found: Findings, before: Program, after: Program, keeps: Keeps, seed: int) -> str | None:
    if (after.inputs, after.outputs) != (before.inputs, before.outputs):
        return "its ports changed"
    if keeps is not Keeps.SUMS:
        broken = _other_bits(found, before, after, keeps, seed)
        if broken is not None:
            return broken
    return _beyond_bound(found, before, after, keeps, seed) if keeps in (Keeps.FUSED, Keeps.SUMS) else None


def _other_bits(found: Findings, before: Program, after: Program, keeps: Keeps, seed: int) -> str | None:
    values = arguments(seed, ROWS)
    expected, finite = _everything(before, values)
    got, _ = _everything(after, values)
    if keeps is Keeps.BITS:
        same = (expected.view(np.int64) == got.view(np.int64)) | (np.isnan(expected) & np.isnan(got))
        counted = np.ones_like(same)
    else:
        same, counted = expected == got, finite
    found.compared += int(counted.sum())
    wrong = np.argwhere(counted & ~same)
    if not len(wrong):
        return None
    row, k = wrong[0]
    inputs = [*values["a"][row].tolist(), float(values["b"][row])]
    return f"result {k} of {inputs}: {float(expected[row, k])!r} became {float(got[row, k])!r}"


def _everything(program: Program, values: dict[str, Array]) -> tuple[Array, Array]:
    """Results, (rows, entries), and whether all values that each comes from are finite. An evaluation of its
    own, by the table of operations, which is the definition."""
    columns = [*values["a"].T, values["b"]]
    found: list[Array] = []
    finite: list[Array] = []
    with np.errstate(all="ignore"):
        for node in program.nodes:
            if node.op is CONST:
                found.append(np.full(len(columns[0]), node.value))
            elif node.op is INPUT:
                found.append(np.array(columns[int(node.value)]))
            else:
                assert node.op.evaluate is not None
                found.append(np.asarray(node.op.evaluate(*(found[a] for a in node.args))))
            known = np.isfinite(found[-1])
            for a in node.args:
                known = known & finite[a]
            finite.append(known)
    results = list(program.results)
    return np.stack([found[r] for r in results], axis=1), np.stack([finite[r] for r in results], axis=1)


def _rows(program: Program, seed: int) -> Iterator[tuple[list[float], Array]]:
    values = arguments(seed + 7, EXACT_ROWS, finite=True, extreme=0.2)
    _, finite = _everything(program, values)
    for row in range(EXACT_ROWS):
        yield [*values["a"][row].tolist(), float(values["b"][row])], finite[row]


def _beyond_bound(found: Findings, before: Program, after: Program, keeps: Keeps, seed: int) -> str | None:
    """The error against exact arithmetic, where nothing overflows."""
    for inputs, finite in _rows(before, seed):
        expected = exact_results(before, inputs, any_order=keeps is Keeps.SUMS)
        for k, (value, got) in enumerate(zip(expected, computed_results(after, inputs), strict=True)):
            if value is None or not finite[k]:
                continue
            found.compared += 1
            found.sharp += 0 < value.bound < abs(value.exact) / 2**44
            if not np.isfinite(got) or abs(Fraction(got) - value.exact) > value.bound:
                off = "" if not np.isfinite(got) else f", off by {_digits(Fraction(got) - value.exact)}"
                return f"result {k} of {inputs}: {got!r}{off}, bound {_digits(value.bound)}"
    return None


def _digits(x: Fraction) -> str:
    return f"{float(x):.3g}" if abs(x) < 10**300 else "more than 1e300"
