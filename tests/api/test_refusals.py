"""What a Robot and its kernels refuse: errors name the argument, what was expected and what was found."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph import ArgumentError, Robot

NV = 3
Q = np.zeros(NV)


@cache
def robot() -> Robot:
    return robomorph.load("chain:3")


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "wrong length": (
        lambda: robot().mass_matrix(np.zeros(4)),
        r"^q: expected shape \(\.\.\., 3\), found \(4,\)",
    ),
    "scalar": (lambda: robot().mass_matrix(0.0), r"^q: expected shape"),
    "second argument": (
        lambda: robot().inverse_dynamics(Q, np.zeros((2, 2)), Q),
        r"^qd: expected shape \(\.\.\., 3\), found \(2, 2\)",
    ),
    "batches that do not broadcast": (
        lambda: robot().inverse_dynamics(np.zeros((2, NV)), np.zeros((3, NV)), Q),
        r"broadcast.*q \(2,\), qd \(3,\)",
    ),
    "text": (lambda: robot().mass_matrix("abc"), r"^q: expected"),
    "None": (lambda: robot().mass_matrix(None), r"^q: expected .*float"),  # type: ignore[arg-type]
    "complex": (
        lambda: robot().mass_matrix(Q + 1j),
        r"^q: expected float32 or float64, found dtype complex128",
    ),
    "half": (lambda: robot().mass_matrix(Q.astype(np.float16)), r"^q: .*float16"),
    "bool": (lambda: robot().mass_matrix(Q.astype(bool)), r"^q: .*bool"),
    "ragged": (lambda: robot().mass_matrix([[1.0], [2.0, 3.0]]), r"^q: expected an array of numbers"),
    "mapping": (lambda: robot().mass_matrix({"a": 1.0}), r"^q: .*mapping"),  # type: ignore[arg-type]
    "NaN": (
        lambda: robot().inverse_dynamics(Q, np.array([[0, 0, 0], [0, np.nan, 0]]), Q),
        r"^qd: expected finite numbers, found nan at index \[1, 1\]",
    ),
    "infinity": (
        lambda: robot().inverse_dynamics(Q, Q, [0, 0, -np.inf]),
        r"^qdd: expected finite numbers, found -inf at index \[2\]",
    ),
    "NaN in a large batch": (
        lambda: robot().mass_matrix(np.where(np.arange(300).reshape(100, 3) == 299, np.nan, 0.0)),
        r"^q: expected finite numbers, found nan at index \[99, 2\]",
    ),
    "unknown link": (
        lambda: robot().inverse_dynamics(Q, Q, Q, f_ext={"lnk_2": np.zeros(6)}),
        r"^f_ext: unknown link 'lnk_2'.*link_2",
    ),
    "short wrench": (
        lambda: robot().inverse_dynamics(Q, Q, Q, f_ext={"link_2": np.zeros(5)}),
        r"^f_ext\['link_2'\]: expected shape \(\.\.\., 6\), found \(5,\)",
    ),
    "wrench of text": (
        lambda: robot().inverse_dynamics(Q, Q, Q, f_ext={"link_2": "push"}),
        r"^f_ext\['link_2'\]: expected",
    ),
    "NaN wrench": (
        lambda: robot().inverse_dynamics(Q, Q, Q, f_ext={"link_2": np.full(6, np.nan)}),
        r"^f_ext: expected finite",
    ),
    "wrench array of the wrong shape": (
        lambda: robot().inverse_dynamics(Q, Q, Q, f_ext=np.zeros(6)),
        r"^f_ext: expected shape",
    ),
    "unknown frame": (lambda: robot().forward_kinematics(Q, "hand"), r"^frame: unknown name 'hand'"),
    "unknown algorithm": (lambda: robot().compile("forward_dynamic"), r"^algorithm: .*forward_dynamics"),
    "unknown target": (lambda: robot().compile("mass_matrix", target="abacus"), r"^target: .*abacus"),
    "unknown formulation": (
        lambda: robot().compile("inverse_dynamics_gradient", formulation="colums"),
        r"^formulation of inverse_dynamics_gradient: .*columns",
    ),
    "unknown output": (
        lambda: robot().compile("energy", outputs=("kinetics",)),
        r"^output of energy: .*kinetic",
    ),
    "no output": (lambda: robot().compile("energy", outputs=()), r"^outputs: "),
    "output twice": (lambda: robot().compile("energy", outputs=("kinetic", "kinetic")), r"^outputs: "),
    "unknown dtype": (lambda: robot().compile("mass_matrix", dtype="float16"), r"^dtype: .*float16"),
    "no threads": (lambda: robot().compile("mass_matrix", threads=0), r"^threads: "),
    "half a thread": (lambda: robot().compile("mass_matrix", threads=0.5), r"^threads: "),  # type: ignore[call-overload]
    "missing frame": (lambda: robot().compile("jacobian"), r"^frame: "),
    "frame too many": (lambda: robot().compile("mass_matrix", frame="link_1"), r"^frame: "),
    "wrenches too many": (lambda: robot().compile("mass_matrix", f_ext=True), r"^f_ext: "),
    "too few arguments": (
        lambda: robot().compile("inverse_dynamics")(Q, Q),
        r"expected 3 arguments \(q, qd, qdd\), found 2",
    ),
    "too many arguments": (lambda: robot().compile("mass_matrix")(Q, Q), r"expected 1 argument.*found 2"),
    "unknown joint": (lambda: robot().coordinates("joint_9"), r"joint_9"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_a_reason(case: str) -> None:
    attempt, message = REFUSED[case]
    with pytest.raises(ArgumentError, match=message):
        attempt()


@pytest.mark.parametrize("target", ["cpu", "interpreter"])
def test_the_check_for_finite_values_can_be_switched_off(target: str) -> None:
    q = np.array([[0.1, 0.2, 0.3], [0.1, np.nan, 0.3]])
    with pytest.raises(ArgumentError, match=r"^q: "):
        robot().compile("mass_matrix", target=target)(q)
    mass = robot().compile("mass_matrix", target=target, check_finite=False)(q)
    assert np.all(np.isfinite(mass[0])) and np.any(np.isnan(mass[1]))


def test_a_robot_loaded_without_the_check() -> None:
    unchecked = robomorph.load("chain:3", check_finite=False)
    assert np.any(np.isnan(unchecked.mass_matrix(np.full(NV, np.nan))))
