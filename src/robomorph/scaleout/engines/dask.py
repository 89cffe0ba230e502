"""Dask: a cluster of processes on this machine, or the address of a running scheduler.

The job goes along with every task: data that Dask scatters are lost with the last worker that holds them.
"""

from __future__ import annotations

import logging
import uuid
from collections import deque
from queue import Empty, SimpleQueue
from typing import Any

from robomorph.errors import ScaleoutError
from robomorph.runtime.environment import environment
from robomorph.scaleout.engines import usable_cores
from robomorph.scaleout.work import Lost, Outcome, Task, do, failure, one_thread

_TIMEOUT = 30  # [s] to find a cluster and a worker of it
_CHECK = 5  # [s] without news until the cluster is looked at
_AGAIN = "start it and run the same command with the same folder again"


class Dask:
    """Dask's own resubmission is switched off where the cluster is ours, so that every death is counted."""

    def __init__(self, address: str = "", workers: int | None = None) -> None:
        try:
            import distributed
        except ImportError:
            raise ScaleoutError("the engine 'dask' needs Dask: pip install 'robomorph[dask]'") from None
        self._distributed: Any = distributed
        self._tasks: dict[str, tuple[Any, Task]] = {}
        self._queue: deque[Task] = deque()
        self._finished: SimpleQueue[str] = SimpleQueue()
        self._cluster: Any = None
        self._wanted = workers or usable_cores()
        try:
            self._client: Any = self._connected(address) if address else self._started()
        except BaseException:
            if self._cluster is not None:
                self._cluster.close()
            raise

    def _started(self) -> Any:
        from dask import config

        # Its nannies hand these to the workers before anything is imported.
        spawn = "distributed.nanny.pre-spawn-environ"
        settings = {
            "distributed.scheduler.allowed-failures": 0,
            spawn: {**config.get(spawn, {}), **one_thread()},
        }
        with config.set(settings), environment(**one_thread()):
            self._cluster = self._distributed.LocalCluster(
                **{"n_workers": self._wanted, "threads_per_worker": 1, "processes": True},
                **{"dashboard_address": None, "host": "127.0.0.1", "silence_logs": logging.CRITICAL},
            )
        return self._distributed.Client(self._cluster, set_as_default=False)

    def _connected(self, address: str) -> Any:
        where = f"dask://{address}"
        try:
            client = self._distributed.Client(f"tcp://{address}", timeout=_TIMEOUT, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise ScaleoutError(
                f"{where}: no Dask scheduler answers there ({error}); start one with `dask scheduler`, "
                "or give the address that it prints"
            ) from None
        try:
            client.wait_for_workers(1, timeout=_TIMEOUT)
        except TimeoutError:
            client.close()
            raise ScaleoutError(
                f"{where}: the scheduler has no workers; start some with `dask worker {address} --nthreads 1`"
            ) from None
        return client

    @property
    def workers(self) -> int:
        if self._cluster is not None:
            return self._wanted
        return max(1, int(sum(self._client.nthreads().values())))

    def submit(self, task: Task) -> None:
        self._queue.append(task)
        self._give_out()

    def _give_out(self) -> None:
        """No more than there are workers of our own: a worker that dies takes all with it that were waiting
        for it."""
        while self._queue and (self._cluster is None or len(self._tasks) < self._wanted):
            task = self._queue.popleft()
            key = f"robomorph-{task.shard.index}-{uuid.uuid4().hex}"
            future = self._client.submit(do, task, key=key, pure=False, retries=0)
            self._tasks[key] = (future, task)
            future.add_done_callback(lambda finished: self._finished.put(finished.key))

    def wait(self) -> list[Outcome]:
        while True:
            try:
                future, task = self._tasks.pop(self._finished.get(timeout=_CHECK))
            except Empty:
                self._revive()
                continue
            outcome = self._outcome(future, task)
            self._give_out()
            return [outcome]

    def _revive(self) -> None:
        """A nanny gives up on a worker that dies while it starts; the cluster makes a new one if it is asked
        to."""
        if self._cluster is not None:
            if len(self._client.scheduler_info(n_workers=-1)["workers"]) < self._wanted:
                self._cluster.scale(self._wanted)
        elif self._client.status in ("closed", "closing"):
            raise ScaleoutError(f"the Dask scheduler is gone; what is finished is kept: {_AGAIN}")

    def _outcome(self, future: Any, task: Task) -> Outcome:
        try:
            outcome = future.result()
        except (self._distributed.KilledWorker, self._distributed.client.FutureCancelledError) as error:
            return Lost(task.shard.index, f"its Dask worker died ({type(error).__name__})")
        except Exception as error:  # not of the job, whose exceptions come as outcomes: it did not get there
            return failure(task, error)
        assert isinstance(outcome, Outcome)
        return outcome

    def close(self) -> None:
        self._queue.clear()
        self._client.cancel([future for future, _ in self._tasks.values()])
        self._tasks.clear()
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()
