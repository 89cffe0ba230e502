"""Reading a plan, strictly: what is missing, unknown or of another form is refused by name."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from robomorph.errors import RobomorphError

FORMAT, VERSION = "robomorph-plan", 1
_HEX = re.compile(r"-?0x[01]\.[0-9a-f]{1,13}p[+-]\d{1,4}|-?0x0p\+0", re.ASCII)
_LAST = 1e-12  # digits of numbers that say the same
_FRACTION = re.compile(r"-?\d{1,400}(/\d{1,400})?", re.ASCII)


class Refused(RobomorphError):
    """A plan that is not what it says, or about which nothing can be said."""


def read_json(path: str) -> Any:
    try:
        text = Path(path).expanduser().read_text(encoding="utf-8")
        return json.loads(text, object_pairs_hook=_once)
    except OSError as error:
        raise Refused(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise Refused(f"{path}: expected JSON, found something else: {error}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name is given twice in one object")
    return found


def record(data: Any, what: str, keys: Sequence[str]) -> dict[str, Any]:
    """A mapping with exactly these keys."""
    if not isinstance(data, Mapping):
        raise Refused(f"{what}: expected an object with {', '.join(keys)}, found {_short(data)}")
    for key in keys:
        if key not in data:
            raise Refused(f"{what}: expected a field {key!r}, found none")
    unknown = sorted(set(map(str, data)) - set(keys))
    if unknown:
        raise Refused(f"{what}: unknown field {unknown[0]!r}: this program would not know what it says")
    return dict(data)


def items(data: Any, what: str) -> list[Any]:
    if not isinstance(data, list):
        raise Refused(f"{what}: expected a list, found {_short(data)}")
    return data


def number(data: Any, what: str, *, infinite: bool = False) -> float:
    """A hexadecimal float."""
    try:
        value = float.fromhex(data)
    except (TypeError, ValueError, OverflowError):
        raise Refused(f"{what}: expected a hexadecimal float, found {_short(data)}") from None
    if math.isnan(value) or (math.isinf(value) and not infinite):
        raise Refused(f"{what}: expected a number, found {data}")
    return value


def numbers(data: Any, what: str, count: int | None = None, *, infinite: bool = False) -> list[float]:
    values = [number(x, f"{what}[{k}]", infinite=infinite) for k, x in enumerate(items(data, what))]
    if count is not None and len(values) != count:
        raise Refused(f"{what}: expected {count} numbers, found {len(values)}")
    return values


def fraction(data: Any, what: str) -> Fraction:
    """Whole numbers or two of them with a stroke: no exponents, which may be without end."""
    if not isinstance(data, str) or not _FRACTION.fullmatch(data):
        raise Refused(f"{what}: expected a fraction such as '2/5', found {_short(data)}")
    try:
        return Fraction(data)
    except ZeroDivisionError:
        raise Refused(f"{what}: expected a fraction such as '2/5', found {_short(data)}") from None


def whole(data: Any, what: str, least: int, most: int) -> int:
    if isinstance(data, bool) or not isinstance(data, int) or not least <= data <= most:
        raise Refused(f"{what}: expected a whole number from {least} to {most}, found {_short(data)}")
    return data


def name(data: Any, what: str) -> str:
    if not isinstance(data, str):
        raise Refused(f"{what}: expected a name, found {_short(data)}")
    return data


def flag(data: Any, what: str) -> bool:
    if not isinstance(data, bool):
        raise Refused(f"{what}: expected true or false, found {_short(data)}")
    return data


def alike(a: Any, b: Any) -> bool:
    """The same but for the last digits of numbers, which another machine may have rounded otherwise."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(
            _alike_times(a[key], b[key]) if key == "during" else alike(a[key], b[key]) for key in a
        )
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(alike(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, str) and isinstance(b, str) and a != b and _HEX.fullmatch(a) and _HEX.fullmatch(b):
        x, y = float.fromhex(a), float.fromhex(b)
        return abs(x - y) <= _LAST * max(1.0, abs(y))
    return type(a) is type(b) and bool(a == b)


def _alike_times(a: Any, b: Any) -> bool:
    """Windows, which are fractions."""
    first, second = ([fraction(t, "during") for t in items(times, "during")] for times in (a, b))
    pairs = zip(first, second, strict=False)
    return len(first) == len(second) and all(abs(x - y) <= _LAST * max(Fraction(1), abs(y)) for x, y in pairs)


def _short(data: Any) -> str:
    text = repr(data)
    return text if len(text) <= 60 else text[:57] + "..."
