"""10,000 damaged documents: each loads or raises ModelError, quickly; where it loads, Pinocchio agrees."""

from __future__ import annotations

import random
import time
import warnings
from collections import Counter
from typing import Any

import pytest

from robomorph.errors import ModelError, ModelWarning
from robomorph.model import Model, load_model
from robomorph.model.robots import builtin_urdf

from .mutate import mutate
from .oracle import assert_same, example_robot
from .samples import MENAGERIE, arm, robot

BATCHES, BATCH = 20, 500
SLOWEST = 1.0  # s


def seeds() -> list[str]:
    """Documents to damage: our own, and real robots where they are installed."""
    texts = [
        MENAGERIE,
        robot(*arm()),
        *((builtin_urdf(name) or b"").decode() for name in ("iiwa14", "chain:4")),
    ]
    for name in ("panda", "double_pendulum"):
        path = example_robot(name)
        if path is not None:
            texts.append(path.read_text())
    return texts


def load(data: bytes, **options: Any) -> Model | None:
    """The model, or None for a ModelError; any other exception or warning is a failure, and so is a load that
    takes long twice (in one, Python may collect the garbage of all tests before)."""
    for _ in range(2):
        start = time.thread_time()
        model = load_once(data, **options)
        if time.thread_time() - start < SLOWEST:
            return model
    raise AssertionError(f"it takes more than {SLOWEST} s to load")


def load_once(data: bytes, **options: Any) -> Model | None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ModelWarning)
        try:
            return load_model(data, **options)
        except ModelError as error:
            assert str(error).startswith("<URDF text>, line "), error
            return None


def compare(data: bytes) -> str:
    """Compare what we read with what Pinocchio reads, mimic joints being free in both."""
    pinocchio = pytest.importorskip("pinocchio", reason="needs the package pin")
    model = load(data, mimic=False)
    if model is None:
        return "refused by robomorph"
    try:
        other = pinocchio.buildModelFromXML(data.decode())
    except ValueError:
        return "refused by Pinocchio"
    assert_same(model, other)
    return "compared"


@pytest.mark.parametrize("batch", range(BATCHES))
def test_damaged_documents(batch: int) -> None:
    rng = random.Random(batch)
    texts = seeds()
    outcomes: Counter[str] = Counter()
    for number in range(BATCH):
        data = mutate(rng.choice(texts), rng)
        try:
            model = load(data, floating_base=rng.random() < 0.3)
            outcomes["loaded" if model is not None else "refused"] += 1
            if model is not None:
                outcomes[compare(data)] += 1
        except Exception as error:
            raise AssertionError(f"document {number} of batch {batch}: {error!r}\n{data!r}") from error
    # The damage must be neither always fatal nor never.
    assert outcomes["loaded"] > BATCH // 10
    assert outcomes["refused"] > BATCH // 10
    assert outcomes["compared"] > BATCH // 20
