"""Reading typed fields out of XML elements, strictly."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np

from ...errors import ModelError
from ..arrays import LARGEST, Array
from ..notes import REPEATED, Notes, Place, fault
from .urdf_schema import KINDS
from .xmltree import Element

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class Fields:
    """Reads the fields of one document's elements; its errors name the element and attribute."""

    source: str
    notes: Notes

    def place(self, element: Element) -> Place:
        """Where `element` is, for messages."""
        return Place(self.source, element.line, element.label)

    def text(self, element: Element, attribute: str, fix: str) -> str:
        """An attribute that must be there and not be empty."""
        assert attribute in KINDS[element.tag].attributes  # else the table would warn of what is read
        value = element.attributes.get(attribute)
        if value is None or not value.strip():
            found = "none" if value is None else f'{attribute}="{value}"'
            raise self.wrong(element, f"an attribute {attribute!r} that is not empty", found, fix)
        return value

    def one(self, element: Element, tag: str) -> Element | None:
        """The first direct child with this tag, as every URDF reader takes it; more than one is a concern."""
        assert tag in KINDS[element.tag].children
        found = list(element.all(tag))
        if len(found) > 1:
            self.notes.add(REPEATED, self.place(element), f"{len(found)} times <{tag}>")
        return found[0] if found else None

    def number(self, element: Element, attribute: str, default: float | None = None) -> float:
        """A finite number; `default` where the attribute is missing, an error if there is no default."""
        if attribute not in element.attributes and default is not None:
            return default
        text = self.text(element, attribute, f'write {attribute}="..." with a number')
        return self._parse(element, attribute, text.strip())

    def sized(self, element: Element, attribute: str, default: float | None = None) -> float:
        """A number that takes part in the dynamics, so of bounded size."""
        value = self.number(element, attribute, default)
        if abs(value) > LARGEST:
            raise self.wrong(
                element,
                f"{attribute!r} at most {LARGEST:g} in size",
                f"{value:g}",
                "check the units: URDF uses metres, kilograms and radians",
            )
        return value

    def vector(self, element: Element, attribute: str, default: Array | None = None) -> Array:
        """Three finite numbers of bounded size, (3,)."""
        if attribute not in element.attributes and default is not None:
            return default
        return self._numbers(element, attribute, 3, "three", "x y z")

    def quaternion(self, element: Element, attribute: str) -> Array:
        """Four finite numbers x y z w of bounded size, (4,)."""
        return self._numbers(element, attribute, 4, "four", "x y z w")

    def rgba(self, element: Element) -> Array:
        """Red, green, blue and opacity (4,), from 0 to 1."""
        values = self._numbers(element, "rgba", 4, "four", "r g b a")
        if values.min() < 0.0 or values.max() > 1.0:
            fix = 'write rgba="r g b a" with four numbers from 0 to 1'
            raise self.wrong(element, "'rgba' from 0 to 1", f'"{_short(element.attributes["rgba"])}"', fix)
        return values

    def _numbers(self, element: Element, attribute: str, size: int, spelt: str, form: str) -> Array:
        fix = f'write {attribute}="{form}" with {spelt} numbers'
        parts = self.text(element, attribute, fix).split()
        if len(parts) != size:
            found = f'{len(parts)}: {attribute}="{_short(element.attributes[attribute])}"'
            raise self.wrong(element, f"{spelt} numbers in {attribute!r}", found, fix)
        values = np.array([self._parse(element, attribute, part) for part in parts])
        if np.abs(values).max() > LARGEST:
            raise self.wrong(
                element,
                f"{attribute!r} at most {LARGEST:g} in size",
                f"{_short(str(values))}",
                "check the units: URDF uses metres and radians",
            )
        return values

    def wrong(self, element: Element, expected: str, found: str, fix: str) -> ModelError:
        """The error for this element."""
        return fault(self.place(element), expected=expected, found=found, fix=fix)

    def _parse(self, element: Element, attribute: str, text: str) -> float:
        value = float(text) if _NUMBER.fullmatch(text) else math.nan
        if not math.isfinite(value):
            fix = "write a plain decimal number"
            if "${" in text or "$(" in text:
                fix = "this is a xacro expression: load it with xacro=True, or call the file .xacro"
            raise self.wrong(element, f"a finite number in {attribute!r}", f'"{_short(text)}"', fix)
        return value


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
