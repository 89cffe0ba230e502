"""Finished chapters on disk, so that an interrupted run goes on where it was.

A file appears whole or not at all, and is used only if everything that its figures depend on is the same and
its content is what was written: else the chapter is run again.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_FORMAT = 1


class PartStore:
    """A folder of chapters. `key` of a chapter is plain data; whatever differs in it is another chapter."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load(self, name: str, key: Mapping[str, Any]) -> dict[str, Any] | None:
        """The record kept for a chapter; None if there is none that can be trusted."""
        try:
            document = json.loads(self._path(name, key).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if not isinstance(document, dict) or document.get("key") != _plain_key(key):
            return None
        record = document.get("record")
        if not isinstance(record, dict) or document.get("sha256") != _digest(record):
            return None
        return record

    def save(self, name: str, key: Mapping[str, Any], record: Mapping[str, Any]) -> None:
        """Keep a finished chapter; OSError if the folder cannot be written."""
        self.folder.mkdir(parents=True, exist_ok=True)
        document = {"key": _plain_key(key), "sha256": _digest(record), "record": record}
        handle, temporary = tempfile.mkstemp(dir=self.folder, prefix=f".{name}-", suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(document, file, allow_nan=False)
            os.replace(temporary, self._path(name, key))
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise

    def _path(self, name: str, key: Mapping[str, Any]) -> Path:
        return self.folder / f"{name}-{_digest(_plain_key(key))[:16]}.json"


def _plain_key(key: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps({"format": _FORMAT, **key}))
    return made


def _digest(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True, allow_nan=False).encode()).hexdigest()
