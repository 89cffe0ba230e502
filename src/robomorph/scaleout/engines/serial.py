"""One shard after the other in this process: for small runs and for looking into a job with a debugger."""

from __future__ import annotations

from collections import deque

from robomorph.scaleout.work import Outcome, Task, do


class Serial:
    workers = 1

    def __init__(self, address: str = "", workers: int | None = None) -> None:
        self._tasks: deque[Task] = deque()

    def submit(self, task: Task) -> None:
        self._tasks.append(task)

    def wait(self) -> list[Outcome]:
        return [do(self._tasks.popleft())]

    def close(self) -> None:
        self._tasks.clear()
