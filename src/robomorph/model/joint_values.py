"""What a caller says of joints themselves: armature, damping, friction loss and springs."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from robomorph.naming import unknown_name

from ..errors import ArgumentError, ModelError
from .arrays import LARGEST
from .joints import JOINT_TYPES
from .model import Body
from .structure import Tree

# One number for all joints with one degree of freedom, or numbers by the joints' names.
JointValues: TypeAlias = float | Mapping[str, float]
# The same of springs: stiffness, or stiffness and the coordinate at which the spring is slack.
Springs: TypeAlias = float | tuple[float, float] | Mapping[str, float | tuple[float, float]]
UNITS = {
    "armature": "kg m^2 or kg",
    "damping": "N m s/rad or N s/m",
    "friction": "N m or N",
    "stiffness": "N m/rad or N/m",
}
_Numbers = tuple[float, ...]


@dataclass(frozen=True)
class JointChanges:
    """The caller's values by kind (`UNITS`): for all joints with one degree of freedom, or by name."""

    for_all: Mapping[str, _Numbers] = field(default_factory=dict)
    by_name: Mapping[str, Mapping[str, _Numbers]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.for_all or self.by_name)


def read_joint_changes(given: Mapping[str, Any]) -> JointChanges:
    """Check the arguments of `load` named in `UNITS`, those that are not None."""
    for_all: dict[str, _Numbers] = {}
    by_name: dict[str, Mapping[str, _Numbers]] = {}
    for kind, value in given.items():
        if isinstance(value, Mapping):
            by_name[kind] = {name: _values(kind, f"{kind}[{name!r}]", entry) for name, entry in value.items()}
        elif value is not None:
            for_all[kind] = _values(kind, kind, value)
    return JointChanges(for_all, by_name)


def _values(kind: str, argument: str, value: Any) -> _Numbers:
    pair = kind == "stiffness" and isinstance(value, Sequence) and not isinstance(value, str)
    parts = tuple(value) if pair else (value,)
    if pair and len(parts) != 2:
        raise ArgumentError(f"{argument}: expected a number, or (stiffness, rest), found {value!r}.")
    return tuple(_number(argument, UNITS[kind] if k == 0 else "", part) for k, part in enumerate(parts))


def _number(argument: str, unit: str, value: Any) -> float:
    """A finite number; of 0 or more if it has a unit (rests may be anywhere)."""
    number = np.nan
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):  # a whole number that no float has
            number = float(value)
    if not (abs(number) <= LARGEST and (number >= 0.0 or not unit)):
        expected = f"a finite number of 0 or more ({unit})" if unit else "a finite coordinate (rad or m)"
        raise ArgumentError(f"{argument}: expected {expected}, found {value!r}.")
    return number


def changed_bodies(tree: Tree, bodies: Sequence[Body], changes: JointChanges) -> tuple[Body, ...]:
    """The bodies with the caller's values in place of the file's; names are checked against the tree."""
    moving = {body.joint_name: body for body in bodies}
    held = {joint.name for joint in tree.joints if joint.kind != "fixed"}
    for kind, values in changes.by_name.items():
        for name in values:
            if name not in moving and name not in held:
                known = [body.joint_name for body in bodies]
                raise ArgumentError(
                    f"{kind}: {unknown_name(tree.description.source, 'moving joint', name, known)}"
                )
            if kind == "stiffness" and name in moving and JOINT_TYPES[moving[name].kind].nv != 1:
                raise ArgumentError(
                    f"stiffness[{name!r}]: expected a joint with one degree of freedom, found one of type "
                    f"{moving[name].kind!r}: springs of such joints are not known."
                )
    return tuple(_changed(body, changes) for body in bodies)


def _changed(body: Body, changes: JointChanges) -> Body:
    found: dict[str, Any] = {}
    single = JOINT_TYPES[body.kind].nv == 1
    for kind in UNITS:
        own = changes.by_name.get(kind, {}).get(body.joint_name)
        values = changes.for_all.get(kind) if own is None and single else own
        if values is not None:
            found |= dict(zip((kind, "rest"), values, strict=False))
    return replace(body, **found) if found else body


def check_passive(label: str, bodies: Sequence[Body]) -> None:
    """Refuse, by name, what would drive a joint instead of resisting it, or is no force that we know."""
    for body in bodies:
        for kind in UNITS:
            value = getattr(body, kind)
            if value < 0.0:
                raise ModelError(
                    f"{label}: joint {body.joint_name!r}: expected {kind} of 0 or more with passive=True, "
                    f"found {value:g}. Mend the file, or give {kind}={{{body.joint_name!r}: ...}}."
                )
        if body.stiffness and JOINT_TYPES[body.kind].nv != 1:
            raise ModelError(
                f"{label}: joint {body.joint_name!r}: expected a spring at a joint with one degree of "
                f"freedom, found one at a {body.kind} joint: its law is not known. Load with passive=False."
            )
