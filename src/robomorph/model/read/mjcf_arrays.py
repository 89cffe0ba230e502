"""The arrays of an MjModel, checked as they are read: a model may be of any version, or changed by hand."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from ...errors import ModelError
from ..arrays import LARGEST


class Arrays:
    """`arrays["jnt_axis"]` is a copy of that array of the model, with finite numbers of bounded size."""

    def __init__(self, model: Any, label: str) -> None:
        self.model = model
        self.label = label
        self._read: dict[str, np.ndarray] = {}

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._read:
            self._read[name] = self._checked(name, self._part(name))
        return self._read[name]

    def get(self, name: str, like: str) -> np.ndarray:
        """An array that older versions lack: zeros then, one for each of the array `like`."""
        return self[name] if hasattr(self.model, name) else np.zeros(len(self[like]))

    def count(self, name: str) -> int:
        """One of the model's sizes; 0 if this version of MuJoCo has no such thing."""
        return int(getattr(self.model, name, 0))

    def option(self, name: str) -> np.ndarray:
        """A number or vector of <option>."""
        return self._checked(f"option {name}", getattr(self._part("opt"), name))

    def disabled(self, *bits: str) -> bool:
        """Whether one of these flags of <option><flag> is set; MuJoCo's versions call them differently."""
        flags = int(self._part("opt").disableflags)
        known = importlib.import_module("mujoco").mjtDisableBit
        return any(flags & int(getattr(known, bit)) for bit in bits if hasattr(known, bit))

    def name(self, which: str, index: int) -> str:
        """The name at `name_<which>adr[index]`; empty if there is none."""
        return self.name_at(int(self._part(f"name_{which}adr")[index]))

    def name_at(self, start: int) -> str:
        """The name that begins there among all names."""
        names = bytes(self._part("names"))
        found = names[start : names.index(b"\0", start)]
        try:
            return found.decode("utf-8")
        except UnicodeDecodeError:  # with its letters replaced, two might be called alike
            fix = "save the file in UTF-8, as MuJoCo reads it whatever it says of itself"
            raise self.wrong("names", "names in UTF-8", str(found), fix) from None

    def path(self, start: int) -> str:
        """A file's name as the model keeps it."""
        paths = bytes(self._part("paths"))
        return paths[start : paths.index(b"\0", start)].decode("utf-8", "replace")

    def wrong(self, what: str, expected: str, found: str, fix: str) -> ModelError:
        """The error for a part of the model."""
        return ModelError(f"{self.label}, {what}: expected {expected}, found {found}. To mend it: {fix}.")

    def _part(self, name: str) -> Any:
        try:
            return getattr(self.model, name)
        except AttributeError:
            raise self.wrong(
                "the model",
                f"an MjModel of MuJoCo 3.2 or later, with {name}",
                "one without",
                "load its XML file",
            ) from None

    def _checked(self, name: str, values: Any) -> np.ndarray:
        array = np.array(values)
        wrong = ~(np.abs(array) <= LARGEST) if array.dtype.kind == "f" else np.zeros(array.shape, dtype=bool)
        for first in np.argwhere(wrong)[:1]:
            place = "".join(f"[{index}]" for index in first)
            expected = f"finite numbers of at most {LARGEST:g} in size"
            found = f"{array[tuple(first)]}"
            raise self.wrong(f"{name}{place}", expected, found, "check the units and the numbers")
        return array
