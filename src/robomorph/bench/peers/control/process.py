"""A worker in the interpreter of the peers, asked and answering line by line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from robomorph.bench.peers.peer import PeerError

_HERE = Path(__file__).parent
_PATIENCE_S = 900.0  # compiling takes minutes


class Worker:
    """A running worker; use it as a context. `python` is the interpreter, `script` the worker's file."""

    def __init__(self, python: str, script: str, *, patience_s: float = _PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the worker)
        # What leads our interpreter to its packages would mislead another; one thread, as ours.
        hidden = ("PYTHONPATH", "PYTHONHOME")
        environment = {k: v for k, v in os.environ.items() if k not in hidden} | {"OMP_NUM_THREADS": "1"}
        try:
            self._process = subprocess.Popen(
                [python, str(_HERE / "serve.py"), str(_HERE / script)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                text=True,
                env=environment,
                start_new_session=True,  # so that a compiler which it started ends with it
            )
        except OSError as error:
            raise PeerError(f"{python}: {error}") from error

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process and all that it started, and wait for it."""
        self._kill()
        self._process.communicate()
        self._said.close()

    def ask(self, **request: Any) -> dict[str, Any]:
        """The answer to one request; PeerError if there is none, or if it tells of an error."""
        assert self._process.stdin is not None and self._process.stdout is not None
        timer = threading.Timer(self._patience_s, self._kill)
        timer.start()
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        if not line.endswith("\n"):
            raise PeerError(f"the worker ended before it answered: {self._last_words()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise PeerError(str(answer["error"]))
        return answer

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _last_words(self) -> str:
        """The end of what it wrote to standard error."""
        self._process.wait()
        self._said.seek(0)
        words = self._said.read().decode(errors="replace").strip().splitlines()
        return words[-1][-300:] if words else f"exit code {self._process.returncode}"
