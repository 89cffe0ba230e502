"""Robots, states and functions that tests of bridges share."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

import robomorph
from robomorph import ModelWarning, Robot
from robomorph.interop.coordinates import parts_of
from robomorph.interop.functions import FUNCTIONS
from robomorph.model.manifolds.se2 import SE2
from tests.model.samples import MENAGERIE
from tests.oracle.chains import WITH_BALLS, chain
from tests.oracle.crane import CRANE

Array = npt.NDArray[Any]
SOURCES = {
    "iiwa14": ("iiwa14", False),
    "menagerie": (MENAGERIE, False),  # every joint type, a chain of mimics
    "crane-floating": (CRANE, True),
    "two balls": (chain(*WITH_BALLS["two balls"]), False),
    "planar": (chain("planar", "revolute y", "prismatic z"), False),
}


@cache
def load(case: str) -> Robot:
    source, floating = SOURCES[case]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return robomorph.load(source, floating_base=floating)


def arguments(
    robot: Robot, name: str, batch: int | tuple[int, ...] = (), seed: int = 0, dtype: str = "float64"
) -> list[Array]:
    """A state and what else the function takes, wrenches not counted."""
    rng = np.random.default_rng(seed)
    q = robot.random_state(rng, batch).q
    rest = [rng.normal(size=(*q.shape[:-1], robot.nv)) for _ in FUNCTIONS[name].inputs[1:]]
    more = [np.full(q.shape[:-1], 0.01) for _ in FUNCTIONS[name].parameters]
    return [x.astype(dtype) for x in (q, *rest, *more)]


def call(face: Any, name: str, *args: Any, **more: Any) -> Any:
    """A function by its name, of a robot or a bridge."""
    return getattr(face, name)(*args, **more)


def options(robot: Robot, name: str) -> dict[str, Any]:
    return {"frame": robot.link_names[-1]} if FUNCTIONS[name].frame else {}


def wrenches(robot: Robot, batch: int | tuple[int, ...] = (), dtype: str = "float64") -> Array:
    lead = (batch,) if isinstance(batch, int) else batch
    return np.random.default_rng(9).normal(size=(*lead, len(robot.link_names), 6)).astype(dtype)


def scaled(robot: Robot, q: Array, factor: float | None = None) -> Array:
    """q with its quaternions and (cos, sin) pairs times a factor; None: normalised."""
    out = np.array(q)
    for part in parts_of(robot.model):
        if part.space is not None:
            unit = slice(part.q.stop - (2 if part.space is SE2 else 4), part.q.stop)
            length = np.linalg.norm(out[..., unit], axis=-1, keepdims=True)
            out[..., unit] *= 1 / length if factor is None else factor
    return out


def listed(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


def differences(
    robot: Robot, function: Callable[..., Any], given: list[Array], along: list[Array], step: float = 1e-3
) -> list[Array]:
    """The derivative of a function of arrays along changes of them, q's being one of coordinates:
    fourth-order central differences, with q normalised."""
    total: list[Any] = []
    for k, weight in ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12)):
        moved = [x + k * step * d for x, d in zip(given, along, strict=True)]
        moved[0] = scaled(robot, moved[0])
        terms = [weight / step * np.asarray(y) for y in listed(function(*moved))]
        total = [a + b for a, b in zip(total, terms, strict=True)] if total else terms
    return total


def close(found: Any, expected: Any, tolerance: float) -> None:
    """Within the tolerance of the largest entry of all."""
    found, expected = [np.asarray(x) for x in listed(found)], [np.asarray(x) for x in listed(expected)]
    scale = max(max(float(np.abs(x).max(initial=0.0)) for x in expected), 1e-3)
    for a, b in zip(found, expected, strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * scale)
