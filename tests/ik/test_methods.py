"""The paper's methods on the paper's chains: how many iterations they take."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import robomorph
from robomorph import Robot
from robomorph.bench.chain_problems import CHAINS, EXPECTED_ITERATIONS, chain_problems
from robomorph.ik.layout import Layout
from robomorph.ik.methods.jacobian_transpose import joint_reaches
from robomorph.tasks import Position

METHODS = ("jacobian-transpose", "quick-ik", "pseudoinverse", "jacobian-transpose-fixed")


@cache
def chain(joints: int) -> Robot:
    return robomorph.load(f"chain:{joints}")


def mean_iterations(joints: int, method: str, count: int) -> float:
    problems = chain_problems(chain(joints), "B", count)
    result = chain(joints).inverse_kinematics(
        problems.targets, "tool", problems.starts, tolerance=1e-2, method=method, nearest=False, starts=1
    )
    points = chain(joints).forward_kinematics(result.q, "tool")[:, :3, 3]
    off = np.linalg.norm(points - problems.targets, axis=-1)
    assert np.array_equal(off <= 1e-2, result.success)
    return float(result.iterations.mean())


@pytest.mark.parametrize("method", METHODS)
def test_iterations_on_a_short_chain(method: str) -> None:
    expected = EXPECTED_ITERATIONS[method][12]
    assert mean_iterations(12, method, 1000) == pytest.approx(expected, rel=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("joints", CHAINS[1:])
@pytest.mark.parametrize("method", METHODS)
def test_iterations_on_long_chains(joints: int, method: str) -> None:
    expected = EXPECTED_ITERATIONS[method][joints]
    assert mean_iterations(joints, method, 1000) == pytest.approx(expected, rel=0.15)


def test_speculation_takes_the_best_of_its_steps() -> None:
    """One iteration by hand: of the steps (k/K) alpha J^T e the one that ends nearest."""
    robot = chain(12)
    problems = chain_problems(robot, "B", 20)
    for target, q in zip(problems.targets, problems.starts, strict=True):
        jacobian = robot.jacobian(q, "tool")[:3]
        e = target - robot.forward_kinematics(q, "tool")[:3, 3]
        slope = jacobian @ jacobian.T @ e
        full = (e @ slope) / (slope @ slope) * jacobian.T @ e
        trials = q + (np.arange(1, 65) / 64)[:, None] * full
        errors = np.linalg.norm(robot.forward_kinematics(trials, "tool")[:, :3, 3] - target, axis=-1)
        found = robot.inverse_kinematics(
            target, "tool", q, tolerance=1e-9, method="quick-ik", max_iterations=1, nearest=False
        )
        assert found.position_error == pytest.approx(errors.min(), rel=1e-9)
        assert np.allclose(found.q, trials[errors.argmin()])


def test_several_speculations_take_fewer_iterations_than_one() -> None:
    """One is Buss's step as it is. More are not always better still, but better than one."""
    problems = chain_problems(chain(25), "B", 200)
    means = []
    for count in (1, 4, 16, 64):
        result = chain(25).inverse_kinematics(
            problems.targets, "tool", problems.starts, tolerance=1e-2, method="quick-ik", speculations=count
        )
        assert result.success.all()
        means.append(float(result.iterations.mean()))
    assert all(mean < 0.95 * means[0] for mean in means[1:])


def test_the_fixed_step_comes_from_the_lengths_of_the_links() -> None:
    """Joint i of a chain of N is at most (N - i) / N from the tip."""
    tree = chain(12).specialiser.tree(regroup=False)
    reaches = joint_reaches(tree, Layout((Position("tool"),)))
    assert np.allclose(reaches, (12 - np.arange(12)) / 12)
