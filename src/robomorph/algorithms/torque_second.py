"""All second derivatives of inverse dynamics: those of lambda . tau for one torque at a time.

What does not depend on the multipliers is there once; a unit multiplier moves only what its joint carries,
and the rest folds away.
"""

from __future__ import annotations

from typing import Any

from robomorph.algorithms.algorithm import Parts
from robomorph.algorithms.sweep import Stage, State, run
from robomorph.algorithms.torque_hessian import BLOCKS, MOTION, OF_MULTIPLIERS

# The blocks by what they are derivatives by; all others are zero.
_NAMES = dict(zip(BLOCKS, ("d2tau_dq_dq", "d2tau_dq_dqd", "d2tau_dqd_dqd", "d2tau_dq_dqdd"), strict=True))
_ZERO = ("d2tau_dqd_dqdd", "d2tau_dqdd_dqdd")


def _by_torque(state: State) -> None:
    nv = state.tree.nv
    found: dict[str, list[Any]] = {name: [] for name in BLOCKS}
    for i in range(nv):
        state.whole["multipliers"] = [1.0 if k == i else 0.0 for k in range(nv)]
        run(state, OF_MULTIPLIERS)
        for name, rows in found.items():
            rows.append(state.whole[name])
    for block, name in _NAMES.items():
        state.whole[name] = found[block]
    for name in _ZERO:
        state.whole[name] = [0.0] * nv**3


TORQUE_SECOND: Parts = (*MOTION, Stage("second derivatives", _by_torque))
