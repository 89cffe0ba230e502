"""Odd but possible robots and arguments: answered rightly or refused by name."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph.algorithms.registry import ALGORITHMS, Algorithm, Parts, state_algorithms
from robomorph.algorithms.sweep import Stage

STILL = "<robot name='still'><link name='base'/></robot>"
NEEDS_MASS = ("center_of_mass", "centroidal_momentum")
SQUARE = {"mass_matrix", "mass_matrix_inverse"}


def iiwa() -> robomorph.Robot:
    return robomorph.load("iiwa14")


@pytest.mark.parametrize("target", ["cpu", "interpreter"])
@pytest.mark.parametrize("name", [n for n in state_algorithms() if not n.startswith(NEEDS_MASS)])
def test_a_robot_that_cannot_move_answers_with_empty_arrays(name: str, target: str) -> None:
    robot = robomorph.load(STILL)
    frame = "base" if ALGORITHMS[name].frame else None
    kernel: Any = robot.compile(name, target=target, frame=frame)
    results = kernel(*[np.zeros((3, 0)) for _ in ALGORITHMS[name].inputs])
    for result, shape in zip(
        results if isinstance(results, tuple) else [results], ALGORITHMS[name].outputs.values(), strict=True
    ):
        assert result.shape == (3, *({"nv": 0, "links": 1}.get(str(n), n) for n in shape))


@pytest.mark.parametrize("name", [n for n in state_algorithms() if n.startswith(NEEDS_MASS)])
def test_no_moving_mass_has_no_centre(name: str) -> None:
    with pytest.raises(robomorph.ModelError, match="nothing that moves has mass"):
        getattr(robomorph.load(STILL), name)(*[np.zeros(0) for _ in ALGORITHMS[name].inputs])


def test_robots_can_be_sent_to_other_processes() -> None:
    robot = iiwa()
    q, qd = robot.random_state(0)
    tau = robot.inverse_dynamics(q, qd, qd)  # a kernel is there, and must not be in the way
    copy = pickle.loads(pickle.dumps(robot))
    assert np.array_equal(copy.inverse_dynamics(q, qd, qd), tau)


def test_the_order_of_a_mapping_makes_no_new_kernel() -> None:
    robot = iiwa()
    q, qd = robot.random_state(0)
    wrench = np.arange(6.0)
    first = robot.inverse_dynamics(q, qd, qd, {"lbr_iiwa_link_2": wrench, "lbr_iiwa_link_5": -wrench})
    again = robot.inverse_dynamics(q, qd, qd, {"lbr_iiwa_link_5": -wrench, "lbr_iiwa_link_2": wrench})
    assert np.array_equal(first, again)
    assert len(robot._kernels) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: r.compile("inverse_dynamics", threads=10**9), "threads"),
        (lambda r: r.compile("inverse_dynamics", threads=True), "threads"),
        (lambda r: r.compile("inverse_dynamics", outputs=3), "outputs"),
        (lambda r: r.compile("inverse_dynamics", f_ext=1), "f_ext"),
        (lambda r: r.forward_kinematics(np.zeros(7), ["a"]), "frame"),
        (lambda r: r.coordinates(3), "joint"),
        (lambda r: r.random_state(0, batch=-1), "batch"),
        (lambda r: r.random_state(0, batch=1.5), "batch"),
        (lambda r: r.mass_matrix(np.ma.masked_invalid(np.zeros(7))), "masked"),
        (lambda r: r.compile("mass_matrix", dtype="float32")([1e300] * 7), "too large for float32"),
        (lambda r: robomorph.set_default_threads(0), "threads"),
        (lambda r: robomorph.load("iiwa14", locked=["j"]), "locked"),  # type: ignore[arg-type]
        (lambda r: robomorph.load("iiwa14", floating_base="no"), "floating_base"),  # type: ignore[arg-type]
    ],
)
def test_refused_with_the_argument_s_name(call: Any, message: str) -> None:
    with pytest.raises(robomorph.RobomorphError, match=message):
        call(iiwa())


def test_numpy_whole_numbers_are_whole_numbers() -> None:
    assert iiwa().random_state(0, batch=np.int64(3)).q.shape == (3, 7)


def test_what_users_register_is_never_kept_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(value: float) -> Any:
        def work(state: Any) -> None:
            state.whole["same"] = [value * 1.0] * state.tree.nv

        parts: dict[str, Parts] = {"constant": (Stage("constant", work),)}
        monkeypatch.setitem(ALGORITHMS, "same", Algorithm("same", ("q",), {"same": ("nv",)}, parts))
        kernel: Any = iiwa().compile("same")
        return kernel(np.zeros(7))

    assert np.all(answer(1.0) == 1.0)
    assert np.all(answer(2.0) == 2.0)
