"""A design in simulation, measured: bit by bit against the interpreter, cycle by cycle against the
schedule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.targets.fixed_point.boundary import Compute
from robomorph.targets.rtl.accelerator import Accelerator
from robomorph.targets.rtl.simulate import Simulation

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Measured:
    """`wrong_words` differ from the interpreter, `wrong_flags` from its overflow flags (none should). Cycles
    are counted in simulation, as in DesignStats; `interval` is the mean over a burst without pauses."""

    states: int
    wrong_words: int
    wrong_flags: int
    latency: int
    last_word: int
    interval: float
    overflows: int

    @property
    def exact(self) -> bool:
        return self.wrong_words == 0 and self.wrong_flags == 0


def measure(
    accelerator: Accelerator,
    arguments: Mapping[str, Array],
    *,
    simulation: Simulation | None = None,
    pause_in: int = 30,
    pause_out: int = 30,
    seed: int = 1,
    compute: Compute | None = None,
) -> Measured:
    """Run the states three ways: a few one by one (latency), all in a burst (interval), all with random
    pauses on both streams; every result is compared with the interpreter's, or with that of `compute`, which
    must be the same."""
    words, _ = accelerator.words(arguments)
    expected = accelerator.boundary.run(words, compute)
    simulation = simulation or Simulation(accelerator.design)
    few = min(len(words), 10)
    single = simulation.run(words[:few], one_by_one=True)
    burst = simulation.run(words)
    paused = simulation.run(words, pause_in=pause_in, pause_out=pause_out, seed=seed)
    runs = ((single, few), (burst, len(words)), (paused, len(words)))
    steady = burst.finished[len(words) // 4 :]
    return Measured(
        states=len(words),
        wrong_words=sum(int(np.count_nonzero(run.words != expected.words[:n])) for run, n in runs),
        wrong_flags=sum(int(np.count_nonzero(run.overflow != expected.overflow[:n])) for run, n in runs),
        latency=int(np.max(single.latency)),
        last_word=int(np.max(single.last_word)),
        interval=float(np.mean(np.diff(steady))) if len(steady) > 1 else float("nan"),
        overflows=int(np.count_nonzero(expected.overflow)),
    )
