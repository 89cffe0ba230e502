"""A digest over the exact content of a model, the same in every process and on every machine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import numpy as np

# Raise when the meaning of a field changes, so that digests of older versions no longer match.
_VERSION = "robomorph-model-1"


def digest_of(content: object) -> str:
    """The sha256, in hex, of nested dataclasses, sequences, arrays, names and numbers (floats bit by bit)."""
    hasher = hashlib.sha256(_VERSION.encode())
    for token in _tokens(content):
        # Length first: no two different sequences of tokens run together into the same bytes.
        encoded = token.encode("utf-8", "surrogatepass")
        hasher.update(f"{len(encoded)}:".encode() + encoded)
    return hasher.hexdigest()


def _tokens(value: object) -> Iterator[str]:
    if isinstance(value, np.ndarray):
        yield f"array{value.shape}"
        yield from (float(entry).hex() for entry in value.ravel())
    elif is_dataclass(value) and not isinstance(value, type):
        yield type(value).__name__
        for item in fields(value):
            yield from _tokens(getattr(value, item.name))
    elif isinstance(value, (list, tuple)):
        yield f"sequence{len(value)}"
        for entry in value:
            yield from _tokens(entry)
    elif isinstance(value, float):
        yield value.hex()
    else:
        yield f"{type(value).__name__}={value}"
