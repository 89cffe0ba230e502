"""Sections of `robomorph bench` inside a chapter: the same jobs, their records as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robomorph.bench.document import record_data
from robomorph.bench.peers import PEERS
from robomorph.bench.peers.peer import Peer
from robomorph.bench.records import Record
from robomorph.bench.run import disturbances
from robomorph.bench.sections import GROUPS
from robomorph.bench.session import Session
from robomorph.evidence.context import Context
from robomorph.evidence.tools import quick_only


def bench_records(
    context: Context,
    group: str,
    sections: Sequence[str],
    *,
    peers: Sequence[type[Peer]] | None = None,
    robots: bool = True,
    jobs: int | None = None,
) -> dict[str, Any]:
    """Records of some sections, notes, and libraries that are absent. `jobs`: of each section the first so
    many, in a quick run."""
    found = tuple(PEERS[group]) if peers is None else tuple(peers)
    session = Session(context.sources if robots else (), found, quick=context.quick)
    records: list[Record] = []
    for name in sections:
        for job in GROUPS[group].load(name).jobs(session)[: jobs if context.quick else None]:
            context.tell(f"{name}: {job.label}")
            records += job.run()
    left_out = context.sources[1:] if robots and context.quick else ()
    measured = {record.robot for record in records}
    notes = [*session.notes, *disturbances(None, records)]
    return {
        "records": [record_data(record) for record in records],
        "notes": notes,
        "absent": [
            {"what": name, "why": f"not compared here: {why}", "get": "robomorph bench says the same."}
            for name, why in session.absent.items()
        ]
        + [
            quick_only(name, "left out of this quick run").data() for name in left_out if name not in measured
        ],
    }


def pick(records: Sequence[dict[str, Any]], **wanted: Any) -> list[dict[str, Any]]:
    """The records whose fields have the wanted values."""
    return [r for r in records if all(r[name] == value for name, value in wanted.items())]


def seconds(record: dict[str, Any]) -> float | None:
    """Least time of one evaluation."""
    return None if record["best_ns"] is None else record["best_ns"] * 1e-9
