"""`f_ext` as a mapping: one kernel per set of links, at little more than an array costs."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph import ArgumentError, Robot
from tests.oracle.compare import assert_close, assert_same_bits


def fresh() -> Robot:
    return robomorph.load("chain:3")


def motion(lead: tuple[int, ...] = (), dtype: str = "float64") -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(5)
    q, qd, qdd = (rng.uniform(-1, 1, (*lead, 3)).astype(dtype) for _ in range(3))
    return q, qd, qdd


def wrench(k: int, lead: tuple[int, ...] = ()) -> Any:
    return np.random.default_rng(k).uniform(-5, 5, (*lead, 6))


def arrays(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple) else [result]


WITH_WRENCHES = [
    "inverse_dynamics", "forward_dynamics", "inverse_dynamics_gradient", "forward_dynamics_gradient",
]  # fmt: skip


@pytest.mark.parametrize("algorithm", WITH_WRENCHES)
def test_an_empty_mapping_means_no_wrenches(algorithm: str) -> None:
    robot = fresh()
    empty: tuple[Mapping[str, Any], ...] = ({}, MappingProxyType({}))
    for args in (motion(), motion((4,)), motion((), "float32")):
        plain = getattr(robot, algorithm)(*args)
        for nothing in empty:
            found = getattr(robot, algorithm)(*args, f_ext=nothing)
            for ours, theirs in zip(arrays(found), arrays(plain), strict=True):
                assert_same_bits(ours, theirs, algorithm)
    assert len(robot._kernels) == 2  # one per dtype, none of its own


def test_one_kernel_per_set_of_links_however_it_is_ordered() -> None:
    robot, args = fresh(), motion()
    links = robot.link_names[1:]
    wrenches = {name: wrench(k) for k, name in enumerate(links)}
    everything = np.zeros((len(robot.link_names), 6))
    everything[1:] = [wrenches[name] for name in links]
    expected = robot.inverse_dynamics(*args, f_ext=everything)
    robot._kernels.clear()
    for order in itertools.permutations(links):
        found = robot.inverse_dynamics(*args, f_ext={name: wrenches[name] for name in order})
        assert_close(found, expected, str(order), 1e-14)
    assert len(robot._kernels) == 1
    robot.inverse_dynamics(*args, f_ext={links[0]: wrenches[links[0]]})
    assert len(robot._kernels) == 2


SHAPES: list[tuple[tuple[int, ...], ...]] = [
    ((),), ((4,),), ((2, 1),), ((), ()), ((4,), (4,)), ((4,), ()), ((), (4,)), ((2, 1), (3,)), ((0,), ()),
    ((1, 4), (2, 1, 1), ()),
]  # fmt: skip


@pytest.mark.parametrize("dtypes", ["ff", "dd", "fd", "df"])
@pytest.mark.parametrize("shapes", SHAPES)
def test_wrenches_broadcast_and_keep_their_dtype(shapes: tuple[tuple[int, ...], ...], dtypes: str) -> None:
    """Against one state at a time, with an array for all links."""
    robot = fresh()
    kinds = itertools.cycle(dtypes)
    values = {
        name: wrench(k, lead).astype(next(kinds))
        for k, (name, lead) in enumerate(zip(robot.link_names[1:], shapes, strict=False))
    }
    args = motion((), "float32")
    found = robot.inverse_dynamics(*args, f_ext=values)
    all_float32 = all(v.dtype == np.float32 for v in values.values())
    lead = np.broadcast_shapes(*shapes)
    assert found.dtype == (np.float32 if all_float32 else np.float64) and found.shape == (*lead, 3)
    for index in np.ndindex(lead):
        everything = np.zeros((len(robot.link_names), 6))
        for name, value in values.items():
            everything[robot.link_names.index(name)] = np.broadcast_to(value, (*lead, 6))[index]
        q, qd, qdd = (x.astype(np.float64) for x in args)
        alone = robot.inverse_dynamics(q, qd, qdd, f_ext=everything)
        assert_close(found[index].astype(np.float64), alone, "one state", 1e-5 if all_float32 else 1e-12)


REFUSED: dict[str, tuple[dict[Any, Any], str]] = {
    "unknown": ({"lnk_2": np.zeros(6)}, "^f_ext: unknown link 'lnk_2'.*link_2"),
    "no name": ({7: np.zeros(6)}, "^f_ext: unknown link 7"),
    "shape": ({"link_2": np.zeros(5)}, r"^f_ext\['link_2'\]: expected shape \(..., 6\), found \(5,\)"),
    "second shape": ({"link_1": np.zeros(6), "link_2": np.zeros(7)}, r"^f_ext\['link_2'\]: expected shape"),
    "number": ({"link_2": 3.0}, r"^f_ext\['link_2'\]: expected shape"),
    "batches": (
        {"link_1": np.zeros((2, 6)), "link_2": np.zeros((3, 6))},
        r"^batch dimensions do not broadcast together: f_ext\['link_1'\]",
    ),
    "NaN": ({"link_2": np.full(6, np.nan)}, "^f_ext: expected finite numbers"),
    "a mapping inside": ({"link_2": {"link_1": 0}}, r"^f_ext\['link_2'\]: .*found a mapping"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_by_name_every_time(case: str) -> None:
    mapping, message = REFUSED[case]
    robot = fresh()
    for _ in range(2):  # the second time the order of its names is known
        with pytest.raises(ArgumentError, match=message):
            robot.inverse_dynamics(*motion(), f_ext=mapping)


def test_unaligned_wrenches_are_served() -> None:
    robot, args, value = fresh(), motion(), wrench(1)
    shifted = np.frombuffer(b"\0" + value.tobytes(), offset=1)
    for links in (["link_2"], ["link_1", "link_3"]):
        expected = robot.inverse_dynamics(*args, f_ext=dict.fromkeys(links, value))
        assert_same_bits(
            robot.inverse_dynamics(*args, f_ext=dict.fromkeys(links, shifted)), expected, "unaligned"
        )


def test_the_memory_of_orders_is_bounded() -> None:
    robot = robomorph.load("chain:8")
    x = np.zeros(8)
    orders = itertools.islice(itertools.permutations(robot.link_names[1:]), 1500)
    for order in orders:
        robot.inverse_dynamics(x, x, x, f_ext=dict.fromkeys(order, np.zeros(6)))
    assert len(robot._kernels) == 1 and len(robot._wrenches._orders) <= 1000


def least_time(work: Callable[[], Any]) -> float:
    """CPU seconds of this thread for a call: what others compute meanwhile does not count."""
    work()
    best = np.inf
    for _ in range(15):
        start = time.thread_time()
        for _ in range(300):
            work()
        best = min(best, (time.thread_time() - start) / 300)
    return float(best)


def test_a_mapping_costs_little_more_than_an_array() -> None:
    robot, args = fresh(), motion()
    everything = np.zeros((len(robot.link_names), 6))
    array = least_time(lambda: robot.inverse_dynamics(*args, f_ext=everything))
    one = least_time(lambda: robot.inverse_dynamics(*args, f_ext={"link_2": everything[0]}))
    assert one < 4 * array, f"{one * 1e6:.2f} us against {array * 1e6:.2f} us"  # it was nine times as much
