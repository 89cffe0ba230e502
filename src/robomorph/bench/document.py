"""A whole run as one JSON document."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from robomorph.bench.records import Record
from robomorph.bench.run import Outcome
from robomorph.bench.sections.section import TableData

SCHEMA = 1


def as_json(outcome: Outcome) -> dict[str, Any]:
    """Everything a run found. Times are nanoseconds per evaluation, warm-ups seconds."""
    return {
        "schema": SCHEMA,
        "machine": outcome.machine,
        "settings": outcome.settings,
        "records": [record_data(r) for r in outcome.records],
        "goals": [{**asdict(v), "reached": v.reached} for v in outcome.verdicts],
        "notes": list(outcome.notes),
        "tables": [_table(t) for t in outcome.tables()],
    }


def record_data(record: Record) -> dict[str, Any]:
    """One record as plain data."""
    data = asdict(record)
    timing = data.pop("timing") or {"best_ns": None, "median_ns": None, "rounds": 0, "warmup_s": None}
    return {**data, **timing}


def _table(table: TableData) -> dict[str, Any]:
    return {
        "title": table.title,
        "columns": table.columns,
        "rows": list(table.rows),
        "caption": table.caption,
    }
