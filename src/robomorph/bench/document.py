"""A whole run as one JSON document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from robomorph.bench.goals import Verdict
from robomorph.bench.records import Record
from robomorph.bench.run import Outcome

SCHEMA = 1


def as_json(outcome: Outcome) -> dict[str, Any]:
    """Everything a run found. Times are nanoseconds per evaluation, warm-ups seconds."""
    return {
        "schema": SCHEMA,
        "machine": outcome.machine,
        "settings": outcome.settings,
        "records": [_record(r) for r in outcome.records],
        "goals": goals_as_json(outcome.verdicts),
        "notes": list(outcome.notes),
    }


def goals_as_json(verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    return [{**asdict(v), "reached": v.reached} for v in verdicts]


def _record(record: Record) -> dict[str, Any]:
    data = asdict(record)
    timing = data.pop("timing") or {"best_ns": None, "median_ns": None, "rounds": 0, "warmup_s": None}
    return {**data, **timing}
