"""The robot's names, limits and gravity as data, in C++ and in C."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from robomorph.targets.cpp.package import CppPackage, RobotData, string_literal

# Arrays: their name, what they are, and which field of RobotData they hold.
_ARRAYS = (
    ("joint_names", "Moving joints; one that mimics another has no coordinate of its own.", "joints"),
    (
        "coordinate_names",
        "The joint of every entry of q, with a number where it has several.",
        "coordinates",
    ),
    ("velocity_names", "The joint of every entry of qd, qdd and tau.", "velocities"),
    ("lower_limits", "Least q, rad or m; -infinity where there is no limit.", "lower"),
    ("upper_limits", "Largest q.", "upper"),
    ("velocity_limits", "Largest |qd|, rad/s or m/s; infinity where there is no limit.", "velocity"),
    ("effort_limits", "Largest |tau|, N m or N.", "effort"),
    ("gravity", "m/s^2 in the world's axes, as built into the functions.", "gravity"),
)


def cpp_arrays(data: RobotData) -> str:
    """Definitions for a C++ header."""
    lines = []
    for name, about, field in _ARRAYS:
        values = getattr(data, field)
        lines += [f"/// {about}", f"constexpr {_kind(values)}{name}[{len(values)}] = {{{_listed(values)}}};"]
    return "\n".join(lines)


def c_declarations(package: CppPackage) -> str:
    """Declarations for the C header."""
    return "\n".join(f"/* {about} */\nextern {array};" for array, about, _ in _c_arrays(package))


def c_definitions(package: CppPackage) -> str:
    """Definitions for the file behind the C header."""
    return "\n".join(f"{array} = {{{_listed(values)}}};" for array, _, values in _c_arrays(package))


def _c_arrays(package: CppPackage) -> Iterator[tuple[str, str, Sequence[object]]]:
    """Type, name and size of every array, a word about it, and what it holds."""
    for name, about, field in _ARRAYS:
        values = getattr(package.data, field)
        yield f"{_kind(values, constant='const ')}{package.name}_{name}[{len(values)}]", about, values


def _kind(values: Iterable[object], constant: str = "") -> str:
    """The type before an array's name; constexpr makes the array constant by itself."""
    if any(isinstance(value, str) for value in values):
        return "const char *const " if constant else "const char* "
    return f"{constant}double "


def _listed(values: Iterable[object]) -> str:
    return ", ".join(string_literal(v) if isinstance(v, str) else _number(float(str(v))) for v in values)


def _number(value: float) -> str:
    if math.isfinite(value):
        return repr(value)
    return "HUGE_VAL" if value > 0 else "-HUGE_VAL"
