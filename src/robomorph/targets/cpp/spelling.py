"""How ports are spelled in C and C++: entries, parameters, fields, and ranges in comments."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

import numpy as np

from robomorph.ir.program import Port


def entry(port: Port, flat: int) -> str:
    """``tau[3]``, ``mass[2][0]``; a port without a shape is a pointer to one number."""
    if not port.shape:
        return f"*{port.name}"
    index = np.unravel_index(flat, port.shape)
    return port.name + "".join(f"[{k}]" for k in index)


def extents(shape: tuple[int, ...]) -> str:
    return "".join(f"[{n}]" for n in shape)


def pointer(port: Port, kind: str, qualifier: str = "") -> str:
    """A parameter: a pointer to the port's first row, so that it is indexed like an array of its shape."""
    name = f"*{qualifier} {port.name}" if qualifier else f"*{port.name}"
    return f"{kind} {name}" if len(port.shape) < 2 else f"{kind} ({name}){extents(port.shape[1:])}"


def array_parameter(port: Port, kind: str) -> str:
    """A parameter of the C interface that shows its shape, as C and C++ both read it.

    Constant matrices are pointers to their first number: ISO C before C23 does not take rows of numbers for
    rows of constant numbers.
    """
    if not port.shape or is_flat(port, kind):
        return f"{kind} *{port.name}"
    return f"{kind} {port.name}{extents(port.shape)}"


def is_flat(port: Port, kind: str) -> bool:
    """Is the port one row of numbers in the C interface, though it has more dimensions?"""
    return kind.startswith("const ") and len(port.shape) > 1


def as_rows(port: Port, kind: str, place: str) -> str:
    """A pointer to the numbers of a port of any shape, as `pointer` declares it."""
    if len(port.shape) < 2:
        return place
    return f"reinterpret_cast<{kind} (*){extents(port.shape[1:])}>({place})"


def shape_text(port: Port) -> str:
    return " x ".join(map(str, port.shape)) if port.shape else "a number"


def ranges(port: Port, flats: Iterable[int]) -> str:
    """Entries in few words: ``q[0..6]``, ``mass[0..2][1]``."""
    chosen = sorted(flats)
    if not port.shape:
        return port.name
    if len(chosen) == port.size:
        return port.name
    if len(port.shape) == 1:
        return ", ".join(f"{port.name}[{span}]" for span in _spans(chosen))
    width = port.size // port.shape[0]
    rows = [(row, tuple(k % width for k in ks)) for row, ks in groupby(chosen, lambda k: k // width)]
    by_columns: dict[tuple[int, ...], list[int]] = {}
    for row, columns in rows:
        by_columns.setdefault(columns, []).append(row)
    parts = []
    for columns, members in by_columns.items():
        across = ",".join(_spans(columns))
        parts.append(f"{port.name}[{','.join(_spans(members))}][{across}]")
    return ", ".join(parts)


def _spans(numbers: Iterable[int]) -> list[str]:
    spans: list[list[int]] = []
    for k in numbers:
        if spans and k == spans[-1][1] + 1:
            spans[-1][1] = k
        else:
            spans.append([k, k])
    return [str(a) if a == b else f"{a}..{b}" for a, b in spans]
