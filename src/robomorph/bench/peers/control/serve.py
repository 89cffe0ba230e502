"""Answers requests about control problems, one JSON document a line, in an interpreter that may know nothing
of robomorph.

usage: python serve.py WORKER.py
The worker's file has a class Peer: made from a task, it runs problems by number and tells what it found.
Requests: {"do": "load", "task": ...}; {"do": "solve", "problem": i, "iterations": k}, which tells the plan;
{"do": "time", "runs": [[i, k], ...]}, which tells times only. Every answer is a document, too.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import sys
import time
import traceback
from typing import Any


def load_worker(path: str) -> Any:
    specification = importlib.util.spec_from_file_location("worker", path)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


class Server:
    """One worker and the task it was given last."""

    def __init__(self, path: str) -> None:
        self.module = load_worker(path)
        self.peer: Any = None

    def load(self, request: Any) -> dict[str, Any]:
        begin = time.perf_counter()
        self.peer = self.module.Peer(request["task"])
        return {"seconds": time.perf_counter() - begin, "versions": self.peer.versions()}

    def solve(self, request: Any) -> dict[str, Any]:
        index = int(request["problem"])
        wall, cpu = self.peer.run(index, int(request["iterations"]))
        return {**self.peer.answer(index), "wall": wall, "cpu": cpu}

    def time(self, request: Any) -> dict[str, Any]:
        """Wall and CPU seconds of runs, each after one that warms the caches up."""
        found = []
        gc.collect()
        gc.disable()
        try:
            for index, iterations in request["runs"]:
                self.peer.run(int(index), int(iterations))
                found.append(self.peer.run(int(index), int(iterations)))
        finally:
            gc.enable()
        return {"wall": [wall for wall, _ in found], "cpu": [cpu for _, cpu in found]}

    def answer(self, line: str) -> dict[str, Any]:
        try:
            request = json.loads(line)
            found: dict[str, Any] = {"load": self.load, "solve": self.solve, "time": self.time}[
                request["do"]
            ](request)
            return found
        except Exception as error:
            traceback.print_exc()
            return {"error": f"{type(error).__name__}: {error}"}


def main() -> None:
    # Solvers print what they like; the pipe that was standard output is for answers alone.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    server = Server(sys.argv[1])
    for line in sys.stdin:
        answers.write(json.dumps(server.answer(line)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
