"""A chip's knobs and word widths by name, as users give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from robomorph.errors import ArgumentError
from robomorph.targets.rtl.ik.plan import MOST_SPECULATIONS, Knobs, Widths

# The kind of number, or word, that each takes.
WIDTHS = {field.name: str(field.type) for field in fields(Widths)}
KNOBS = {field.name: str(field.type) for field in fields(Knobs)}
_UNITS = 4  # search units, unless there is less to try


def read_knobs(given: Mapping[Any, Any], owner: str = "chip") -> tuple[tuple[str, Any], ...]:
    """Knobs and widths by name, each of its kind; how many speculations there are to share is not asked."""
    plain: dict[str, Any] = {}
    for name, value in given.items():
        if name not in WIDTHS | KNOBS:
            raise ArgumentError(
                f"{owner}: unknown knob {name!r}: expected widths ({', '.join(WIDTHS)}) or knobs "
                f"({', '.join(KNOBS)})"
            )
        plain[name] = int(value) if isinstance(value, np.integer) else value
    try:
        Widths(**{name: value for name, value in plain.items() if name in WIDTHS})
        _knobs({"speculations": MOST_SPECULATIONS, **plain})
    except ArgumentError as error:
        raise ArgumentError(f"{owner}: {error}") from None
    return tuple(sorted(plain.items()))


def make_knobs(given: Mapping[str, Any], owner: str = "chip") -> tuple[Widths, Knobs]:
    """Widths and knobs with defaults for what is not given; `owner` is who errors speak of."""
    plain = dict(read_knobs(given, owner))
    widths = Widths(**{name: value for name, value in plain.items() if name in WIDTHS})
    return widths, _knobs({"speculations": Knobs.speculations, **plain})


def _knobs(given: Mapping[str, Any]) -> Knobs:
    """Of what is given, with no more units than there is to try."""
    chosen = {name: value for name, value in given.items() if name in KNOBS}
    tried = chosen["speculations"]
    if type(tried) is int and tried >= 1:  # Knobs refuses others
        chosen.setdefault("units", min(_UNITS, tried))
    return Knobs(**chosen)
