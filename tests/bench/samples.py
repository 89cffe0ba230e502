"""Libraries and records made up for tests: their times and errors are known."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from robomorph.bench.functions import Function
from robomorph.bench.measuring import Contestant, Results
from robomorph.bench.peers.dynamics_peer import DynamicsPeer
from robomorph.bench.records import OURS, Record, Timing
from robomorph.bench.subject import Subject


def contestant(who: str, seconds: float, log: list[str] | None = None, **more: Any) -> Contestant:
    """Somebody who takes this long for each loop, and writes down every turn."""

    def loop(count: int) -> None:
        if log is not None:
            log.append(who)
        end = time.perf_counter() + seconds * count
        while time.perf_counter() < end:
            pass

    return Contestant(who, "calls", loop, more.pop("evaluations", 1), **more)


def record(who: str = OURS, best_ns: float | None = 100.0, **fields: Any) -> Record:
    timing = None if best_ns is None else Timing(best_ns, 1.1 * best_ns, 5, 0.5)
    given = {
        "section": "gradients",
        "robot": "iiwa14",
        "function": "forward_dynamics_gradient",
        "how": "out=",
    }
    return Record(who=who, timing=timing, **{**given, **fields})


class Interpreting(DynamicsPeer):
    """A library that answers with our interpreter, off by a known relative amount."""

    name = "interpreting"
    package = "numpy"
    modules = ("numpy",)
    off = 0.0

    def __init__(self, subject: Subject, *, quick: bool) -> None:
        self.subject = subject

    def contestants(self, function: Function, batch: int) -> list[Contestant]:
        kernel = self.subject.robot.compile(
            function.name,
            target="interpreter",
            outputs=function.outputs,
            frame=self.subject.frame if function.about_frame else None,
        )
        states = self.subject.states(batch)
        args = [states[name] for name in function.arguments]

        def loop(count: int) -> None:
            for _ in range(count):
                kernel(*args)

        def results() -> Results:
            found = kernel(*args)
            values = found if len(function.outputs) > 1 else (found,)
            named = zip(function.outputs, values, strict=True)
            return {name: np.asarray(a) * (1.0 + self.off) for name, a in named}

        return [Contestant(self.name, "calls", loop, batch, results)]


class Wrong(Interpreting):
    name = "wrong"
    off = 1e-3


class Unreadable(Interpreting):
    name = "unreadable"

    def __init__(self, subject: Subject, *, quick: bool) -> None:
        raise ValueError("it does not like robots")


class Missing(Interpreting):
    name = "missing"
    package = "no-such-package"
    modules = ("no_such_module_of_robomorph",)


class Silent:
    """A display of progress that shows nothing."""

    def __init__(self, total: int) -> None:
        pass

    def __enter__(self) -> Silent:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def step(self, name: str) -> None:
        pass
