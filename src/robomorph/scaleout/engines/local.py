"""Processes of this machine, one pipe each: a worker that dies takes exactly one shard with it.

Processes are spawned, so nothing of the driver's threads or locks is copied. A worker whose driver dies
reads the end of its pipe and ends too.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from robomorph.errors import ScaleoutError
from robomorph.runtime.environment import environment
from robomorph.scaleout.engines import usable_cores
from robomorph.scaleout.work import Lost, Outcome, Task, do, failure, one_thread

_READY = "ready"


@dataclass
class _Worker:
    process: BaseProcess
    pipe: Connection
    ready: bool = False
    task: Task | None = None


class Local:
    def __init__(self, address: str = "", workers: int | None = None) -> None:
        self.workers = workers or usable_cores()
        self._tasks: deque[Task] = deque()
        self._staff: list[_Worker] = []

    def submit(self, task: Task) -> None:
        self._tasks.append(task)

    def wait(self) -> list[Outcome]:
        outcomes: list[Outcome] = []
        while not outcomes:
            outcomes += self._give_out()
            if not outcomes:
                pipes = {worker.pipe: worker for worker in self._staff}
                for pipe in wait(list(pipes)):
                    assert isinstance(pipe, Connection)
                    outcomes += self._heard(pipes[pipe])
        return outcomes

    def _give_out(self) -> list[Outcome]:
        """Tasks to those who have none; workers are started when there is something to do for them."""
        outcomes: list[Outcome] = []
        idle = [worker for worker in self._staff if worker.task is None]
        while self._tasks and (idle or len(self._staff) < self.workers):
            worker = idle.pop() if idle else self._hire()
            task = self._tasks.popleft()
            try:
                worker.pipe.send(task)
                worker.task = task
            except OSError:
                self._tasks.appendleft(task)  # it died while idle: nothing is lost
                self._bury(worker)
            except Exception as error:  # a job that cannot be pickled
                outcomes.append(failure(task, error))
        return outcomes

    def _hire(self) -> _Worker:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs,), daemon=True)
        with environment(**one_thread()):
            process.start()
        theirs.close()
        worker = _Worker(process, ours)
        self._staff.append(worker)
        return worker

    def _heard(self, worker: _Worker) -> list[Outcome]:
        try:
            message = worker.pipe.recv()
        except (EOFError, OSError):
            return self._died(worker)
        if message == _READY:
            worker.ready = True
            return []
        assert isinstance(message, Outcome)
        worker.task = None
        return [message]

    def _died(self, worker: _Worker) -> list[Outcome]:
        code = self._bury(worker)
        if not worker.ready and code > 0:
            raise ScaleoutError(
                f"a worker process could not start (exit code {code}; its own message is above): "
                "a script that starts "
                "processes needs `if __name__ == '__main__':` around its calls, and must be a file"
            )
        if worker.task is None:
            return []
        return [Lost(worker.task.shard.index, _cause(code))]

    def _bury(self, worker: _Worker) -> int:
        """Returns the exit code, negative for a signal."""
        self._staff.remove(worker)
        worker.pipe.close()
        worker.process.join(5)
        if worker.process.exitcode is None:
            worker.process.kill()
            worker.process.join()
        return worker.process.exitcode or 0

    def close(self) -> None:
        self._tasks.clear()
        for worker in self._staff:
            if worker.task is not None:
                worker.process.terminate()
        for worker in list(self._staff):
            self._bury(worker)


def _cause(code: int) -> str:
    if code < 0:
        hint = " (often: out of memory)" if -code == signal.SIGKILL else ""
        return f"the worker was ended by {signal.Signals(-code).name}{hint}"
    return f"the worker ended with exit code {code}"


def _work(pipe: Connection) -> None:
    """A worker's life. Ctrl-C goes to every process of a terminal; the driver alone decides what it means."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        pipe.send(_READY)
        while True:
            pipe.send(_received(pipe))
    except (EOFError, OSError):
        return


def _received(pipe: Connection) -> Outcome:
    task = pipe.recv()
    assert isinstance(task, Task)
    return do(task)
