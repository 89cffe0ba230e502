"""Formulations by parallel prefix: the same results in little depth, chosen where depth decides alone."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import robomorph
from robomorph import ArgumentError, ModelWarning, Robot
from robomorph.algorithms.prefix import from_root, from_tips
from robomorph.compiler.chip import make_accelerator
from robomorph.compiler.specialise import make_request
from robomorph.ir.program import Program
from robomorph.passes.fuse import fuse
from robomorph.targets.gpu.schedule import schedule
from robomorph.targets.rtl.options import Options
from tests.oracle.random_trees import RandomRobot, random_robots
from tests.targets.gpu.toolchains import needs_opencl

Array = npt.NDArray[Any]
QUIET = settings(max_examples=40, deadline=None, database=None, suppress_health_check=list(HealthCheck))
# Sequential and by prefix.
FORMULATIONS = {
    "forward_kinematics": ("chain", "prefix"),
    "link_poses": ("chain", "prefix"),
    "jacobian": ("geometric", "prefix"),
    "inverse_dynamics": ("rnea", "prefix"),
}


def program(robot: Robot, algorithm: str, formulation: str | None = None) -> Program:
    frame = robot.frame_names[-1] if algorithm in ("forward_kinematics", "jacobian") else None
    request = make_request(robot.model, algorithm, frame=frame, formulation=formulation)
    return robot.specialiser.specialise(request).program


def check(robot: Robot, algorithm: str, f_ext: bool = False) -> None:
    """Both formulations on the interpreter."""
    frame = robot.frame_names[-1] if algorithm in ("forward_kinematics", "jacobian") else None
    kernels = [
        robot.compile(algorithm, target="interpreter", frame=frame, formulation=name, f_ext=f_ext)
        for name in FORMULATIONS[algorithm]
    ]
    rng = np.random.default_rng(1)
    arguments = [rng.normal(size=(3, *port.shape)) for port in kernels[0].inputs]
    arguments[0] = robot.random_state(2, 3).q
    expected, found = (np.asarray(kernel(*arguments)) for kernel in kernels)
    size = max(1.0, np.abs(expected).max(initial=0.0))
    assert np.abs(found - expected).max(initial=0.0) <= 1e-12 * size


@pytest.mark.parametrize("algorithm", FORMULATIONS)
@pytest.mark.parametrize("name", ["iiwa14", "hyq", "atlas", "chain:1", "chain:33"])
def test_the_same_results(name: str, algorithm: str) -> None:
    check(robomorph.load(name), algorithm)
    if name == "hyq":
        check(robomorph.load(name, floating_base=True), algorithm)


@QUIET
@given(random_robots(most_joints=9))
def test_random_trees(drawn: RandomRobot) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        robot = robomorph.load(drawn.text, floating_base=drawn.floating, mimic=drawn.mimic)
    for algorithm in FORMULATIONS:
        check(robot, algorithm)
    check(robot, "inverse_dynamics", f_ext=True)


@QUIET
@given(st.lists(st.integers(0, 100), min_size=1, max_size=40))
def test_sums_and_products_over_any_tree(draws: list[int]) -> None:
    """Words from the root in their order, and numbers of links from the tips."""

    class Shape:
        support: tuple[tuple[int, ...], ...] = ()

    tree: Any = Shape()
    for i, draw in enumerate(draws):
        parent = draw % (i + 1) - 1
        tree.support += (((*tree.support[parent], i) if parent >= 0 else (i,)),)
    words: list[tuple[int, ...]] = [(i,) for i in range(len(draws))]
    assert from_root(tree, words, lambda a, b: a + b) == list(tree.support)
    sets = from_tips(tree, [[i] for i in range(len(draws))], lambda a, b: a + b)
    for i, members in enumerate(sets):
        assert sorted(members) == [k for k, way in enumerate(tree.support) if i in way]


@pytest.mark.parametrize("algorithm", FORMULATIONS)
def test_depth_grows_with_the_logarithm(algorithm: str) -> None:
    short, long = (fuse(program(robomorph.load(f"chain:{n}"), algorithm, "prefix")) for n in (25, 100))
    sequential = fuse(program(robomorph.load("chain:100"), algorithm, FORMULATIONS[algorithm][0]))
    assert long.depth() < short.depth() + 20
    assert long.depth() < sequential.depth() / 4
    barriers = [schedule(made, 64).barriers for made in (long, sequential)]
    assert barriers[0] < barriers[1] / 3


def test_work_never_chooses_it() -> None:
    for name in ("chain:12", "atlas"):
        robot = robomorph.load(name)
        for algorithm in FORMULATIONS:
            frame = robot.frame_names[-1] if algorithm in ("forward_kinematics", "jacobian") else None
            stats = robot.compile(algorithm, target="interpreter", frame=frame).stats
            assert stats.formulation != "prefix" and "prefix" not in stats.candidates


@needs_opencl
def test_thread_groups_choose_it_where_it_pays() -> None:
    long, short = robomorph.load("chain:40"), robomorph.load("iiwa14")
    group = long.compile("inverse_dynamics", target="opencl", mapping="group")
    assert group.stats.formulation == "prefix" and set(group.stats.candidates) == {"rnea", "prefix"}
    q, qd = long.random_state(1, 5)
    expected = long.inverse_dynamics(q, qd, qd)
    np.testing.assert_allclose(group(q, qd, qd), expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    assert long.compile("inverse_dynamics", target="opencl", mapping="thread").stats.formulation == "rnea"
    assert long.compile("inverse_dynamics", target="opencl").stats.formulation == "rnea"
    assert short.compile("inverse_dynamics", target="opencl", mapping="group").stats.formulation == "rnea"


def test_chips_that_share_nothing_choose_the_least_depth() -> None:
    robot = robomorph.load("chain:12")
    request = make_request(robot.model, "link_poses")
    alone, shared = (
        make_accelerator(robot.specialiser, request, Options(interval=cycles)).made for cycles in (1, 2)
    )
    assert (alone.formulation, shared.formulation) == ("prefix", "chain")
    assert alone.program.depth() < shared.program.depth()


def test_a_formulation_by_name() -> None:
    robot = robomorph.load("chain:9")
    q, qd = robot.random_state(1, 5)
    kernel = robot.compile("inverse_dynamics", formulation="prefix")
    np.testing.assert_allclose(kernel(q, qd, qd), robot.inverse_dynamics(q, qd, qd), rtol=0, atol=1e-11)
    with pytest.raises(ArgumentError, match="unknown name 'prefix'"):
        robot.compile("mass_matrix", formulation="prefix")
    with pytest.raises(ArgumentError, match="has no link units"):
        _ = robot.compile("inverse_dynamics", formulation="prefix", target="rtl", structure="units").stats
