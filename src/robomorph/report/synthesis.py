"""Synthesis results kept as JSON, so that figures can be drawn again without the minutes that they took."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from robomorph.errors import ArgumentError

_ABOUT = (
    *("robot", "function", "numbers", "formulation", "trig", "minv", "boundary", "structure"),
    *("queue", "pipelines", "memories", "multiply_stages", "frame"),
)
_PREFIX = "synthesis_"


def synthesis_records(report: dict[str, Any]) -> list[dict[str, Any]]:
    """A record per synthesis of a report: the design, what its schedule model says, what a tool measured."""
    about = {key: report[key] for key in _ABOUT if key in report}
    return [
        {**about, "estimates": report["estimates"], "synthesis": made}
        for key, made in report.items()
        if key.startswith(_PREFIX)
    ]


def save_results(records: Sequence[dict[str, Any]], path: Path, command: str | None = None) -> None:
    """With the date, and the command that measured them."""
    about = {"date": datetime.now(timezone.utc).isoformat(timespec="seconds"), "command": command}
    path.write_text(json.dumps({**about, "results": list(records)}, indent=2) + "\n")


@dataclass(frozen=True)
class Saved:
    """A file of results: when and by which command it was written, as far as it says so."""

    file: str
    date: str | None
    command: str | None
    records: list[dict[str, Any]]


def load_saved(paths: Sequence[Path]) -> list[Saved]:
    """Files that `robomorph rtl` saved, each with what it says of itself."""
    found = []
    for path in paths:
        records = _load(path)
        document = json.loads(path.read_text())
        date, command = (document.get(key) for key in ("date", "command"))
        known = [value if isinstance(value, str) else None for value in (date, command)]
        found.append(Saved(path.name, known[0], known[1], records))
    return found


def load_results(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """The records of files that `robomorph rtl` saved, or of its reports (--json)."""
    return [record for path in paths for record in _load(path)]


def _load(path: Path) -> list[dict[str, Any]]:
    try:
        data = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise ArgumentError(f"{path}: expected a file of results in JSON: {error}") from None
    if isinstance(data, dict):
        records = data["results"] if "results" in data else _of_report(data)
        if records and all(_is_record(record) for record in records):
            return list(records)
    raise ArgumentError(f"{path}: found no results: robomorph rtl --synthesise T --save FILE writes them")


def _of_report(report: dict[str, Any]) -> list[dict[str, Any]]:
    return synthesis_records(report) if "estimates" in report else []


def _is_record(record: Any) -> bool:
    return isinstance(record, dict) and {"robot", "function", "estimates", "synthesis"} <= record.keys()
