"""The laws by name, and how they are written on a command line. A new law is one file and its entry here."""

from __future__ import annotations

import dataclasses
from typing import Any

from robomorph.errors import ArgumentError
from robomorph.naming import unknown_name
from robomorph.scaleout.laws.base import STATES, Law, Sampler, Streams
from robomorph.scaleout.laws.gaussian import Gaussian
from robomorph.scaleout.laws.splines import Splines
from robomorph.scaleout.laws.states_file import StatesFile
from robomorph.scaleout.laws.uniform import Uniform

__all__ = [
    "LAWS",
    "STATES",
    "Gaussian",
    "Law",
    "Sampler",
    "Splines",
    "StatesFile",
    "Streams",
    "Uniform",
    "as_law",
]

LAWS: dict[str, type[Law]] = {law.name: law for law in (Uniform, Gaussian, Splines, StatesFile)}


def as_law(law: str | Law) -> Law:
    """The law that a text means: NAME, NAME:SETTING=VALUE,... or file:PATH. Several numbers are separated by
    spaces, as in "gaussian:sigma_q=0.1,posture=0 0.5 0 -1 0 1 0"."""
    if isinstance(law, Law):
        return law
    if not isinstance(law, str):
        raise ArgumentError(f"law: expected a name such as 'uniform' or a law, found {law!r}")
    name, colon, rest = law.partition(":")
    if name not in LAWS:
        raise ArgumentError(unknown_name("robomorph dataset", "law", name, list(LAWS)))
    if name == StatesFile.name:
        if not rest:
            raise ArgumentError(f"law file: expected file:PATH, such as file:states.npz, found {law!r}")
        return StatesFile(rest)
    kind = LAWS[name]
    settings = _settings(name, rest, [f.name for f in dataclasses.fields(kind)]) if colon else {}
    return kind(**settings)


def _settings(law: str, text: str, known: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in text.split(","):
        key, equals, value = (word.strip() for word in part.partition("="))
        if not equals:
            raise ArgumentError(
                f"law {law}: expected SETTING=VALUE, found {part!r}; settings: {', '.join(known)}"
            )
        if key not in known:
            raise ArgumentError(unknown_name(f"law {law}", "setting", key, known))
        if key in found:
            raise ArgumentError(f"law {law}: {key}: expected it once, found it twice")
        found[key] = _value(law, key, value)
    return found


def _value(law: str, key: str, text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    try:
        numbers = [float(word) for word in text.split()]
    except ValueError:
        numbers = []
    if not numbers:
        raise ArgumentError(
            f"law {law}: {key}: expected a number, several separated by spaces, true or false, found {text!r}"
        )
    return tuple(numbers) if len(numbers) > 1 or key == "posture" else numbers[0]
