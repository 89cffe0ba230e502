"""Running chapters one after the other, and the document that comes of it."""

from __future__ import annotations

import hashlib
import shlex
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timezone
from typing import Any

import robomorph
from robomorph.bench.machine import describe_machine
from robomorph.bench.peers.pinocchio import Pinocchio
from robomorph.bench.run import disturbances
from robomorph.bench.session import Session
from robomorph.compiler.fingerprint import source_fingerprint
from robomorph.errors import RobomorphError
from robomorph.evidence.chapters import Chapter, load_chapter
from robomorph.evidence.context import Context
from robomorph.evidence.store import PartStore
from robomorph.evidence.view import View, plain

SCHEMA = 1
DONE, FAILED = "done", "failed"

Begin = Callable[[str], None]
Load = Callable[[str], Chapter]


def make_report(
    context: Context,
    names: Sequence[str],
    store: PartStore,
    *,
    fresh: bool = False,
    begin: Begin = lambda name: None,
    load: Load = load_chapter,
) -> dict[str, Any]:
    """Run chapters, or take those that are kept; the whole document. `begin` is told of each."""
    machine = plain(describe_machine(Session((), (Pinocchio,), quick=context.quick)))
    chapters: dict[str, Any] = {}
    for name in names:
        begin(name)
        chapters[name] = _chapter(context, load(name), store, machine, fresh)
    return {
        "schema": SCHEMA,
        "robomorph": robomorph.__version__,
        "date": _now(),
        "command": command(context, names),
        "settings": {"quick": context.quick, "results": [path.name for path in context.results]},
        "machine": machine,
        "robots": [_robot(source, robot) for source, robot in context.pairs()],
        "warnings": list(context.warnings),
        "notes": disturbances(machine["load_average"], ()),
        "chapters": chapters,
    }


def command(context: Context, names: Iterable[str]) -> str:
    """What makes these chapters again."""
    from robomorph.evidence.chapters import TITLES

    words = ["robomorph", "report", *context.sources]
    if context.quick:
        words.append("--quick")
    chosen = list(names)
    if chosen != list(TITLES):
        words += ["--only", *chosen]
    if context.results:
        words += ["--results", *map(str, context.results)]
    return shlex.join(words)


def failures(document: dict[str, Any]) -> list[str]:
    """The chapters that failed."""
    return [name for name, record in document["chapters"].items() if record["status"] == FAILED]


def _robot(source: str, robot: Any) -> dict[str, Any]:
    return {
        "source": source,
        "name": robot.name,
        "joints": len(robot.model.bodies),
        "degrees_of_freedom": robot.nv,
        "digest": robot.model.digest,
    }


def _chapter(
    context: Context, chapter: Chapter, store: PartStore, machine: dict[str, Any], fresh: bool
) -> dict[str, Any]:
    """The record of a chapter: kept from before, or made now; failures are never kept."""
    key = {
        "chapter": chapter.name,
        "run": hashlib.sha256(chapter.source.read_bytes()).hexdigest(),
        "robomorph": robomorph.__version__,
        "source": source_fingerprint(),
        "machine": [machine["cpu"], machine["cores"]],
        "results": context.result_digests(),
        **context.options(),
    }
    found = None if fresh else store.load(chapter.name, key)
    if found is not None:
        return {**found, "kept": True}
    record = _run(context, chapter, machine)
    if record["status"] == DONE:
        store.save(chapter.name, key, record)
    return {**record, "kept": False}


def _run(context: Context, chapter: Chapter, machine: dict[str, Any]) -> dict[str, Any]:
    start, date = time.perf_counter(), _now()
    made: dict[str, Any] = {"title": chapter.title, "date": date, "machine": _in_short(machine)}
    try:
        data = plain(chapter.run(context))
        chapter.draw(View(data))  # what cannot be shown has failed, and is not kept
        made |= {"status": DONE, "data": data}
    except Exception as error:  # a chapter's trouble must not end the others
        made |= {"status": FAILED, "error": _told(error), "data": {}}
    return {**made, "seconds": time.perf_counter() - start, "robomorph": robomorph.__version__}


def _told(error: Exception) -> str:
    """Errors that are meant to be read as they are; others with their kind and place."""
    if isinstance(error, RobomorphError):
        return str(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({last.name}, line {last.lineno})"


def _in_short(machine: dict[str, Any]) -> str:
    return f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}"


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
