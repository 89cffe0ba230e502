"""Damaged documents that load in robomorph and in Pinocchio have the same dynamics in both.

`pytest tests/robots/test_fuzz_dynamics.py -m fuzz` runs the long one.
"""

from __future__ import annotations

import random
import warnings
from collections import Counter

import numpy as np
import pytest

from robomorph import ModelError, ModelWarning
from robomorph.model import load_model
from robomorph.robot import Robot
from tests.model.mutate import mutate
from tests.model.test_fuzz import seeds
from tests.oracle.calls import sample
from tests.oracle.compare import assert_close

pytest.importorskip("pinocchio", reason="needs the package pin")

from tests.oracle.reference import Reference, build

# Numbers beyond this are damage that no float64 sum survives: 1e300 kg beside 1 kg.
LARGEST, SMALLEST = 1e6, 1e-9


def quiet_load(data: bytes, floating: bool) -> Robot | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        try:
            return Robot(load_model(data, mimic=False, floating_base=floating))
        except ModelError:
            return None


def is_tame(robot: Robot) -> bool:
    """Are all lengths and inertias of a size that float64 can add up?"""
    for body in robot.model.bodies:
        numbers = np.concatenate(
            [body.placement.translation, [body.inertia.mass], body.inertia.tensor_at_origin.ravel()]
        )
        sizes = np.abs(numbers[numbers != 0.0])
        if sizes.size and (sizes.max() > LARGEST or sizes.max() < SMALLEST):
            return False
    return True


def compare(data: bytes, seed: int) -> str:
    floating = seed % 3 == 0
    robot = quiet_load(data, floating)
    if robot is None or robot.nv == 0:
        return "refused"
    try:
        model = build(data.decode(), floating=floating)
    except ValueError:
        return "refused by Pinocchio"
    # Pinocchio moves planar joints in the plane normal to z, whatever their axis.
    if not is_tame(robot) or any(b.kind == "planar" and b.axis[2] != 1.0 for b in robot.model.bodies):
        return "not comparable"
    reference = Reference(robot, model)
    states = sample(robot, seed, 1)
    ours = robot.compile("inverse_dynamics", target="interpreter")(states.q, states.qd, states.qdd)
    theirs = reference.inverse_dynamics(states.q[0], states.qd[0], states.qdd[0])
    assert_close(ours[0], theirs, "inverse dynamics")
    return "compared"


def run(first: int, count: int) -> Counter[str]:
    texts = seeds()
    outcomes: Counter[str] = Counter()
    for number in range(first, first + count):
        rng = random.Random(number)
        data = mutate(rng.choice(texts), rng)
        try:
            outcomes[compare(data, number)] += 1
        except Exception as error:
            raise AssertionError(f"document {number}: {error!r}\n{data!r}") from error
    assert outcomes["compared"] > count // 5, outcomes
    return outcomes


@pytest.mark.parametrize("shard", range(2))
def test_a_sample(shard: int) -> None:
    run(100_000 + 100 * shard, 100)


@pytest.mark.fuzz
@pytest.mark.parametrize("shard", range(20))
def test_ten_thousand(shard: int) -> None:
    run(500 * shard, 500)
