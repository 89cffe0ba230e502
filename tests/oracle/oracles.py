"""Which of Pinocchio's answers an algorithm is compared with.

`Reference` has a method of the algorithm's name, or the algorithm's own test in tests/algorithms registers a
function. Either takes a single state's arguments, then wrenches or a frame if the algorithm does, and gives
its result, or a tuple of its results in their order.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from robomorph.algorithms.registry import ALGORITHMS

from .calls import Sample
from .reference import Reference, Wrenches

Answer = Callable[..., Any]
Scale = Callable[[Reference, Sample], float]
_TESTS = Path(__file__).parents[1] / "algorithms"


class Oracle(NamedTuple):
    """`answer(reference, *arguments)`, and how large the numbers are that a result may be left of."""

    answer: Answer
    scale: Scale


_registered: dict[str, Oracle] = {}


def oracle(algorithm: str, scale: Scale = lambda reference, states: 0.0) -> Callable[[Answer], Answer]:
    """Register the function below as the oracle of an algorithm."""

    def register(answer: Answer) -> Answer:
        known = _registered.get(algorithm)
        twice = known is not None and known.answer.__module__ != answer.__module__
        assert not twice, f"{algorithm} has an oracle in another test too"
        _registered[algorithm] = Oracle(answer, scale)
        return answer

    return register


def oracle_of(algorithm: str) -> Oracle:
    """AssertionError if the algorithm has none."""
    if algorithm not in _registered:
        assert hasattr(Reference, algorithm), f"{algorithm}: no test in {_TESTS} has @oracle({algorithm!r})"
        oracle(algorithm)(getattr(Reference, algorithm))
    return _registered[algorithm]


def compared() -> list[str]:
    """Every algorithm that states alone decide; each has its oracle."""
    for path in sorted(_TESTS.glob("test_*.py")):
        importlib.import_module(f"tests.algorithms.{path.stem}")
    names = [name for name, entry in ALGORITHMS.items() if entry.takes_states_alone]
    assert all(oracle_of(name) for name in names)
    return names


def weight(reference: Reference, states: Sample) -> float:
    """Torques may all be next to nothing, of weights that are not."""
    del states
    return 9.81 * sum(body.inertia.mass for body in reference.robot.model.bodies)


def centripetal(reference: Reference, states: Sample) -> float:
    """Centripetal accelerations may cancel to nothing: they are of the size of speeds squared."""
    del reference
    return float(np.abs(states.qd).max(initial=0.0)) ** 2


oracle("bias_torque", weight)(Reference.bias_torque)
oracle("gravity_torque", weight)(Reference.gravity_torque)
oracle("frame_acceleration", centripetal)(Reference.frame_acceleration)
oracle("jacobian_rate", centripetal)(Reference.jacobian_rate)


@oracle("forward_dynamics_gradient")
def _forward_dynamics_gradient(
    reference: Reference, q: Any, qd: Any, tau: Any, f_ext: Wrenches | None = None
) -> tuple[Any, ...]:
    gradient = reference.forward_dynamics_gradient(q, qd, tau, f_ext)
    return reference.forward_dynamics(q, qd, tau, f_ext), *gradient, reference.mass_matrix_inverse(q)
