"""A chip's knobs and word widths by name, as users give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from robomorph.errors import ArgumentError
from robomorph.targets.rtl.ik.plan import Knobs, Widths

# The kind of number, or word, that each takes.
WIDTHS = {field.name: str(field.type) for field in fields(Widths)}
KNOBS = {field.name: str(field.type) for field in fields(Knobs)}
_UNITS = 4  # search units, unless there is less to try


def make_knobs(given: Mapping[str, Any], owner: str = "chip") -> tuple[Widths, Knobs]:
    """Widths and knobs with defaults for what is not given; `owner` is who errors speak of."""
    for name in given:
        if name not in WIDTHS | KNOBS:
            raise ArgumentError(
                f"{owner}: unknown knob {name!r}: expected widths ({', '.join(WIDTHS)}) or knobs "
                f"({', '.join(KNOBS)})"
            )
    widths = Widths(**{name: value for name, value in given.items() if name in WIDTHS})
    chosen = {name: value for name, value in given.items() if name in KNOBS}
    tried = chosen.get("speculations", Knobs.speculations)
    if type(tried) is int and tried >= 1:  # Knobs refuses others
        chosen.setdefault("units", min(_UNITS, tried))
    return widths, Knobs(**chosen)
