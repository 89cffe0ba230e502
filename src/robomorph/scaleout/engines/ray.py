"""Ray: started on this machine for the run, or the address of a running cluster (`ray://host:port`, its
client port)."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

from robomorph.errors import ScaleoutError
from robomorph.runtime.environment import environment
from robomorph.scaleout.engines import usable_cores
from robomorph.scaleout.work import Lost, Outcome, Task, do, failure, one_thread


class Ray:
    """Ray's own retries are switched off, so that every death is counted."""

    def __init__(self, address: str = "", workers: int | None = None) -> None:
        try:
            import ray
            from ray import exceptions
        except ImportError:
            raise ScaleoutError("the engine 'ray' needs Ray: pip install 'robomorph[ray]'") from None
        self._ray: Any = ray
        self._deaths = (
            *(exceptions.WorkerCrashedError, exceptions.OutOfMemoryError, exceptions.NodeDiedError),
            *(exceptions.ObjectLostError, exceptions.RaySystemError, exceptions.LocalRayletDiedError),
        )
        self._tasks: dict[Any, Task] = {}
        self._wanted = workers or usable_cores()
        self._local = not address
        self._ours = self._local and not ray.is_initialized()
        if address:
            self._connect(address)
        elif self._ours:
            with environment(**one_thread()):
                ray.init(
                    **{"address": "local", "num_cpus": self._wanted, "include_dashboard": False},
                    **{"log_to_driver": False, "logging_level": logging.ERROR, "configure_logging": False},
                )
        options = {"max_retries": 0, "num_cpus": 1, "runtime_env": {"env_vars": one_thread()}}
        self._do: Any = ray.remote(**options)(do)

    def _connect(self, address: str) -> None:
        where = f"ray://{address}"
        try:
            self._ray.init(address=where, logging_level=logging.ERROR, log_to_driver=False)
        except Exception as error:  # Ray raises many kinds, some of gRPC
            raise ScaleoutError(
                f"{where}: no Ray cluster answers there ({type(error).__name__}: "
                f"{str(error)[:200]}); start one with "
                "`ray start --head` and give its client port, 10001 unless set otherwise; "
                "if the cluster asks for a token, set RAY_AUTH_MODE=token here, too"
            ) from None
        self._ours = True  # the connection, not the cluster

    @property
    def workers(self) -> int:
        if self._local:
            return self._wanted
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def submit(self, task: Task) -> None:
        self._tasks[self._do.remote(task)] = task

    def wait(self) -> list[Outcome]:
        finished, _ = self._ray.wait(list(self._tasks), num_returns=1)
        return [self._outcome(reference, self._tasks.pop(reference)) for reference in finished]

    def _outcome(self, reference: Any, task: Task) -> Outcome:
        try:
            outcome = self._ray.get(reference)
        except self._deaths as error:
            return Lost(task.shard.index, f"its Ray worker died ({type(error).__name__})")
        except Exception as error:  # not of the job, whose exceptions come as outcomes: it did not get there
            return failure(task, error)
        assert isinstance(outcome, Outcome)
        return outcome

    def close(self) -> None:
        for reference in self._tasks:
            self._ray.cancel(reference, force=True)
        self._tasks.clear()
        if self._ours:
            self._ray.shutdown()


def use_token() -> None:
    """Clusters started by who has a token ask for it, but a client sends it only if it is told to, by the
    environment in which Ray is imported: without, it would wait until it gives up."""
    named = {"RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"} & os.environ.keys()
    if "RAY_AUTH_MODE" not in os.environ and (named or (Path.home() / ".ray" / "auth_token").is_file()):
        os.environ["RAY_AUTH_MODE"] = "token"
