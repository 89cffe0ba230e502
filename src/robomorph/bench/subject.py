"""A robot under test: the text every library reads, and the states every library is given."""

from __future__ import annotations

import warnings
from functools import cached_property

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError, ModelWarning
from robomorph.loading import load
from robomorph.model.sources import urdf_text

Array = npt.NDArray[np.float64]
States = dict[str, Array]

_SEED = 20240229
_DISTINCT = 1024  # larger batches repeat these states: no code here branches on its data


class Subject:
    """One robot. Mimic joints are free, as other libraries have them by default; the base is fixed."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.urdf = urdf_text(source)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)  # `robomorph info` is where they are shown
            self.robot = load(source, mimic=False)
        if self.robot.nv == 0:
            raise ArgumentError(f"{source!r}: expected a robot with a moving joint, found none")
        self.name = source if ":" in source or "/" not in source else self.robot.name
        self._states: dict[int, States] = {}

    @property
    def nv(self) -> int:
        return self.robot.nv

    @cached_property
    def frame(self) -> str:
        """The link that kinematics are asked for: the last one, at the end of the last limb."""
        return self.robot.link_names[-1]

    def states(self, batch: int) -> States:
        """q (batch, nq) and qd, qdd, tau (batch, nv), C-contiguous, the same in every run. The torques
        are those of the accelerations, so that forward dynamics see motions of an ordinary size."""
        if batch not in self._states:
            rows = np.arange(batch) % _DISTINCT
            self._states[batch] = {name: np.ascontiguousarray(a[rows]) for name, a in self._distinct.items()}
        return self._states[batch]

    def forget(self, batch: int) -> None:
        """Give back the memory of a large batch."""
        self._states.pop(batch, None)

    @cached_property
    def _distinct(self) -> States:
        rng = np.random.default_rng(_SEED)
        q, qd = self.robot.random_state(rng, batch=_DISTINCT)
        qdd = rng.uniform(-1.0, 1.0, (_DISTINCT, self.nv))
        tau = self.robot.compile("inverse_dynamics", target="interpreter")(q, qd, qdd)
        return {"q": q, "qd": qd, "qdd": qdd, "tau": tau}
