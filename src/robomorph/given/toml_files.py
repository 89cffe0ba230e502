"""TOML files of motions and control problems: reading them, and saying where something is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from robomorph.errors import ArgumentError, RobomorphError, TargetError
from robomorph.naming import hint

T = TypeVar("T")


@dataclass(frozen=True)
class TomlFile:
    """A file's tables, and its text, for the lines of what is wrong."""

    path: Path
    text: str
    tables: dict[str, Any]

    @property
    def name(self) -> str:
        return self.path.name

    def line(self, table: str, index: int = 0) -> str:
        """':line' of a table or key, the index-th of that name."""
        pattern = re.compile(rf"^[ \t]*(\[+\s*{re.escape(table)}\s*\]+|{re.escape(table)}\s*=)", re.MULTILINE)
        places = [match.start() for match in pattern.finditer(self.text)]
        return f":{self.text.count(chr(10), 0, places[index]) + 1}" if index < len(places) else ""

    def step(self, table: str, action: Callable[[], T], index: int = 0) -> T:
        """What `action` gives; what it refuses is told with the place of the table it is about."""
        try:
            return action()
        except RobomorphError as error:
            raise ArgumentError(f"{self.name}{self.line(table, index)}, [{table}]: {error}") from None

    def check_keys(self, known: Iterable[str], kinds: Mapping[str, Any], needed: Iterable[str]) -> None:
        """Refuse keys at the top that are not known, tables that are none (`kinds`), and missing ones."""
        for key in self.tables:
            if key not in known:
                raise ArgumentError(
                    f"{self.name}{self.line(key)}: unknown key {key!r}: {hint(key, sorted(known))}"
                )
        for key, kind in kinds.items():
            if key not in self.tables and key in needed:
                raise ArgumentError(f"{self.name}: expected {key!r}, found none")
            if key in self.tables and not isinstance(self.tables[key], kind):
                raise ArgumentError(
                    f"{self.name}{self.line(key)}: {key}: expected a table, found {self.tables[key]!r}"
                )


def read_toml(path: Path) -> TomlFile:
    """A file that is there."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentError(f"{path.name}: expected a file with text in UTF-8, found {error}") from None
    return TomlFile(path, text, parse(text, path.name))


def parse(text: str, name: str) -> dict[str, Any]:
    """TOML, errors with the file's name."""
    try:
        reader = import_module("tomllib")
    except ImportError:  # Python 3.10
        try:
            reader = import_module("tomli")
        except ImportError:
            raise TargetError(
                "scenarios: Python 3.10 reads TOML with tomli: pip install 'robomorph[plan]'"
            ) from None
    try:
        tables: dict[str, Any] = reader.loads(text)
    except reader.TOMLDecodeError as error:
        raise ArgumentError(f"{name}: not TOML: {error}") from None
    return tables


def known_keys(where: str, table: Mapping[str, Any], known: set[str]) -> None:
    for key in table:
        if key not in known:
            raise ArgumentError(f"unknown key {key!r} of [{where}]: {hint(key, sorted(known))}")


def needed_name(table: Mapping[str, Any], key: str) -> str:
    if not isinstance(table.get(key), str):
        raise ArgumentError(f"{key}: expected a name, found {table.get(key)!r}")
    return str(table[key])
