"""Lists, tuples and arrays of other kinds are answered as float64 arrays are, on the same short way."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph import ArgumentError, Robot
from robomorph.ik import PoseTarget, PositionTarget, solve
from robomorph.runtime import _native

Array = npt.NDArray[Any]
FRAME = "lbr_iiwa_link_7"
POINT = np.array([0.5, 0.125, 0.625])  # exact in every format
FORMS: dict[str, Callable[[Array], Any]] = {
    "list": lambda x: x.tolist(),
    "tuple": lambda x: tuple(map(tuple, x.tolist())) if x.ndim > 1 else tuple(x.tolist()),
    "numbers of NumPy": lambda x: list(x) if x.ndim == 1 else [list(row) for row in x],
    "strided": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "Fortran's order": np.asfortranarray,
    "big-endian": lambda x: x.astype(">f8"),
}


@cache
def iiwa() -> Robot:
    return robomorph.load("iiwa14")


def pose() -> Array:
    return iiwa().forward_kinematics(np.array([0.3, 0.6, -0.2, -1.3, 0.1, 0.9, 0.0]), FRAME)


@pytest.fixture
def no_long_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """The general way raises, once the solvers of the short one are made."""
    for target in (POINT, pose()):
        for options in ({}, {"fixed": ["lbr_iiwa_joint_1"]}, {"tolerance": [1e-4, 1e-4]}):
            iiwa().inverse_kinematics(target, FRAME, **options)

    def refuse(*_: Any) -> None:
        raise AssertionError("took the general way")

    monkeypatch.setattr(solve, "read_options", refuse)


@pytest.mark.usefixtures("no_long_way")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("what", ["position", "pose", "positions"])
def test_the_same_answer_on_the_same_way(what: str, form: str) -> None:
    target = {"position": POINT, "pose": pose(), "positions": np.stack([POINT, POINT + 0.125])}[what]
    robot = iiwa()
    expected = robot.inverse_kinematics(target, FRAME)
    assert robot.inverse_kinematics(FORMS[form](target), FRAME) == expected
    q0 = np.arange(7) / 8
    expected = robot.inverse_kinematics(target, FRAME, q0)
    assert robot.inverse_kinematics(FORMS[form](target), FRAME, FORMS[form](q0)) == expected


@pytest.mark.usefixtures("no_long_way")
def test_float32_and_whole_numbers_too() -> None:
    robot = iiwa()
    expected = robot.inverse_kinematics(POINT, FRAME)
    assert robot.inverse_kinematics(POINT.astype(np.float32), FRAME) == expected
    assert robot.inverse_kinematics(list(POINT.astype(np.float32)), FRAME) == expected
    whole = robot.inverse_kinematics(np.array([0.0, 0.0, 1.0]), FRAME, np.zeros(7))
    for ones in ([0, 0, 1], (0, 0, 1.0), np.array([0, 0, 1]), [np.int8(0), 0.0, np.uint64(1)]):
        assert robot.inverse_kinematics(ones, FRAME, [0] * 7) == whole
    rough = robot.inverse_kinematics(pose().astype(np.float32), FRAME)
    assert rough.success and rough.q.dtype == np.float64


@pytest.mark.usefixtures("no_long_way")
def test_targets_that_ask_for_no_more() -> None:
    robot = iiwa()
    expected = robot.inverse_kinematics(POINT, FRAME)
    assert robot.inverse_kinematics(PositionTarget(FRAME, POINT.tolist())) == expected
    assert robot.inverse_kinematics(PoseTarget(FRAME, pose())) == robot.inverse_kinematics(pose(), FRAME)


def test_targets_are_what_they_say() -> None:
    robot = iiwa()
    for wrong in (
        PositionTarget(FRAME, pose()),
        PoseTarget(FRAME, POINT),
        PoseTarget(FRAME, np.zeros((4, 3))),
    ):
        with pytest.raises(ArgumentError, match="expected shape"):
            robot.inverse_kinematics(wrong)
    with pytest.raises(ArgumentError, match="every target names its own"):
        robot.inverse_kinematics(PositionTarget(FRAME, POINT), FRAME)
    with pytest.raises(ArgumentError, match="unknown name"):
        robot.inverse_kinematics(PositionTarget("nobody", POINT))
    loose = robot.inverse_kinematics(PositionTarget(FRAME, POINT, tolerance=0.3), nearest=False)
    assert loose.success and 1e-5 < loose.position_error <= 0.3


@pytest.mark.usefixtures("no_long_way")
def test_options_in_lists() -> None:
    for options in ({"fixed": ["lbr_iiwa_joint_1"]}, {"tolerance": [1e-4, 1e-4]}):
        assert iiwa().inverse_kinematics(POINT.tolist(), FRAME, **options).success


ODD: dict[str, Any] = {
    "words": ["a", "b", "c"],
    "a gap": [0.4, None, 0.6],
    "ragged": [[0.4, 0.1, 0.6], [0.4, 0.1]],
    "too short": [0.4, 0.1],
    "empty": [],
    "empty inside": [[]],
    "NaN": [0.4, float("nan"), 0.6],
    "infinite": (0.4, float("inf"), 0.6),
    "a number too large": [10**400, 0, 0],
    "far away": [1e13, 0.0, 0.0],
    "truth values": [True, False, True],
    "complex": [0.4, 0.1j, 0.6],
    "masked": np.ma.masked_array([0.4, 0.1, 0.6], mask=[False, True, False]),
    "a mapping": {"x": 0.4},
    "a mirror": np.diag([1.0, 1.0, -1.0, 1.0]).tolist(),
    "no pose": np.ones((4, 4)).tolist(),
    "3 x 4": np.eye(4)[:3].tolist(),
    "deep": [[[[[0.4, 0.1]]]]],
}


@pytest.mark.parametrize("odd", ODD)
def test_what_is_no_target_is_refused(odd: str) -> None:
    with pytest.raises(ArgumentError, match=r"target|position|pose|batch"):
        iiwa().inverse_kinematics(ODD[odd], FRAME)
    if odd not in ("a mirror", "no pose", "3 x 4", "far away"):
        with pytest.raises(ArgumentError, match="q0"):
            iiwa().inverse_kinematics(POINT, FRAME, ODD[odd])


def test_a_list_that_contains_itself() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ArgumentError):
        iiwa().inverse_kinematics(endless, FRAME)


def test_native_numbers() -> None:
    for value in ([1, 2.5], (1, 2.5), [np.float32(1), np.int64(2)], np.array([1, 2], np.uint8)):
        array = _native.ik_numbers(value)
        assert array is not None and array.dtype == np.float64 and array.shape == (2,)
    refused: tuple[Any, ...] = (
        [True, 1],
        ["1"],
        "12",
        1.0,
        None,
        [[1, 2], [3]],
        [1, [2]],
        [[1], 2],
        np.array([True]),
        {1: 2},
    )
    for value in refused:
        assert _native.ik_numbers(value) is None
    given = np.arange(3.0)
    assert _native.ik_numbers(given) is given
