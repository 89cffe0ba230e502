"""Hands shards to an engine and decides what to do with those that fail or whose worker dies."""

from __future__ import annotations

import errno
import time
from collections import Counter, deque

from robomorph.errors import ScaleoutError
from robomorph.scaleout.engines import Engine, engine_errors
from robomorph.scaleout.folder import Receipt
from robomorph.scaleout.job import Job, Shard
from robomorph.scaleout.plan import Plan
from robomorph.scaleout.progress import Reporter
from robomorph.scaleout.summary import Summary, add
from robomorph.scaleout.work import Done, Failed, Lost, Outcome, Task

DEATHS = 10
# A shard whose worker died so often waits until the others are done and then runs alone: it has all the
# memory then,
# and a death is its own and not its neighbour's.
_DOUBTFUL = 3
_PATIENCE = 10.0  # [s] until a file that another machine wrote must be seen here


class Dispatch:
    """One run's policy: every shard until it is done, or until it has failed too often."""

    def __init__(
        self, job: Job, plan: Plan, engine: Engine, retries: int, reporter: Reporter, summary: Summary
    ) -> None:
        self._job, self._plan, self._engine = job, plan, engine
        self._retries, self._reporter, self._summary = retries, reporter, summary
        self._digest = plan.digest()
        self._waiting = deque(plan.todo)
        self._doubtful: deque[Shard] = deque()
        self._under_way: dict[int, Shard] = {}
        self._failed: Counter[int] = Counter()
        self._deaths: Counter[int] = Counter()
        self._receipts: dict[int, Receipt] = {}

    def run(self) -> dict[int, Receipt]:
        """Receipts of what was done; what was given up is in the summary. Raises OSError if the disk is full
        or closed, ScaleoutError if no worker can serve this run."""
        while self._waiting or self._doubtful or self._under_way:
            while self._waiting and len(self._under_way) < 2 * max(1, self._engine.workers):
                self._submit(self._waiting.popleft())
            if not self._under_way:
                self._submit(self._doubtful.popleft())
            with engine_errors(self._summary.engine):
                outcomes = self._engine.wait()
            for outcome in outcomes:
                self._take(outcome)
        return self._receipts

    def _submit(self, shard: Shard) -> None:
        self._under_way[shard.index] = shard
        versions = self._plan.header["versions"]
        task = Task(self._job, shard, str(self._plan.folder.path), self._digest, versions)
        with engine_errors(self._summary.engine):
            self._engine.submit(task)

    def _take(self, outcome: Outcome) -> None:
        shard = self._under_way.pop(outcome.index, None)
        if shard is None:
            return
        if isinstance(outcome, Done):
            self._done(shard, outcome.receipt)
        elif isinstance(outcome, Failed):
            self._failure(shard, outcome)
        else:
            self._death(shard, outcome)

    def _done(self, shard: Shard, receipt: Receipt) -> None:
        path, until = self._plan.folder.shard(shard.index), time.monotonic() + _PATIENCE
        while not (path.is_file() and path.stat().st_size == receipt.bytes):
            if time.monotonic() > until:
                raise ScaleoutError(
                    f"{path}: a worker says it wrote {receipt.bytes} bytes there, but here they "
                    "are not: driver and "
                    "workers must share the disk with this folder"
                )
            time.sleep(0.1)
        self._receipts[shard.index] = receipt
        summary = self._summary
        summary.new, summary.new_rows = summary.new + 1, summary.new_rows + shard.rows
        summary.worker_seconds += receipt.seconds
        add(summary.parts, receipt.facts or {})
        self._reporter.done(shard.index, shard.rows, receipt.seconds)

    def _failure(self, shard: Shard, failed: Failed) -> None:
        text = f"{failed.kind}: {failed.error}"
        if failed.fatal:
            self._reporter.note("failed", f"{self._named(shard)}: {text}", shard=shard.index)
            if failed.errno is not None:
                raise OSError(
                    failed.errno,
                    failed.error if failed.errno != errno.ENOSPC else "no space left on the disk",
                )
            raise ScaleoutError(failed.error)
        self._failed[shard.index] += 1
        times = self._failed[shard.index]
        if times > self._retries:
            self._give_up(shard, f"{text} (tried {times} times)")
            return
        self._summary.retries += 1
        self._reporter.note(
            "retried", f"{self._named(shard)} failed and is tried again: {text}", shard=shard.index
        )
        self._waiting.append(shard)

    def _death(self, shard: Shard, lost: Lost) -> None:
        self._summary.deaths += 1
        self._deaths[shard.index] += 1
        times = self._deaths[shard.index]
        if times >= DEATHS:
            self._give_up(shard, f"its worker died {times} times; at last {lost.reason}")
            return
        self._reporter.note("lost", f"{self._named(shard)} is done again: {lost.reason}", shard=shard.index)
        (self._waiting if times < _DOUBTFUL else self._doubtful).append(shard)

    def _give_up(self, shard: Shard, text: str) -> None:
        failure = f"{self._named(shard)}: {text}"
        self._summary.failures.append(failure)
        self._reporter.note("failed", f"{failure}; given up", shard=shard.index)

    def _named(self, shard: Shard) -> str:
        rows = f"rows {shard.start} to {shard.start + shard.rows}"
        seed = self._plan.header["job"].get("seed")
        return f"shard {shard.index} ({rows}{'' if seed is None else f', seed {seed}'})"
